"""What a transaction costs: applying it beside the bare commit of the same rows, and its preview by size.

The yardstick of an apply is one durable transaction of bare sqlite3, or of the server, that puts the same
hundred rows into a table of the same shape. An apply writes them, too, and besides: that it begins, with its
approval and the use of the capability, and that it ended, each with its event and each on disk before the next;
and it reads the approval, the journal and the document, and reads back what was written. How much of it is the
disk is seen where nothing waits for it. A preview is worked out at sizes ten times apart.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter_ns
from typing import Final

from bench import signoff
from bench.modulestores import BY, Ground, typical
from bench.report import Sample, heading, row
from consentry.base.canonical import Json
from consentry.base.clock import SystemClock
from consentry.base.values import replace
from consentry.decide.moduleregistration import ACTION_PREFIX
from consentry.decide.statechange import Operation, read_operations, worked_out
from consentry.decide.txattempt import Attempt
from consentry.decide.txparts import TxOrigin
from consentry.decide.txpreview import NO_REVISION, PreviewTerms, preview_of
from consentry.declare.requiredcapabilities import WRITES
from consentry.record.transactionstates import TransactionState
from consentry.service.transactionplace import TxPlace
from consentry.service.transactions import Transactions
from consentry.service.transactionwatch import ModuleWatch
from consentry.store.database import Database
from consentry.store.documents import StoredDocument
from consentry.store.migrations import migrate
from consentry.store.postgres import PostgresDatabase
from consentry.store.sqlite import SqliteDatabase

ENTRIES: Final = 100
SIZES: Final = (100, 1_000, 10_000)
ROUNDS: Final = 200
TARGET, LINEAR = 6.0, 1.5
_TABLE: Final = (
    "CREATE TABLE document_entity (document_id TEXT NOT NULL, entity_type TEXT NOT NULL, entity_id TEXT "
    "NOT NULL, value TEXT NOT NULL, PRIMARY KEY (document_id, entity_type, entity_id)) STRICT"
)
_PUT: Final = (
    "INSERT INTO document_entity (document_id, entity_type, entity_id, value) VALUES (?, ?, ?, ?) "
    "ON CONFLICT (document_id, entity_type, entity_id) DO UPDATE SET value = excluded.value"
)


class _Unsynced(SqliteDatabase):
    """Commits, and does not wait for the disk; only to see what the disk takes."""

    def sync(self) -> None:
        """Returns at once."""


def run() -> bool:
    """Prints the tables; returns whether every target is met."""
    with TemporaryDirectory(dir=Path.cwd()) as folder:
        place = Path(folder).resolve()
        met = [_applied(place), _previewed(), _on_a_server()]
    met.append(signoff.run())
    return all(met)


def _applied(place: Path) -> bool:
    heading(f"apply of {ENTRIES} entries on SQLite ({ROUNDS} rounds, in turns)")
    with (
        _store(place / "tx.db", SqliteDatabase) as database,
        _store(place / "unsynced.db", _Unsynced) as unsynced,
        closing(_bare(place / "bare.db")) as bare,
    ):
        bare.execute(_TABLE)
        numbers, base, back = count(1), list[int](), list[int]()
        changes = {
            "own": Changes(database),
            "module": Changes(database, by_module=True),
            "unsynced": Changes(unsynced, by_module=True),
        }
        taken: dict[str, list[int]] = {name: [] for name in changes}
        for _ in range(ROUNDS + 1):
            base.append(_spent(partial(_put, bare, next(numbers))))
            for name, each in changes.items():
                attempt = each.proposed(next(numbers))
                taken[name].append(_spent(partial(each.applied, attempt)))
                if name == "own":
                    back.append(_spent(partial(each.taken_back, attempt)))
    rows = _sample(base)
    row(f"bare sqlite3: {ENTRIES} rows, one durable commit", rows)
    met = row("apply, the application's own", _sample(taken["own"]), rows, TARGET)
    met &= row("apply, a module's, its grants looked at", _sample(taken["module"]), rows, TARGET)
    row("the same, without waiting for the disk", _sample(taken["unsynced"]), rows)
    row("roll-back", _sample(back), rows)
    return met


def _on_a_server() -> bool:
    heading(f"apply of {ENTRIES} entries on PostgreSQL, by a socket ({ROUNDS} rounds, in turns)")
    try:
        from tests.store.postgresserver import NoServer, PostgresServer  # noqa: PLC0415 - an extra
    except ImportError:
        print("left out: the driver is not installed")
        return True
    try:
        server = PostgresServer()
    except NoServer as reason:
        print(f"left out: {reason}")
        return True
    with closing(server), closing(PostgresDatabase(server.url())) as database:
        migrate(database)
        numbers, changes = count(1), Changes(database, by_module=True)
        base, taken = list[int](), list[int]()
        for _ in range(ROUNDS + 1):
            base.append(_spent(partial(_put_there, database, next(numbers))))
            attempt = changes.proposed(next(numbers))
            taken.append(_spent(partial(changes.applied, attempt)))
    rows = _sample(base)
    row(f"bare: {ENTRIES} rows, one durable commit", rows)
    return row("apply, a module's, its grants looked at", _sample(taken), rows, TARGET)


def _previewed() -> bool:
    heading("preview by size (each entry the same, 5 rounds, in turns)")
    taken: dict[int, list[int]] = {size: [] for size in SIZES}
    asked = {size: read_operations(_operations(1, size)) for size in SIZES}
    terms = PreviewTerms("tx-bench", 1, "host", NO_REVISION, SystemClock().now())
    for _ in range(6):
        for size, operations in asked.items():
            taken[size].append(_spent(partial(_shown, terms, operations)))
    for size in SIZES:
        row(f"{size:,} entries", _sample(taken[size]))
    each = {size: _sample([spent // size for spent in taken[size]]) for size in SIZES}
    row(f"one of {SIZES[1]:,}", each[SIZES[1]])
    return row(f"one of {SIZES[2]:,}, beside it", each[SIZES[2]], each[SIZES[1]], LINEAR)


class Changes:
    """A host's transactions on one store; every one changes the same entities once more."""

    def __init__(self, database: Database, *, by_module: bool = False) -> None:
        ground = Ground(database)
        journal, name = ground.journal, "of-module" if by_module else "own"
        document = StoredDocument(database, journal.clock, journal.ids, name)
        place = TxPlace(journal, document)
        self._origin = TxOrigin(ground.host.host_id, BY, "change notes")
        if by_module:
            ground.import_module(typical(0))
            ground.grant([WRITES])
            watch = ModuleWatch(ground.host, ground.gate, ground.checks, journal)
            place = replace(place, watch=watch)
            self._origin = replace(
                self._origin,
                module=ground.standing().identity,
                action_id="add",
                action_run_id=journal.ids.new(ACTION_PREFIX),
                commands=("notes.add",),
                needed=(WRITES,),
                session_id=journal.context.session_id,
            )
        self._transactions = Transactions(place, ground.desk)
        self._has_any = False

    def proposed(self, number: int) -> Attempt:
        """One more change, approved."""
        operations = read_operations(_operations(number, ENTRIES, replacing=self._has_any))
        attempt = self._transactions.propose(self._origin, operations)
        self._require(attempt, TransactionState.APPROVED)
        return attempt

    def applied(self, attempt: Attempt) -> None:
        """Carries it out."""
        self._require(self._transactions.apply(attempt.tx_id), TransactionState.APPLIED)
        self._has_any = True

    def taken_back(self, attempt: Attempt) -> None:
        """Takes it back."""
        after = self._transactions.roll_back(attempt.tx_id)
        self._require(after, TransactionState.ROLLED_BACK)
        self._has_any = False

    def _require(self, attempt: Attempt, state: TransactionState) -> None:
        if attempt.state is not state:
            raise RuntimeError(f"the bench's transaction is {attempt.state}: {attempt.error}")


