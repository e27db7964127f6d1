"""Who can carry a transaction out: any program that has the ledger, or the host alone."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.decide.documentstore import Commit, CommitRecord, DocumentStore, Snapshot
from consentry.decide.statechange import EntityName
from consentry.decide.txattempt import Attempt
from consentry.decide.txparts import DocumentKeeper
from consentry.service.modulehost import ModuleHost
from consentry.store.documents import StoredDocument
from consentry.store.migrations import migrate
from consentry.store.sqlite import SqliteDatabase


class Wrapped:
    """A host's own store; that it writes to another one is nobody's business."""

    def __init__(self, inner: DocumentStore) -> None:
        self._inner = inner
        self.document_id = inner.document_id

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:
        """As the other says."""
        return self._inner.read(names)

    def commit(self, commit: Commit, check: Callable[[], None]) -> CommitRecord:
        """As the other does."""
        return self._inner.commit(commit, check)

    def settle(self, commit: Commit) -> CommitRecord | None:
        """As the other says."""
        return self._inner.settle(commit)


def changed(home: Path, **options: Any) -> Attempt:
    """The attempt at one change by a host with that store."""
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    with ModuleHost(environ, "note-board", "1.0.0", **options) as host:
        return host.change([{"op": "add", "path": "/notes/one", "value": {}}], "Add")


def test_a_document_beside_the_ledger_is_within_reach_of_every_program(tmp_path: Path) -> None:
    """And the attempt says so, also when it is read again."""
    attempt = changed(tmp_path)
    assert attempt.keeper is DocumentKeeper.BUILT_IN
    assert Attempt.from_json(attempt.to_json()) == attempt
    assert attempt.to_json()["keeper"] == "built-in"


@pytest.mark.parametrize("is_wrapped", [True, False])
def test_what_a_host_keeps_itself_is_out_of_reach_for_others(
    tmp_path: Path,
    is_wrapped: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """A store of its own, and one of ours in another database: nobody else would find its commits."""
    database = SqliteDatabase(tmp_path / "own.db")
    migrate(database)
    clock = SystemClock()
    own: DocumentStore = StoredDocument(database, clock, Uuid7Ids(clock), "own-notes")
    try:
        attempt = changed(tmp_path, document=Wrapped(own) if is_wrapped else own)
        assert attempt.keeper is DocumentKeeper.HOST
    finally:
        database.close()
