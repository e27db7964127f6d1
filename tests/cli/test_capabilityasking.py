"""`consentry capability run`: the one question of an execution, and its answers here and elsewhere."""

import json
import os
from typing import Any

import pytest

from consentry.base.codes import Code
from tests.cli.capabilities import (
    TALL,
    answered,
    decisions,
    parked,
    run,
    saved,
    shown,
    waiting,
    with_reader,
    without_terminal,
)
from tests.cli.conftest import CommandLine
from tests.cli.escalating import inbox
from tests.cli.execs import home_of, put
from tests.cli.terminals import at_terminal
from tests.denos import deno_line

__all__ = ["deno_line"]  # a fixture that tests here ask for by name

SHORT = "approvals:\n  deadlines:\n    escalation: 1s\n"


@pytest.fixture
def reader(line: CommandLine) -> CommandLine:
    """A capability that reads what it is told to, in `minimal`."""
    return with_reader(line)


def test_a_yes_at_the_terminal_is_kept_and_the_code_runs_once_more(reader: CommandLine) -> None:
    """ESCALATION AC9.1: denied, asked with the document's words, approved, retried, and it succeeds."""
    with _at_terminal(reader, "reader", 'name="data/x"') as terminal:
        text = terminal.see("a approve | r reject")
        terminal.answer("", "A")
        assert terminal.ended() == 0, terminal.screen
    assert "=== Permission Escalation Request ===" in text
    assert "Requested Permission Set: readonly" in text
    assert "reported by the program itself" not in text
    assert '"hello\\n"\n' in terminal.screen
    assert "reader runs in readonly until its code changes" in terminal.screen
    assert shown(reader, "reader")["effectiveSet"] == "readonly"
    (row,) = decisions(reader, "reader", "--limit", "1")
    assert (row["approved"], row["fromSet"], row["toSet"]) == (True, "minimal", "readonly")
    assert "minimal → readonly, approved" in reader("capability", "history", "reader").out
    assert run(reader, "reader", "--arg", 'name="data/x"').status == 0
    assert inbox(reader) == []


def test_a_no_at_the_terminal_is_the_original_error(reader: CommandLine) -> None:
    """ESCALATION AC9.2: 126, the code's own error, the set as it was, and the no is logged."""
    with _at_terminal(reader, "reader", 'name="y"') as terminal:
        terminal.answer("r reject", "R")
        assert terminal.ended() == 126, terminal.screen
    assert "consentry: FileNotFoundError: " in terminal.screen
    assert "filesystem was not given, it was rejected" in terminal.screen
    assert "top" not in terminal.screen
    assert shown(reader, "reader")["effectiveSet"] == "minimal"
    (row,) = decisions(reader, "reader", "--rejected")
    assert row["toSet"] == "filesystem"


def test_the_prompt_is_drawn_when_the_code_has_ended(consentry: CommandLine) -> None:
    """What it left on the terminal is set right first, and what was typed to it answers nothing."""
    code = "print('\\x1b[?1049h\\x1b[31m\\x1b]0;owned', flush=True)\nresult = open('y').read()\n"
    put(consentry, "y", "top\n")
    saved(consentry, "messy", code)
    assert consentry("capability", "set", "messy", "minimal").status == 0
    with at_terminal(consentry, "capability", "run", "messy", size=TALL, TERM="xterm") as terminal:
        terminal.type("a\na\n")
        text = terminal.see("=== Permission")
        assert "\x18\x1b\\\x1b[?47l" in text
        terminal.answer("r reject", "r")
        assert terminal.ended() == 126, terminal.screen


def test_ctrl_c_at_the_prompt_denies(reader: CommandLine) -> None:
    """Turning away is a no; it is recorded, and the status says so."""
    with _at_terminal(reader, "reader", 'name="data/x"') as terminal:
        terminal.see("r reject")
        terminal.see("\n> ")
        terminal.type("\x03")
        assert terminal.ended() == 126, terminal.screen
    assert [row["approved"] for row in decisions(reader, "reader", "--rejected")] == [False]


def test_an_answer_from_another_process_is_taken_up(reader: CommandLine) -> None:
    """ESCALATION §ask-1: without a terminal it waits and says where; the yes elsewhere lets it go on."""
    process = waiting(reader, "reader", "--arg", 'name="data/x"')
    (request,) = inbox(reader)
    answered(reader, request["requestId"], "a")
    out, err = process.communicate(timeout=50)
    assert (process.returncode, out) == (0, b'"hello\\n"\n'), err
    assert f"consentry approve {request['requestId']}".encode() in err


