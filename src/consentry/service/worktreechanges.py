"""What a working tree has that a commit has not: every known path looked at, submodules entered."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from consentry.base.errors import ConsentryError
from consentry.base.values import replace
from consentry.service.gitfiles import (
    NO_COMMIT,
    FileChanges,
    GitFileChange,
    NotRead,
    differences_of,
)
from consentry.service.gitlisting import Listing
from consentry.service.gittree import SUBMODULE, TreeEntry
from consentry.service.worktree import WorkTree


class InnerChange(Protocol):
    """The change of a working tree inside of this one."""

    changes: tuple[GitFileChange, ...]
    not_read: tuple[NotRead, ...]
    before_commit: str | None

    def close(self) -> None:
        """Lets go of it."""


class WorkTreeChanges:
    """Compares one working tree with the files of HEAD.

    `enter` reads the change of a submodule that is checked out at a path, against its own HEAD.
    """

    def __init__(
        self, tree: WorkTree, files: FileChanges, enter: Callable[[Path], InnerChange]
    ) -> None:
        self._tree = tree
        self._files = files
        self._enter = enter
        self._inner: list[GitFileChange] = []

    def against(
        self, head: Mapping[str, TreeEntry], listing: Listing, top: Path
    ) -> list[GitFileChange]:
        """The changes of all that HEAD has, the index lists, or nobody added, as it is on the disk."""
        after: dict[str, TreeEntry] = {}
        left_out: dict[str, TreeEntry] = {}
        for path in sorted({*head, *listing.entries, *listing.unmerged, *listing.others}):
            expected, staged = head.get(path), listing.entries.get(path)
            found: TreeEntry | None = None
            if any(each is not None and each.mode == SUBMODULE for each in (expected, staged)):
                found = self._submodule(path, expected, top)
            found = found or self._tree.look(path, expected)
            # Left out of a sparse checkout: there is no other content than the one HEAD has.
            if found is None and expected is not None and path in listing.left_out:
                left_out[path] = found = expected
            if found is not None:
                after[path] = found
        for path in listing.nested:
            self._unknown(path, "it is a repository of its own that nobody added")
            after[path] = TreeEntry(SUBMODULE, NO_COMMIT)
        self._tree.stand_in(left_out)
        differences = list(differences_of(head, after))
        on_disk = {path: self._tree.held(path) for path, _, now in differences if now}
        return [*self._files.between(differences, on_disk), *self._inner]

    def _submodule(self, path: str, expected: TreeEntry | None, top: Path) -> TreeEntry | None:
        """The commit that a submodule's folder is at; None where something else lies there."""
        if not self._tree.is_folder(path):
            is_free = self._tree.look(path, None) is None
            return expected if is_free and expected and expected.mode == SUBMODULE else None
        try:
            change = self._enter(top / path)
        except ConsentryError as problem:
            self._unknown(path, f"its files were not compared: {problem.message}")
            return TreeEntry(SUBMODULE, NO_COMMIT)
        try:
            self._inner += [_below(path, each) for each in change.changes]
            for each in change.not_read:
                self._unknown(f"{path}/{each.path}", each.why)
            return TreeEntry(SUBMODULE, change.before_commit or NO_COMMIT)
        finally:
            change.close()

    def _unknown(self, path: str, why: str) -> None:
        self._files.not_read.append(NotRead(path, why))


def _below(folder: str, change: GitFileChange) -> GitFileChange:
    before, after = change.path_before, change.path_after
    return replace(
        change,
        path_before=None if before is None else f"{folder}/{before}",
        path_after=None if after is None else f"{folder}/{after}",
    )
