"""`consentry run`: a tool is shown, asked about, confined and recorded (CONSENT §base-1, SC-2 to SC-5)."""

import os
import subprocess
import time

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.execs import started
from tests.cli.terminals import at_terminal
from tests.cli.toolhomes import (
    entries_of,
    events_of,
    requests_of,
    write,
    write_consent,
    write_tool,
)

WRITES = """\
import pathlib
pathlib.Path('out').mkdir(exist_ok=True)
pathlib.Path('out/made.txt').write_text('made\\n')
print('now it is there')
"""
TALL = (100, 60)
OUT = [{"pattern": "out/*.txt", "purpose": "what it makes"}]


def statuses(line: CommandLine) -> list[tuple[str, str, bool]]:
    """How each run ended, by which method, and whether consent was given."""
    return [
        (
            each["execution"]["status"],
            each["user"]["consentMethod"],
            each["user"]["consentGiven"],
        )
        for each in entries_of(line)
    ]


def test_a_tool_at_level_none_runs_and_nobody_is_told(line: CommandLine) -> None:
    """CONSENT §level-none: it runs, and is on record as a run without consent."""
    write_tool(line, "greet")
    write_consent(line, {"none": {"allowedTools": ["greet"]}})
    ended = line("run", "greet")
    assert (ended.status, ended.out) == (0, "hello from the tool\n")
    assert "running greet" not in ended.err
    assert statuses(line) == [("success", "none", True)]


def test_a_tool_at_level_implicit_is_announced(line: CommandLine) -> None:
    """CONSENT §level-implicit: one line says what runs and what it may do."""
    write_tool(line, "greet")
    write_consent(line, {"implicit": {"allowedTools": ["greet"]}})
    ended = line("run", "greet")
    assert (ended.status, ended.out) == (0, "hello from the tool\n")
    assert "running greet 1.0.0" in ended.err
    assert "may read" in ended.err
    assert statuses(line) == [("success", "implicit_notification", True)]


def test_a_tool_that_no_level_names_is_asked_about(line: CommandLine) -> None:
    """CONSENT §config-3, §level-explicit: a person at the terminal says yes, and only then it runs."""
    write_tool(line, "greet")
    with at_terminal(line, "run", "greet") as terminal:
        terminal.answer("greet", "a")
        assert terminal.ended() == 0
    assert "hello from the tool" in terminal.screen
    assert statuses(line) == [("success", "explicit_approval", True)]
    [entry] = entries_of(line)
    assert entry["user"]["consentTimestamp"] <= entry["execution"]["startTime"]
    kinds = [each["type"] for each in events_of(line)]
    order = ["approval.requested", "approval.answered", "consent.given", "run.decided"]
    assert [kinds.index(each) for each in order] == sorted(kinds.index(each) for each in order)


def test_a_no_runs_nothing_and_is_on_record(line: CommandLine) -> None:
    """CONSENT §audit-1: a refusal has an entry, with no times and no exit code."""
    write_tool(line, "greet", WRITES, fileWrite=OUT)
    with at_terminal(line, "run", "greet") as terminal:
        terminal.answer("greet", "d")
        assert terminal.ended() == 126
    assert "approval-denied" in terminal.screen
    assert "now it is there" not in terminal.screen
    assert not (line.cwd / "out").exists()
    assert statuses(line) == [("denied", "explicit_approval", False)]
    [entry] = entries_of(line)
    assert (entry["execution"]["startTime"], entry["execution"]["exitCode"]) == (None, None)
    assert entry["user"]["consentTimestamp"] is None
    assert entry["user"]["level"] == "explicit"
    assert (entry["tool"]["name"], entry["tool"]["version"]) == ("greet", "1.0.0")
    assert entry["tool"]["auditConfig"]["includeInReport"] is True


def test_a_pipe_is_never_consent(line: CommandLine) -> None:
    """Words on standard input are the tool's, and answer nothing: the question is parked."""
    write_tool(line, "greet")
    script = "printf 'a\\ny\\nyes\\n' | setsid consentry run --no-wait greet"
    ended = line.in_shell(script.replace("setsid consentry", f"setsid {' '.join(line.program)}"))
    assert ended.status == 75
    assert "hello" not in ended.out
    assert entries_of(line) == []
    [request] = requests_of(line)
    assert request["status"] == "pending"


def test_without_a_terminal_the_question_is_stored_once(line: CommandLine) -> None:
    """Asking again for the same finds the same question, and says how to go on."""
    write_tool(line, "greet")
    first = line("run", "--no-wait", "greet")
    assert first.status == 75
    [request] = requests_of(line)
    assert f"consentry run --request {request['requestId']}" in first.err
    assert line("run", "--no-wait", "greet").status == 75
    assert len(requests_of(line)) == 1
    ended = line("run", "--request", request["requestId"])
    assert ended.status == 75


