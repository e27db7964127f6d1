"""The tables beside the ledger come and go with their versions, on both databases."""

import pytest

from consentry.base.errors import LedgerProblem
from consentry.store.migrations import NEWEST, migrate
from consentry.store.schema.acceptances import ACCEPTANCES
from consentry.store.schema.escalation import ESCALATION
from consentry.store.schema.keeping import KEEPING
from tests.store.conftest import Store
from tests.store.keepers import all_rows

KEPT = ("approval_request", "consent", "capability_grant", "permit", "session", "machine")
FILLED = ("permission_audit_log", "workflow_pattern")
LATEST = ("acceptance",)


def test_each_step_back_takes_its_own_tables_and_forward_brings_them(store: Store) -> None:
    """Step by step, twice."""
    database = store.open()
    for _ in range(2):
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
        every = (*KEPT, *FILLED, *LATEST)
        assert all_rows(database, *every) == {table: [] for table in every}
