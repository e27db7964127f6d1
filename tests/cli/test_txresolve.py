"""`consentry tx resolve`: a document that one transaction blocks takes changes again."""

import json

import pytest

from consentry.base.codes import Code
from tests.cli.asking import set_passphrase
from tests.cli.capabilities import without_terminal
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.moduleplaces import events, told
from tests.cli.terminals import at_terminal
from tests.cli.txplaces import (
    approved,
    blocked,
    changed,
    state_of,
    writing_host,
)

pytestmark = pytest.mark.timeout(180)


def test_a_blocked_document_takes_changes_again_after_it_was_resolved(
    consentry: CommandLine,
) -> None:
    """CONTRACTS §3-terminal-block: applies are refused, then an operator says what was done, on record."""
    tx_id = blocked(consentry, "note-board")
    other = approved(consentry)
    refused = consentry("tx", "apply", other)
    assert_error(refused, Code.TX_BLOCKED)
    assert f"help: consentry tx resolve {tx_id}" in refused.err
    with at_terminal(
        consentry, "tx", "resolve", tx_id, "--reason", "restored from Monday", size=(160, 50)
    ) as terminal:
        shown = terminal.see("d deny")
        for said in (
            "let note-board take changes again?",
            "nobody here can tell what is in the document: look at it first",
            "your reason: restored from Monday",
            "[tx-unsettled]",
        ):
            assert said in shown, said
        terminal.answer("", "a")
        terminal.answer("type resolve to approve", "resolve")
        assert terminal.ended() == 0, terminal.screen
        assert "note-board, it takes changes again" in terminal.screen
    (resolved,) = [each["payload"] for each in events(consentry, "transaction.resolved")]
    assert (resolved["txId"], resolved["reason"]) == (tx_id, "restored from Monday")
    assert resolved["resolvedRole"] == "operator"
    assert resolved["resolvedBy"].startswith("local:")
    assert "resolved, restored from Monday" in consentry("tx", "show", tx_id).out
    assert state_of(consentry, tx_id) == "FAILED_TERMINAL"
    assert told(consentry, "tx", "list")["blocks"] == []
    assert consentry("tx", "apply", other).status == 0
    with at_terminal(
        consentry, "tx", "resolve", tx_id, "--reason", "again", size=(160, 50)
    ) as terminal:
        assert terminal.ended() == 126
        assert "blocks nothing any more" in terminal.screen


@pytest.mark.parametrize("keys", ["d", "\x03"])
def test_a_no_resolves_nothing(consentry: CommandLine, keys: str) -> None:
    """The document stays blocked."""
    tx_id = blocked(consentry)
    with at_terminal(consentry, "tx", "resolve", tx_id, "--reason", "why") as terminal:
        terminal.see("d deny")
        terminal.see("\n> ")
        terminal.type(f"{keys}\n")
        assert terminal.ended() == 126
    assert told(consentry, "tx", "list")["blocks"]
    assert_error(
        without_terminal(consentry)("tx", "resolve", tx_id, "--reason", "x"), Code.TERMINAL_MISSING
    )


def test_resolving_needs_the_passphrase_where_one_is_set(consentry: CommandLine) -> None:
    """As a mode of modules that lets more; there is no way round it for scripts."""
    tx_id = blocked(consentry)
    set_passphrase(consentry)
    with at_terminal(consentry, "tx", "resolve", tx_id, "--reason", "why", "--json") as terminal:
        terminal.answer("d deny", "a")
        terminal.answer("type resolve to approve", "resolve")
        terminal.answer("passphrase", "wrong words")
        terminal.answer("passphrase", "correct horse")
        assert terminal.ended() == 0, terminal.screen
    document = json.loads(terminal.screen[terminal.screen.index("{") :])
    assert document.keys() == {"schema_version", "kind", "transaction", "reason", "stillBlocked"}
    assert (document["kind"], document["stillBlocked"]) == ("tx-resolve", False)
    assert_error(consentry("tx", "resolve", tx_id, "--reason", "why", "--yes"), Code.USAGE)


@pytest.mark.parametrize("reason", ["", "  ", "r" * 2001])
def test_a_reason_has_to_say_something(consentry: CommandLine, reason: str) -> None:
    """CONTRACTS §11: wrong usage; and it cannot be left out."""
    assert_error(consentry("tx", "resolve", "tx-0123456789", "--reason", reason), Code.USAGE)
    assert_error(consentry("tx", "resolve", "tx-0123456789"), Code.USAGE)


def test_only_what_blocks_is_resolved(consentry: CommandLine) -> None:
    """CONTRACTS §3-terminal-block: said before anybody is asked."""
    with writing_host(consentry) as application:
        tx_id = changed(application)
    assert_error(consentry("tx", "resolve", tx_id, "--reason", "why"), Code.TX_STATE)
