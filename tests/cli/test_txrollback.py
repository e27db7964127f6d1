"""`consentry tx rollback`: what comes back is shown, and it is all of it or nothing."""

import pytest

from consentry.base.codes import Code
from tests.cli.asking import set_passphrase
from tests.cli.capabilities import without_terminal
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.terminals import at_terminal
from tests.cli.txplaces import (
    NOTE,
    adding,
    approved,
    changed,
    document_of,
    state_of,
    under_way,
    writing_host,
)

pytestmark = pytest.mark.timeout(180)


def test_a_roll_back_that_was_cut_off_is_settled_first(consentry: CommandLine) -> None:
    """CONTRACTS §3-recovery: its process is gone before the commit, so the change is still there."""
    with writing_host(consentry) as application:
        tx_id = changed(application)
    under_way(consentry, tx_id, rolls_back=True, is_gone=True)
    done = consentry("tx", "rollback", tx_id, "--yes")
    assert done.status == 0, done.out + done.err
    assert state_of(consentry, tx_id) == "ROLLED_BACK"
    assert document_of(consentry) == {}


def test_what_comes_back_is_shown_and_a_word_is_typed(consentry: CommandLine) -> None:
    """CONTRACTS §3-rollback: from the journal, entity by entity; another word takes nothing back."""
    with writing_host(consentry) as application:
        changed(application)
        operations = [
            {"op": "replace", "path": "/notes/n1/text", "value": "sell milk"},
            *adding("n2", "new"),
        ]
        tx_id = changed(application, operations, "Swap")
    with at_terminal(consentry, "tx", "rollback", tx_id, size=(120, 50)) as terminal:
        shown = terminal.see("d deny")
        for said in (
            f"take back {tx_id} in note-board?",
            "it was for the application note-board, “Swap”",
            '@ notes n1\n  ~ all of it\n      - /text  "sell milk"\n      + /text  "buy milk"',
            '@ notes n2\n  - all of it\n      - "new"',
        ):
            assert said in shown, said
        terminal.answer("", "a")
        terminal.answer("type rollback to approve", "no")
        terminal.answer("nothing was approved", "d")
        assert terminal.ended() == 126
    assert state_of(consentry, tx_id) == "APPLIED"
    with at_terminal(consentry, "tx", "rollback", tx_id, size=(120, 50)) as terminal:
        terminal.answer("d deny", "a")
        terminal.answer("type rollback to approve", "rollback")
        assert terminal.ended() == 0, terminal.screen
    assert document_of(consentry)["notes"] == {"n1": NOTE}
    again = without_terminal(consentry)("tx", "rollback", tx_id)
    assert (again.status, "ROLLED_BACK" in again.out) == (0, True)  # done before: nobody is asked


def test_without_a_terminal_it_says_how_a_script_does_it(consentry: CommandLine) -> None:
    """Nobody is asked where nobody can be; nothing is taken back by that."""
    with writing_host(consentry) as application:
        tx_id = changed(application)
    refused = without_terminal(consentry)("tx", "rollback", tx_id)
    assert_error(refused, Code.TERMINAL_MISSING)
    assert "say --yes" in refused.err
    assert state_of(consentry, tx_id) == "APPLIED"


def test_what_was_changed_since_is_not_taken_back(consentry: CommandLine) -> None:
    """CONTRACTS §3-rollback: all or nothing, and later changes are not lost by it."""
    with writing_host(consentry) as application:
        tx_id = changed(application)
        changed(application, [{"op": "replace", "path": "/notes/n1/done", "value": True}])
    assert_error(consentry("tx", "rollback", tx_id, "--yes"), Code.TX_CONFLICT)
    assert state_of(consentry, tx_id) == "APPLIED"


def test_only_what_was_applied_is_taken_back(consentry: CommandLine) -> None:
    """CONTRACTS §3-rollback: from `APPLIED` alone."""
    assert_error(consentry("tx", "rollback", approved(consentry), "--yes"), Code.TX_STATE)


def test_the_passphrase_is_asked_for_where_one_is_set(consentry: CommandLine) -> None:
    """A script without a terminal takes nothing back then, whatever it says."""
    tx_id = approved(consentry)
    assert consentry("tx", "apply", tx_id).status == 0
    set_passphrase(consentry)
    assert_error(consentry("tx", "rollback", tx_id, "--yes"), Code.TERMINAL_MISSING)
    assert consentry("tx", "show", tx_id, "--quiet").out == "APPLIED\n"
