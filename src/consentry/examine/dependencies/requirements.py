"""Files of requirements and constraints, as pip reads them: options, hashes, references, markers.

Lines end where pip ends them, which is at more characters than an editor shows. Files that are
included are files of the tree and are read where they lie; one that is fetched is a reference.
"""

import re
from collections.abc import Iterator
from typing import Final

from consentry.base.canonical import digest_bytes
from consentry.examine.atoms import ANYTHING, connecting
from consentry.examine.constanttargets import variable_atom
from consentry.examine.dependencies.findings import Findings, reader
from consentry.examine.dependencies.packages import add_folder, add_reference
from consentry.examine.dependencies.requirementtext import add_requirement

_COMMENT: Final = re.compile(r"(?:^|\s)#")
_OPTION: Final = re.compile(r"(-[a-zA-Z](?=\s|$|[^-\s])|--[a-z-]+)(?:\s*=\s*|\s*)(.*)", re.DOTALL)
_VARIABLE: Final = re.compile(r"\$\{([A-Z0-9_]+)\}")
_PER_REQUIREMENT: Final = re.compile(
    r"\s--(?:hash|config-settings?|global-option|install-option)\b"
)
_COOKIE: Final = re.compile(r"(?:[^\n]*\n)?[^\n]*#[^\n]*coding[:=]\s*([-\w.]+)")
_INDEXES: Final = ("-i", "--index-url", "--pypi-url", "--extra-index-url", "-f", "--find-links")
_FILES: Final = ("-r", "--requirement", "-c", "--constraint")
_EDITABLE: Final = ("-e", "--editable")


@reader
def extract_requirements(text: str, findings: Findings) -> None:
    """Reads `requirements*.txt` and constraints."""
    cookie = _COOKIE.match(text)
    if cookie is not None and cookie[1].lower() not in ("utf-8", "utf8", "ascii"):
        # Installers honour it, and would read other lines than are read here.
        findings.unknown(f"coding {cookie[1]} {digest_bytes(text.encode())}", 1, "a coding cookie")
    add_requirement_lines(text, findings)


def add_requirement_lines(text: str, findings: Findings, first_line: int = 1) -> None:
    """Adds all that the lines ask for."""
    for line, content in _logical_lines(text, first_line):
        for found in _VARIABLE.finditer(content):
            findings.power(variable_atom(found[1]), line, f"${{{found[1]}}}")
        option = _OPTION.match(content)
        if option is None:
            add_requirement(_PER_REQUIREMENT.split(content, maxsplit=1)[0], line, findings)
        else:
            _add_option(option[1], option[2].strip().strip("\"'"), line, findings)


def _add_option(option: str, value: str, line: int, findings: Findings) -> None:
    if option in _INDEXES:
        if "://" in value:
            findings.address(value, line, f"{option} {value[:200]}")
        elif option not in ("-f", "--find-links"):
            findings.power(connecting(ANYTHING), line, f"{option} {value[:200]}", declared=True)
        else:
            add_folder(value, line, findings)
    elif option in _EDITABLE:
        add_requirement(value, line, findings)
    elif option in _FILES:
        add_included(value, line, findings)
    elif option == "--trusted-host":
        findings.address(value, line, f"{option} {value[:200]}")


def add_included(value: str, line: int, findings: Findings) -> None:
    """Adds a file whose lines are requirements, too: one of the tree is followed, as an import is."""
    if "://" in value:
        add_reference(value, line, findings)
        return
    add_folder(value, line, findings)
    inner = value.replace("{toxinidir}", ".").replace("{tox_root}", ".")
    if inner and not inner.startswith(("/", "~", "{")):
        findings.follows(f"./{inner}", line)


def _logical_lines(text: str, first_line: int) -> Iterator[tuple[int, str]]:
    """Lines with what continues them, without comments, at the line where each begins."""
    waiting: list[str] = []
    began = first_line
    for number, content in enumerate(text.splitlines(), first_line):
        if not waiting:
            began = number
        is_comment = content.lstrip().startswith("#")
        if content.endswith("\\") and not is_comment:
            waiting.append(content[:-1])
            continue
        # A comment in the middle of a requirement ends it, and is no part of it.
        waiting.append(" " + content if is_comment else content)
        joined = _COMMENT.split("".join(waiting), maxsplit=1)[0].strip()
        waiting = []
        if joined:
            yield began, joined
    joined = _COMMENT.split("".join(waiting), maxsplit=1)[0].strip()
    if joined:
        yield began, joined
