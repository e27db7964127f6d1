"""Both sides of every touched file, put together from what differs between two lists of files."""

from collections.abc import Iterable, Mapping
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass, replace
from consentry.declare.patchbundle import Blob
from consentry.enforce.gitobjects import ObjectReader
from consentry.service.gitrenames import paired
from consentry.service.gittree import MOST_KEPT, SUBMODULE, Difference, TreeEntry, submodule_blob

MOST_CHANGES: Final = 100_000
NO_COMMIT: Final = "0" * 40
"""The commit of a submodule that has none, or none that is known."""

_TOO_LARGE: Final = "it is too large to be read"


@dataclass(frozen=True, slots=True)
class GitFileChange:
    """One file: where it was and is, and what; None for a side on which it is not.

    A submodule's blob is the line that names its commit; the commit itself stands beside it.
    """

    path_before: str | None
    path_after: str | None
    before: Blob | None
    after: Blob | None
    submodule_before: str | None = None
    submodule_after: str | None = None


@dataclass(frozen=True, slots=True)
class NotRead:
    """A part of the change that nobody knows, and why."""

    path: str
    why: str


class FileChanges:
    """Makes the changes of one read, and gathers what could not be read on the way."""

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self.not_read: list[NotRead] = []

    def between(
        self, differences: Iterable[Difference], on_disk: Mapping[str, bytes | None] | None = None
    ) -> list[GitFileChange]:
        """The changes of these differences, renames found.

        `on_disk` has the contents of the second side by path, where they are not in the repository;
        None among them is one that was too large.
        """
        differences = _bounded(differences)
        on_disk = on_disk or {}
        contents = self._contents(
            entry
            for path, before, after in differences
            for entry in (before, None if path in on_disk else after)
        )
        changes: list[GitFileChange] = []
        for path, before, after in differences:
            here = contents if after is None or path not in on_disk else {after.id: on_disk[path]}
            changes.append(
                GitFileChange(
                    None if before is None else path,
                    None if after is None else path,
                    self._blob(path, before, contents),
                    self._blob(path, after, here),
                    _submodule_of(before),
                    _submodule_of(after),
                )
            )
        return _with_renames(changes)

    def _contents(self, entries: Iterable[TreeEntry | None]) -> dict[str, bytes | None]:
        """The contents of all entries by id, each read once; None for those that are too large."""
        wanted = dict.fromkeys(each.id for each in entries if each and each.mode != SUBMODULE)
        contents: dict[str, bytes | None] = {}
        together = 0
        for found in self._reader.many(wanted):
            if found.kind != "blob":
                raise BadInput(
                    Code.FILE_UNUSABLE,
                    f"`{found.id}` is not a file",
                    help_line="`git fsck` tells more about a damaged repository",
                )
            together += found.size
            contents[found.id] = found.content if together <= MOST_KEPT else None
        return contents

    def _blob(
        self, path: str, entry: TreeEntry | None, contents: Mapping[str, bytes | None]
    ) -> Blob | None:
        if entry is None:
            return None
        if entry.mode == SUBMODULE:
            return submodule_blob(entry.id)
        content = contents[entry.id]
        if content is None:
            self.not_read.append(NotRead(path, _TOO_LARGE))
        return Blob(content or b"", entry.mode)


def differences_of(
    before: Mapping[str, TreeEntry], after: Mapping[str, TreeEntry]
) -> Iterable[Difference]:
    """Every path that is not the same in both lists, with both."""
    for path in sorted(before.keys() | after.keys()):
        one, other = before.get(path), after.get(path)
        if one != other:
            yield path, one, other


def _bounded(differences: Iterable[Difference]) -> list[Difference]:
    found: list[Difference] = []
    for each in differences:
        found.append(each)
        if len(found) > MOST_CHANGES:
            raise BadInput(
                Code.FILE_UNUSABLE,
                f"more than {MOST_CHANGES:,} files are not the same on both sides",
                help_line="compare commits that lie closer together",
            )
    return sorted(found, key=lambda each: each[0])


def _submodule_of(entry: TreeEntry | None) -> str | None:
    if entry is None or entry.mode != SUBMODULE or entry.id == NO_COMMIT:
        return None
    return entry.id


def _with_renames(changes: list[GitFileChange]) -> list[GitFileChange]:
    """Puts together what went under one name and came under another."""
    gone = {each.path_before: each for each in changes if each.path_before and not each.path_after}
    come = {each.path_after: each for each in changes if each.path_after and not each.path_before}
    pairs = paired(
        {path: each.before for path, each in gone.items() if each.before},
        {path: each.after for path, each in come.items() if each.after},
    )
    moved = set(pairs.values())
    result: list[GitFileChange] = []
    for each in changes:
        if each.path_after in pairs and each.path_before is None:
            old = gone[pairs[each.path_after]]
            result.append(
                replace(
                    each,
                    path_before=old.path_before,
                    before=old.before,
                    submodule_before=old.submodule_before,
                )
            )
        elif each.path_after is not None or each.path_before not in moved:
            result.append(each)
    return result
