"""The log of escalation decisions on a real store (ESCALATION AC6, AC7)."""

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.base.errors import LedgerProblem
from consentry.base.units import Duration
from consentry.decide.permissionaudit import EscalationDecision
from consentry.store.database import Dialect
from consentry.store.ledger import Ledger
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import NOW, OWNER
from tests.store.conftest import Store
from tests.store.keepers import Keepers, all_rows, events, pass_time

APPROVED = EscalationDecision(
    capability_id="cap-1",
    from_set=PermissionSet.MINIMAL,
    to_set=PermissionSet.NETWORK_API,
    approved=True,
    approved_by=OWNER,
    reason="PermissionDenied: Requires net access to api.example.com",
    detected_operation="net",
)
REFUSED = EscalationDecision(
    "task-2", PermissionSet.MINIMAL, PermissionSet.TRUSTED, approved=False, approved_by=None,
    ephemeral=True,
)  # fmt: skip
COLUMNS = (
    "id",
    "timestamp",
    "capability_id",
    "from_set",
    "to_set",
    "approved",
    "approved_by",
    "reason",
    "detected_operation",
)


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """On a clock that moves when told to."""
    return Keepers(ledger, ManualClock(Instant(NOW.unix_ms + 789)))


def test_every_decision_is_logged_and_found(keepers: Keepers) -> None:
    """Approved or not, oldest first, of one capability or of all."""
    first = keepers.audit.log_escalation(APPROVED)
    pass_time(keepers, Duration(1000))
    second = keepers.audit.log_escalation(REFUSED)
    assert list(keepers.audit.get_audit_log()) == [first, second]
    assert list(keepers.audit.get_audit_log("cap-1")) == [first]
    assert list(keepers.audit.get_audit_log("task-2")) == [second]
    assert list(keepers.audit.get_audit_log("other")) == []
    assert (first.approved, first.approved_by, second.approved) == (True, OWNER, False)
    assert (first.reason, first.detected_operation) == (APPROVED.reason, "net")


def test_the_row_follows_from_the_event(keepers: Keepers) -> None:
    """The mark of a decision for one run stands in the event only."""
    keepers.audit.log_escalation(REFUSED)
    [event] = events(keepers.ledger)
    assert event["type"] == "permission.escalation.decided"
    assert event["subject"] == "capability:task-2"
    assert event["payload"]["ephemeral"] is True


def test_the_table_has_the_documents_columns_and_indexes(keepers: Keepers, store: Store) -> None:
    """The time is in whole seconds, approved is 0 or 1."""
    keepers.audit.log_escalation(APPROVED)
    with keepers.ledger.database.reading() as view:
        if store.dialect is Dialect.SQLITE:
            columns = view.rows("SELECT name FROM pragma_table_info('permission_audit_log')")
            indexed = view.rows(
                "SELECT i.name FROM pragma_index_list('permission_audit_log') l, "
                "pragma_index_info(l.name) i"
            )
        else:
            columns = view.rows(
                "SELECT column_name FROM information_schema.columns "
                "WHERE table_name = 'permission_audit_log' ORDER BY ordinal_position"
            )
            indexed = view.rows(
                "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indexrelid "
                "WHERE i.indrelid = 'permission_audit_log'::regclass"
            )
        assert tuple(str(name) for (name,) in columns) == COLUMNS
        assert {str(name) for (name,) in indexed} == {"id", "capability_id", "timestamp"}
    [[row]] = all_rows(keepers.ledger.database, "permission_audit_log").values()
    assert (row[1], row[5]) == (NOW.unix_ms // 1000, 1)


def test_a_row_that_cannot_be_is_not_believed(keepers: Keepers) -> None:
    """And the way to repair the table is named."""
    keepers.audit.log_escalation(APPROVED)
    with keepers.ledger.database.writing() as transaction:
        transaction.run("UPDATE permission_audit_log SET to_set = 'everything'")
    with pytest.raises(LedgerProblem) as caught:
        keepers.audit.get_audit_log()
    assert caught.value.code == "ledger-corrupt"
    assert "rebuild" in caught.value.help_line
