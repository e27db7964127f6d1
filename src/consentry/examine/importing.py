"""Where an import leads within the same tree: which files run when it does.

Python: a module is looked for below the root, `src`, `lib`, and every folder above the importing file,
as scripts and packages find theirs; the `__init__` files on the way run, too. JavaScript: relative
names, with the endings that resolvers try.
"""

from collections.abc import Iterator
from posixpath import join, normpath
from typing import Final, Protocol

from consentry.examine.atoms import ModuleImport
from consentry.examine.filekinds import FileKind

_ROOTS: Final = ("", "src", "lib", "python")
_SCRIPT_ENDINGS: Final = (
    *("", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".json"),
    *("/index.js", "/index.ts", "/index.tsx", "/index.jsx", "/index.mjs", "/index.cjs"),
)


class Names(Protocol):
    """The files of a tree by name."""

    def has(self, path: str) -> bool:
        """Whether there is a file of that name."""
        ...


def files_of_import(
    given: ModuleImport, importer: str, kind: FileKind, tree: Names
) -> tuple[str, ...] | None:
    """The files of the tree that the import runs; None where it leads to none of them."""
    if given.module.startswith((".", "/")) or (kind is not FileKind.PYTHON and given.level):
        return _script(given.module, importer, tree)
    parts = given.module.split(".") if given.module else []
    if given.level:
        folder = importer.rpartition("/")[0]
        for _ in range(given.level - 1):
            folder = folder.rpartition("/")[0]
        return _below(folder, parts, given.names, tree)
    # Which folder counts depends on how the program is started: all of them do.
    found: dict[str, None] = {}
    for root in _roots(importer):
        found.update(dict.fromkeys(_below(root, parts, given.names, tree) or ()))
    return tuple(found) or None


def _roots(importer: str) -> Iterator[str]:
    folder = importer.rpartition("/")[0]
    seen: set[str] = set()
    while folder:
        seen.add(folder)
        yield folder
        folder = folder.rpartition("/")[0]
    yield from (root for root in _ROOTS if root not in seen)


def _below(
    root: str, parts: list[str], names: tuple[str, ...], tree: Names
) -> tuple[str, ...] | None:
    """The `__init__` files from the root down, the module, and the names that are modules of it."""
    found: list[str] = []
    place = root
    for number, part in enumerate(parts):
        place = join(place, part)
        if tree.has(f"{place}/__init__.py"):
            found.append(f"{place}/__init__.py")
        elif tree.has(f"{place}.py"):
            found.append(f"{place}.py")
        elif number == len(parts) - 1 and not names:
            return tuple(found) or None
    for name in names:
        candidates = (f"{join(place, name)}.py", f"{join(place, name)}/__init__.py")
        found.extend(each for each in candidates if tree.has(each))
    if not parts and tree.has(join(root, "__init__.py")):
        found.append(join(root, "__init__.py"))
    return tuple(dict.fromkeys(found)) or None


def _script(module: str, importer: str, tree: Names) -> tuple[str, ...] | None:
    if module.startswith("/"):
        return None
    place = normpath(join(importer.rpartition("/")[0], module))
    if place.startswith(".."):
        return None
    # TypeScript writes the ending that the compiled file will have.
    stem, dot, ending = place.rpartition(".")
    places = [place]
    if dot and ending in ("js", "mjs", "cjs", "jsx"):
        places.append(stem)
    for each in places:
        for end in _SCRIPT_ENDINGS:
            if tree.has(each + end):
                return (each + end,)
    return None
