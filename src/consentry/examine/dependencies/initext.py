"""Settings in sections of `key = value`: `setup.cfg`, `tox.ini`, `.gitmodules`, pip's and npm's.

One lenient way to read them all: a value goes on where the next lines are indented, a key may be
there twice, and `#` or `;` begins a comment. Nothing is filled in.
"""

import re
from collections.abc import Iterator
from typing import Final

from consentry.base.values import dataclass
from consentry.examine.constanttargets import variable_atom
from consentry.examine.dependencies.codeparts import add_script
from consentry.examine.dependencies.findings import COMPUTED_WORD, Findings, reader
from consentry.examine.dependencies.packages import shown
from consentry.examine.dependencies.requirements import add_included, add_requirement_lines
from consentry.examine.dependencies.requirementtext import add_requirement

_SECTION: Final = re.compile(r"\[([^\]]*)\]")
_SETTING: Final = re.compile(r"([^=:]*?)\s?[=:]\s?(.*)")
_FILLED_IN: Final = re.compile(r"\{[^{}\s]*\}")
_TOX_VARIABLE: Final = re.compile(r"\{env:(\w+)[^{}]*\}")
_TOX_COMMANDS: Final = ("commands", "commands_pre", "commands_post", "install_command")


@dataclass(frozen=True, slots=True)
class Setting:
    """One key with its value, line by line."""

    section: str
    key: str
    value: str
    line: int


def settings_in(text: str) -> Iterator[Setting]:
    """Every setting in order; a line that is none is skipped."""
    section = key = ""
    value: list[str] = []
    began = 1

    for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        stripped = line.strip()
        if line[:1] in (" ", "\t") and key and not _is_own_setting(section, stripped):
            value.append("" if stripped.startswith(("#", ";")) else stripped)
            continue
        if not stripped or stripped.startswith(("#", ";")):
            if key:
                value.append("")
            continue
        if key:
            yield Setting(section, key, "\n".join(value).rstrip("\n"), began)
            key = ""
        header = _SECTION.match(stripped)
        setting = _SETTING.fullmatch(stripped)
        if header is not None:
            section = header[1].strip()
        elif setting is not None:
            key, value, began = setting[1].strip().lower(), [setting[2].strip()], number
    if key:
        yield Setting(section, key, "\n".join(value).rstrip("\n"), began)


def _is_own_setting(section: str, line: str) -> bool:
    """Git indents its settings, which begin a value of their own all the same."""
    return section.startswith("submodule") and _SETTING.fullmatch(line) is not None


@reader
def extract_setup_cfg(text: str, findings: Findings) -> None:
    """Reads `setup.cfg`, also what tox keeps in it."""
    for each in settings_in(text):
        is_list = each.section == "options.extras_require" or (
            each.section == "options"
            and each.key.replace("-", "_")
            in ("install_requires", "setup_requires", "tests_require")
        )
        if is_list and each.value.startswith("file:"):
            for part in re.split(r"[,\n]", each.value.removeprefix("file:")):
                if part.strip():
                    add_included(part.strip(), each.line, findings)
        elif is_list:
            for offset, part in enumerate(re.split("\n", each.value)):
                add_requirement(part.partition(" #")[0], each.line + offset, findings)
        elif (each.section, each.key) == ("options", "dependency_links"):
            for offset, part in enumerate(each.value.split("\n")):
                add_requirement(part, each.line + offset, findings)
    if "[testenv" in text or "[tox:" in text:
        add_tox(text, findings)


@reader
def extract_tox(text: str, findings: Findings) -> None:
    """Reads `tox.ini`."""
    add_tox(text, findings)


def add_tox(text: str, findings: Findings, first_line: int = 1) -> None:
    """Adds what the environments of tox install, start and see."""
    for each in settings_in(text):
        line = each.line + first_line - 1
        for found in _TOX_VARIABLE.finditer(each.value):
            findings.power(variable_atom(found[1]), line, found[0][:200])
        if not each.section.startswith(("testenv", "tox", "pkgenv")):
            continue
        if each.key in ("deps", "requires"):
            lines = [re.sub(r"^[\w,!.-]+:\s+", "", part) for part in each.value.split("\n")]
            add_requirement_lines("\n".join(lines), findings, line)
        elif each.key in _TOX_COMMANDS:
            _add_commands(each, line, findings)
        elif each.key in ("passenv", "pass_env"):
            for name in re.split(r"[\s,]+", each.value):
                if name:
                    target = None if "*" in name else name
                    findings.power(variable_atom(target), line, f"passenv {shown(name)}")


def _add_commands(setting: Setting, line: int, findings: Findings) -> None:
    script: list[str] = []
    for part in setting.value.split("\n"):
        command = re.sub(r"^(?:[\w,!.-]+:\s+)?[-!@]?\s*", "", part)
        script.append(_FILLED_IN.sub(COMPUTED_WORD, command).replace("\\{", "{"))
    add_script("\n".join(script), line, findings)
