"""`consentry audit export`: the real command over a real ledger, into files, pipes and a terminal."""

import json
import os
import pty
import stat
import subprocess
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.record.chain import follow
from consentry.record.eventline import row_of
from consentry.service.ledgers import ledger_for_writing
from consentry.service.surroundings import Surroundings
from tests.cli.conftest import PROGRAM, CommandLine, assert_error
from tests.record.samples import Drafts

# The machine's own registration is an event, too; these are the ones the test made.
OURS = ("--type", "FilesystemRaceDetected")
HOSTILE = "tool:\x9b2J\u202e\U0001f600\x7fevil"


@pytest.fixture
def recorded(consentry: CommandLine) -> CommandLine:
    """The command, where three events were recorded."""
    record(consentry, "tool:a", "tool:b", HOSTILE)
    return consentry


def record(consentry: CommandLine, *subjects: str) -> None:
    """Appends an event about each, and lets go of the file."""
    around = Surroundings(consentry.environ, consentry.cwd, uid=os.geteuid())
    ledger, drafts = ledger_for_writing(around), Drafts()
    ledger.append(*(drafts.make(each, decision=each[-1]) for each in subjects))
    ledger.close()


def test_lines_go_to_standard_output_and_verify(recorded: CommandLine) -> None:
    """Nothing but the lines; each is an event, and together they are a chain."""
    done = recorded("audit", "export")
    assert (done.status, done.err) == (0, "")
    lines = done.out.encode().split(b"\n")
    assert lines.pop() == b""
    rows = [row_of(line, number) for number, line in enumerate(lines, 1)]
    assert isinstance(follow(sorted(rows)), dict)
    assert len(recorded("audit", "export", *OURS).out.splitlines()) == 3


def test_a_new_file_is_made_for_its_owner_alone(recorded: CommandLine) -> None:
    """The same bytes, and one line that says what was done."""
    done = recorded("audit", "export", *OURS, "--out", "events.jsonl")
    assert (done.status, done.out, done.err) == (0, "3 events written to events.jsonl\n", "")
    path = recorded.cwd / "events.jsonl"
    assert path.read_text() == recorded("audit", "export", *OURS).out
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    quiet = recorded("audit", "export", "--out", "again.jsonl", "--quiet")
    assert (quiet.status, quiet.out) == (0, "")
    one = recorded("audit", "export", "--out", "one.jsonl", "--subject", "tool:a", "--redacted")
    assert one.out == "1 event written to one.jsonl, redacted\n"


def test_json_is_a_summary_and_needs_a_file(recorded: CommandLine) -> None:
    """Standard output carries one document, never a stream of them."""
    words = ("audit", "export", *OURS, "--format", "ocsf", "--redacted", "--json")
    document = json.loads(recorded(*words, "--out", "x.jsonl").out)
    assert document == {
        "schema_version": 1,
        "kind": "audit-export",
        "file": "x.jsonl",
        "events": 3,
        "format": "ocsf",
        "redacted": True,
    }
    refused = recorded(*words)
    assert refused.status == 2
    assert json.loads(refused.out)["error"]["code"] == "usage"


def test_filters_are_those_of_the_log(recorded: CommandLine) -> None:
    """By time, subject, type, session and decision."""

    def subjects(*words: str) -> list[str]:
        lines = recorded("audit", "export", *words).out.splitlines()
        return [json.loads(line)["subject"] for line in lines]

    assert subjects("--subject", "tool:b") == ["tool:b"]
    assert subjects("--decision", "a") == ["tool:a"]
    assert subjects("--since", "2026-01-01T00:00:03Z", *OURS) == [HOSTILE]
    assert subjects("--until", "2026-01-01T00:00:02Z") == ["tool:a"]
    assert subjects("--type", "PluginRejected") == []
    assert subjects("--session", "nobody") == []
    assert_error(recorded("audit", "export", "--since", "yesterday"), Code.TIMESTAMP)
    assert "did you mean `ocsf`" in recorded("audit", "export", "--format", "ocfs").err


def test_ocsf_inside_cloudevents(recorded: CommandLine) -> None:
    """One on each line, the whole event inside."""
    lines = recorded("audit", "export", *OURS, "--format", "ocsf").out.splitlines()
    assert len(lines) == 3
    for event in map(json.loads, lines):
        assert event["type"] == "consentry.FilesystemRaceDetected"
        assert event["data"]["class_uid"] == 1001
        assert event["data"]["unmapped"]["hash"] == event["hash"]


def test_a_redacted_export_does_not_verify_and_says_so(recorded: CommandLine) -> None:
    """No name of the person who acted; each line is marked."""
    done = recorded("audit", "export", *OURS, "--redacted")
    assert "user@host" in recorded("audit", "export", *OURS).out
    assert "user" not in done.out
    for event in map(json.loads, done.out.splitlines()):
        assert event["redacted"] is True
        assert event["hash"].startswith("redacted:")


