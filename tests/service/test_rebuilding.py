"""Tables are filled anew from sound events only, and the ledger says that it was done."""

import json
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.record.events import EventType
from consentry.service.rebuilding import rebuild_tables
from consentry.service.retention import retain
from tests.service.retaining import Keeping
from tests.store.archiving import count_of
from tests.store.conftest import Store


@pytest.fixture
def keeping(store: Store) -> Keeping:
    """Other events, a decision and a saved capability."""
    made = Keeping(store.open())
    made.happens(3)
    made.happens(kind=EventType.PERMISSION_ESCALATION_DECIDED)
    made.happens(kind=EventType.WORKFLOW_PATTERN_SAVED)
    made.happens(3)
    return made


def emptied(keeping: Keeping) -> None:
    """Both tables are cleared behind the ledger's back."""
    with keeping.journal.database.writing() as transaction:
        transaction.run("DELETE FROM permission_audit_log")
        transaction.run("DELETE FROM workflow_pattern")


def test_the_tables_are_filled_and_it_is_recorded(keeping: Keeping) -> None:
    """As an event of its own behind the others."""
    emptied(keeping)
    rebuilt = rebuild_tables(keeping.journal)
    assert rebuilt.rows == {
        "permission_audit_log": 1,
        "workflow_pattern": 1,
        "capability_token": 0,
        "capability_budget": 0,
    }
    assert count_of(keeping.journal.database, "permission_audit_log") == 1
    assert keeping.days() == list(range(1, 10))
    [last] = [row for row in keeping.journal.ledger.history.events() if row.seq == 9]
    event = json.loads(last.body)
    assert event["type"] == "ledger.rebuilt"
    assert event["payload"] == {
        "tables": [
            "capability_budget",
            "capability_token",
            "permission_audit_log",
            "workflow_pattern",
        ],
        "events": 2,
    }


def test_after_archiving_the_tables_can_still_be_filled(keeping: Keeping, tmp_path: Path) -> None:
    """The events they follow from never leave the ledger."""
    retain(keeping.journal, keeping.age("0s"), str(tmp_path / "old.jsonl"))
    emptied(keeping)
    assert rebuild_tables(keeping.journal).events == 2
    assert count_of(keeping.journal.database, "workflow_pattern") == 1


def test_from_a_broken_chain_nothing_is_filled(keeping: Keeping) -> None:
    """The tables stay as they are."""
    emptied(keeping)
    with keeping.journal.database.writing() as transaction:
        transaction.run("DELETE FROM ledger_event WHERE seq = 2")
    with pytest.raises(LedgerProblem) as caught:
        rebuild_tables(keeping.journal)
    assert caught.value.code is Code.CHAIN_BROKEN
    assert count_of(keeping.journal.database, "permission_audit_log") == 0
