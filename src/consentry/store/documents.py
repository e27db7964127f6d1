"""The document store that comes with the product: entities as rows, beside the ledger (CONTRACTS §3).

A commit is one transaction of the database: the row of its key first, so that of two that have the same key
one waits and is told what became of the other; then the revision, compared and moved; then the entities. It
is durable when `commit` returns. A key that is given up gets the same row, with the word for it, so nothing
can ever be committed under it.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Final, TypeAlias

from consentry.base.canonical import Json, read_canonical
from consentry.base.clock import Clock
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.base.frozenjson import thawed
from consentry.base.ids import IdSource
from consentry.decide.documentstore import (
    BeforeWrite,
    Commit,
    CommitKind,
    CommitRecord,
    DocumentStore,
    KeyGivenUp,
    Snapshot,
    StoreConflict,
)
from consentry.decide.statechange import Absent, EntityName, EntityWrite
from consentry.decide.txparts import DocumentKeeper
from consentry.decide.txpreview import NO_REVISION
from consentry.store.database import Database, Row, Transaction, Value

COMMIT_PREFIX: Final = "commit"
_GIVEN_UP: Final = "given-up"
_AT_A_TIME: Final = 200
_WRITTEN_AT_ONCE: Final = 32
_REVISION: Final = "SELECT revision FROM document WHERE document_id = ?"
_ALL: Final = "SELECT entity_type, entity_id, value FROM document_entity WHERE document_id = ?"
_KEY: Final = "SELECT kind, commit_id, revision FROM document_commit WHERE commit_key = ?"
_TAKE_KEY: Final = (
    "INSERT INTO document_commit (commit_key, document_id, kind, commit_id, tx_id, attempt_no, "
    "base_revision, revision, committed_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_NEW: Final = "INSERT INTO document (document_id, revision, changed_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
_MOVE: Final = (
    "UPDATE document SET revision = ?, changed_at = ? WHERE document_id = ? AND revision = ?"
)
_PUT: Final = (
    "INSERT INTO document_entity (document_id, entity_type, entity_id, value) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (document_id, entity_type, entity_id) DO UPDATE SET value = excluded.value"
)
_DROP: Final = (
    "DELETE FROM document_entity WHERE document_id = ? AND entity_type = ? AND entity_id = ?"
)


_Row: TypeAlias = tuple[str, tuple[Value, ...]]
_encoded: Final = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":")
).encode
"""A value as it is kept; what it is hashed as is made elsewhere."""


class StoredDocument:
    """One document of one database."""

    def __init__(self, database: Database, clock: Clock, ids: IdSource, document_id: str) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids
        self._document_id = document_id

    @property
    def document_id(self) -> str:
        """Its name."""
        return self._document_id

    def lies_in(self, database: Database) -> bool:
        """Whether it is kept in that very database."""
        return self._database is database

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:
        """The document, or of its entities only these, at one moment."""
        with self._database.reading() as view:
            revision = self._revision(view)
            if names is None:
                rows = list(view.rows(_ALL, (self._document_id,)))
            else:
                rows = [row for part in _parts(names) for row in self._some(view, *part)]
        entities = {EntityName(str(one), str(two)): _value(text) for one, two, text in rows}
        return Snapshot(revision, entities)

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Makes it so, whole and durably."""
        now, commit_id = str(self._clock.now()), self._ids.new(COMMIT_PREFIX)
        # Written out before the transaction, which others wait for.
        rows = [self._statement(each) for each in commit.writes]
        with self._database.committing() as transaction:
            check()
            earlier = self._taken(transaction, commit, commit.kind.value, commit_id, now)
            if earlier is None:
                self._move(transaction, commit, now)
                _write(transaction, rows, check)
        self._database.sync()
        return earlier or CommitRecord(commit.key, commit.kind, commit_id, commit.revision)

    def settle(self, commit: Commit) -> CommitRecord | None:
        """What became of the key, for good; None where it is given up from now on."""
        now = str(self._clock.now())
        try:
            with self._database.committing() as transaction:
                found = self._taken(transaction, commit, _GIVEN_UP, _GIVEN_UP, now)
        except KeyGivenUp:
            found = None
        self._database.sync()
        return found

    def _taken(
        self, transaction: Transaction, commit: Commit, kind: str, commit_id: str, now: str
    ) -> CommitRecord | None:
        """Takes the key; or what was committed under it before. Raises where it was given up."""
        row = (
            commit.key,
            self._document_id,
            kind,
            commit_id,
            commit.tx_id,
            commit.attempt_no,
            commit.base_revision,
            commit.revision,
            now,
        )
        if transaction.run(_TAKE_KEY, row) == 1:
            return None
        ((found, earlier_id, revision),) = transaction.rows(_KEY, (commit.key,))
        if found == _GIVEN_UP:
            raise KeyGivenUp(commit.key)
        return CommitRecord(commit.key, CommitKind(str(found)), str(earlier_id), str(revision))

    def _move(self, transaction: Transaction, commit: Commit, now: str) -> None:
        transaction.run(_NEW, (self._document_id, NO_REVISION, now))
        values = (commit.revision, now, self._document_id, commit.base_revision)
        if transaction.run(_MOVE, values) != 1:
            found = self._revision(transaction)
            raise StoreConflict(self._document_id, found, commit.base_revision)

    def _statement(self, write: EntityWrite) -> _Row:
        place = (self._document_id, *write.name)
        if isinstance(write.after, Absent):
            return _DROP, place
        return _PUT, (*place, _encoded(thawed(write.after)))

    def _revision(self, view: Transaction) -> str:
        for (revision,) in view.rows(_REVISION, (self._document_id,)):
            return str(revision)
        return NO_REVISION

    def _some(self, view: Transaction, entity_type: str, ids: Sequence[str]) -> list[Row]:
        marks = ", ".join("?" for _ in ids)
        query = f"{_ALL} AND entity_type = ? AND entity_id IN ({marks})"
        return list(view.rows(query, (self._document_id, entity_type, *ids)))


def keeper_of(document: DocumentStore, database: Database) -> DocumentKeeper:
    """Whether any program that has this ledger can reach the document, or only its host."""
    is_beside_it = type(document) is StoredDocument and document.lies_in(database)
    return DocumentKeeper.BUILT_IN if is_beside_it else DocumentKeeper.HOST


def _write(transaction: Transaction, rows: Sequence[_Row], check: BeforeWrite) -> None:
    """Writes some rows at a time; of each it was asked before, but for the first, which was before all."""
    for start in range(0, len(rows), _WRITTEN_AT_ONCE):
        part = rows[start : start + _WRITTEN_AT_ONCE]
        for _ in part[0 if start else 1 :]:
            check()
        for statement, alike in groupby(part, key=itemgetter(0)):
            transaction.run_many(statement, [values for _, values in alike])
    check()


def _parts(names: Iterable[EntityName]) -> Iterator[tuple[str, list[str]]]:
    """Ids of one type, some hundred at a time: asked for so, an index finds them."""
    for entity_type, alike in groupby(sorted(set(names)), key=lambda name: name.entity_type):
        ids = (name.entity_id for name in alike)
        while part := list(islice(ids, _AT_A_TIME)):
            yield entity_type, part


def _value(text: Value) -> Json:
    try:
        found: Json = read_canonical(str(text))
    except (ValueError, RecursionError) as problem:
        message = f"a row of `document_entity` cannot be believed: {problem}"
        raise LedgerProblem(Code.LEDGER_CORRUPT, message) from problem
    return found
