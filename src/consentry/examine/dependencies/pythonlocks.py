"""What Python's package managers write down as chosen: `Pipfile`, and the lock files of all of them.

A lock names everything that is installed, also what only a dependency asked for, and where it was
fetched from. The host counts; the file there is what the hash says.
"""

from typing import Final

from consentry.declare.nodes import Mapping, Node
from consentry.examine.dependencies.findings import Findings, large_reader
from consentry.examine.dependencies.jsontext import json_document
from consentry.examine.dependencies.keyed import add_document
from consentry.examine.dependencies.nodewalk import (
    ANY_ONE,
    entries_of,
    first_at,
    text_at,
    values_at,
)
from consentry.examine.dependencies.packages import add_folder, add_pypi, add_reference
from consentry.examine.dependencies.tomltext import toml_document

_TREE_SOURCES: Final = ("editable", "virtual", "directory", "path")
_FETCHED: Final = ("git", "url", "hg", "svn")


@large_reader
def extract_pipfile(text: str, findings: Findings) -> None:
    """Reads `Pipfile`; every table that is no setting is a category of packages."""
    root = toml_document(text)
    add_document("pipfile", root, findings)
    settings = ("source", "packages", "dev-packages", "scripts", "requires", "pipenv", "pipfile")
    others = tuple(entry for entry in root.entries if getattr(entry[0], "text", "") not in settings)
    for _, table, _ in entries_of(Mapping(root.mark, others)):
        add_document("pipfile", _as_packages(table), findings)


def _as_packages(table: Node) -> Mapping:
    from consentry.declare.nodes import quoted_scalar  # noqa: PLC0415 - only here

    return Mapping(table.mark, ((quoted_scalar(table.mark, "packages"), table),))


@large_reader
def extract_pipfile_lock(text: str, findings: Findings) -> None:
    """Reads `Pipfile.lock`."""
    root = json_document(text)
    for url in values_at(root, "_meta", "sources", ANY_ONE):
        _add_address(text_at(url, "url"), url, findings)
    for section, packages, _ in entries_of(root):
        if section != "_meta":
            for name, entry, line in entries_of(packages):
                _add_locked(name, entry, line, findings)


@large_reader
def extract_toml_lock(text: str, findings: Findings) -> None:
    """Reads `poetry.lock`, `uv.lock`, `pdm.lock` and `pylock.toml`, which are much alike."""
    root = toml_document(text)
    for key in ("package", "packages"):
        for package in values_at(root, key, ANY_ONE):
            name = text_at(package, "name")
            if name is not None:
                _add_locked(name, package, package.mark.line, findings)


def _add_locked(name: str, entry: Node, line: int, findings: Findings) -> None:
    """One package; where it comes from stands in it, or in a table `source`."""
    line = _line_of_name(entry, line)
    source = first_at(entry, "source")
    for url in _hosts_of(entry):
        _add_address(url, entry, findings)
    for where in (source, entry, first_at(entry, "vcs"), first_at(entry, "archive")):
        if where is None:
            continue
        if _add_elsewhere(where, line, findings):
            return
    add_pypi(name, line, findings)


def _add_elsewhere(where: Node, line: int, findings: Findings) -> bool:
    """Adds a place that is not an index, and answers whether there was one."""
    kind = text_at(where, "type")
    if kind in ("directory", "file"):
        add_folder(text_at(where, "url") or ".", line, findings)
        return True
    if kind == "legacy":
        return False
    for key in _FETCHED:
        url = text_at(where, key)
        if url is not None:
            (add_reference if "://" in url or "@" in url else add_folder)(url, line, findings)
            return True
    for key in _TREE_SOURCES:
        path = text_at(where, key) or text_at(where, key, "path")
        if path is not None and path not in ("true", "false"):
            add_folder(path, line, findings)
            return True
    return False


def _hosts_of(entry: Node) -> dict[str, None]:
    """Addresses of indexes and files, each host once by its address up to the path."""
    urls: dict[str, None] = {}
    for keys in (
        ("source", "registry"),
        ("index",),
        ("sdist", "url"),
        ("wheels", ANY_ONE, "url"),
        ("files", ANY_ONE, "url"),
    ):
        for node in values_at(entry, *keys):
            url = getattr(node, "text", "")
            if "://" in url:
                urls["/".join(url.split("/")[:3])] = None
    if text_at(entry, "source", "type") == "legacy":
        url = text_at(entry, "source", "url") or ""
        urls["/".join(url.split("/")[:3])] = None
    return urls


def _line_of_name(entry: Node, line: int) -> int:
    name = first_at(entry, "name")
    return line if name is None else name.mark.line


def _add_address(url: str | None, node: Node, findings: Findings) -> None:
    if url:
        findings.expansions(url, node.mark.line)
        findings.address(url, node.mark.line, "packages are fetched there")
