"""The tables that follow from events: filled with them, and made again from them."""

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

import pytest

from consentry.base.canonical import Json
from consentry.base.clock import ManualClock
from consentry.base.errors import ConsentryError
from consentry.base.units import Duration
from consentry.record.envelope import Draft
from consentry.record.events import EventType
from consentry.store.database import Database, Row, Transaction, Value
from consentry.store.ledger import Ledger
from consentry.store.projections import PROJECTIONS
from consentry.store.rebuild import rebuild
from tests.decide.samples import DIGEST, NOW, OTHER_DIGEST, OTHER_MACHINE
from tests.record.samples import CONTEXT, Drafts
from tests.store.conftest import Store
from tests.store.keepers import Keepers, all_rows, pass_time
from tests.store.test_permissionaudit import APPROVED, REFUSED

TOKEN_TABLES = ("capability_token", "capability_budget")
NO_TOKENS = dict.fromkeys(TOKEN_TABLES, 0)
TABLES = ("permission_audit_log", "workflow_pattern")


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """On a clock that moves when told to."""
    return Keepers(ledger, ManualClock(NOW))


def saved(keepers: Keepers, pattern: str, version: int, **changes: Json) -> Draft:
    """The event of a saved capability."""
    payload: dict[str, Json] = {
        "id": pattern,
        "name": pattern,
        "language": "python",
        "code": f"print({version})\n",
        "codeHash": DIGEST,
        "version": version,
        "permissionSet": "minimal",
        "permissionConfidence": 0.95,
        "permissionSource": "emergent",
        "detectedPatterns": [{"call": "open", "count": 2}, "ä"],
        "createdAt": str(NOW),
        "updatedAt": str(keepers.clock.now()),
        **changes,
    }
    event_type = EventType.WORKFLOW_PATTERN_SAVED
    subject = f"capability:{pattern}"
    return Draft(
        keepers.ids.new("event"), event_type, keepers.clock.now(), subject, CONTEXT, payload
    )


def tables(database: Database) -> dict[str, list[Row]]:
    """All rows of both tables."""
    return all_rows(database, *TABLES)


def fill(keepers: Keepers) -> None:
    """A history in which both tables are written, among other events."""
    for number in range(1, 4):
        pass_time(keepers, Duration(1500))
        keepers.audit.log_escalation(APPROVED)
        keepers.audit.log_escalation(REFUSED)
        keepers.ledger.append(
            Drafts(keepers.ids).make(),
            saved(keepers, "cap-1", number, permissionSet="readonly"),
            saved(keepers, f"cap-{number + 1}", 1, permissionConfidence=1),
        )


def test_the_events_know_their_tables() -> None:
    """Every projection belongs to a type of event that exists."""
    assert set(PROJECTIONS) == {
        EventType.PERMISSION_ESCALATION_DECIDED,
        EventType.WORKFLOW_PATTERN_SAVED,
        EventType.CAPABILITY_MINTED,
        EventType.CAPABILITY_USED,
    }
    filled = {each.table for projections in PROJECTIONS.values() for each in projections}
    assert filled == {*TABLES, *TOKEN_TABLES}


def test_a_saved_capability_is_a_row_with_its_latest_version(keepers: Keepers) -> None:
    """Each column from its field; an older version that comes late changes nothing."""
    keepers.ledger.append(saved(keepers, "cap-1", 1))
    keepers.ledger.append(saved(keepers, "cap-1", 3, codeHash=OTHER_DIGEST))
    keepers.ledger.append(saved(keepers, "cap-1", 2))
    [row] = tables(keepers.ledger.database)["workflow_pattern"]
    assert row == (
        "cap-1",
        "cap-1",
        "python",
        "print(3)\n",
        OTHER_DIGEST,
        3,
        "minimal",
        0.95,
        "emergent",
        '[{"call":"open","count":2},"ä"]',
        str(NOW),
        str(NOW),
    )