def test_a_no_from_another_process_ends_it(reader: CommandLine) -> None:
    """With 126 and the error of the attempt; nothing is on standard output."""
    process = waiting(reader, "reader", "--arg", 'name="data/x"')
    (request,) = inbox(reader)
    with at_terminal(reader, "deny", request["requestId"], "--reason", "not today") as terminal:
        assert terminal.ended() == 0, terminal.screen
    out, err = process.communicate(timeout=50)
    assert (process.returncode, out) == (126, b""), err
    assert b"FileNotFoundError" in err
    assert b"not today" in err


def test_two_terminals_and_one_answer(reader: CommandLine) -> None:
    """Whoever answers first decides; the prompt of the run sees it and goes on."""
    with _at_terminal(reader, "reader", 'name="data/x"') as terminal:
        terminal.see("r reject")
        (request,) = inbox(reader)
        answered(reader, request["requestId"], "a")
        assert terminal.ended() == 0, terminal.screen
    assert '"hello\\n"\n' in terminal.screen
    assert len(decisions(reader, "reader", "--approved")) == 2  # one was by hand


def test_two_processes_of_one_execution_ask_once(reader: CommandLine) -> None:
    """ESCALATION §yes-once: started twice under one id they wait for one answer, and both go on."""
    words = ("reader", "--arg", 'name="data/x"', "--execution", "execution-of-two")
    processes = [waiting(reader, *words), waiting(reader, *words)]
    (request,) = inbox(reader)
    answered(reader, request["requestId"], "a")
    for each in processes:
        out, err = each.communicate(timeout=50)
        assert (each.returncode, out) == (0, b'"hello\\n"\n'), err
    assert len(decisions(reader, "reader", "--approved")) == 2  # one was by hand


def test_a_shared_store_is_answered_on_as_well(consentry: CommandLine, postgres_url: str) -> None:
    """ESCALATION §ask-1: on PostgreSQL the same: saved, denied, approved elsewhere, retried, listed."""
    consentry.environ["CONSENTRY_STORE"] = postgres_url
    line = with_reader(consentry)
    process = waiting(line, "reader", "--arg", 'name="data/x"')
    (request,) = inbox(line)
    answered(line, request["requestId"], "a")
    out, err = process.communicate(timeout=50)
    assert (process.returncode, out) == (0, b'"hello\\n"\n'), err
    assert shown(line, "reader")["effectiveSet"] == "readonly"
    assert [row["toSet"] for row in decisions(line, "reader", "--limit", "1")] == ["readonly"]


def test_without_waiting_it_is_parked_and_taken_up_again(reader: CommandLine) -> None:
    """ESCALATION §yes-once: 75 with the ids; the line that is printed goes on where it stopped."""
    done = run(reader, "reader", "--arg", 'name="data/x"', "--no-wait")
    assert (done.status, done.out) == (75, "")
    line = done.err.splitlines()[-1].strip()
    (request,) = inbox(reader)
    assert f"consentry approve {request['requestId']}" in done.err
    again = without_terminal(reader).in_shell(f"{line} --no-wait")
    assert again.status == 75
    assert [each["requestId"] for each in inbox(reader)] == [request["requestId"]]
    answered(reader, request["requestId"], "a")
    over = without_terminal(reader).in_shell(line)
    assert (over.status, over.out) == (0, '"hello\\n"\n'), over.err


def test_a_parked_execution_that_was_denied_stays_denied(reader: CommandLine) -> None:
    """ESCALATION §yes-once: it asks no second time, and its status is that of the no."""
    request_id, execution = parked(reader, "reader", "--arg", 'name="data/x"')
    answered(reader, request_id, "r")
    words = ("--arg", 'name="data/x"', "--execution", execution)
    over = run(reader, "reader", *words)
    assert (over.status, over.out) == (126, "")
    assert f"{Code.ESCALATION_SPENT}: " in over.err
    assert inbox(reader) == []
    assert run(reader, "reader", "--arg", 'name="data/x"', "--no-wait").status == 75


def test_nobody_who_answers_in_time_is_a_no_of_its_own(reader: CommandLine) -> None:
    """ESCALATION §ask-4: 126 with `approval-expired`; the log has it by `system`."""
    settings = home_of(reader) / ".config/consentry/settings.yaml"
    put(reader, str(settings), SHORT, 0o600)
    for folder in (settings.parent, settings.parent.parent):
        os.chown(folder, reader.cwd.stat().st_uid, reader.cwd.stat().st_gid)
    done = run(reader, "reader", "--arg", 'name="data/x"')
    assert done.status == 126, done.err
    assert f"{Code.APPROVAL_EXPIRED}: " in done.err
    (row,) = decisions(reader, "reader", "--rejected")
    assert row["approvedBy"] == "system"


def test_one_that_always_needs_more_asks_once(reader: CommandLine) -> None:
    """ESCALATION AC5: after the one yes the next denial ends it, with the code's own status."""
    code = "a = open('data/x').read()\nresult = open('y').read()\n"
    saved(reader, "greedy", code)
    assert reader("capability", "set", "greedy", "minimal").status == 0
    with at_terminal(reader, "capability", "run", "greedy", size=TALL) as terminal:
        terminal.answer("r reject", "a")
        assert terminal.ended() == 1, terminal.screen
    assert terminal.screen.count("=== Permission Escalation Request ===") == 1
    assert str(Code.ESCALATION_SPENT) in terminal.screen
    assert shown(reader, "greedy")["effectiveSet"] == "readonly"


@pytest.mark.parametrize(
    ("code", "refused"),
    [
        ("import subprocess\nresult = subprocess.run(['/usr/bin/id']).returncode\n", "critical"),
        ("import os\nresult = open(os.path.expanduser(key)).read()\n", "protected-root"),
    ],
)
def test_what_is_never_opened_asks_nobody(line: CommandLine, code: str, refused: str) -> None:
    """ESCALATION AC9.3, §ask-protected: the code's own status, the reason, and no question anywhere."""
    key = put(line, str(home_of(line) / ".ssh/id_ed25519"), "secret")
    saved(line, "thief", code)
    line("capability", "set", "thief", "minimal")
    with at_terminal(line, "capability", "run", "thief", "--arg", f'key="{key}"') as terminal:
        assert terminal.ended() == 1, terminal.screen
    assert f"escalation-{refused}" in terminal.screen
    assert "secret" not in terminal.screen
    assert inbox(line) == []
    assert [row["detectedOperation"] for row in decisions(line)] in ([], ["manual"])
    listed = json.loads(line("escalations", "thief", "--refused", "--json").out)["refusals"]
    assert [each["code"] for each in listed] == [f"escalation-{refused}"]


def test_a_sentence_that_code_only_says_gets_no_question(line: CommandLine) -> None:
    """On native the record counts: raising the words of a denial, or printing them, asks nobody."""
    said = "PermissionDenied: Requires net access to api.example.com:443"
    saved(line, "liar", f"print({said!r})\nraise PermissionError({said!r})\n")
    line("capability", "set", "liar", "minimal")
    with at_terminal(line, "capability", "run", "liar") as terminal:
        assert terminal.ended() == 1, terminal.screen
    assert "=== Permission Escalation" not in terminal.screen
    assert inbox(line) == []


def test_typescript_asks_in_its_own_words(deno_line: CommandLine) -> None:
    """ESCALATION §set-3: Deno's denial is headed as the program's word; a yes runs it once more."""
    put(deno_line, "data/x", "hello\n")
    code = 'const text = await Deno.readTextFile("data/x");\nreturn { text, n: n + 1 };\n'
    saved(deno_line, "reads", code, ending="ts")
    deno_line("capability", "set", "reads", "minimal")
    words = ("capability", "run", "reads", "--arg", "n=1")
    with at_terminal(deno_line, *words, size=TALL) as terminal:
        text = terminal.see("a approve | r reject")
        assert "reported by the program itself, not observed" in text
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
    assert '{"text": "hello\\n", "n": 2}\n' in terminal.screen
    done = run(deno_line, "reads", "--arg", "n=2")
    assert json.loads(done.out) == {"text": "hello\n", "n": 3}


def _at_terminal(line: CommandLine, name: str, argument: str) -> Any:
    return at_terminal(line, "capability", "run", name, "--arg", argument, size=TALL)
