"""Following the ledger: every event once, in order, across writers, restarts and late beginnings."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.base.ids import Uuid7Ids
from consentry.service.audit import LogRequest
from consentry.service.following import PATIENCE_SECONDS, Following
from consentry.service.ledgers import ledger_for_reading
from consentry.store.history import Archived, EventFilter, History
from consentry.store.ledger import Ledger
from consentry.store.migrations import migrate
from consentry.store.postgres import PostgresDatabase
from consentry.store.sqlite import SqliteDatabase
from tests.record.samples import WRITER, Drafts
from tests.service.conftest import MakeAround
from tests.store.archiving import all_before, taken_out
from tests.store.postgresserver import PostgresServer

EVERYTHING = LogRequest(EventFilter())
OTHER = "machine-" + "2" * 32


class Steady:
    """A clock for waiting that a test sets."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        """What it was set to."""
        return self.seconds


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database will be."""
    return tmp_path / "ledger.db"


@pytest.fixture
def writer(path: Path) -> Iterator[Callable[[str], Ledger]]:
    """Opens the ledger as one machine or another."""
    opened: list[Ledger] = []

    def open_as(name: str) -> Ledger:
        database = SqliteDatabase(path)
        migrate(database)
        opened.append(Ledger(database, name))
        return opened[-1]

    yield open_as
    for ledger in opened:
        ledger.close()


@pytest.fixture
def drafts() -> Drafts:
    """Drafts, a second apart."""
    return Drafts(Uuid7Ids(SystemClock()))


def subjects(events: Sequence[Mapping[str, object]]) -> list[object]:
    """What they are about, in order."""
    return [event["subject"] for event in events]


def test_each_event_comes_once_and_in_order(
    path: Path, writer: Callable[[str], Ledger], drafts: Drafts
) -> None:
    """The latest at the beginning, then what is new, and nothing again."""
    ledger = writer(WRITER)
    ledger.append(drafts.make("a"), drafts.make("b"), drafts.make("c"))
    following = Following(lambda: History(SqliteDatabase(path)), EVERYTHING)
    assert subjects(following.begin(2)) == ["b", "c"]
    assert following.more() == []
    ledger.append(drafts.make("d"), drafts.make("e"))
    assert subjects(following.more()) == ["d", "e"]
    assert following.more() == []


def test_all_writers_are_followed_and_new_ones_too(
    path: Path, writer: Callable[[str], Ledger], drafts: Drafts
) -> None:
    """Between two chains the earlier time goes first; each chain stays in its own order."""
    first = writer(WRITER)
    first.append(drafts.make("1"))
    following = Following(lambda: History(SqliteDatabase(path)), EVERYTHING)
    following.begin(10)
    second = writer(OTHER)
    early, late = drafts.make("2"), drafts.make("3")
    first.append(late)
    second.append(early)
    assert subjects(following.more()) == ["2", "3"]


def test_only_what_fits_and_nothing_is_read_twice(
    path: Path, writer: Callable[[str], Ledger], drafts: Drafts
) -> None:
    """What does not fit is passed over for good, also when it is the last of a chain."""
    ledger = writer(WRITER)
    request = LogRequest(EventFilter(decision="denied"))
    ledger.append(drafts.make("a"), drafts.make("b", decision="denied"))
    following = Following(lambda: History(SqliteDatabase(path)), request)
    assert subjects(following.begin(10)) == ["b"]
    ledger.append(drafts.make("c", decision="denied"), drafts.make("d"))
    assert subjects(following.more()) == ["c"]
    assert following.more() == []


def test_a_ledger_that_appears_later_is_followed_from_its_first_event(
    around: MakeAround, home: Path, drafts: Drafts
) -> None:
    """Following begins before anything was recorded, and makes nothing itself."""
    where = around()
    following = Following(lambda: ledger_for_reading(where), EVERYTHING)
    assert following.begin(10) == []
    assert following.more() == []
    state = home / ".local/state/consentry"
    assert not state.exists()
    state.mkdir(parents=True, mode=0o700)
    database = SqliteDatabase(state / "ledger.db")
    assert following.more() == [], "a database without tables is not a ledger yet"
    migrate(database)
    Ledger(database, WRITER).append(drafts.make("first"))
    database.close()
    assert subjects(following.more()) == ["first"]


