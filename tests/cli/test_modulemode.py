"""`consentry module mode`: the operator's switch, and what it does to modules of a running host."""

import json

import pytest

from consentry.base.codes import Code
from tests.cli.asking import set_passphrase
from tests.cli.capabilities import without_terminal
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.moduleplaces import events, granted, host_at, package, told
from tests.cli.terminals import at_terminal

pytestmark = pytest.mark.timeout(120)


def test_the_mode_is_shown_and_set_and_on_record(line: CommandLine) -> None:
    """As any user: who set it, when, from what and why; going back is a change as well."""
    assert line("module", "mode", "--quiet").out == "normal\n"
    assert told(line, "module", "mode")["changedAt"] is None
    done = line("module", "mode", "deny-all", "--reason", "odd exports")
    assert done.status == 0, done.err
    assert done.out.startswith("normal → deny-all: every capability is denied")
    document = told(line, "module", "mode")
    assert (document["kind"], document["mode"]) == ("module-mode", "deny-all")
    assert document["changedBy"].startswith("local:")
    assert told(line, "module", "mode", "normal")["previous"] == "deny-all"
    changes = [each["payload"] for each in events(line, "module.mode.changed")]
    assert [(each["previous"], each["mode"], each["reason"]) for each in changes] == [
        ("normal", "deny-all", "odd exports"),
        ("deny-all", "normal", None),
    ]


def test_what_is_no_mode_is_said_so(consentry: CommandLine) -> None:
    """With the right word; and looking makes no ledger."""
    wrong = consentry("module", "mode", "denyall")
    assert_error(wrong, Code.USAGE)
    assert "deny-all" in wrong.err
    assert_error(consentry("module", "mode", "--reason", "why"), Code.USAGE)
    assert consentry("module", "mode").status == 0
    assert told(consentry, "audit", "log")["events"] == []


def test_deny_all_stops_what_was_granted_and_gives_it_back(consentry: CommandLine) -> None:
    """MODULES §mode-deny-all: set in another process, it holds from the next call on; reversible."""
    with host_at(consentry) as application:
        application.import_module(package())
        granted(application, "state.read")
        assert application.invoke("note-tools", "b-list").ok
        consentry("module", "mode", "deny-all")
        stopped = application.invoke("note-tools", "b-list")
        assert (stopped.ok, stopped.code) == (False, "capability-not-granted")
        assert application.pending() == []
        assert "the mode is deny-all" in consentry("module", "list").out
        why = consentry("grants", "explain", "note-tools", "state.read")
        assert "capability-not-granted" in why.out
        assert "the mode is deny-all" in why.out
        consentry("module", "mode", "normal")
        assert application.invoke("note-tools", "b-list").ok


def test_inspect_only_runs_nothing_and_shows_everything(consentry: CommandLine) -> None:
    """MODULES §mode-inspect-only: importing, listing, showing and drawing go on; no action runs."""
    consentry("module", "mode", "inspect-only")
    with host_at(consentry) as application:
        assert application.import_module(package())["ok"] is True
        assert application.invoke("note-tools", "b-list").code == "capability-not-granted"
    for words in (("list",), ("show", "note-tools"), ("graph", "note-tools")):
        assert consentry("module", *words).status == 0


def test_block_rejected_keeps_a_rejected_action_blocked(consentry: CommandLine) -> None:
    """MODULES §mode-block-rejected: nobody is asked; granted later it stays blocked until the mode changes."""
    with host_at(consentry) as application:
        application.import_module(package())
        consentry("module", "mode", "block-rejected")
        first = application.invoke("note-tools", "b-list")
        assert (first.ok, application.pending()) == (False, [])
        consentry("module", "mode", "block-rejected")  # the same again frees nothing
        assert not application.invoke("note-tools", "b-list").ok
        consentry("module", "mode", "normal")
        granted(application, "state.read")
        assert application.invoke("note-tools", "b-list").ok
    assert len(events(consentry, "module.mode.changed")) == 2


def test_loosening_needs_the_passphrase_and_tightening_does_not(consentry: CommandLine) -> None:
    """As every other yes, typed at a terminal; without one, or with wrong words, nothing changes."""
    set_passphrase(consentry)
    assert consentry("module", "mode", "block-rejected").status == 0
    assert consentry("module", "mode", "deny-all").status == 0
    refused = without_terminal(consentry)("module", "mode", "inspect-only")
    assert_error(refused, Code.TERMINAL_MISSING)
    with at_terminal(consentry, "module", "mode", "normal") as terminal:
        terminal.answer("passphrase, for letting modules do more", "wrong words")
        assert terminal.ended() == 126, terminal.screen
    assert consentry("module", "mode", "--quiet").out == "deny-all\n"
    with at_terminal(consentry, "module", "mode", "normal") as terminal:
        terminal.answer("passphrase, for letting modules do more", "correct horse")
        assert terminal.ended() == 0, terminal.screen
    assert json.loads(consentry("module", "mode", "--json").out)["mode"] == "normal"