def _operations(number: int, size: int, *, replacing: bool = False) -> list[Json]:
    op = "replace" if replacing else "add"
    return [
        {"op": op, "path": f"/notes/n{at}", "value": {"text": _text(number, at)}}
        for at in range(size)
    ]


def _text(number: int, at: int) -> str:
    return f"note {at} in round {number}: water the plants on Friday"


def _rows(name: str, number: int) -> list[tuple[str, str, str, str]]:
    return [(name, "notes", f"n{at}", f'{{"text":"{_text(number, at)}"}}') for at in range(ENTRIES)]


def _put(connection: sqlite3.Connection, number: int) -> None:
    rows = _rows("bench", number)
    connection.execute("BEGIN IMMEDIATE")
    for each in rows:
        connection.execute(_PUT, each)
    connection.execute("COMMIT")


def _put_there(database: Database, number: int) -> None:
    rows = _rows("bare", number)
    with database.writing() as transaction:
        for each in rows:
            transaction.run(_PUT, each)


def _shown(terms: PreviewTerms, operations: Sequence[Operation]) -> None:
    preview_of(terms, worked_out({}, operations))


def _sample(taken: Sequence[int]) -> Sample:
    """What was taken but for the first, which warms up."""
    return Sample("", tuple(taken[1:]))


def _spent(what: Callable[[], object]) -> int:
    begun = perf_counter_ns()
    what()
    return perf_counter_ns() - begun


@contextmanager
def _store(path: Path, kind: Callable[[Path], SqliteDatabase]) -> Iterator[SqliteDatabase]:
    database = kind(path)
    with closing(database):
        migrate(database)
        yield database


def _bare(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection
