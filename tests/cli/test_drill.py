"""`consentry drill`: what it prints, its statuses, and that a sign-off after it says GO."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from consentry.base.codes import Code
from tests.cli.asking import set_passphrase
from tests.cli.capabilities import without_terminal
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.moduleplaces import HOST, events, granted, host_at, package, told
from tests.cli.terminals import at_terminal

pytestmark = pytest.mark.timeout(180)

FEW = ("--only", "rejected", "--only", "corpus-action")


@contextmanager
def blocked_document(line: CommandLine) -> Iterator[None]:
    """While an attempt that nobody settled stands in the way of the drill's own document."""
    import sqlite3

    path = f"{line.environ['HOME']}/.local/state/consentry/ledger.db"
    with sqlite3.connect(path) as database:
        database.execute(
            "INSERT INTO transaction_block VALUES ('consentry-drill', 'tx-x', 1, '2026-01-01T00:00:00.000Z')"
        )
    yield
    with sqlite3.connect(path) as database:
        database.execute("DELETE FROM transaction_block")


def test_after_a_drill_a_sign_off_says_go(consentry: CommandLine) -> None:
    """CONTRACTS §4-signoff, §4-floors: from a fresh state directory to GO, with fixtures alone."""
    before = consentry("signoff", "--quiet")
    assert (before.status, before.out) == (1, "NO-GO\n")
    done = consentry("drill")
    assert done.status == 0, done.out + done.err
    lines = done.out.splitlines()
    names = [each.split()[1] for each in lines[:-3]]
    assert names == consentry("drill", "--list", "--quiet").out.split()
    assert {each[:4] for each in lines[:-3]} == {"ok  "}
    assert lines[-2] == "every case came out as it has to"
    after = consentry("signoff", "--json")
    assert after.status == 0, after.out
    document = json.loads(after.out)
    assert (document["verdict"], document["reasons"]) == ("GO", [])
    assert {each["status"] for each in document["gates"]} == {"met"}
    assert all(each["found"] == each["fixtures"] >= each["required"] for each in document["floors"])
    assert consentry("audit", "verify").status == 0
    assert told(consentry, "module", "hosts")["hosts"] == []
    assert told(consentry, "module", "list")["modules"] == []
    assert told(consentry, "inbox")["requests"] == []


def test_it_is_told_in_one_line_a_case(consentry: CommandLine) -> None:
    """As soon as each is over; with `--verbose` what it is about, with `--quiet` nothing where all is well."""
    done = consentry("drill", *FEW)
    assert done.status == 0, done.err
    first, second, nothing, summary, drill_id = done.out.splitlines()
    assert (first.split(), second.split()) == (
        ["ok", "rejected", "4", "of", "4", "REJECTED"],
        ["ok", "corpus-action", "20", "of", "20", "valid"],
    )
    assert (nothing, summary) == ("", "every case came out as it has to")
    assert drill_id.startswith("the fixtures are those of drill-")
    assert consentry("drill", *FEW, "--quiet").out == ""
    assert "the person sees the preview and says no" in consentry("drill", *FEW, "--verbose").out


def test_it_answers_with_a_document(consentry: CommandLine) -> None:
    """One, with every case and what the corpus was."""
    document = json.loads(consentry("drill", *FEW, "--json").out)
    assert (document["kind"], document["isGood"]) == ("drill", True)
    assert document["corpusDigest"].startswith("sha256:")
    assert [each["caseId"] for each in document["cases"]] == ["rejected", "corpus-action"]
    assert document["cases"][0] | {"about": ""} == {
        "caseId": "rejected",
        "about": "",
        "expected": "REJECTED",
        "times": 4,
        "asExpected": 4,
        "isGood": True,
        "otherwise": [],
    }
    ids = {each["drillId"] for each in events(consentry, "certification.checked")}
    assert ids == {document["drillId"]}


def test_the_cases_are_listed_and_nothing_is_carried_out(consentry: CommandLine) -> None:
    """No ledger is made."""
    listed = told(consentry, "drill", "--list")
    assert listed["kind"] == "drill-cases"
    text = consentry("drill", "--list").out
    for each in listed["cases"]:
        assert each["caseId"] in text
        assert each["about"] in text
    some = told(consentry, "drill", "--list", "--only", "steady")
    assert [each["caseId"] for each in some["cases"]] == ["steady"]
    assert told(consentry, "audit", "log")["events"] == []