def test_what_was_archived_before_it_was_read_is_told_once(
    path: Path, writer: Callable[[str], Ledger], drafts: Drafts
) -> None:
    """Recorded and archived between two looks: how many, whose, and where they are; then no more."""
    ledger = writer(WRITER)
    ledger.append(drafts.make("1"))
    following = Following(lambda: History(SqliteDatabase(path)), EVERYTHING)
    assert subjects(following.begin(10)) == ["1"]
    ledger.append(drafts.make("2"), drafts.make("3"), drafts.make("4"))
    record = taken_out(ledger, drafts, all_before(4))
    assert subjects(following.more()) == ["4", record.archive_id]
    assert following.missed() == [Archived(WRITER, record.archive_id, 2, 2, 3)]
    assert (following.more(), following.missed()) == ([], [])


def test_what_was_read_before_it_was_archived_is_not_missed(
    path: Path, writer: Callable[[str], Ledger], drafts: Drafts
) -> None:
    """Only the event that records the archive is new."""
    ledger = writer(WRITER)
    ledger.append(drafts.make("1"))
    following = Following(lambda: History(SqliteDatabase(path)), EVERYTHING)
    following.begin(10)
    ledger.append(drafts.make("2"))
    assert subjects(following.more()) == ["2"]
    record = taken_out(ledger, drafts, all_before(3))
    assert subjects(following.more()) == [record.archive_id]
    assert following.missed() == []


def test_a_chain_that_became_shorter_is_an_error_at_once(
    path: Path, writer: Callable[[str], Ledger], drafts: Drafts
) -> None:
    """An older copy put in place must not be followed as if nothing had happened."""
    ledger = writer(WRITER)
    ledger.append(drafts.make("a"), drafts.make("b"))
    following = Following(lambda: History(SqliteDatabase(path)), EVERYTHING)
    following.begin(10)
    with ledger.database.writing() as transaction:
        transaction.run("DELETE FROM ledger_event WHERE seq = 2")
        transaction.run("UPDATE ledger_head SET seq = 1")
    with pytest.raises(LedgerProblem, match="had 2 events and now has 1") as caught:
        following.more()
    assert caught.value.code is Code.CHAIN_BROKEN


def test_a_ledger_that_stays_away_is_an_error_after_a_while(
    path: Path, writer: Callable[[str], Ledger], drafts: Drafts
) -> None:
    """Quiet until then; and the wait begins anew once it was back."""
    ledger = writer(WRITER)
    ledger.append(drafts.make("a"))
    steady = Steady()
    following = Following(lambda: History(SqliteDatabase(path)), EVERYTHING, steady)
    following.begin(10)
    ledger.close()
    away = path.rename(path.with_name("away.db"))
    assert following.more() == []
    steady.seconds += PATIENCE_SECONDS
    assert following.more() == []
    away.rename(path)
    assert following.more() == []
    path.rename(away)
    steady.seconds += 1
    assert following.more() == [], "it was back, so the wait began anew"
    steady.seconds += PATIENCE_SECONDS + 1
    with pytest.raises(LedgerProblem) as caught:
        following.more()
    assert caught.value.exit_status == 5


def test_what_cannot_be_read_at_the_beginning_is_told_at_once(path: Path) -> None:
    """A wrong place is not waited for."""
    path.write_bytes(b"not a database, but long enough to be looked at as one" * 20)
    following = Following(lambda: History(SqliteDatabase(path)), EVERYTHING)
    with pytest.raises(LedgerProblem):
        following.begin(10)


def test_a_server_that_restarts_loses_no_event(
    postgres_server: PostgresServer, postgres_url: str, drafts: Drafts
) -> None:
    """Quiet while it is away; what was recorded before and after comes once."""
    database = PostgresDatabase(postgres_url)
    migrate(database)
    ledger, other = Ledger(database, WRITER), Ledger(PostgresDatabase(postgres_url), OTHER)
    ledger.append(drafts.make("a"))
    following = Following(lambda: History(PostgresDatabase(postgres_url)), EVERYTHING)
    assert subjects(following.begin(10)) == ["a"]
    ledger.append(drafts.make("b"))
    postgres_server.stop()
    assert following.more() == []
    postgres_server.start()
    other.append(drafts.make("c"))
    assert subjects(following.more()) == ["b", "c"]
    other.close()
    ledger.close()
