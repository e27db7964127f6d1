"""The files of one side of a change: those below a commit's tree, or those that an index lists.

A tree is read folder by folder, as far as it is asked about, through the process that reads all
objects. Where two trees have the same id for a folder, nothing below it is read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Protocol

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass
from consentry.declare.patchbundle import Blob
from consentry.enforce.gitobjects import MOST_OBJECT, GitObject, ObjectReader
from consentry.service.gitnames import MOST_PATH, checked_name

MOST_PATHS: Final = 500_000
MOST_KEPT: Final = 256 << 20
"""Bytes of changed files in all that are held; files beyond are as if they were too large."""

PLAIN: Final = "100644"
EXECUTABLE: Final = "100755"
LINK: Final = "120000"
SUBMODULE: Final = "160000"
_FOLDER: Final = "40000"

_KINDS: Final = {0o04: _FOLDER, 0o12: LINK, 0o16: SUBMODULE}
_REGULAR: Final = 0o10
_OWNER_EXECUTES: Final = 0o100
_ENTRY: Final = re.compile(rb"(0?[0-7]{5,6}) ([^\0]*)\0", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """What stands at a path: its mode, and the id of its content (of a submodule: its commit)."""

    mode: str
    id: str


Difference = tuple[str, TreeEntry | None, TreeEntry | None]
"""A path that is not the same on both sides, and what stands there on either."""


class FileTree(Protocol):
    """All files of one side; paths are text as in `gitnames`."""

    def has(self, path: str) -> bool:
        """Whether a file, link or submodule is there."""

    def read(self, path: str) -> Blob | None:
        """What is there, or None; raises where it is there and cannot be read, or is too large."""

    def names(self) -> tuple[str, ...]:
        """All paths, in order."""


class ObjectTree:
    """What lies below a tree object; without one, nothing does."""

    def __init__(self, reader: ObjectReader, root: str | None) -> None:
        self._reader = reader
        self._root = root
        self._folders: dict[str, dict[str, TreeEntry]] = {}

    def entry(self, path: str) -> TreeEntry | None:
        """What stands at the path, folders included."""
        folder = self._root
        *above, last = path.split("/")
        for name in above:
            inner = self._entries(folder).get(name)
            if inner is None or inner.mode != _FOLDER:
                return None
            folder = inner.id
        return self._entries(folder).get(last)

    def has(self, path: str) -> bool:
        """Whether a file, link or submodule is there."""
        found = self.entry(path)
        return found is not None and found.mode != _FOLDER

    def read(self, path: str) -> Blob | None:
        """What is there, or None."""
        found = self.entry(path)
        if found is None or found.mode == _FOLDER:
            return None
        return read_blob(self._reader, path, found)

    def names(self) -> tuple[str, ...]:
        """All paths, in order."""
        return tuple(sorted(self.all()))

    def links(self) -> dict[str, str]:
        """Every link, and where it leads."""
        try:
            return _links(self._reader, self.all())
        except BadInput:
            return {}  # more names than can be read

    def all(self) -> dict[str, TreeEntry]:
        """Every path with what stands there."""
        return {path: entry for path, _, entry in _differences(self, None, self._root) if entry}

    def differences(self, other: "ObjectTree") -> Iterator[Difference]:
        """Every path that is not the same here and there, with both."""
        return _differences(self, self._root, other._root)  # noqa: SLF001 - of the same class

    def _entries(self, folder: str | None) -> dict[str, TreeEntry]:
        if folder is None:
            return {}
        if folder not in self._folders:
            self._take(self._reader.one(folder))
        return self._folders[folder]

    def _load(self, folders: Iterable[str | None]) -> None:
        """Reads these folders at once, so that nobody waits for one answer at a time."""
        wanted = dict.fromkeys(each for each in folders if each and each not in self._folders)
        for found in self._reader.many(wanted):
            self._take(found)

    def _take(self, found: GitObject) -> None:
        if found.kind != "tree" or found.content is None:
            raise _broken(found.id, "is not a tree, or too large for one")
        self._folders[found.id] = _parsed(found.id, found.content)


class ListedTree:
    """What a list names, such as an index."""

    def __init__(self, reader: ObjectReader, entries: Mapping[str, TreeEntry]) -> None:
        self._reader = reader
        self.entries = entries

    def has(self, path: str) -> bool:
        """Whether the list names it."""
        return path in self.entries

    def read(self, path: str) -> Blob | None:
        """What is there, or None."""
        found = self.entries.get(path)
        return None if found is None else read_blob(self._reader, path, found)

    def names(self) -> tuple[str, ...]:
        """All paths, in order."""
        return tuple(sorted(self.entries))

    def links(self) -> dict[str, str]:
        """Every link, and where it leads."""
        return _links(self._reader, self.entries)


def _links(reader: ObjectReader, entries: Mapping[str, TreeEntry]) -> dict[str, str]:
    """Links alone are read; one that is too large leads nowhere."""
    links = {path: entry.id for path, entry in entries.items() if entry.mode == LINK}
    contents = {each.id: each.content for each in reader.many(dict.fromkeys(links.values()))}
    return {
        path: content.decode("utf-8", "surrogateescape")
        for path, given in links.items()
        if (content := contents.get(given)) is not None
    }


def read_blob(reader: ObjectReader, path: str, entry: TreeEntry) -> Blob:
    """The content of an entry that is no folder."""
    if entry.mode == SUBMODULE:
        return submodule_blob(entry.id)
    found = reader.one(entry.id)
    if found.kind != "blob":
        raise _broken(entry.id, "is not a file")
    if found.content is None:
        raise too_large(path)
    return Blob(found.content, entry.mode)


def submodule_blob(commit: str) -> Blob:
    """A submodule as git writes it into a diff: another commit is another content."""
    return Blob(f"Subproject commit {commit}\n".encode("ascii"), SUBMODULE)


def too_large(path: str) -> BadInput:
    """The error of a file that is too large to be read."""
    return BadInput(
        Code.FILE_UNUSABLE,
        f"`{path}` is larger than {MOST_OBJECT >> 20} MiB, and is not read",
        help_line="look at it by other means; Consentry cannot say what it does",
    )


def _differences(tree: ObjectTree, before: str | None, after: str | None) -> Iterator[Difference]:
    """Level by level, without recursion: a tree may be as deep as its author likes."""
    level: list[tuple[str, str | None, str | None]] = [("", before, after)]
    count = 0
    while level:
        tree._load(each for _, *both in level for each in both)  # noqa: SLF001 - its other half
        deeper: list[tuple[str, str | None, str | None]] = []
        for prefix, one, other in level:
            ours, theirs = tree._entries(one), tree._entries(other)  # noqa: SLF001 - as above
            for name in sorted(ours.keys() | theirs.keys()):
                left, right = ours.get(name), theirs.get(name)
                if left == right:
                    continue
                path = prefix + name
                count += 1
                if count > MOST_PATHS or len(path) > MOST_PATH:
                    raise _broken("the tree", "has more or longer names than can be read")
                if _is_folder(left) or _is_folder(right):
                    deeper.append((f"{path}/", _folder_id(left), _folder_id(right)))
                files = [None if _is_folder(each) else each for each in (left, right)]
                if files != [None, None]:
                    yield path, files[0], files[1]
        level = deeper


def _is_folder(entry: TreeEntry | None) -> bool:
    return entry is not None and entry.mode == _FOLDER


def _folder_id(entry: TreeEntry | None) -> str | None:
    return entry.id if entry is not None and entry.mode == _FOLDER else None


def _parsed(tree: str, content: bytes) -> dict[str, TreeEntry]:
    entries: dict[str, TreeEntry] = {}
    at = 0
    id_bytes = len(tree) // 2
    while at < len(content):
        found = _ENTRY.match(content, at)
        if found is None or found.end() + id_bytes > len(content):
            raise _broken(tree, "is a damaged tree")
        at = found.end() + id_bytes
        name = checked_name(found[2])
        if name in entries:
            raise _broken(tree, "has two files of one name")
        entries[name] = TreeEntry(_mode(tree, found[1]), content[found.end() : at].hex())
    return entries


def _mode(tree: str, written: bytes) -> str:
    number = int(written, 8)
    kind = number >> 12
    if kind == _REGULAR:
        return EXECUTABLE if number & _OWNER_EXECUTES else PLAIN
    if kind not in _KINDS:
        raise _broken(tree, "has an entry of a kind that does not exist")
    return _KINDS[kind]


def _broken(name: str, what: str) -> BadInput:
    return BadInput(
        Code.FILE_UNUSABLE,
        f"`{name}` {what}",
        help_line="`git fsck` tells more about a damaged repository",
    )