def test_a_case_that_nobody_knows_is_wrong_usage(consentry: CommandLine) -> None:
    """With the right word."""
    wrong = consentry("drill", "--only", "aproved")
    assert_error(wrong, Code.USAGE)
    assert "`approved`" in wrong.err
    assert told(consentry, "audit", "log")["events"] == []


def test_what_comes_out_otherwise_is_named_and_the_status_is_1(consentry: CommandLine) -> None:
    """CONTRACTS §11: a check found something; the case, the repetition and the reason stand there."""
    assert consentry("drill", *FEW).status == 0
    words = ("--only", "repeated", "--only", "rejected")
    with blocked_document(consentry):
        done = consentry("drill", *words)
        assert done.status == 1
        assert done.out.startswith("ok    rejected         4 of 4")
        assert (
            "FAIL  repeated         0 of 2      APPLIED\n      repeated.01: an error, tx-blocked: "
            in done.out
        )
        assert "1 case came out otherwise: repeated" in done.out
        quiet = consentry("drill", *words, "--quiet")
        assert (quiet.status, quiet.out) == (1, "repeated\n")
        document = json.loads(consentry("drill", *words, "--json").out)
        assert (document["isGood"], document["cases"][1]["asExpected"]) == (False, 0)
    assert consentry("drill", *words).status == 0


def test_the_passphrase_is_asked_for_once(consentry: CommandLine) -> None:
    """At the terminal and before anything begins; without a terminal nothing happens."""
    set_passphrase(consentry)
    before = len(told(consentry, "audit", "log")["events"])
    assert_error(without_terminal(consentry)("drill", *FEW), Code.TERMINAL_MISSING)
    with at_terminal(consentry, "drill", *FEW) as terminal:
        terminal.answer("passphrase, for a drill that answers its own questions", "wrong words")
        assert terminal.ended() == 126, terminal.screen
    assert len(told(consentry, "audit", "log")["events"]) == before
    with at_terminal(consentry, "drill", *FEW) as terminal:
        terminal.answer("passphrase, for a drill that answers its own questions", "correct horse")
        assert terminal.ended() == 0, terminal.screen
        assert terminal.screen.count("passphrase, for") == 1


def test_it_is_refused_where_the_mode_stops_modules(consentry: CommandLine) -> None:
    """MODULES §mode-deny-all: and the mode stays."""
    assert consentry("module", "mode", "deny-all").status == 0
    refused = consentry("drill", *FEW)
    assert_error(refused, Code.DRILL_REFUSED)
    assert "deny-all" in refused.err
    assert consentry("module", "mode", "--quiet").out == "deny-all\n"


def test_a_host_beside_it_goes_on(consentry: CommandLine) -> None:
    """Its modules, grants and session are the same before and after, and its events are real use."""
    with host_at(consentry) as application:
        application.import_module(package())
        granted(application, "state.read")
        assert consentry("drill", "--only", "approved", "--only", "violated").status == 0
        assert application.invoke("note-tools", "b-list").ok
        hosts: list[Any] = told(consentry, "module", "hosts")["hosts"]
        assert [each["hostId"] for each in hosts] == [HOST.host_id]
        session_id = application.session_id
    found = [*events(consentry, "module.action.ended"), *events(consentry, "module.imported")]
    channels = {(each["sessionId"] == session_id, each["evidenceChannel"]) for each in found}
    assert channels == {(True, "prod_traffic"), (False, "controlled_fixture")}


def test_a_killed_command_is_put_in_order_by_the_next(consentry: CommandLine) -> None:
    """Whatever it was doing: nothing of it is left, and the next drill is as good as any."""
    running = subprocess.Popen(
        [*consentry.program, "drill"],
        cwd=consentry.cwd,
        env=consentry.environ,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    with running:
        for _ in range(3):
            assert running.stdout.readline().startswith("ok")
        time.sleep(0.1)
        running.send_signal(signal.SIGKILL)
    assert [each["hostId"] for each in told(consentry, "module", "hosts")["hosts"]] == [
        "consentry-drill"
    ]
    done = consentry("drill", *FEW)
    assert done.status == 0, done.out + done.err
    assert told(consentry, "module", "hosts")["hosts"] == []
    assert told(consentry, "inbox")["requests"] == []
    sessions = told(consentry, "session", "list")["sessions"]
    assert {each["kind"] for each in sessions} == {"terminal"}
