"""`consentry tx show`: where a transaction stands in every state, what helps, and what happened."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.base.codes import Code
from consentry.decide.identity import Role
from consentry.decide.previewredaction import Redaction
from consentry.record.transactionstates import TransactionState
from consentry.service.modulehost import ModuleHost
from consentry.service.transactionplace import TxTerms
from consentry.service.transactionwords import STATES
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.moduleplaces import told
from tests.cli.txplaces import (
    adding,
    asked,
    blocked,
    changed,
    ready,
    say,
    state_of,
    transitions,
    under_way,
    unsettled,
    writing_host,
)

pytestmark = pytest.mark.timeout(120)

LONG_AGO = Instant.parse("2026-01-05T09:00:00Z")
CHANGES: list[dict[str, Any]] = [
    *adding("n2", {"text": "call Ann", "phone": "555-0100"}),
    {"op": "replace", "path": "/notes/n1/text", "value": "buy oat milk"},
    {"op": "remove", "path": "/notes/n1/tags/0"},
    {"op": "move", "from": "/notes/n1/done", "path": "/notes/n2/done"},
]
HIDES = TxTerms(redactions=(Redaction("notes", "/phone", frozenset({Role.OWNER, Role.APPROVER})),))


def waiting(line: CommandLine) -> str:
    """The id of one that adds, replaces, removes and moves, and waits for its answer."""
    with writing_host(line, lambda: CHANGES, terms=HIDES) as application:
        changed(application)
        ready(application)
        return asked(application)


def shown(line: CommandLine, *words: str) -> str:
    """What is shown of it, without the marks of rows that go on."""
    done = line("tx", "show", *words, COLUMNS="100")
    assert done.status == 0, done.err
    return re.sub(r"\n +\|", "", done.out)  # rows that were too wide


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_everything_about_one_is_shown(
    consentry: CommandLine, request: pytest.FixtureRequest, store: str
) -> None:
    """CONTRACTS §3-audit: where it stands, why, what helps, the diff entity by entity, and the events in order."""
    if store == "postgresql":
        consentry.environ["CONSENTRY_STORE"] = request.getfixturevalue("postgres_url")
    tx_id = waiting(consentry)
    text = shown(consentry, tx_id)
    diff = """
@ notes n1
  ~ /text
      - "buy milk"
      + "buy oat milk"
  - /tags/0
      - "home"
@ notes n2
  + all of it
      + /phone  "555-0100"
      + /text  "call Ann"
  > /done  from /notes/n1/done
        false
1 to add, 1 to remove, 1 to replace, 1 to move
"""
    assert diff in text
    for said in (
        f"{tx_id}: APPROVAL_PENDING\n  its preview waits for a person's yes or no",
        f"next: consentry tx approve {tx_id}, or",
        "document    note-board\n",
        "for         note-tools 1.2.0 in note-board, “Add”\n",
        "action      b-add, which calls notes.add, from interactive\n",
        "approval    soft, because: adds a note to the board\n",
        "seen as     owner\n",
        "attempt 1: RECEIVED > PREVIEWING\n    by local:",
    ):
        assert said in text, said
    steps = [text.index(f"{one} > {other}") for one, other in transitions(consentry, tx_id)]
    assert steps == sorted(steps)
    assert len(steps) == 3


def _asked(application: ModuleHost) -> str:
    ready(application)
    return asked(application)


def _approved(application: ModuleHost) -> str:
    tx_id = _asked(application)
    say(application, tx_id)
    return tx_id


def _rejected(application: ModuleHost) -> str:
    tx_id = _asked(application)
    say(application, tx_id, "deny")
    return tx_id


def _rolled_back(application: ModuleHost) -> str:
    tx_id = changed(application)
    application.transactions.roll_back(tx_id)
    return tx_id


def _failed(application: ModuleHost) -> str:
    changed(application)
    attempt = application.change(adding(), "Once more")
    assert attempt.state == "FAILED_PRE_APPLY"
    return attempt.tx_id


@pytest.mark.parametrize(
    ("make", "state", "helps"),
    [
        (_asked, "APPROVAL_PENDING", "consentry tx approve"),
        (_approved, "APPROVED", "consentry tx apply"),
        (_rejected, "REJECTED", "nothing: it is over"),
        (changed, "APPLIED", "consentry tx rollback"),
        (_rolled_back, "ROLLED_BACK", "nothing: it is over"),
        (_failed, "FAILED_PRE_APPLY", "the application can preview it again"),
    ],
)
def test_each_state_is_shown_with_what_it_means_and_what_helps(
    consentry: CommandLine, make: Callable[[ModuleHost], str], state: str, helps: str
) -> None:
    """CONTRACTS §3-states: in words, and with the line to type."""
    with writing_host(consentry) as application:
        tx_id = make(application)
    text = shown(consentry, tx_id)
    assert f"{tx_id}: {state}\n  {STATES[TransactionState(state)][0]}" in text
    assert f"next: {helps}" in text
    assert consentry("tx", "show", tx_id, "--quiet").out == f"{state}\n"


def test_what_failed_says_why(consentry: CommandLine) -> None:
    """With the code, and whether it can be tried again; there is no preview of it."""
    with writing_host(consentry) as application:
        tx_id = _failed(application)
    text = shown(consentry, tx_id)
    assert "because: [tx-operation] operations[0]: `/notes/n1` is there already" in text
    assert "(can be tried again)" in text
    assert "there is no preview" in text
    assert "PREVIEWING > FAILED_PRE_APPLY, tx-operation\n" in text
    assert_error(consentry("tx", "show", tx_id, "--preview"), Code.USAGE)
    assert told(consentry, "tx", "show", tx_id)["preview"] is None


def test_what_another_process_carries_out_is_left_to_it(consentry: CommandLine) -> None:
    """CONTRACTS §3-recovery: shown as under way while that process lives; nothing is settled."""
    with writing_host(consentry) as application:
        tx_id = _approved(application)
    under_way(consentry, tx_id)
    text = shown(consentry, tx_id)
    assert f"{tx_id}: APPLYING" in text
    assert "another process is at it; wait, and look again" in text
    assert state_of(consentry, tx_id) == "APPLYING"


def test_looking_settles_what_a_dead_process_left(consentry: CommandLine) -> None:
    """CONTRACTS §3-recovery: nothing was committed and never will be under that key: `APPROVED` again."""
    with writing_host(consentry) as application:
        tx_id = _approved(application)
    under_way(consentry, tx_id, is_gone=True)
    assert f"{tx_id}: APPROVED" in shown(consentry, tx_id)
    assert transitions(consentry, tx_id)[-2:] == [
        ("APPLYING", "RECOVERY_PENDING"),
        ("RECOVERY_PENDING", "APPROVED"),
    ]


def test_what_lies_in_a_store_of_the_host_is_not_settled_from_here(consentry: CommandLine) -> None:
    """The log that tells is the host's: an empty one of ours would call undone what may be there."""
    tx_id = unsettled(consentry)
    text = shown(consentry, tx_id)
    assert f"{tx_id}: RECOVERY_PENDING" in text
    assert "no route to the store" in text or "the connection was dropped" in text
    assert "its document lies in a store of the application" in text
    assert state_of(consentry, tx_id) == "RECOVERY_PENDING"


