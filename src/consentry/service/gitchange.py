"""Reads a change straight from a git repository, however hostile: both sides of every touched file.

Nothing of the repository's configuration is used (see `enforce.gitprocess`), so nothing that it names
is run: no filter, no diff program, no hook, no watcher, no fetching. One git process reads all objects;
a second lists the index, or finds the merge base. Content is checked against its id, and replacements,
grafts and history files are not looked at.

A merge is compared with its first parent, a first commit with nothing. The working tree is compared
with HEAD, files that nobody added yet included, and submodules that are checked out with the commit
that HEAD names.

What could not be read is in `not_read`; whoever decides about a change that has such parts does not
know it whole.
"""

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from weakref import finalize

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.enforce.gitobjects import ObjectReader
from consentry.enforce.gitplace import GitFolder, Repository, find_repository
from consentry.enforce.gitprocess import USUAL_PATH, find_git
from consentry.enforce.gitrefs import References
from consentry.service.gitcommits import (
    Commit,
    commit_named,
    commit_with_id,
    first_parent,
    merge_base,
)
from consentry.service.gitfiles import FileChanges, GitFileChange, NotRead, differences_of
from consentry.service.gitlisting import list_index, list_work_tree
from consentry.service.gitselection import STAGED, WORK_TREE, Compared, GitSelection
from consentry.service.gittree import FileTree, ListedTree, ObjectTree

__all__ = [
    "STAGED",
    "WORK_TREE",
    "GitChange",
    "GitFileChange",
    "GitSelection",
    "NotRead",
    "read_change",
]

MOST_NESTED: Final = 4
"""How deep submodules in submodules are entered."""


class GitChange:
    """A change, and both trees for as long as it is open; use it in a `with`, or `close` it."""

    def __init__(
        self,
        held: ExitStack,
        description: str,
        trees: tuple[FileTree, FileTree],
        changes: tuple[GitFileChange, ...],
        not_read: tuple[NotRead, ...],
        commits: tuple[str | None, str | None],
    ) -> None:
        # Forgotten, it lets go all the same: of a process and of a folder.
        self._end = finalize(self, held.close)
        self.description = description
        self.before_tree, self.after_tree = trees
        self.changes = changes
        self.not_read = not_read
        self.before_commit, self.after_commit = commits

    def close(self) -> None:
        """Ends the process, and removes our folder; the trees cannot be read any more."""
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()


def read_change(
    repository: Path, selection: GitSelection, *, search_path: str = USUAL_PATH
) -> GitChange:
    """The change that is meant; raises `ConsentryError` where it cannot be read.

    Args:
        repository: the folder of a working tree or any below it, or a bare repository.
        selection: what is compared.
        search_path: the folders to look for git in, as PATH has them.
    """
    return _read(find_repository(repository), selection, search_path, 0)


def _read(found: Repository, selection: GitSelection, search_path: str, depth: int) -> GitChange:
    with ExitStack() as stack:
        program = find_git(search_path, found.work_tree or found.folder, found.folder, found.shared)
        folder = GitFolder(found)
        stack.callback(folder.close)
        reader = ObjectReader(folder.setting(program))
        stack.callback(reader.close)
        reading = _Reading(folder, program, reader, stack)
        if selection.compared is Compared.STAGED:
            return reading.staged()
        if selection.compared is Compared.WORK_TREE:
            return reading.work_tree(search_path, depth)
        return reading.commits(selection)


