"""The folder of one commit in the state directory, locked while its process lives.

A folder that can be locked belongs to nobody any more. Until `journal` stands in it, nothing on the
host was changed. From then on the commit will be finished, or undone as a whole, by whoever comes
next.
"""

import fcntl
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.folderlock import TRY, WAIT, locked_folder
from consentry.enforce.foldertree import Tree, remove_tree

JOURNAL: Final = "journal"
DONE: Final = "done"
INTENT: Final = "staging"
COMMITS: Final = "commits"

_TURN: Final = "turn"
_RUN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)

Reached: TypeAlias = Callable[[str], None]
"""Told of every step that was reached; a test stops the process there."""


def unwatched(_: str) -> None:
    """Nobody wants to know."""


class Desk:
    """The folder of one commit, locked by this process."""

    def __init__(self, commits: Path, run: str, descriptor: int) -> None:
        self.run = run
        self.tree = Tree(descriptor)
        self._commits = commits

    @classmethod
    def made(cls, state: Path, run: str) -> "Desk":
        """A fresh one; raises where an earlier commit of the same run was left unfinished."""
        if _RUN.fullmatch(run) is None:
            raise Refused(Code.COMMIT_REFUSED, f"`{run}` is not the id of a run")
        commits = commits_folder(state)
        while True:
            (commits / run).mkdir(mode=0o700, exist_ok=True)
            desk = cls._locked(commits, run, WAIT)
            if desk is None:
                continue
            if os.listdir(desk.tree.descriptor):  # noqa: PTH208 - by descriptor
                desk.close()
                raise Refused(
                    Code.COMMIT_UNFINISHED, f"an earlier commit of `{run}` was left unfinished"
                )
            return desk

    @classmethod
    def abandoned(cls, state: Path) -> Iterator["Desk"]:
        """Those whose processes are gone, one after the other; each is the caller's to close."""
        commits = commits_folder(state)
        for entry in sorted(commits.iterdir()):
            if entry.is_dir() and _RUN.fullmatch(entry.name) is not None:
                desk = cls._locked(commits, entry.name, TRY)
                if desk is not None:
                    yield desk

    @classmethod
    def _locked(cls, commits: Path, run: str, how: int) -> "Desk | None":
        """The folder, if it could be locked and is still the one of that name."""
        opened = locked_folder(commits / run, how)
        return None if opened is None else cls(commits, run, opened)

    def keep(self, name: str, content: bytes, reached: Reached = unwatched) -> None:
        """Writes a file of the folder so that it is there whole or not at all, whatever happens."""
        folder = self.tree.descriptor
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(f"{name}.tmp", flags, 0o600, dir_fd=folder), "wb") as kept:  # noqa: PTH123 - by descriptor
            kept.write(content)
            kept.flush()
            os.fsync(kept.fileno())
        reached(f"{name} written")
        os.rename(f"{name}.tmp", name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
        reached(f"{name} kept")

    def jot(self, name: str, content: bytes, *, is_synced: bool) -> None:
        """Writes a file that nothing hangs on yet; whoever syncs the file system syncs it, too."""
        folder = self.tree.descriptor
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(name, flags, 0o600, dir_fd=folder), "wb") as kept:  # noqa: PTH123 - by descriptor
            kept.write(content)
            kept.flush()
            if is_synced:
                os.fsync(kept.fileno())

    def kept(self, name: str) -> bytes | None:
        """What a file of the folder holds; None if it is not there."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            opened = os.open(name, flags, dir_fd=self.tree.descriptor)
        except FileNotFoundError:
            return None
        with open(opened, "rb") as content:  # noqa: PTH123 - by descriptor
            return content.read()

    def settle(self) -> None:
        """The journal is done with; what is left is to be thrown away."""
        folder = self.tree.descriptor
        os.rename(JOURNAL, DONE, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)

    def put(self, place: Path) -> None:
        """Goes to another place as it is, and is no commit in progress any more."""
        (self._commits / self.run).rename(place)

    @classmethod
    def taken(cls, state: Path, run: str, place: Path) -> "Desk | None":
        """What was put away becomes a commit in progress again; None if it is gone."""
        commits = commits_folder(state)
        opened = locked_folder(place, WAIT)
        if opened is None:
            return None
        if (commits / run).exists():
            os.close(opened)
            raise Refused(Code.COMMIT_UNFINISHED, f"another commit of `{run}` was left unfinished")
        place.rename(commits / run)
        for folder in (commits, place.parent):
            _sync(folder)
        return cls(commits, run, opened)

    def drop(self) -> None:
        """Removes the folder with everything in it; the word that it is done goes last."""
        names = [os.fsencode(name) for name in os.listdir(self.tree.descriptor)]  # noqa: PTH208 - by descriptor
        for name in sorted(names, key=lambda each: each in (DONE.encode(), INTENT.encode())):
            remove_tree(self.tree, name)
        (self._commits / self.run).rmdir()

    def close(self) -> None:
        """Unlocks it."""
        self.tree.close()


def commits_folder(state: Path) -> Path:
    """Where commits in progress are kept."""
    folder = state / COMMITS
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        reason = (problem.strerror or "cannot be made").lower()
        raise Refused(Code.STATE_UNUSABLE, f"`{folder}`: {reason}") from problem
    return folder


def has_commits(state: Path) -> bool:
    """Whether any commit ever began here."""
    return (state / COMMITS).is_dir()


@contextmanager
def turn(state: Path) -> Iterator[None]:
    """One commit at a time changes files, whatever their roots are."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = os.open(commits_folder(state) / _TURN, flags, 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _sync(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
