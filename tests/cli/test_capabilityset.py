"""`consentry capability set`: a set given by hand, the steps that there are, and what stands in the way."""

import json

import pytest

from consentry.base.codes import Code
from tests.cli.asking import set_passphrase
from tests.cli.capabilities import COUNT, FETCH, decisions, saved, shown, without_terminal
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.terminals import at_terminal


def test_a_set_is_given_by_hand_and_who_did_is_recorded(line: CommandLine) -> None:
    """ESCALATION §step-2: what it may do now is told; the log says who, from where, to where."""
    saved(line, "count", COUNT)
    done = line("capability", "set", "count", "network-api", "--reason", "needs rates")
    assert done.status == 0, done.err
    assert "count: minimal → network-api, by hand" in done.out
    assert "adds  may connect to any public host" in done.out
    kept = shown(line, "count")
    assert (kept["effectiveSet"], kept["permissionSource"]) == ("network-api", "manual")
    (row,) = decisions(line)
    assert (row["fromSet"], row["toSet"], row["approved"]) == ("minimal", "network-api", True)
    assert row["approvedBy"].startswith("local:")
    assert (row["detectedOperation"], row["reason"]) == ("manual", "needs rates")


def test_trusted_is_given_only_with_by_hand(consentry: CommandLine) -> None:
    """ESCALATION §step-2: without the word it is refused and stays; with it, it is audited."""
    saved(consentry, "count", COUNT)
    refused = consentry("capability", "set", "count", "trusted")
    assert_error(refused, Code.PERMISSION_STEP)
    assert "--by-hand" in refused.err
    assert shown(consentry, "count")["permissionSet"] == "minimal"
    assert decisions(consentry) == []
    assert consentry("capability", "set", "count", "trusted", "--by-hand").status == 0
    assert shown(consentry, "count")["effectiveSet"] == "trusted"
    assert [row["toSet"] for row in decisions(consentry)] == ["trusted"]


@pytest.mark.parametrize(
    ("start", "wanted"), [("network-api", "readonly"), ("network-api", "filesystem")]
)
def test_a_step_that_there_is_not_is_refused_by_hand_too(
    consentry: CommandLine, start: str, wanted: str
) -> None:
    """ESCALATION §step-3: with its own code, and nothing changes; --by-hand changes nothing in it."""
    saved(consentry, "count", COUNT)
    assert consentry("capability", "set", "count", start).status == 0
    for words in ((), ("--by-hand",)):
        assert_error(consentry("capability", "set", "count", wanted, *words), Code.PERMISSION_STEP)
    assert shown(consentry, "count")["permissionSet"] == start
    assert len(decisions(consentry)) == 1


def test_taking_powers_away_is_always_possible(consentry: CommandLine) -> None:
    """A set that the present one covers needs no step; what it can still do is told."""
    saved(consentry, "fetch", FETCH)
    done = consentry("capability", "set", "fetch", "minimal")
    assert "fetch: network-api → minimal, by hand" in done.out
    assert "adds" not in done.out
    assert "now   computes; touches no file" in done.out
    document = json.loads(consentry("capability", "set", "fetch", "minimal", "--json").out)
    assert (document["before"], document["added"]) == ("minimal", [])


def test_an_unknown_set_is_told_with_those_that_there_are(consentry: CommandLine) -> None:
    """Before anything is looked for."""
    done = consentry("capability", "set", "nothing", "everything")
    assert_error(done, Code.PERMISSION_SET)
    assert "minimal, readonly" in done.err


def test_where_a_passphrase_is_set_more_powers_need_it(consentry: CommandLine) -> None:
    """The attack: a program types the command. Without the words nothing is given."""
    saved(consentry, "count", COUNT)
    set_passphrase(consentry)
    alone = without_terminal(consentry)
    assert_error(alone("capability", "set", "count", "network-api"), Code.TERMINAL_MISSING)
    assert shown(consentry, "count")["permissionSet"] == "minimal"
    with at_terminal(consentry, "capability", "set", "count", "network-api") as terminal:
        terminal.answer("passphrase, for giving", "wrong words")
        assert terminal.ended() == 126, terminal.screen
    assert shown(consentry, "count")["permissionSet"] == "minimal"
    with at_terminal(consentry, "capability", "set", "count", "network-api") as terminal:
        terminal.answer("passphrase, for giving", "correct horse")
        assert terminal.ended() == 0, terminal.screen
    assert "correct horse" not in terminal.screen
    assert shown(consentry, "count")["permissionSet"] == "network-api"
    assert consentry("capability", "set", "count", "minimal").status == 0


def test_a_set_can_be_given_with_the_code(consentry: CommandLine) -> None:
    """`save --set` is a change by hand like any other, and needs the passphrase where there is one."""
    saved(consentry, "count", COUNT, "--set", "readonly")
    kept = shown(consentry, "count")
    assert (kept["permissionSet"], kept["permissionSource"]) == ("readonly", "manual")
    assert [row["detectedOperation"] for row in decisions(consentry)] == ["manual"]
    set_passphrase(consentry)
    words = ("capability", "save", "other", "count.py", "--set", "network-api")
    assert_error(without_terminal(consentry)(*words), Code.TERMINAL_MISSING)
    assert consentry("capability", "list", "--quiet").out == "count\n"