def test_strict_asks_twice_and_commits_what_was_seen(line: CommandLine) -> None:
    """CONSENT §level-strict: reason and typed word, a rehearsal, the effect, and a second yes."""
    write_tool(line, "make", WRITES, fileWrite=OUT, riskLevel="high")
    with at_terminal(line, "run", "make", size=TALL) as terminal:
        terminal.answer("make", "a")
        terminal.answer("why?", "it is needed")
        terminal.answer("type make", "make")
        terminal.see("out/made.txt")
        assert not (line.cwd / "out/made.txt").exists()
        terminal.answer("", "a")
        assert terminal.ended() == 0
    assert (line.cwd / "out/made.txt").read_text() == "made\n"
    [entry] = entries_of(line)
    assert entry["user"]["consentMethod"] == "strict_approval"
    assert entry["user"]["reason"] == "it is needed"
    settled = [each["payload"] for each in events_of(line) if each["type"] == "effect.settled"]
    assert [each["outcome"] for each in settled] == ["committed"]


def test_strict_discards_what_the_second_answer_refuses(line: CommandLine) -> None:
    """Approve the effect, not the promise: a no after the rehearsal leaves nothing."""
    write_tool(line, "make", WRITES, fileWrite=OUT, riskLevel="high")
    with at_terminal(line, "run", "make", size=TALL) as terminal:
        terminal.answer("make", "a")
        terminal.answer("why?", "it is needed")
        terminal.answer("type make", "make")
        terminal.answer("out/made.txt", "d")
        assert terminal.ended() == 126
    assert not (line.cwd / "out").exists()
    settled = [each["payload"] for each in events_of(line) if each["type"] == "effect.settled"]
    assert [each["outcome"] for each in settled] == ["discarded"]
    assert line("commit").status != 0


def test_a_yes_that_is_taken_back_during_the_rehearsal_commits_nothing(line: CommandLine) -> None:
    """CONSENT SC-6: revoked between the two questions, the second yes is worth nothing."""
    write_tool(line, "make", WRITES, fileWrite=OUT, riskLevel="high")
    with at_terminal(line, "run", "make", size=TALL) as terminal:
        terminal.answer("make", "a")
        terminal.answer("why?", "it is needed")
        terminal.answer("type make", "make")
        terminal.see("out/made.txt")
        [given] = [each for each in events_of(line) if each["type"] == "consent.given"]
        assert line("consent", "revoke", given["payload"]["consentId"]).status == 0
        terminal.answer("", "a")
        assert terminal.ended() == 126
    assert "was revoked" in " ".join(terminal.screen.split())
    assert not (line.cwd / "out").exists()


def test_a_wrong_word_is_no_yes(line: CommandLine) -> None:
    """At level strict the tool's name is typed, and Enter alone approves nothing."""
    write_tool(line, "make", WRITES, fileWrite=OUT, riskLevel="high")
    with at_terminal(line, "run", "make", size=TALL) as terminal:
        terminal.answer("make", "a")
        terminal.answer("why?", "it is needed")
        terminal.answer("type make", "yes")
        terminal.type("\x03")
        assert terminal.ended() in (126, 130)
    assert not (line.cwd / "out").exists()
    assert all(each["execution"]["startTime"] is None for each in entries_of(line))


def test_a_yes_for_the_session_is_not_asked_for_again(line: CommandLine) -> None:
    """CONSENT §remember-1: in the same session it runs, in another it is asked about."""
    write_tool(line, "greet")
    script = f"{' '.join(line.program)} run greet; {' '.join(line.program)} run greet"
    with at_terminal(line, "-c", script, program=["/bin/bash"]) as terminal:
        terminal.answer("greet", "r")
        terminal.answer("", "a")
        terminal.see("hello from the tool")
        terminal.see("hello from the tool")
        assert terminal.ended() == 0
    assert [method for _, method, _ in statuses(line)] == ["explicit_approval", "remembered"]
    assert line("run", "--no-wait", "greet").status == 75


def test_a_changed_file_asks_again_and_says_why(line: CommandLine) -> None:
    """CONSENT §remember-2: consent binds to bytes."""
    write_tool(line, "greet")
    program = " ".join(line.program)
    script = f"{program} run greet; echo 'print(2)' > greet.py; {program} run greet"
    with at_terminal(line, "-c", script, program=["/bin/bash"]) as terminal:
        terminal.answer("greet", "r")
        terminal.answer("", "a")
        terminal.see("hello from the tool")
        terminal.answer("files or manifest have changed", "d")
        assert terminal.ended() == 126
    assert [status for status, _, _ in statuses(line)] == ["success", "denied"]


