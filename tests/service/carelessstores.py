"""Document stores of a host's own, in a file beside the ledger: one that keeps the rules, and careless ones.

Each wraps the built-in store on a database of its own, as a host would wrap what it has. What is careless
about one is in its name.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

from consentry.base.clock import ManualClock
from consentry.base.ids import Uuid7Ids
from consentry.decide.documentstore import BeforeWrite, Commit, CommitKind, CommitRecord, Snapshot
from consentry.decide.statechange import EntityName
from consentry.store.documents import StoredDocument
from consentry.store.migrations import migrate
from consentry.store.sqlite import SqliteDatabase
from tests.decide.samples import NOW


class OwnStore:
    """A host's own store that does as it must; what is to happen before a commit, or its n-th asking, is arranged."""

    def __init__(self, folder: Path, document_id: str = "note-board") -> None:
        database = SqliteDatabase(folder / f"{document_id}.db")
        migrate(database)
        clock = ManualClock(NOW)
        self.kept = StoredDocument(database, clock, Uuid7Ids(clock), document_id)
        self.before: Callable[[], object] = lambda: None
        self.acts: dict[int, Callable[[], object]] = {}
        self.asked = 0

    @property
    def document_id(self) -> str:
        """Its name."""
        return self.kept.document_id

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:
        """As it is."""
        return self.kept.read(names)

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Commits, with what was arranged for the way."""
        self.asked = 0
        self.before()

        def asked() -> None:
            self.asked += 1
            self.acts.get(self.asked, lambda: None)()
            check()

        return self.kept.commit(commit, asked)

    def settle(self, commit: Commit) -> CommitRecord | None:
        """What the log says."""
        return self.kept.settle(commit)


class Swallowing(OwnStore):
    """Takes no refusal seriously: writes on, whatever is raised."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Commits all the same."""

        def swallowed() -> None:
            try:
                check()
            except Exception:  # noqa: BLE001 - that is what is careless about it
                return

        return super().commit(commit, swallowed)


class Wrapping(OwnStore):
    """Makes an error of its own of every refusal."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Raises its own."""

        def wrapped() -> None:
            try:
                check()
            except Exception as problem:
                raise RuntimeError("the store could not write") from problem

        return super().commit(commit, wrapped)


class AskingOnce(OwnStore):
    """Asks at the beginning and never again."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Commits after one look."""
        check()
        return super().commit(commit, lambda: None)


class LyingOfRollbacks(OwnStore):
    """Says of every roll-back that it was committed, and takes nothing back."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Loses the answer of a roll-back that it did not make."""
        if commit.kind is CommitKind.ROLLBACK:
            raise OSError("the connection was lost")
        return super().commit(commit, check)

    def settle(self, commit: Commit) -> CommitRecord | None:
        """Says yes to every roll-back."""
        if commit.kind is CommitKind.ROLLBACK:
            return CommitRecord(commit.key, commit.kind, "commit-none", "revision-none")
        return super().settle(commit)


class Lying(OwnStore):
    """Says that it committed, and did not."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Nothing."""
        check()
        return CommitRecord(commit.key, commit.kind, "commit-none", commit.revision)

    def settle(self, commit: Commit) -> CommitRecord | None:
        """And says it again."""
        return CommitRecord(commit.key, commit.kind, "commit-none", commit.revision)