def test_a_rebuilt_table_is_the_same(keepers: Keepers) -> None:
    """Row by row, as often as it is done, and the counts say so."""
    fill(keepers)
    before = tables(keepers.ledger.database)
    for _ in range(2):
        rebuilt = rebuild(keepers.ledger.database)
        assert tables(keepers.ledger.database) == before
        assert rebuilt.rows == {"permission_audit_log": 6, "workflow_pattern": 4, **NO_TOKENS}
        assert rebuilt.events == 12


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM permission_audit_log",
        "UPDATE permission_audit_log SET approved = 1, approved_by = 'me'",
        "UPDATE workflow_pattern SET permission_set = 'trusted', version = 99",
        "INSERT INTO permission_audit_log VALUES ('x', 1, 'c', 'a', 'b', 1, 'me', NULL, NULL)",
        "DELETE FROM workflow_pattern",
    ],
)
def test_a_table_changed_behind_our_back_is_repaired(keepers: Keepers, statement: str) -> None:
    """A deleted, changed or invented row."""
    fill(keepers)
    before = tables(keepers.ledger.database)
    with keepers.ledger.database.writing() as transaction:
        transaction.run(statement)
    assert tables(keepers.ledger.database) != before
    rebuild(keepers.ledger.database)
    assert tables(keepers.ledger.database) == before


def test_an_empty_ledger_rebuilds_to_nothing(keepers: Keepers) -> None:
    """And says so."""
    rebuilt = rebuild(keepers.ledger.database)
    assert rebuilt.rows == dict.fromkeys(TABLES, 0) | NO_TOKENS
    assert rebuilt.events == 0


def test_a_repeated_decision_is_refused_with_its_event(keepers: Keepers) -> None:
    """Its id is used once; neither row nor event is added."""
    keepers.audit.log_escalation(APPROVED)
    [row] = keepers.ledger.history.events()
    payload = json.loads(row.body)["payload"]
    draft = Draft(
        keepers.ids.new("event"),
        EventType.PERMISSION_ESCALATION_DECIDED,
        NOW,
        "capability:cap-1",
        CONTEXT,
        payload,
    )
    with pytest.raises(ConsentryError) as caught:
        keepers.ledger.append(draft)
    assert caught.value.code == "event-twice"
    assert len(list(keepers.ledger.history.events())) == 1


def test_rebuilding_while_others_append_loses_nothing(keepers: Keepers, store: Store) -> None:
    """Two machines write while a third clears and fills the tables again and again."""
    writers = [keepers, keepers.elsewhere(OTHER_MACHINE, store.open())]
    third = store.open()

    def write(mine: Keepers) -> None:
        for number in range(15):
            mine.audit.log_escalation(APPROVED)
            mine.ledger.append(saved(mine, f"{mine.machine_id}-{number}", 1))

    def clear_and_fill(_turn: int) -> None:
        for _ in range(5):
            rebuild(third)

    with ThreadPoolExecutor(3) as pool:
        running = [pool.submit(write, mine) for mine in writers]
        running.append(pool.submit(clear_and_fill, 1))
        for each in running:
            each.result()
    before = tables(third)
    assert {table: len(rows) for table, rows in before.items()} == dict.fromkeys(TABLES, 30)
    rebuild(third)
    assert tables(third) == before


class InterruptedDatabase:
    """A database whose writer is interrupted by somebody else after it cleared the tables."""

    def __init__(self, database: Database, interrupt: Callable[[], None]) -> None:
        self._database = database
        self._interrupt = interrupt

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """The same transaction, with the interruption before its first query."""
        with self._database.writing() as transaction:
            yield InterruptedTransaction(transaction, self._interrupt)  # type: ignore[misc]


class InterruptedTransaction:
    """Lets somebody else in once, between a statement and the first query after it."""

    def __init__(self, transaction: Transaction, interrupt: Callable[[], None]) -> None:
        self._transaction = transaction
        self._interrupt: Callable[[], None] | None = interrupt
        self.dialect = transaction.dialect
        self.run = transaction.run

    def rows(self, statement: str, parameters: tuple[Value, ...] = ()) -> Iterator[Row]:
        """The rows, after the interruption."""
        interrupt, self._interrupt = self._interrupt, None
        if interrupt is not None:
            interrupt()
        return self._transaction.rows(statement, parameters)


def test_an_event_that_comes_between_clearing_and_filling_waits(
    keepers: Keepers, store: Store
) -> None:
    """It is in the tables once, afterwards."""
    fill(keepers)
    other = keepers.elsewhere(OTHER_MACHINE, store.open())
    with ThreadPoolExecutor(1) as pool:
        running = []

        def interrupt() -> None:
            running.append(pool.submit(other.audit.log_escalation, APPROVED))
            wait(running, timeout=0.5)

        database: Any = InterruptedDatabase(store.open(), interrupt)
        rebuild(database)
        [added] = [each.result() for each in running]
    assert added in keepers.audit.get_audit_log()
    before = tables(keepers.ledger.database)
    assert len(before["permission_audit_log"]) == 7
    rebuild(keepers.ledger.database)
    assert tables(keepers.ledger.database) == before
