"""Where an import leads within the same tree: which files run when it does.

Python: a module is looked for below the root, `src`, `lib`, and every folder above the importing file,
as scripts and packages find theirs; the `__init__` files on the way run, too. JavaScript: relative
names, with the endings that resolvers try, and what the `package.json` of a folder names. Lists of
requirements: the very file.

What an import makes of a file counts more than its name: `require("./data.txt")` runs it.
"""

from collections.abc import Iterator
from posixpath import join, normpath
from typing import Final, Protocol

from consentry.declare.patchbundle import Blob
from consentry.examine.atoms import Extraction, ModuleImport
from consentry.examine.filekinds import PLAIN, FileKind, kind_of

_ROOTS: Final = ("", "src", "lib", "python")
_SCRIPT_ENDINGS: Final = (
    *("", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".json"),
    *("/index.js", "/index.ts", "/index.tsx", "/index.jsx", "/index.mjs", "/index.cjs"),
)
_SCRIPTS: Final = (FileKind.JAVASCRIPT, FileKind.TYPESCRIPT, FileKind.TSX)
_NO_SCRIPTS: Final = (".json", ".node", ".wasm")
_LISTS: Final = (FileKind.REQUIREMENTS, FileKind.PYPROJECT, FileKind.SETUP_CFG, FileKind.TOX)
_BUNDLED: Final = (
    *(".css", ".scss", ".sass", ".less", ".svg", ".html", ".md", ".mdx", ".graphql", ".gql"),
    *(".yaml", ".yml", ".toml", ".csv", ".xml"),
)
_MANIFEST: Final = "package.json"
_MOST_MANIFEST: Final = 1 << 20
_ENTRANCES: Final = ("main", "module", "browser", "exports", "imports", "react-native", "bin")
_NEVER_SCRIPT: Final = (b"\x89", b"\xff", b"\0")
_OPENS_TEXT: Final = b"\"'`/"


class Names(Protocol):
    """The files of a tree by name."""

    def has(self, path: str) -> bool:
        """Whether there is a file of that name."""
        ...

    def read(self, path: str) -> Blob | None:
        """The file of that name; None where there is none."""
        ...


def read_as(path: str, blob: Blob, given: ModuleImport, importer: FileKind) -> FileKind | None:
    """What an import makes of a file, other than its name does; None where they agree."""
    if importer in _LISTS:
        return FileKind.REQUIREMENTS if given.module.startswith("./") else None
    if importer is not FileKind.SHELL and importer not in _SCRIPTS:
        return None
    own = kind_of(path, blob.content)
    if importer is FileKind.SHELL:
        return FileKind.SHELL if own in PLAIN and blob.content.strip() else None
    if own in _SCRIPTS or path.lower().endswith(_NO_SCRIPTS) or not _may_be_script(blob.content):
        return None
    return importer


def without_style(path: str, extraction: Extraction) -> Extraction:
    """What an import of a file that tools bundle gives: a style that is no script has no doubts."""
    is_style = path.lower().endswith(_BUNDLED)
    if is_style and any(each.key.startswith("syntax ") for each in extraction.unclassified):
        return Extraction(extraction.found)
    return extraction


def _may_be_script(content: bytes) -> bool:
    """Whether the first bytes can be JavaScript: those of pictures and fonts cannot."""
    if not content.strip() or content.startswith(_NEVER_SCRIPT):
        return False
    head, null, _ = content.partition(b"\0")
    # A NUL may only stand in a text or a comment.
    return not null or any(each in head for each in _OPENS_TEXT)


def files_of_import(
    given: ModuleImport, importer: str, kind: FileKind, tree: Names
) -> tuple[str, ...] | None:
    """The files of the tree that the import runs; None where it leads to none of them."""
    if kind in _LISTS and given.module.startswith("./"):
        place = normpath(join(importer.rpartition("/")[0], given.module))
        return (place,) if tree.has(place) else None
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
    found = _candidates(place, tree)
    manifest = join(place, _MANIFEST)
    if tree.has(manifest):
        for entrance in _entrances(tree.read(manifest)):
            inner = normpath(join(place, entrance))
            if not inner.startswith(".."):
                found += _candidates(inner, tree)
    return tuple(dict.fromkeys(found)) or None


def _candidates(place: str, tree: Names) -> list[str]:
    """Every file that some resolver takes for that name."""
    # TypeScript writes the ending that the compiled file will have.
    stem, dot, ending = place.rpartition(".")
    places = [place]
    if dot and ending in ("js", "mjs", "cjs", "jsx"):
        places.append(stem)
    return [each + end for each in places for end in _SCRIPT_ENDINGS if tree.has(each + end)]


def _entrances(blob: Blob | None) -> Iterator[str]:
    """The files of a package that its manifest has run."""
    from consentry.declare.nodes import Scalar  # noqa: PLC0415 - few imports lead to a package
    from consentry.examine.dependencies.jsontext import json_document  # noqa: PLC0415 - as above
    from consentry.examine.dependencies.nodewalk import all_nodes, values_at  # noqa: PLC0415

    if blob is None or len(blob.content) > _MOST_MANIFEST:
        return
    try:
        root = json_document(blob.content.decode("utf-8"))
    except ValueError:
        return
    for key in _ENTRANCES:
        for node in values_at(root, key):
            for each in all_nodes(node):
                if isinstance(each, Scalar) and each.text:
                    yield each.text.lstrip("/")
