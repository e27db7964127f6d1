"""A document of fixtures goes with the rows of its transactions, and only when nobody can go on with one."""

import pytest

from consentry.base.clock import ManualClock
from consentry.store.documentremoval import remove_document
from consentry.store.ledger import Ledger
from consentry.store.schema import transactions
from tests.decide.samples import NOW
from tests.store.keepers import Keepers, all_rows
from tests.store.modulekeeping import Kept

TABLES = tuple(name for name, _ in transactions._TABLES)
"""Every table that says of a row which document it is about."""
AT = str(NOW)
OPEN = ("APPROVAL_PENDING", "APPLYING", "ROLLBACK_PENDING", "RECOVERY_PENDING", "FAILED_PRE_APPLY")
OVER = ("APPROVED", "APPLIED", "REJECTED", "ROLLED_BACK")


@pytest.fixture
def kept(ledger: Ledger) -> Kept:
    """A store with two documents in it."""
    made = Kept(Keepers(ledger, ManualClock(NOW)))
    for name in ("one", "two"):
        attempt(made, name, "APPLIED", 1)
        with made.journal.database.writing() as transaction:
            transaction.run("INSERT INTO document VALUES (?, 'r', ?)", (name, AT))
            transaction.run("INSERT INTO document_entity VALUES (?, 'notes', 'n', '1')", (name,))
            content = (f"tx-{name}", 1, name, "[]", None, "[]")
            transaction.run("INSERT INTO transaction_content VALUES (?, ?, ?, ?, ?, ?)", content)
            key = (name, "k", "apply", f"tx-{name}", 1)
            transaction.run("INSERT INTO transaction_key VALUES (?, ?, ?, ?, ?)", key)
            commit = (f"key-{name}", name, "apply", "c", f"tx-{name}", 1, "a", "b", AT)
            marks = ", ".join("?" for _ in commit)
            transaction.run(f"INSERT INTO document_commit VALUES ({marks})", commit)  # noqa: S608 - no value in it
    return made


def attempt(kept: Kept, document_id: str, state: str, number: int) -> None:
    """An attempt of that document in that state."""
    row = (f"tx-{document_id}", number, document_id, "host", None, state, 1, AT, AT, None, "{}")
    marks = ", ".join("?" for _ in row)
    with kept.journal.database.writing() as transaction:
        transaction.run(f"INSERT INTO transaction_attempt VALUES ({marks})", row)  # noqa: S608 - as above


def rows(kept: Kept, document_id: str) -> int:
    """How many rows there are that name that document."""
    found = all_rows(kept.journal.database, *TABLES)
    return sum(document_id in row for table in found.values() for row in table)


@pytest.mark.parametrize("state", OVER)
def test_a_document_goes_with_all_of_its_rows_and_no_others(kept: Kept, state: str) -> None:
    """How many attempts went is on record; what each was is in the ledger."""
    attempt(kept, "one", state, 2)
    before = rows(kept, "two")
    assert remove_document(kept.journal, "one") == 2
    assert (rows(kept, "one"), rows(kept, "two")) == (0, before)
    assert [each["count"] for each in kept.payloads("ledger.purged")] == [2]


@pytest.mark.parametrize("state", OPEN)
def test_one_with_which_somebody_can_go_on_stays(kept: Kept, state: str) -> None:
    """Nothing of it is removed, and nothing is recorded."""
    attempt(kept, "one", state, 2)
    before = rows(kept, "one")
    assert remove_document(kept.journal, "one") is None
    assert rows(kept, "one") == before
    assert kept.payloads("ledger.purged") == []


def test_one_that_is_blocked_stays(kept: Kept) -> None:
    """CONTRACTS §3-terminal: an operator resolves that, and nobody else."""
    with kept.journal.database.writing() as transaction:
        transaction.run("INSERT INTO transaction_block VALUES ('one', 'tx-one', 1, ?)", (AT,))
    assert remove_document(kept.journal, "one") is None
    assert rows(kept, "one") == len(TABLES)


def test_one_that_is_not_there_is_no_change(kept: Kept) -> None:
    """Nothing is recorded."""
    assert remove_document(kept.journal, "three") == 0
    assert kept.payloads("ledger.purged") == []
