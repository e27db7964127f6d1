"""Proofs from the ledger: of every event, also of archived ones, on both stores."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem, UsageProblem
from consentry.base.ids import Uuid7Ids
from consentry.record.checkpoint import Checkpoint, make_checkpoint, make_head
from consentry.record.proof import verify_inclusion_proof
from consentry.service.proofs import prove_event, prove_growth, require_event
from consentry.store.database import Database, Dialect
from consentry.store.history import History
from consentry.store.keyfile import LedgerKey, open_key
from consentry.store.ledger import Ledger
from consentry.store.migrations import migrate
from consentry.store.postgres import PostgresDatabase
from consentry.store.sqlite import SqliteDatabase
from tests.record.samples import WRITER, Drafts

OTHER = "machine-" + "2" * 32
ARCHIVE = (
    "INSERT INTO archived_event (writer, seq, hash, event_id, archive_id) "
    "SELECT writer, seq, hash, event_id, 'archive' FROM ledger_event WHERE seq <= 3"
)


@pytest.fixture(params=list(Dialect), ids=str)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database of each kind, with its tables."""
    opened: Database
    if request.param is Dialect.SQLITE:
        opened = SqliteDatabase(tmp_path / "ledger.db")
    else:
        opened = PostgresDatabase(request.getfixturevalue("postgres_url"))
    migrate(opened)
    yield opened
    opened.close()


@pytest.fixture
def key(tmp_path: Path) -> LedgerKey:
    """A key that signs."""
    (tmp_path / "keys").mkdir(mode=0o700)
    return open_key(tmp_path / "keys/key")


@pytest.fixture
def events(database: Database) -> list[str]:
    """The ids of nine events by two writers."""
    drafts = Drafts()
    made = [drafts.make(n=number) for number in range(9)]
    Ledger(database, WRITER).append(*made[:5])
    Ledger(database, OTHER).append(*made[5:])
    return [draft.event_id for draft in made]


def signed(history: History, key: LedgerKey) -> Checkpoint:
    """A checkpoint over both chains as they are."""
    clock = SystemClock()
    heads = [
        make_head(head.writer, history.hashes(head.writer, head.seq)) for head in history.heads()
    ]
    store = history.store_id()
    return make_checkpoint(heads, clock=clock, ids=Uuid7Ids(clock), store_id=store, signer=key)


def test_every_event_can_be_proven_also_when_it_was_archived(
    database: Database, events: list[str], key: LedgerKey
) -> None:
    """In a checkpoint from before the archiving and in one from after it."""
    history = History(database)
    before = signed(history, key)
    with database.writing() as transaction:
        transaction.run(ARCHIVE)
        transaction.run("DELETE FROM ledger_event WHERE seq <= 3")
    after = signed(history, key)
    assert after.root == before.root, "an archived event keeps its place and hash"
    for event_id in events:
        _, place = require_event(history, event_id)
        for checkpoint in (before, after):
            proof = prove_event(history, place, checkpoint)
            verify_inclusion_proof(proof, key.public, event=place.hash)


def test_what_the_ledger_does_not_have_is_not_proven(
    database: Database, events: list[str], key: LedgerKey
) -> None:
    """An unknown id, and a checkpoint of another ledger."""
    history = History(database)
    with pytest.raises(UsageProblem) as unknown:
        require_event(history, "event-unknown")
    assert unknown.value.code is Code.EVENT_UNKNOWN
    mine = signed(history, key)
    with database.writing() as transaction:
        transaction.run("UPDATE store_identity SET id = 'store-of-another'")
    _, place = require_event(history, events[0])
    for prove in (
        lambda: prove_event(history, place, mine),
        lambda: prove_growth(history, mine, mine),
    ):
        with pytest.raises(LedgerProblem, match="of another ledger"):
            prove()
    with pytest.raises(LedgerProblem, match="is not here"):
        prove_growth(None, mine, mine)


def test_growth_is_proven_and_a_rewritten_history_is_not(
    database: Database, events: list[str], key: LedgerKey
) -> None:
    """The attack: other hashes for the events that the first checkpoint saw."""
    assert events
    history = History(database)
    old = signed(history, key)
    more = Drafts(Uuid7Ids(SystemClock()))
    Ledger(database, WRITER).append(more.make(), more.make())
    new = signed(history, key)
    assert prove_growth(history, old, new).new == new
    with database.writing() as transaction:
        transaction.run("UPDATE ledger_event SET hash = ? WHERE seq = 2", ("sha256:" + "0" * 64,))
    with pytest.raises(BadInput) as caught:
        prove_growth(history, old, signed(history, key))
    assert caught.value.code is Code.PROOF
