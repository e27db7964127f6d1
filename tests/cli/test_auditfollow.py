"""`consentry audit log --follow`: a real process that goes on while others record."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from consentry.base.clock import SystemClock
from consentry.base.codes import Code, ExitStatus
from consentry.base.ids import Uuid7Ids
from consentry.record.envelope import Draft
from consentry.service.ledgers import ledger_for_writing
from consentry.service.surroundings import Surroundings
from tests.cli.conftest import PROGRAM, CommandLine, assert_error
from tests.record.samples import Drafts
from tests.store.archiving import all_before, taken_out
from tests.store.postgresserver import PostgresServer

FOLLOW = ("audit", "log", "--follow", "--type", "FilesystemRaceDetected")


def fresh_drafts() -> Drafts:
    """Drafts whose ids nobody else makes."""
    return Drafts(Uuid7Ids(SystemClock()))


def record(consentry: CommandLine, *drafts: Draft, **environ: str) -> None:
    """Appends as another process would, and lets go of the file."""
    around = Surroundings({**consentry.environ, **environ}, consentry.cwd, uid=os.geteuid())
    ledger = ledger_for_writing(around)
    ledger.append(*drafts)
    ledger.close()


@contextmanager
def followed(
    consentry: CommandLine, *words: str, **environ: str
) -> Iterator[subprocess.Popen[str]]:
    """The command, running; ended when the block ends."""
    process = subprocess.Popen(
        [*PROGRAM, *FOLLOW, *words],
        cwd=consentry.cwd,
        env={**consentry.environ, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def next_line(process: subprocess.Popen[str]) -> str:
    """The next line it prints; waits for it."""
    assert process.stdout is not None
    return process.stdout.readline()


def test_it_prints_what_others_record_until_interrupted(consentry: CommandLine) -> None:
    """The latest first, then each new event; Ctrl-C ends it with 130 and without a word."""
    drafts = fresh_drafts()
    record(consentry, drafts.make("one"), drafts.make("two"))
    with followed(consentry, "--last", "1") as process:
        assert "  two  " in next_line(process)
        record(consentry, drafts.make("three"))
        assert "  three  " in next_line(process)
        process.send_signal(signal.SIGINT)
        rest, said = process.communicate()
    assert (process.returncode, rest, said) == (ExitStatus.INTERRUPTED, "", "")


def test_in_json_each_line_is_a_document(consentry: CommandLine) -> None:
    """JSON Lines: the kind of `audit show`, whatever the subject holds."""
    drafts = fresh_drafts()
    record(consentry, drafts.make("one\nline"))
    with followed(consentry, "--json") as process:
        first = json.loads(next_line(process))
        record(consentry, drafts.make("two"))
        second = json.loads(next_line(process))
    assert list(first) == ["schema_version", "kind", "event"]
    assert [each["kind"] for each in (first, second)] == ["audit-event"] * 2
    assert [each["event"]["subject"] for each in (first, second)] == ["one\nline", "two"]


@contextmanager
def stopped(process: subprocess.Popen[str]) -> Iterator[None]:
    """It stands still inside the block."""
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def archived_unread(consentry: CommandLine, drafts: Drafts) -> tuple[str, str]:
    """Two events are recorded and archived, and one more is recorded; the writer and the archive."""
    around = Surroundings(consentry.environ, consentry.cwd, uid=os.geteuid())
    ledger = ledger_for_writing(around)
    ledger.append(drafts.make("two"), drafts.make("three"))
    archive = taken_out(ledger, drafts, all_before(4))
    ledger.append(drafts.make("four"))
    ledger.close()
    return ledger.writer, archive.archive_id


def test_what_was_archived_before_it_was_read_is_told(consentry: CommandLine) -> None:
    """By number and archive, on standard error; what is still there is printed as ever."""
    drafts = fresh_drafts()
    with followed(consentry) as process:
        record(consentry, drafts.make("one"))
        assert "  one  " in next_line(process)
        with stopped(process):
            writer, archive = archived_unread(consentry, drafts)
        assert "  four  " in next_line(process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert said == f"consentry: 2 events of {writer} went to {archive} before they were read\n"


def test_in_json_what_was_archived_unread_is_a_line(consentry: CommandLine) -> None:
    """A document of its own kind, before the events that came with it."""
    drafts = fresh_drafts()
    with followed(consentry, "--json") as process:
        record(consentry, drafts.make("one"))
        next_line(process)
        with stopped(process):
            writer, archive = archived_unread(consentry, drafts)
        missed, event = json.loads(next_line(process)), json.loads(next_line(process))
    assert missed["kind"] == "audit-missed"
    assert missed["missed"] == {
        "writer": writer,
        "archive_id": archive,
        "events": 2,
        "first_seq": 3,  # behind the first event of the ledger, and "one"
        "last_seq": 4,
    }
    assert event["event"]["subject"] == "four"


def test_it_waits_for_a_ledger_that_is_not_there_yet(consentry: CommandLine) -> None:
    """Nothing was recorded, ever; the first event is printed."""
    with followed(consentry, "--quiet") as process:
        draft = fresh_drafts().make("first")
        record(consentry, draft)
        assert next_line(process) == f"{draft.event_id}\n"


def test_it_ends_when_its_reader_goes_away(consentry: CommandLine) -> None:
    """Also when there is nothing to print, with the status of a program that dies of it."""
    with followed(consentry) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == ExitStatus.READER_GONE
        assert process.stderr is not None
        assert process.stderr.read() == ""
        process.stdout = None


def test_in_json_an_error_is_a_line_too(consentry: CommandLine) -> None:
    """The chain is cut while it is followed: the last line says so, and the status is 5."""
    drafts = fresh_drafts()
    record(consentry, drafts.make("one"), drafts.make("two"))
    around = Surroundings(consentry.environ, consentry.cwd, uid=os.geteuid())
    with followed(consentry, "--json", "--last", "1") as process:
        next_line(process)
        ledger = ledger_for_writing(around)
        with ledger.database.writing() as transaction:
            transaction.run("UPDATE ledger_head SET seq = seq - 1")
        ledger.close()
        document = json.loads(next_line(process))
        assert process.wait() == ExitStatus.LEDGER
    assert (document["kind"], document["error"]["code"]) == ("error", "chain-broken")


def test_a_restarted_server_is_followed_on(
    consentry: CommandLine, postgres_server: PostgresServer, postgres_url: str
) -> None:
    """The shared ledger goes away and comes back; nothing is said and nothing is lost."""
    drafts = fresh_drafts()
    store = {"CONSENTRY_STORE": postgres_url}
    record(consentry, drafts.make("one"), **store)
    with followed(consentry, **store) as process:
        assert "  one  " in next_line(process)
        record(consentry, drafts.make("two"), **store)
        assert "  two  " in next_line(process)
        postgres_server.stop()
        postgres_server.start()
        record(consentry, drafts.make("three"), **store)
        assert "  three  " in next_line(process)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert (process.returncode, said) == (ExitStatus.INTERRUPTED, "")


def test_what_cannot_be_followed_is_wrong_usage(consentry: CommandLine) -> None:
    """An end that is named leaves nothing to follow."""
    ended = consentry("audit", "log", "--follow", "--until", "2026-01-01T00:00:00Z")
    assert_error(ended, Code.USAGE)
    assert_error(consentry.in_shell("consentry audit log --follow >&-"), Code.OUTPUT_FAILED)