def test_a_tool_that_changes_while_the_prompt_is_open_does_not_run(line: CommandLine) -> None:
    """Approve A, run B: what was asked about is derived again before anything starts."""
    manifest = write_tool(line, "greet")
    changes = {
        "the script": (line.cwd / "greet.py", "print('other')\n"),
        "the manifest": (manifest, manifest.read_text().replace("A tool", "Another tool")),
    }
    for path, content in changes.values():
        before = path.read_text()
        with at_terminal(line, "run", "greet") as terminal:
            terminal.see("\n> ")
            write(line, path, content)
            terminal.type("a\n")
            assert terminal.ended() == 126
        assert "changed while the question was open" in " ".join(terminal.screen.split())
        assert "hello" not in terminal.screen
        write(line, path, before)
    assert {status for status, _, _ in statuses(line)} == {"denied"}


def test_a_tool_that_disappears_while_the_prompt_is_open_is_one_clear_error(
    line: CommandLine,
) -> None:
    """Nothing runs, and an entry says why."""
    manifest = write_tool(line, "greet")
    with at_terminal(line, "run", "greet") as terminal:
        terminal.see("\n> ")
        manifest.unlink()
        terminal.type("a\n")
        assert terminal.ended() == 2
    assert "Traceback" not in terminal.screen
    assert "tool-unknown" in terminal.screen
    assert [status for status, _, _ in statuses(line)] == ["not_started"]


def test_a_policy_entry_stands_for_the_yes_at_exact_bytes(line: CommandLine) -> None:
    """CONSENT §base-4: named tool, version and digest; each use is recorded as by policy."""
    write_tool(line, "greet")
    line("run", "--no-wait", "greet")
    [request] = requests_of(line)
    entry = {"tool": "greet", "version": "1.0.0", "digest": request["digest"]}
    path = line.cwd.parent / "home/.config/consentry/policy.yaml"
    write(line, path, {"policyVersion": "1", "entries": [entry]})
    ended = line("run", "greet")
    assert (ended.status, ended.out) == (0, "hello from the tool\n")
    assert statuses(line) == [("success", "policy", True)]
    write(line, line.cwd / "greet.py", "print('other')\n")
    assert line("run", "--no-wait", "greet").status == 75


def test_policy_does_not_commit_a_strict_run_unless_it_says_so(line: CommandLine) -> None:
    """CONTRACTS §12-commit-strict: `commit: ask` is the default, `auto` the exception."""
    write_tool(line, "make", WRITES, fileWrite=OUT, riskLevel="high")
    line("run", "--no-wait", "make")
    [request] = requests_of(line)
    entry = {"tool": "make", "version": "1.0.0", "digest": request["digest"]}
    path = line.cwd.parent / "home/.config/consentry/policy.yaml"
    write(line, path, {"policyVersion": "1", "entries": [entry]})
    assert line("run", "make").status == 75
    assert not (line.cwd / "out").exists()
    write(line, path, {"policyVersion": "1", "entries": [{**entry, "commit": "auto"}]})
    assert line("run", "make").status == 0
    assert (line.cwd / "out/made.txt").read_text() == "made\n"


def test_a_waiting_process_goes_on_when_another_terminal_answers(line: CommandLine) -> None:
    """Any channel can answer, and the process that asked carries it out."""
    write_tool(line, "greet")
    waiting = started(line, "run", "greet", start_new_session=True)
    try:
        deadline = time.monotonic() + 60
        while not requests_of(line):
            assert time.monotonic() < deadline
            time.sleep(0.1)
        [request] = requests_of(line)
        with at_terminal(line, "approve", request["requestId"]) as terminal:
            terminal.answer("greet", "a")
            assert terminal.ended() == 0, terminal.screen
        out, err = waiting.communicate(timeout=60)
    finally:
        waiting.kill()
    assert waiting.returncode == 0, err
    assert out == b"hello from the tool\n"


def test_an_approved_request_is_dispatched_once(line: CommandLine) -> None:
    """The second dispatch finds its consent used."""
    write_tool(line, "greet")
    line("run", "--no-wait", "greet")
    [request] = requests_of(line)
    with at_terminal(line, "approve", request["requestId"]) as terminal:
        terminal.answer("greet", "a")
        assert terminal.ended() == 0, terminal.screen
    ended = line("run", "--request", request["requestId"])
    assert (ended.status, ended.out) == (0, "hello from the tool\n")
    again = line("run", "--request", request["requestId"])
    assert (again.status, again.out) == (126, "")
    assert [status for status, _, _ in statuses(line)] == ["success", "denied"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("run",), Code.USAGE),
        (("run", "gret"), Code.TOOL_UNKNOWN),
        (("run", "--request", "request-none"), Code.ID_UNKNOWN),
        (("run", "--request", "request-none", "greet"), Code.USAGE),
        (("run", "--config", "nowhere", "greet"), Code.CONFIG_MISSING),
    ],
)
def test_wrong_words_are_one_clear_error(
    consentry: CommandLine, words: tuple[str, ...], code: Code
) -> None:
    """One error, a stable code, a documented status."""
    write_tool(consentry, "greet")
    assert_error(consentry(*words), code)