class _Reading:
    """One read of one repository."""

    def __init__(
        self, folder: GitFolder, program: Path, reader: ObjectReader, stack: ExitStack
    ) -> None:
        self._found = folder.repository
        self._folder = folder
        self._setting = folder.setting(program)
        self._reader = reader
        self._stack = stack
        self._files = FileChanges(reader)

    def commits(self, selection: GitSelection) -> GitChange:
        """One commit, or two."""
        words = (selection.first, selection.second)
        self._folder.take_commits(References(self._found).ids_for(words))
        after = commit_named(self._reader, selection.second)
        before: Commit | None
        if selection.compared is Compared.ONE_COMMIT:
            before = first_parent(self._reader, after)
            against = "nothing" if before is None else f"its first parent {before.id}"
        else:
            before = commit_named(self._reader, selection.first)
            against = before.id
            if selection.compared is Compared.SINCE_MERGE_BASE:
                self._folder.take_history_ends()
                before = merge_base(self._setting, self._reader, before, after)
                against = f"the merge base {before.id}"
        trees = (self._tree(before), self._tree(after))
        changes = self._files.between(trees[0].differences(trees[1]))
        commits = (None if before is None else before.id, after.id)
        return self._made(f"commit {after.id} against {against}", trees, changes, commits)

    def staged(self) -> GitChange:
        """The index against HEAD."""
        head, tree = self._head()
        listing = list_index(self._setting)
        if listing.unmerged:
            raise UsageProblem(
                Code.USAGE,
                f"`{min(listing.unmerged)}` is in the middle of a merge",
                help_line="resolve the conflict and `git add` the file, then try again",
            )
        changes = self._files.between(differences_of(tree.all(), listing.entries))
        trees = (tree, ListedTree(self._reader, listing.entries))
        return self._made(f"what is staged against {_said(head)}", trees, changes, (head, None))

    def work_tree(self, search_path: str, depth: int) -> GitChange:
        """The working tree against HEAD."""
        from consentry.service.worktree import WorkTree  # noqa: PLC0415 - only here, and slow to load
        from consentry.service.worktreechanges import WorkTreeChanges  # noqa: PLC0415 - as above

        head, tree = self._head()
        top = self._top()
        disk = WorkTree(top, self._reader, is_sha256=self._found.is_sha256)
        self._stack.callback(disk.close)
        enter = partial(_enter, search_path=search_path, depth=depth + 1)
        listing = list_work_tree(self._setting)
        changes = WorkTreeChanges(disk, self._files, enter).against(tree.all(), listing, top)
        said = f"the working tree against {_said(head)}"
        return self._made(said, (tree, disk), changes, (head, None))

    def _head(self) -> tuple[str | None, ObjectTree]:
        """The commit that is checked out and its files, with the index made ready."""
        self._top()
        head = References(self._found).head()
        self._folder.take_index()
        return head, self._tree(None if head is None else commit_with_id(self._reader, head))

    def _top(self) -> Path:
        if self._found.work_tree is None:
            raise UsageProblem(
                Code.USAGE,
                "a bare repository has neither an index nor a working tree",
                help_line="name two commits, such as `main..topic`",
            )
        return self._found.work_tree

    def _tree(self, commit: Commit | None) -> ObjectTree:
        return ObjectTree(self._reader, None if commit is None else commit.tree)

    def _made(
        self,
        said: str,
        trees: tuple[FileTree, FileTree],
        changes: list[GitFileChange],
        commits: tuple[str | None, str | None],
    ) -> GitChange:
        changes.sort(key=lambda each: each.path_after or each.path_before or "")
        not_read = sorted(set(self._files.not_read), key=lambda each: (each.path, each.why))
        held = self._stack.pop_all()  # from here on they are the change's to let go
        return GitChange(held, said, trees, tuple(changes), tuple(not_read), commits)


def _enter(place: Path, *, search_path: str, depth: int) -> GitChange:
    """The change of a submodule that is checked out there."""
    found = find_repository(place)
    if found.work_tree != place or depth > MOST_NESTED:
        raise UsageProblem(
            Code.USAGE, "it is no repository, or lies too deep", help_line="look at it by itself"
        )
    return _read(found, WORK_TREE, search_path, depth)


def _said(head: str | None) -> str:
    return "nothing, before the first commit" if head is None else f"HEAD {head}"
