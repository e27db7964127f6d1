"""The table of escalation decisions as its document lays it out, on both databases (ESCALATION AC6)."""

import pytest

from consentry.base.clock import ManualClock
from consentry.base.errors import LedgerProblem
from consentry.decide.identity import SYSTEM
from consentry.decide.permissionaudit import EscalationDecision
from consentry.store.database import Database, Dialect, Value
from consentry.store.ledger import Ledger
from consentry.store.migrations import NEWEST, migrate
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import NOW, OWNER
from tests.store.conftest import Store
from tests.store.keepers import Keepers, all_rows

TABLE = "permission_audit_log"
MADE_BY = 4
"""The version of the database that brings the table."""

COLUMNS = (
    ("id", "text", "required"),
    ("timestamp", "whole", "required"),
    ("capability_id", "text", "required"),
    ("from_set", "text", "required"),
    ("to_set", "text", "required"),
    ("approved", "whole", "required"),
    ("approved_by", "text", "optional"),
    ("reason", "text", "optional"),
    ("detected_operation", "text", "optional"),
)
_WORDS = {"TEXT": "text", "INTEGER": "whole", "text": "text", "bigint": "whole"}
_COLUMNS = {
    # A primary key of a strict table refuses null, whether or not the table's text says so.
    Dialect.SQLITE: "SELECT name, type, \"notnull\" OR pk FROM pragma_table_info('permission_audit_log')",
    Dialect.POSTGRESQL: (
        "SELECT column_name, data_type, (is_nullable = 'NO')::int FROM information_schema.columns "
        "WHERE table_name = 'permission_audit_log' ORDER BY ordinal_position"
    ),
}
_KEY = {
    Dialect.SQLITE: "SELECT name FROM pragma_table_info('permission_audit_log') WHERE pk > 0",
    Dialect.POSTGRESQL: (
        "SELECT a.attname FROM pg_index i "
        "JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey) "
        "WHERE i.indisprimary AND i.indrelid = 'permission_audit_log'::regclass"
    ),
}
_INDEXES = {
    Dialect.SQLITE: (
        "SELECT l.name, i.name FROM pragma_index_list('permission_audit_log') l, pragma_index_info(l.name) i "
        "WHERE l.origin = 'c' ORDER BY 1"
    ),
    Dialect.POSTGRESQL: (
        "SELECT c.relname, a.attname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
        "JOIN pg_attribute a ON a.attrelid = i.indexrelid "
        "WHERE NOT i.indisprimary AND i.indrelid = 'permission_audit_log'::regclass ORDER BY 1"
    ),
}
_TABLES = {
    Dialect.SQLITE: "SELECT name FROM sqlite_schema WHERE type = 'table'",
    Dialect.POSTGRESQL: "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
}
_INSERT = "INSERT INTO permission_audit_log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
ROW: dict[str, Value] = {
    "id": "escalation-1",
    "timestamp": 1_767_268_800,
    "capability_id": "cap-1",
    "from_set": "minimal",
    "to_set": "network-api",
    "approved": 1,
    "approved_by": "local:1000:user@host",
    "reason": "PermissionDenied: Requires net access to api.example.com",
    "detected_operation": "net",
}


@pytest.fixture
def database(store: Store) -> Database:
    """An opening of the store."""
    return store.open()


def answers(database: Database, queries: dict[Dialect, str]) -> list[tuple[str, ...]]:
    """What the database itself says."""
    with database.reading() as view:
        return [tuple(map(str, row)) for row in view.rows(queries[view.dialect])]


def columns(database: Database) -> tuple[tuple[str, str, str], ...]:
    """Name, type and whether null is refused, of every column."""
    required = {"0": "optional", "1": "required"}
    found = answers(database, _COLUMNS)
    return tuple((name, _WORDS[kind], required[refuses]) for name, kind, refuses in found)


def insert(database: Database, **changes: Value) -> None:
    """Adds the row, with these columns changed."""
    with database.writing() as transaction:
        transaction.run(_INSERT, tuple({**ROW, **changes}.values()))


def has_table(database: Database) -> bool:
    """Whether the table is there."""
    return (TABLE,) in answers(database, _TABLES)


def require_as_documented(database: Database) -> None:
    """Asserts columns, key and indexes."""
    assert columns(database) == COLUMNS
    assert answers(database, _KEY) == [("id",)]
    assert answers(database, _INDEXES) == [
        ("permission_audit_log_capability_id", "capability_id"),
        ("permission_audit_log_timestamp", "timestamp"),
    ]