def test_what_blocks_its_document_says_since_when_and_how_it_is_resolved(
    consentry: CommandLine,
) -> None:
    """CONTRACTS §3-terminal-block."""
    text = shown(consentry, blocked(consentry))
    assert "FAILED_TERMINAL" in text
    assert "blocks      every change of this document, since " in text
    assert "--reason TEXT lets it" in text


def test_a_question_whose_deadline_passed_is_a_no_when_somebody_looks(
    consentry: CommandLine,
) -> None:
    """CONTRACTS §3-approval: as the inbox does it; the transaction is rejected in the same moment."""
    with writing_host(consentry, clock=ManualClock(LONG_AGO)) as application:
        tx_id = _asked(application)
    text = shown(consentry, tx_id)
    assert f"{tx_id}: REJECTED" in text
    assert "because: [approval-expired]" in text
    assert state_of(consentry, tx_id) == "REJECTED"


def test_an_approval_shows_until_when_it_counts(consentry: CommandLine) -> None:
    """CONTRACTS §3-approval: who said yes, when and for how long; and that it is over when it is."""
    with writing_host(consentry, clock=ManualClock(LONG_AGO)) as application:
        expired = _approved(application)
    with writing_host(consentry, lambda: adding("n2")) as application:
        counts = asked(application)
        say(application, counts)
    text = shown(consentry, expired)
    assert "expired 2026-01-05" in text
    assert "next: its approval has expired: a new preview has to be made" in text
    assert ", counts until " in shown(consentry, counts)


def test_each_attempt_is_shown_by_its_number(consentry: CommandLine) -> None:
    """CONTRACTS §3-attempt: the latest unless one is named; of an earlier one that nothing helps it."""
    with writing_host(consentry) as application:
        tx_id = _failed(application)
        application.change([{"op": "remove", "path": "/notes/n1"}], "Make room")
        again = application.transactions.preview_again(tx_id)
        assert (again.attempt_no, again.state) == (2, "APPROVED")
    assert f"{tx_id} attempt 2 of 2: APPROVED" in shown(consentry, tx_id)
    first = shown(consentry, tx_id, "--attempt", "1")
    assert f"{tx_id} attempt 1 of 2: FAILED_PRE_APPLY" in first
    assert "next: nothing: a later attempt came after it" in first
    missing = consentry("tx", "show", tx_id, "--attempt", "3")
    assert_error(missing, Code.TX_UNKNOWN)
    assert "its attempts are 1 to 2" in missing.err


def test_the_words_are_explained_and_events_say_what_happened(consentry: CommandLine) -> None:
    """`consentry explain` knows every state; `audit log` has one readable line for each step."""
    for state in TransactionState:
        done = consentry("explain", state.value, "--quiet")
        assert done.out == f"{STATES[state][0]}\n"
    assert consentry("explain", "tx-elsewhere").status == 0
    with writing_host(consentry) as application:
        tx_id = _failed(application)
    log = consentry("audit", "log", "--subject", f"transaction:{tx_id}").out
    assert "attempt 1: RECEIVED > PREVIEWING  event-" in log
    assert "attempt 1: PREVIEWING > FAILED_PRE_APPLY, tx-operation  event-" in log
