"""Rows that nobody here can have written are found out; the schema refuses what it can."""

import pytest

from consentry.base.clock import ManualClock
from consentry.base.errors import LedgerProblem
from consentry.decide.lasting import Lasts
from consentry.decide.session import SessionKind
from consentry.store.ledger import Ledger
from tests.decide.samples import (
    DIGEST,
    LEADER,
    MINUTE,
    NOW,
    OWNER,
    answer,
    grant_terms,
    order,
    question,
    terms,
)
from tests.record.samples import Drafts
from tests.store.keepers import Keepers, all_rows

TAMPERED = {
    "approval_request": (
        "UPDATE approval_request SET kind = 'chat'",
        "UPDATE approval_request SET preview = '{' WHERE status = 'pending'",
        "UPDATE approval_request SET preview = '" + "[" * 100_000 + "' WHERE status = 'pending'",
        "UPDATE approval_request SET deadline = 'soon'",
    ),
    "consent": (
        "UPDATE consent SET surface = '{}'",
        "UPDATE consent SET surface = 'x'",
        "UPDATE consent SET given_by = 'system'",
        "UPDATE consent SET method = 'policy'",
        "UPDATE consent SET machine_scope = '*'",
    ),
    "capability_grant": ("UPDATE capability_grant SET given_role = 'king'",),
    "acceptance": (
        "UPDATE acceptance SET files = '[]'",
        "UPDATE acceptance SET digest = 'sha256:0'",
        "UPDATE acceptance SET accepted_by = 'system'",
    ),
    "permit": (
        "UPDATE permit SET digests = '{}'",
        "UPDATE permit SET arguments = '[1]'",
    ),
    "session": ("UPDATE session SET leader = '{}' WHERE leader IS NOT NULL",),
    "machine": ('UPDATE machine SET labels = \'["b","a"]\'',),
}
"""Changes that the constraints let pass, by table."""

REFUSED = (
    "UPDATE approval_request SET status = 'maybe'",
    "UPDATE approval_request SET status = 'approved' WHERE status = 'pending'",
    "UPDATE approval_request SET status = 'pending' WHERE status = 'approved'",
    "UPDATE approval_request SET answered_by = NULL WHERE status = 'approved'",
    "UPDATE approval_request SET deadline = '1999'",
    "UPDATE approval_request SET question = NULL",
    "UPDATE approval_request SET lasts = 'once' WHERE status = 'pending'",
    "UPDATE consent SET lasts = 'forever'",
    "UPDATE consent SET lasts = 'session' WHERE lasts = 'permanent'",
    "UPDATE consent SET lasts = 'until' WHERE lasts = 'permanent'",
    "UPDATE consent SET used_at = '2026' WHERE lasts = 'permanent'",
    "UPDATE consent SET arguments = NULL WHERE lasts = 'once'",
    "UPDATE consent SET revoked_at = '2026'",
    "UPDATE consent SET request_id = 'r', tool = 't'",
    "UPDATE capability_grant SET scope = 'session'",
    "UPDATE capability_grant SET scope = 'any'",
    "UPDATE acceptance SET withdrawn_at = '2999'",
    "UPDATE acceptance SET withdrawn_at = '1999', withdrawn_by = 'x'",
    "UPDATE permit SET spent_at = made_at",
    "UPDATE permit SET spent_at = '2999', spent_by = 'x'",
    "UPDATE permit SET expires_at = made_at",
    "UPDATE session SET kind = 'cron'",
    "UPDATE session SET leader = NULL",
    "UPDATE session SET ended_at = '2026'",
    "UPDATE machine SET host_name = NULL",
)
"""Changes that the constraints refuse."""


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """A store with one of each in it."""
    kept = Keepers(ledger, ManualClock(NOW))
    kept.requests.ask(question(), MINUTE)
    kept.requests.answer(kept.requests.ask(question(), MINUTE).request_id, answer())
    kept.consents.give(terms())
    kept.consents.give(terms(Lasts.ONCE))
    kept.grants.give(grant_terms())
    kept.acceptances.accept("/place", {"a.yaml": DIGEST}, OWNER)
    decision = Drafts(kept.ids).make()
    kept.permits.make(order(decision_event_id=decision.event_id), decision)
    kept.sessions.for_leader(OWNER, LEADER)
    kept.sessions.start(OWNER, SessionKind.MCP)
    kept.machines.register("host")
    return kept


def tamper(keepers: Keepers, statement: str) -> None:
    """Changes a table past the program."""
    with keepers.ledger.database.writing() as transaction:
        transaction.run(statement)


def test_a_row_that_cannot_be_is_not_believed(keepers: Keepers) -> None:
    """The error names the table and the row, and says that the database is damaged."""
    readers = {
        "approval_request": lambda: keepers.requests.supersede_pending(DIGEST),
        "consent": keepers.consents.history,
        "capability_grant": lambda: keepers.grants.of_module("note-board", "word-count"),
        "acceptance": lambda: keepers.acceptances.standing("/place"),
        "permit": lambda: keepers.permits.spend(key(keepers, "permit"), "run"),
        "session": keepers.sessions.open,
        "machine": keepers.machines.all,
    }
    assert readers.keys() == TAMPERED.keys()
    for table, statements in TAMPERED.items():
        save = "CREATE TABLE sound_{0} AS SELECT * FROM {0}"
        tamper(keepers, save.format(table))
        for statement in statements:
            tamper(keepers, statement)
            with pytest.raises(LedgerProblem) as caught:
                readers[table]()
            assert caught.value.code == "ledger-corrupt"
            assert f"of `{table}`" in caught.value.message
            for restore in ("DELETE FROM {0}", "INSERT INTO {0} SELECT * FROM sound_{0}"):
                tamper(keepers, restore.format(table))
    for table, read in readers.items():
        read()
        assert all_rows(keepers.ledger.database, table)[table]


def key(keepers: Keepers, table: str) -> str:
    """The id of the one row."""
    [[row]] = all_rows(keepers.ledger.database, table).values()
    return str(row[0])


def test_the_database_refuses_half_a_story(keepers: Keepers) -> None:
    """Whatever program tries to write it; the rows stay as they were."""
    before = all_rows(keepers.ledger.database, *TAMPERED)
    for statement in REFUSED:
        with pytest.raises(LedgerProblem):
            tamper(keepers, statement)
    assert all_rows(keepers.ledger.database, *TAMPERED) == before
