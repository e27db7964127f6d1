"""What leads to a file that is nothing by its own name: links of the tree, and lists of requirements.

A link called `x.py` makes code of `data.txt`, and `-r deps.txt` makes dependencies of its lines, also
where neither the link nor the list is touched. Lists are looked for in the folder of the file and in
those above it, by their usual names; one that is called otherwise elsewhere is not found.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from posixpath import join, normpath
from typing import Final

from consentry.examine.atoms import Extraction
from consentry.examine.filekinds import FileKind, kind_of
from consentry.examine.importing import Names, files_of_import

MOST_NAMES: Final = 64
"""So many names are looked at of one file that links lead to."""

_LISTED: Final = (".txt", ".in", ".lock", ".pip", ".text")
_LISTS: Final = (
    *("requirements.txt", "requirements.in", "requirements-dev.txt", "requirements_dev.txt"),
    *("dev-requirements.txt", "test-requirements.txt", "requirements-test.txt", "constraints.txt"),
    *("requirements/base.txt", "requirements/dev.txt", "requirements/test.txt"),
    *("pyproject.toml", "setup.cfg", "tox.ini"),
)
_MOST_LISTS: Final = 200


def linked_names(paths: Iterable[str], tree: object) -> Iterator[tuple[str, str]]:
    """Other names of these files, with each file: those that links of the tree give them."""
    tell: Callable[[], Mapping[str, str]] | None = getattr(tree, "links", None)
    links = {} if tell is None else _ends(tell())
    if not links:
        return
    for path in paths:
        names = {path: None}
        waiting = [path]
        while waiting and len(names) < MOST_NAMES:
            name = waiting.pop()
            for link, end in links.items():
                inside = name.startswith(f"{end}/")
                other = link + name[len(end) :] if inside or name == end else name
                if other not in names and len(names) < MOST_NAMES:
                    names[other] = None
                    waiting.append(other)
        yield from ((name, path) for name in names if name != path)


def _ends(links: Mapping[str, str]) -> dict[str, str]:
    """Where each link leads within the tree."""
    ends: dict[str, str] = {}
    for path, target in sorted(links.items()):
        end = normpath(join(path.rpartition("/")[0], target))
        if not end.startswith(("/", "..")) and end not in (".", path):
            ends[path] = end
    return ends


def listed_files(
    paths: Iterable[str],
    tree: Names,
    extract: Callable[[Iterable[tuple[FileKind, bytes]]], Iterable[Extraction]],
) -> tuple[str, ...]:
    """Those of the paths that a list of requirements of the tree includes."""
    sought = {path for path in paths if path.lower().endswith(_LISTED)}
    if not sought:
        return ()
    found: set[str] = set()
    waiting = [(each, False) for each in _lists_around(sought) if tree.has(each)]
    seen = {each for each, _ in waiting}
    while waiting and len(seen) < _MOST_LISTS:
        path, is_included = waiting.pop()
        blob = tree.read(path)
        if blob is None or not any(each.encode() in blob.content for each in _LISTED):
            continue
        kind = FileKind.REQUIREMENTS if is_included else kind_of(path, blob.content)
        for extraction in extract([(kind, blob.content)]):
            for each in extraction.imports:
                for name in files_of_import(each, path, kind, tree) or ():
                    if name in sought and each.module.startswith("./"):
                        found.add(name)
                    if name not in seen:
                        seen.add(name)
                        waiting.append((name, True))
    return tuple(sorted(found))


def _lists_around(paths: Iterable[str]) -> list[str]:
    folders = {""}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return [join(folder, name) for folder in sorted(folders)[:50] for name in _LISTS]