def test_the_table_is_the_documents(database: Database) -> None:
    """ESCALATION §log-1, §log-2: names, types, null, key and indexes, as the database tells them."""
    require_as_documented(database)


@pytest.mark.parametrize(
    "name", ["id", "timestamp", "capability_id", "from_set", "to_set", "approved"]
)
def test_null_is_refused_where_the_document_has_none(database: Database, name: str) -> None:
    """ESCALATION §log-1: by the database itself, whoever writes; nothing is added."""
    with pytest.raises(LedgerProblem):
        insert(database, **{name: None})
    assert all_rows(database, TABLE)[TABLE] == []
    insert(database)
    assert all_rows(database, TABLE)[TABLE] == [tuple(ROW.values())]


@pytest.mark.parametrize("name", ["approved_by", "reason", "detected_operation"])
def test_null_is_taken_where_the_document_has_it(database: Database, name: str) -> None:
    """ESCALATION §log-1: the other three."""
    insert(database, **{name: None})
    assert all_rows(database, TABLE)[TABLE] == [tuple({**ROW, name: None}.values())]


@pytest.mark.parametrize(
    ("name", "value"),
    [("approved", 2), ("approved", -1), ("timestamp", "yesterday"), ("approved", "yes")],
)
def test_a_value_of_another_kind_is_refused(database: Database, name: str, value: Value) -> None:
    """ESCALATION §log-1: seconds are a number, and a decision is 1 or 0."""
    with pytest.raises(LedgerProblem):
        insert(database, **{name: value})
    assert all_rows(database, TABLE)[TABLE] == []


def test_an_id_is_there_once(database: Database) -> None:
    """ESCALATION §log-1: it is the key."""
    insert(database)
    with pytest.raises(LedgerProblem):
        insert(database, approved=0)
    assert all_rows(database, TABLE)[TABLE] == [tuple(ROW.values())]


def test_its_migration_goes_up_and_down_and_runs_twice(database: Database) -> None:
    """ESCALATION §log-1: gone below its version, there from it on, the same each time."""
    for _ in range(2):
        for version in (MADE_BY - 1, MADE_BY - 1):
            migrate(database, to=version)
            assert not has_table(database)
        for version in (MADE_BY, MADE_BY, NEWEST, NEWEST):
            migrate(database, to=version)
            require_as_documented(database)


def test_a_time_out_is_logged_as_the_systems_refusal(ledger: Ledger) -> None:
    """ESCALATION §log-3: `approved` is 0 and `approved_by` is `system`; it is found like others."""
    keepers = Keepers(ledger, ManualClock(NOW))
    step = (PermissionSet.MINIMAL, PermissionSet.READONLY)
    late = EscalationDecision("cap-1", *step, approved=False, approved_by=SYSTEM, reason="late")
    keepers.audit.log_escalation(late)
    keepers.audit.log_escalation(
        EscalationDecision("cap-1", *step, approved=False, approved_by=OWNER, reason="no")
    )
    rows = all_rows(ledger.database, TABLE)[TABLE]
    assert [(row[5], row[6], row[7]) for row in rows] == [(0, "system", "late"), (0, OWNER, "no")]
    assert [(each.approved, each.approved_by) for each in keepers.audit.get_audit_log("cap-1")] == [
        (False, "system"),
        (False, OWNER),
    ]


def test_a_logged_decision_has_all_that_the_document_asks_for(ledger: Ledger) -> None:
    """ESCALATION AC7: when, which, from, to, whether, by whom and why, in the row and in the answer."""
    keepers = Keepers(ledger, ManualClock(NOW))
    decided = EscalationDecision(
        "cap-1",
        PermissionSet.MINIMAL,
        PermissionSet.NETWORK_API,
        approved=True,
        approved_by=OWNER,
        reason="PermissionDenied: Requires net access to api.example.com",
        detected_operation="net",
    )
    logged = keepers.audit.log_escalation(decided)
    [row] = all_rows(ledger.database, TABLE)[TABLE]
    assert dict(zip(ROW, row, strict=True)) == {**ROW, "id": logged.id, "approved_by": OWNER}
    assert NOW.unix_ms == 1_767_268_800_000
    [found] = keepers.audit.get_audit_log()
    assert found == logged
    assert found.timestamp == NOW
