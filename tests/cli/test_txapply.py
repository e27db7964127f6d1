"""`consentry tx apply`, `rollback` and `resolve`: carried out by command, where that can be."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.base.codes import Code
from consentry.service.modulehost import ModuleHost
from tests.cli.asking import set_passphrase
from tests.cli.capabilities import without_terminal
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.moduleplaces import events, granted, package, told
from tests.cli.terminals import at_terminal
from tests.cli.txplaces import (
    NOTE,
    WRITE,
    Unreachable,
    adding,
    asked,
    blocked,
    changed,
    document_of,
    ready,
    say,
    state_of,
    transitions,
    under_way,
    unsettled,
    writing_host,
)

pytestmark = pytest.mark.timeout(180)

LONG_AGO = Instant.parse("2026-01-05T09:00:00Z")


def approved(line: CommandLine, name: str = "n1", **how: Any) -> str:
    """The id of a module's change that was approved; the application is closed by then."""
    with writing_host(line, lambda: adding(name), **how) as application:
        ready(application)
        tx_id = asked(application)
        say(application, tx_id)
    return tx_id


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_an_approved_change_is_applied_and_taken_back_by_command(
    consentry: CommandLine, request: pytest.FixtureRequest, store: str
) -> None:
    """CONTRACTS §3-apply, §3-rollback: without the application, in the built-in store, as whoever typed it."""
    if store == "postgresql":
        consentry.environ["CONSENTRY_STORE"] = request.getfixturevalue("postgres_url")
    tx_id = approved(consentry)
    done = consentry("tx", "apply", tx_id)
    assert done.status == 0, done.err
    assert done.out.startswith(f"{tx_id}: APPLIED\n  commit commit-")
    assert f"\n  next: consentry tx rollback {tx_id}" in done.out
    assert document_of(consentry)["notes"] == {"n1": NOTE}
    undone = consentry("tx", "rollback", tx_id, "--yes")
    assert undone.status == 0, undone.err
    assert undone.out.startswith(f"{tx_id}: ROLLED_BACK\n  commit commit-")
    assert document_of(consentry) == {}
    assert transitions(consentry, tx_id)[3:] == [
        ("APPROVAL_PENDING", "APPROVED"),
        ("APPROVED", "APPLYING"),
        ("APPLYING", "APPLIED"),
        ("APPLIED", "ROLLBACK_PENDING"),
        ("ROLLBACK_PENDING", "ROLLED_BACK"),
    ]


def test_the_same_key_is_carried_out_once(consentry: CommandLine) -> None:
    """CONTRACTS §3-apply: said again it answers how that ended; another key finds it done."""
    tx_id = approved(consentry)
    for _ in range(2):
        done = consentry("tx", "apply", tx_id, "--key", "mine")
        assert done.status == 0, done.err
    commits = [each for each in transitions(consentry, tx_id) if each[1] == "APPLIED"]
    assert len(commits) == 1
    assert_error(consentry("tx", "apply", tx_id, "--key", "other"), Code.TX_STATE)
    for _ in range(2):
        done = consentry("tx", "rollback", tx_id, "--key", "back", "--yes")
        assert done.status == 0, done.err
    assert_error(consentry("tx", "rollback", tx_id, "--yes", "--key", "x"), Code.TX_STATE)
    other = approved(consentry, "n2")
    assert_error(consentry("tx", "apply", other, "--key", "mine"), Code.TX_KEY)


@pytest.mark.parametrize("key", ["", " ", "a\nb", "\x1b[2J", "\u202e", "k" * 201])
@pytest.mark.parametrize("word", ["apply", "rollback"])
def test_what_can_be_no_key_is_wrong_usage(consentry: CommandLine, word: str, key: str) -> None:
    """CONTRACTS §11: before anything is opened."""
    assert_error(consentry("tx", word, "tx-0123456789", "--key", key), Code.USAGE)


def test_what_waits_is_not_applied(consentry: CommandLine) -> None:
    """CONTRACTS §3-apply: never without a yes; parked, with the line that gives one."""
    with writing_host(consentry) as application:
        ready(application)
        tx_id = asked(application)
    waits = consentry("tx", "apply", tx_id)
    assert_error(waits, Code.APPROVAL_PENDING)
    assert waits.status == 75
    assert f"help: consentry tx approve {tx_id}" in waits.err
    assert document_of(consentry) == {}


def test_an_expired_approval_applies_nothing(consentry: CommandLine) -> None:
    """CONTRACTS §3-approval: the token has its time; what is told is why, and the status is 126."""
    tx_id = approved(consentry, clock=ManualClock(LONG_AGO))
    done = consentry("tx", "apply", tx_id)
    assert done.status == 126
    assert f"{tx_id}: FAILED_PRE_APPLY" in done.out
    assert "because: [tx-approval] the approval has expired" in done.out
    assert document_of(consentry) == {}


def test_a_document_that_moved_on_is_not_written(consentry: CommandLine) -> None:
    """CONTRACTS §3-apply: the revision is the one that was previewed, or nothing happens."""
    tx_id = approved(consentry)
    with writing_host(consentry) as application:
        changed(application, adding("n9"))
    done = consentry("tx", "apply", tx_id)
    assert done.status == 126
    assert "because: [tx-conflict]" in done.out
    assert document_of(consentry)["notes"].keys() == {"n9"}


def _revoked(line: CommandLine, application: ModuleHost) -> None:  # noqa: ARG001 - one of several ways
    assert line("grants", "revoke", "--module", "note-tools").status == 0