def test_without_a_ledger_nothing_is_exported_and_nothing_made(consentry: CommandLine) -> None:
    """No event is an answer; a stream stays a stream, so the words go to the other one."""
    done = consentry("audit", "export")
    assert (done.status, done.out, done.err) == (0, "", "nothing was recorded here yet\n")
    assert consentry("audit", "export", "--quiet").err == ""
    assert consentry("audit", "export", "--out", "x").out == "0 events written to x\n"
    assert (consentry.cwd / "x").read_bytes() == b""
    assert not (Path(consentry.environ["HOME"]) / ".local").exists()


def test_a_file_in_the_way_is_never_overwritten(recorded: CommandLine) -> None:
    """Neither a file nor what a link leads to; a folder that is not there is named."""
    taken = recorded.cwd / "taken"
    taken.write_text("mine")
    assert_error(recorded("audit", "export", "--out", "taken"), Code.FILE_UNUSABLE)
    assert taken.read_text() == "mine"
    (recorded.cwd / "link").symlink_to(recorded.cwd / "elsewhere")
    assert_error(recorded("audit", "export", "--out", "link"), Code.FILE_UNUSABLE)
    assert not (recorded.cwd / "elsewhere").exists()
    assert_error(recorded("audit", "export", "--out", "nowhere/x"), Code.FILE_UNUSABLE)


def test_a_file_that_grows_too_large_is_removed(recorded: CommandLine) -> None:
    """The system stops the writing half-way: one error, and no half of a file."""
    record_many(recorded)
    # In blocks of 1024 bytes: enough for what SQLite keeps beside its file, not for the export.
    ended = recorded.in_shell("ulimit -f 100; consentry audit export --out half.jsonl")
    assert_error(ended, Code.FILE_UNUSABLE)
    assert "half.jsonl`: file too large" in ended.err
    assert not (recorded.cwd / "half.jsonl").exists()
    assert recorded("audit", "export", "--out", "half.jsonl").status == 0, "the name is free"


def record_many(consentry: CommandLine) -> None:
    """Enough events that they fill every buffer on the way."""
    around = Surroundings(consentry.environ, consentry.cwd, uid=os.geteuid())
    ledger, drafts = ledger_for_writing(around), Drafts()
    for _ in range(3):
        drafts.make()  # ids that are taken
    ledger.append(*(drafts.make(f"tool:{number}", text="x" * 500) for number in range(300)))
    ledger.close()


def test_a_reader_that_goes_away_ends_it(recorded: CommandLine) -> None:
    """Quiet, with the status a program gets that dies of it."""
    record_many(recorded)
    script = "consentry audit export | head -n 1 >/dev/null; exit ${PIPESTATUS[0]}"
    ended = recorded.in_shell(script)
    assert (ended.status, ended.out, ended.err) == (141, "", "")


def test_full_and_closed_output_are_told(recorded: CommandLine) -> None:
    """One error each, for the first event and for the many."""
    assert_error(recorded.in_shell("consentry audit export >/dev/full"), Code.OUTPUT_FAILED)
    assert_error(recorded.in_shell("consentry audit export >&-"), Code.OUTPUT_FAILED)
    record_many(recorded)
    full = recorded.in_shell("consentry audit export >/dev/full")
    assert_error(full, Code.OUTPUT_FAILED)
    assert "no space left on device" in full.err


def test_a_ledger_that_fails_leaves_no_file(recorded: CommandLine) -> None:
    """A database that is none: status 5, and nothing made."""
    state = Path(recorded.environ["HOME"]) / ".local/state/consentry"
    for path in state.glob("ledger.db*"):
        path.unlink()
    (state / "ledger.db").write_bytes(b"not a database at all, but long enough " * 40)
    assert_error(recorded("audit", "export", "--out", "x"), Code.LEDGER_CORRUPT)
    assert not (recorded.cwd / "x").exists()
    state.chmod(0o755)
    assert_error(recorded("audit", "export"), Code.STATE_UNSAFE)


def test_nothing_in_an_event_can_act_on_a_terminal(recorded: CommandLine) -> None:
    """On a terminal the same JSON comes in ASCII; in a pipe it is as it was recorded."""
    master, terminal = pty.openpty()
    with os.fdopen(master, "rb", buffering=0) as screen:
        with os.fdopen(terminal, "wb") as stream:
            subprocess.run(
                [*PROGRAM, "audit", "export", "--subject", HOSTILE],
                cwd=recorded.cwd,
                env=recorded.environ,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                check=True,
            )
        shown = screen.read(65536)
    line = shown.removesuffix(b"\r\n")
    assert all(0x20 <= byte <= 0x7E for byte in line)
    assert json.loads(line)["subject"] == HOSTILE
    assert HOSTILE in recorded("audit", "export").out
