"""Every dependency is pinned, hashed and explained.

What pyproject.toml asks for stands in the locks at a version it allows, and has a row in
docs/dependencies.md that says why; nothing else has one. The locks name no place to load from.
"""

import re
from collections.abc import Iterator

from packaging.utils import canonicalize_name

from checks import markdown
from checks.declared import Declared, declared
from checks.finding import Finding
from checks.tree import Tree

PROJECT = "pyproject.toml"
PAGE = "docs/dependencies.md"
ROW = re.compile(r"`([\w.-]+)(?:\[\w+\])?`")  # the first cell of a dependency's row
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[\w,-]+\])?==([^\s;\\]+)")
_PLACE = re.compile(r"://|^\s*-(?!-hash=sha256:)|\s@\s")


def check(tree: Tree) -> Iterator[Finding]:
    """Yields dependencies that are not pinned or not explained, and locks that name a place."""
    if PROJECT not in tree.paths:
        return
    wanted = list(declared(tree.text(PROJECT)))
    for lock in sorted({lock for each in wanted for lock in each.locks}):
        yield from _in_lock(
            tree, f"requirements/{lock}.lock", [d for d in wanted if lock in d.locks]
        )
    for path in tree.matching("requirements/*.lock"):
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            if not line.lstrip().startswith("#") and _PLACE.search(line):
                yield Finding(
                    path, number, "a lock holds names, versions and hashes, no place or option"
                )
    yield from _explained(tree, wanted)


def _in_lock(tree: Tree, path: str, wanted: list[Declared]) -> Iterator[Finding]:
    if path not in tree.paths:
        yield Finding(path, 1, "missing; run `make lock`")
        return
    pins: dict[str, list[str]] = {}
    for line in tree.text(path).splitlines():
        pin = _PIN.match(line)
        if pin:
            pins.setdefault(canonicalize_name(pin[1]), []).append(pin[2])
    for each in wanted:
        versions = pins.get(canonicalize_name(each.parsed.name), [])
        if not versions:
            yield Finding(path, 1, f"`{each.parsed}` is not pinned; run `make lock`")
        for version in versions:
            if not each.parsed.specifier.contains(version, prereleases=True):
                yield Finding(path, 1, f"pins {version}, not `{each.parsed}`; run `make lock`")


def _explained(tree: Tree, wanted: list[Declared]) -> Iterator[Finding]:
    if PAGE not in tree.paths:
        yield Finding(PAGE, 1, "missing: it says why each dependency is there")
        return
    rows: dict[str, int] = {}
    for number, line in markdown.prose_lines(tree.text(PAGE)):
        cells = markdown.cells(line)
        dependency = ROW.fullmatch(cells[0]) if cells else None
        if dependency:
            rows[canonicalize_name(dependency[1])] = number
    names: set[str] = {canonicalize_name(each.parsed.name) for each in wanted}
    for name in sorted(names - rows.keys()):
        yield Finding(PAGE, 1, f"`{name}` has no row that says why it is there")
    for name in sorted(rows.keys() - names):
        yield Finding(PAGE, rows[name], f"`{name}` is explained, and {PROJECT} does not ask for it")
