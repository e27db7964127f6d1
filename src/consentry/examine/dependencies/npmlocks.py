"""Lock files of npm, yarn and pnpm: every package that is installed, and the hosts they come from.

A package that runs a script when it is installed starts programs, whatever they are. Locks of yarn
and pnpm are read line by line in the layout that those write; one with any other layout is read as
YAML, which takes longer, so that nothing is passed over.
"""

import re
from typing import Final

from consentry.declare.nodes import Node
from consentry.examine.atoms import starting
from consentry.examine.dependencies.findings import Findings, large_reader
from consentry.examine.dependencies.jsontext import json_document
from consentry.examine.dependencies.nodewalk import (
    ANY_ONE,
    entries_of,
    is_true,
    text_at,
    values_at,
)
from consentry.examine.dependencies.packages import (
    add_folder,
    add_npm,
    add_npm_reference,
    add_reference,
)

_IN_FOLDER: Final = "node_modules/"
_YARN_ENTRY: Final = re.compile(r'"?(@?[^@"\s]+)@([^",]*)"?(?:,.*)?:')
_YARN_LINE: Final = re.compile(r'  +(?:"[^"]*"|[^\s":]+):? ?.*')
_PNPM_ENTRY: Final = re.compile(r"  ['\"]?/?(@?[^'\"\s@(:]+)(?:[@/]([^'\"]*?))?['\"]?:(?: \{\})?")
_PNPM_SECTION: Final = re.compile(r"([A-Za-z]+):(?: .*)?")
_PNPM_SCRIPT: Final = re.compile(r"    (?:requiresBuild|hasInstallScript): true")
_MOST_LINE: Final = 4096
_TARBALL: Final = re.compile(r"\b(?:tarball|repo): *['\"]?([a-z+]+://[^\s'\",}]+)")


@large_reader
def extract_package_lock(text: str, findings: Findings) -> None:
    """Reads `package-lock.json` and `npm-shrinkwrap.json`, in all three versions."""
    root = json_document(text)
    for path, package, line in _entries_at(root, "packages"):
        name = text_at(package, "name") or path.rpartition(_IN_FOLDER)[2]
        if _IN_FOLDER in path:
            _add_locked(name, package, line, findings)
    waiting = list(values_at(root, "dependencies"))
    while waiting:
        for name, package, line in entries_of(waiting.pop()):
            _add_locked(name, package, line, findings)
            waiting += values_at(package, "dependencies")


def _entries_at(root: Node, key: str) -> list[tuple[str, Node, int]]:
    return [entry for node in values_at(root, key) for entry in entries_of(node)]


def _add_locked(name: str, package: Node, line: int, findings: Findings) -> None:
    if is_true(next(values_at(package, "hasInstallScript"), None)):
        findings.power(
            starting(), line, f"{name[:200]} runs a script when installed", declared=True
        )
    if is_true(next(values_at(package, "link"), None)):
        add_folder(text_at(package, "resolved") or ".", line, findings)
        return
    resolved = text_at(package, "resolved") or ""
    version = text_at(package, "version") or ""
    if resolved.startswith("file:") or version.startswith("file:"):
        add_folder((resolved or version).removeprefix("file:"), line, findings)
        return
    where = resolved or version
    if where.startswith(("git", "ssh:")):
        add_reference(where, line, findings)
        return
    if "://" in where:
        findings.address(where, line, "packages are fetched there")
    if version.startswith("npm:"):
        add_npm_reference(name, version, line, findings)
    else:
        add_npm(name, line, findings)


@large_reader
def extract_yarn_lock(text: str, findings: Findings) -> None:
    """Reads `yarn.lock`, of yarn 1 and of later ones."""
    lines = text.split("\n")
    is_laid_out = all(
        not line.strip()
        or line.startswith("#")
        or (_YARN_LINE if line.startswith(" ") else _YARN_ENTRY).fullmatch(line.rstrip())
        or line.rstrip() == "__metadata:"
        for line in lines
    )
    if not is_laid_out:
        _add_yaml_lock(text, findings)
        return
    for number, line in enumerate(lines, 1):
        found = None if line.startswith((" ", "#")) else _YARN_ENTRY.match(line)
        if found is not None:
            for wanted in line.rstrip(":\r ").split(", "):
                _add_yarn_entry(wanted.strip('"'), number, findings)
        else:
            _add_yarn_detail(line.strip(), number, findings)


