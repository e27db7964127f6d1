"""The log of escalation decisions on a real store (ESCALATION AC6, AC7)."""

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.base.units import Duration
from consentry.decide.permissionaudit import EscalationDecision, EscalationRefusal
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
    """The mark of a decision for one run stands in the event only, whose subject is the task."""
    keepers.audit.log_escalation(REFUSED)
    [event] = events(keepers.ledger)
    assert event["type"] == "permission.escalation.decided"
    assert event["subject"] == "task:task-2"
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


def test_the_log_is_filtered(keepers: Keepers) -> None:
    """ESCALATION §log-4: by capability, decision and time, in whole seconds; of a limit the newest."""
    entries = []
    for number in range(4):
        entries += [keepers.audit.log_escalation(each) for each in (APPROVED, REFUSED)]
        pass_time(keepers, Duration(60_000 + number))
    get = keepers.audit.get_audit_log
    yes, no = entries[::2], entries[1::2]
    assert (list(get(approved=True)), list(get(approved=False))) == (yes, no)
    assert list(get("cap-1", approved=False)) == []
    assert list(get(since=yes[2].timestamp)) == entries[4:]
    assert list(get(until=yes[1].timestamp)) == entries[:4]
    within = get("task-2", since=yes[1].timestamp, until=yes[2].timestamp)
    assert list(within) == no[1:3]
    assert list(get(limit=3)) == entries[-3:]
    assert list(get("cap-1", limit=2)) == yes[-2:]
    assert list(get(limit=0)) == []
    assert list(get(limit=100)) == entries


def test_a_moment_within_a_second_is_that_second(keepers: Keepers) -> None:
    """The log has whole seconds, so an entry of half a second ago is found from now on."""
    entry = keepers.audit.log_escalation(APPROVED)
    assert entry.timestamp < keepers.clock.now()
    assert list(keepers.audit.get_audit_log(since=keepers.clock.now())) == [entry]
    assert list(keepers.audit.get_audit_log(until=keepers.clock.now())) == [entry]


@pytest.mark.parametrize(("ephemeral", "subject"), [(False, "capability:x"), (True, "task:x")])
def test_a_refusal_without_a_question_is_an_event_and_no_row(
    keepers: Keepers, subject: str, *, ephemeral: bool
) -> None:
    """ESCALATION §log-5: with its code, what was denied, and the execution."""
    refusal = EscalationRefusal(
        capability_id="x",
        from_set=PermissionSet.MINIMAL,
        code=Code.ESCALATION_CRITICAL,
        detected_operation="run",
        reason="PermissionDenied: Requires run access to /bin/sh",
        execution_id="execution-1",
        resource="/bin/sh",
        ephemeral=ephemeral,
    )
    refusal_id = keepers.audit.log_refusal(refusal)
    [event] = events(keepers.ledger)
    assert (event["type"], event["subject"]) == ("permission.escalation.refused", subject)
    assert event["payload"] == refusal.to_json(refusal_id)
    assert event["payload"]["code"] == "escalation-critical"
    assert list(keepers.audit.get_audit_log()) == []


def test_a_row_that_cannot_be_is_not_believed(keepers: Keepers) -> None:
    """And the way to repair the table is named."""
    keepers.audit.log_escalation(APPROVED)
    with keepers.ledger.database.writing() as transaction:
        transaction.run("UPDATE permission_audit_log SET to_set = 'everything'")
    with pytest.raises(LedgerProblem) as caught:
        keepers.audit.get_audit_log()
    assert caught.value.code == "ledger-corrupt"
    assert "rebuild" in caught.value.help_line
