"""The tables beside the ledger come and go with their versions, on both databases."""

import pytest

from consentry.base.errors import LedgerProblem
from consentry.store.database import Database
from consentry.store.migrations import NEWEST, migrate
from consentry.store.schema.acceptances import ACCEPTANCES
from consentry.store.schema.capabilities import CAPABILITIES
from consentry.store.schema.escalation import ESCALATION
from consentry.store.schema.keeping import KEEPING
from consentry.store.schema.tokens import TOKENS
from tests.store.conftest import Store
from tests.store.keepers import all_rows

KEPT = ("approval_request", "consent", "capability_grant", "permit", "session", "machine")
FILLED = ("permission_audit_log", "workflow_pattern")
TOKENS_OF = ("capability_token", "capability_budget")
LATEST = ("acceptance",)
A_NAME = (
    "INSERT INTO workflow_pattern VALUES "
    "(?, 'name', 'python', '', 'x', 1, 'minimal', 0, 'emergent', '[]', 'then', 'then')"
)
A_REQUEST = (
    "INSERT INTO approval_request (request_id, kind, subject, question, digest, machine_id, "
    "requested_at, deadline, status) "
    "VALUES (?, 'escalation', 's', 'q', 'same', 'm', '1', '2', 'pending')"
)


def test_each_step_back_takes_its_own_tables_and_forward_brings_them(store: Store) -> None:
    """Step by step, twice."""
    database = store.open()
    for _ in range(2):
        migrate(database, to=TOKENS.version - 1)
        for table in TOKENS_OF:
            with pytest.raises(LedgerProblem):
                all_rows(database, table)
        migrate(database, to=ACCEPTANCES.version - 1)
        for table in LATEST:
            with pytest.raises(LedgerProblem):
                all_rows(database, table)
        migrate(database, to=ESCALATION.version - 1)
        assert all_rows(database, *KEPT) == {table: [] for table in KEPT}
        for table in FILLED:
            with pytest.raises(LedgerProblem):
                all_rows(database, table)
        migrate(database, to=KEEPING.version - 1)
        for table in KEPT:
            with pytest.raises(LedgerProblem):
                all_rows(database, table)
        migrate(database, to=NEWEST)
        every = (*KEPT, *FILLED, *LATEST, *TOKENS_OF)
        assert all_rows(database, *every) == {table: [] for table in every}


def test_a_name_and_an_executions_request_are_there_once(store: Store) -> None:
    """By the database itself, whoever writes; one version below nothing keeps the second out."""
    database = store.open()
    for _ in range(2):
        migrate(database, to=CAPABILITIES.version - 1)
        assert [_takes_twice(database, statement) for statement in (A_NAME, A_REQUEST)] == [
            True,
            True,
        ]
        migrate(database, to=CAPABILITIES.version)
        assert [_takes_twice(database, statement) for statement in (A_NAME, A_REQUEST)] == [
            False,
            False,
        ]
        migrate(database, to=NEWEST)


def test_of_other_kinds_many_may_ask_about_one_digest(store: Store) -> None:
    """Only of an execution there is one request."""
    database = store.open()
    assert _takes_twice(database, A_REQUEST.replace("'escalation'", "'consent'"))
    assert _takes_twice(database, A_REQUEST.replace("'escalation'", "'hold'"))


class _Undone(Exception):
    """Takes back what was only tried."""


def _takes_twice(database: Database, statement: str) -> bool:
    """Whether a second row of the same name or digest is taken; nothing of it stays."""
    try:
        with database.writing() as transaction:
            for key in ("one", "two"):
                transaction.run(statement, (key,))
            raise _Undone
    except _Undone:
        return True
    except LedgerProblem as problem:
        if problem.code != "event-twice":
            raise
        return False