def _removed(line: CommandLine, application: ModuleHost) -> None:  # noqa: ARG001 - as above
    assert line("module", "remove", "note-tools", "--yes").status == 0


def _denied(line: CommandLine, application: ModuleHost) -> None:  # noqa: ARG001 - as above
    assert line("module", "mode", "deny-all").status == 0


def _replaced(line: CommandLine, application: ModuleHost) -> None:  # noqa: ARG001 - as above
    application.import_module(package(moduleVersion="1.3.0"))


def _kept(line: CommandLine, application: ModuleHost) -> None:
    """Nothing is taken from it."""


@pytest.mark.parametrize(
    ("takes", "is_applied"),
    [(_kept, True), (_revoked, False), (_removed, False), (_denied, False), (_replaced, False)],
)
def test_the_authority_of_the_module_is_checked_once_more(
    consentry: CommandLine,
    takes: Callable[[CommandLine, ModuleHost], None],
    is_applied: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """CONTRACTS §3-apply: an approval is no grant; with the grant the same command writes."""
    with writing_host(consentry) as application:
        ready(application)
        tx_id = asked(application)
        say(application, tx_id)
        takes(consentry, application)
    done = consentry("tx", "apply", tx_id)
    assert done.status == (0 if is_applied else 126), done.out + done.err
    assert (state_of(consentry, tx_id) == "APPLIED") is is_applied
    assert bool(document_of(consentry)) is is_applied
    if not is_applied:
        assert state_of(consentry, tx_id) == "FAILED_PRE_APPLY"
        rejected = events(consentry, "capability.check.rejected")
        assert [each["payload"]["transactionId"] for each in rejected] == [tx_id]


def test_a_grant_for_the_session_counts_only_while_that_session_goes_on(
    consentry: CommandLine,
) -> None:
    """MODULES §decision-1: the command is no way to act on it after the application was closed."""
    with writing_host(consentry) as application:
        ready(application, "approve_session")
        first = asked(application)
        say(application, first)
        done = consentry("tx", "apply", first)
        assert done.status == 0, done.out + done.err
        application.change([{"op": "remove", "path": "/notes/n1"}], "Make room")
        second = asked(application)
        say(application, second)
    refused = consentry("tx", "apply", second)
    assert refused.status == 126
    assert "because: [capability-" in refused.out
    assert document_of(consentry) == {"notes": {}} or document_of(consentry) == {}
    used = [each["payload"] for each in events(consentry, "module.capability.used")]
    assert [each["transactionId"] for each in used if each["operation"] is not None] == [first]


def test_what_another_session_was_granted_does_not_count(consentry: CommandLine) -> None:
    """A second window's grant for its own session is not the first one's."""
    with writing_host(consentry) as first:
        ready(first, "approve_session")
        tx_id = asked(first)
        say(first, tx_id)
    with writing_host(consentry) as second:
        granted(second, WRITE, decision="approve_session")
        refused = consentry("tx", "apply", tx_id)
        assert refused.status == 126
        assert document_of(consentry) == {}


def test_what_lies_in_a_store_of_the_host_is_neither_applied_nor_taken_back(
    consentry: CommandLine,
) -> None:
    """Said plainly, with who can; and nothing in the built-in store is touched by it."""
    tx_id = approved(consentry, document=Unreachable("note-board"))
    other = unsettled(consentry)
    for word, named in (("apply", tx_id), ("rollback", other), ("apply", other)):
        refused = consentry("tx", word, named, *(["--yes"] if word == "rollback" else []))
        assert_error(refused, Code.TX_ELSEWHERE)
        assert "have the application apply it" in refused.err
    assert (state_of(consentry, tx_id), state_of(consentry, other)) == (
        "APPROVED",
        "RECOVERY_PENDING",
    )
    assert document_of(consentry) == {}


def test_what_another_process_is_at_is_left_to_it(consentry: CommandLine) -> None:
    """CONTRACTS §3-recovery: while it lives; once it is gone the command settles it and goes on."""
    tx_id = approved(consentry)
    under_way(consentry, tx_id)
    assert_error(consentry("tx", "apply", tx_id), Code.TX_IN_FLIGHT)
    other = approved(consentry, "n2")
    under_way(consentry, other, is_gone=True)
    done = consentry("tx", "apply", other)
    assert done.status == 0, done.out + done.err
    assert document_of(consentry)["notes"].keys() == {"n2"}


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


@pytest.mark.parametrize("word", ["apply", "rollback", "resolve"])
def test_an_unknown_id_is_wrong_usage(consentry: CommandLine, word: str) -> None:
    """CONTRACTS §11: 2, whatever stands there."""
    more = ["--reason", "why"] if word == "resolve" else []
    for named in ("tx-0123456789", "\x1b[2J", "../../etc/passwd", "tx-" + "a" * 5000):
        assert_error(consentry("tx", word, named, *more), Code.TX_UNKNOWN)
    assert_error(consentry("tx", word), Code.USAGE)


def test_the_documents_are_stable(consentry: CommandLine) -> None:
    """Their keys are those that docs/reference/json.md names; quiet is the bare state."""
    tx_id = approved(consentry)
    document = told(consentry, "tx", "apply", tx_id)
    assert document.keys() == {"schema_version", "kind", "transaction", "helps"}
    assert (document["kind"], document["transaction"]["state"]) == ("tx-outcome", "APPLIED")
    undone = told(consentry, "tx", "rollback", tx_id, "--yes")
    assert (undone["kind"], undone["transaction"]["state"]) == ("tx-outcome", "ROLLED_BACK")
    assert consentry("tx", "rollback", tx_id, "--yes", "--quiet").out == "ROLLED_BACK\n"