def _add_yarn_entry(wanted: str, line: int, findings: Findings) -> None:
    at = wanted.find("@", 1)
    if at < 0:
        add_npm(wanted, line, findings)
    else:
        add_npm_reference(wanted[:at], wanted[at + 1 :], line, findings)


def _add_yarn_detail(detail: str, line: int, findings: Findings) -> None:
    key, _, value = detail.partition(" ")
    value = value.strip().strip('"')
    if key.rstrip(":") == "resolved" and "://" in value:
        findings.address(value, line, "packages are fetched there")
    elif key == "resolution:":
        _, _, where = value.partition("@npm:")
        if "__archiveUrl=" in where:
            findings.address(_unquoted(where.partition("__archiveUrl=")[2]), line, "archive")


def _unquoted(text: str) -> str:
    from urllib.parse import unquote  # noqa: PLC0415 - rarely needed

    return unquote(text)


@large_reader
def extract_pnpm_lock(text: str, findings: Findings) -> None:
    """Reads `pnpm-lock.yaml`."""
    section = ""
    entries: list[tuple[str, str, int]] = []
    details: list[tuple[str, int]] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.rstrip()  # noqa: PLW2901 - only the end of it
        if not line or line.lstrip().startswith("#"):
            continue
        if not line.startswith(" "):
            begins = _PNPM_SECTION.fullmatch(line)
            if begins is None:
                _add_yaml_lock(text, findings)
                return
            section = begins[1]
            has_value = line.partition(":")[2].strip() not in ("", "{}")
            if section in ("packages", "snapshots") and has_value:
                _add_yaml_lock(text, findings)
                return
        elif section in ("packages", "snapshots"):
            if len(line) > _MOST_LINE:
                _add_yaml_lock(text, findings)
                return
            if line.startswith("   "):
                details.append((line, number))
                continue
            found = _PNPM_ENTRY.fullmatch(line)
            if found is None:
                _add_yaml_lock(text, findings)
                return
            entries.append((found[1], found[2] or "", number))
    for name, version, number in entries:
        _add_pnpm_entry(name, version, number, findings)
    for line, number in details:
        _add_pnpm_detail(line, number, findings)


def _add_pnpm_entry(name: str, version: str, line: int, findings: Findings) -> None:
    if version.startswith("file:") or name.startswith("file"):
        add_folder(version.removeprefix("file:"), line, findings)
    elif "://" in version:
        add_reference(version, line, findings)
    else:
        # `/name/1.0` of older locks: the version is behind a second slash.
        bare = name.rpartition("/")[0] if name.count("/") == 1 + name.startswith("@") else name
        add_npm(bare or name, line, findings)


def _add_pnpm_detail(line: str, number: int, findings: Findings) -> None:
    if _PNPM_SCRIPT.fullmatch(line):
        findings.power(starting(), number, "a script runs when it is installed", declared=True)
    for found in _TARBALL.finditer(line):
        findings.address(found[1], number, "packages are fetched there")


def _add_yaml_lock(text: str, findings: Findings) -> None:
    """A lock that no package manager laid out: its keys at any depth that look like packages."""
    from consentry.examine.dependencies.yamltext import yaml_document  # noqa: PLC0415 - heavy

    root = yaml_document(text)
    tables = [root, *values_at(root, "packages"), *values_at(root, "snapshots")]
    for table in tables:
        for key, package, line in entries_of(table):
            if key != "__metadata" and (table is not root or "@" in key):
                for wanted in key.split(", "):
                    _add_yarn_entry(wanted.removeprefix("/"), line, findings)
                _add_locked_yaml(package, line, findings)


def _add_locked_yaml(package: Node, line: int, findings: Findings) -> None:
    for key in ("requiresBuild", "hasInstallScript"):
        if is_true(next(values_at(package, key), None)):
            findings.power(starting(), line, "a script runs when it is installed", declared=True)
    for key in ("tarball", "repo", "resolved"):
        for keys in ((key,), (ANY_ONE, key)):
            where = text_at(package, *keys)
            if where is not None and "://" in where:
                findings.address(where, line, "packages are fetched there")