def test_a_malformed_manifest_is_named_with_its_line(consentry: CommandLine) -> None:
    """Exit status 3, the file and the line; an entry says that nothing started."""
    manifest = write_tool(consentry, "greet")
    manifest.write_text("tool:\n  name: greet\n  name: greet\n")
    ended = consentry("run", "greet")
    assert ended.status == 3
    assert "greet.yaml:3" in ended.err
    assert [status for status, _, _ in statuses(consentry)] == ["not_started"]


def test_our_own_status_is_told_apart(consentry: CommandLine) -> None:
    """CONTRACTS §11-other: the tool's status is ours to pass on, `--status-fd` has our own."""
    write_tool(consentry, "fail", "raise SystemExit(7)\n")
    write_consent(consentry, {"none": {"allowedTools": ["fail"]}})
    ended = consentry.in_shell("consentry run --status-fd 3 fail 3>own; echo $?; cat own")
    assert ended.out.split() == ["7", "0"]


def test_words_for_the_tool_go_to_its_entry_point(consentry: CommandLine) -> None:
    """They are the tool's own, also where they look like options of ours."""
    code = "import sys\nprint(sys.argv[1:])\n"
    write_tool(
        consentry,
        "echo",
        code,
        entrypoint={"command": "/usr/bin/python3", "arguments": ["echo.py"]},
    )
    write_consent(consentry, {"none": {"allowedTools": ["echo"]}})
    assert consentry("run", "echo", "--", "--json", "a b").out == "['--json', 'a b']\n"


def test_a_full_disk_of_the_ledger_runs_nothing(consentry: CommandLine) -> None:
    """No record, no run: a state directory that cannot be written stops it with status 5."""
    if os.geteuid() != 0:
        pytest.skip("a file system of one page is mounted by root alone")
    write_tool(consentry, "make", WRITES, fileWrite=OUT)
    write_consent(consentry, {"none": {"allowedTools": ["make"]}})
    small = consentry.cwd.parent / "small"
    small.mkdir(mode=0o700)
    mount = ["/usr/bin/mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "none", str(small)]
    subprocess.run(mount, check=True)
    try:
        (small / "full").write_bytes(b"x" * (200 << 10))
        ended = consentry("run", "make", CONSENTRY_STATE=str(small))
    finally:
        subprocess.run(["/usr/bin/umount", str(small)], check=True)
    assert ended.status == 5
    assert not (consentry.cwd / "out").exists()


def test_why_names_the_tool_and_how_it_was_agreed_to(consentry: CommandLine) -> None:
    """A tool is told of by its name, version and digest, and not by its interpreter."""
    write_tool(consentry, "greet")
    write_consent(consentry, {"implicit": {"allowedTools": ["greet"]}})
    consentry("run", "greet")
    said = consentry("why").out
    assert "tool      greet 1.0.0, sha256:" in said
    assert "consent   implicit notification at level implicit" in said


def test_a_tool_that_keeps_no_lists_is_counted_all_the_same(consentry: CommandLine) -> None:
    """CONSENT §manifest-6: `logLevel: minimal` has no file lists, and its effect its number of files."""
    write_tool(consentry, "make", WRITES, fileWrite=OUT, auditConfig={"logLevel": "minimal"})
    write_consent(consentry, {"none": {"allowedTools": ["make"]}})
    assert consentry("run", "--rehearse", "make").status == 0
    [entry] = entries_of(consentry)
    assert (entry["impact"]["filesRead"], entry["impact"]["filesWritten"]) == ([], [])
    assert consentry("commit", entry["id"]).status == 0
    [settled] = [each for each in events_of(consentry) if each["type"] == "effect.settled"]
    assert settled["payload"]["files"] == 2


def test_the_summary_says_how_long_it_usually_takes(consentry: CommandLine) -> None:
    """From the second run on there is something to compare with."""
    write_tool(consentry, "greet")
    write_consent(consentry, {"none": {"allowedTools": ["greet"]}})
    assert "usually" not in consentry("run", "greet").err
    assert "usually" in consentry("run", "greet").err
