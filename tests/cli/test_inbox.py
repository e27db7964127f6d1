"""`consentry inbox`: what waits, what comes, and what ended, without a terminal."""

import json
import signal

from consentry.base.canonical import Digest
from consentry.base.units import Duration
from consentry.decide.question import Outcome
from tests.cli.asking import desk_of, put, request_of
from tests.cli.conftest import CommandLine
from tests.cli.execs import started
from tests.decide.samples import answer, ask


def test_what_waits_is_listed_oldest_first(consentry: CommandLine) -> None:
    """With the question, who asks and until when; reading needs no terminal."""
    assert consentry("inbox").out == "nothing waits for an answer\n"
    first, second = put(consentry), put(consentry, ask(tool="other"))
    assert consentry("inbox", "--quiet").out.split() == [first, second]
    shown = consentry("inbox").out
    deadline = request_of(consentry, first).deadline.shown()
    for part in (first, "may build 1.0.0 run?", "tool:other", deadline, "consentry approve ID"):
        assert part in shown
    document = json.loads(consentry("inbox", "--json").out)
    assert [each["requestId"] for each in document["requests"]] == [first, second]


def test_looking_denies_what_is_overdue_and_ends_what_is_stale(consentry: CommandLine) -> None:
    """A question that was asked under another policy of its workspace is superseded by whoever looks."""
    late = put(consentry, within=Duration(0))
    stale = put(consentry, ask(workspace=str(consentry.cwd)), policy=Digest("sha256:" + "0" * 64))
    assert consentry("inbox", "--quiet").out == ""
    assert request_of(consentry, late).status == "expired"
    assert request_of(consentry, stale).status == "superseded"


def test_hostile_words_are_made_safe(consentry: CommandLine) -> None:
    """Nothing that the asking side wrote commands the terminal."""
    put(consentry, ask(tool="x\x1b[2J\u202e", version="1\n2"))
    shown = consentry("inbox").out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "\\u{1b}" in shown


def test_following_tells_what_comes_and_what_ends(consentry: CommandLine) -> None:
    """Until it is interrupted; each line of JSON is one request."""
    first = put(consentry)
    with started(consentry, "inbox", "--follow", "--json") as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, b"")
        assert json.loads(next(lines))["request"]["requestId"] == first
        second = put(consentry)
        assert json.loads(next(lines))["request"]["requestId"] == second
        with desk_of(consentry) as desk:
            desk.answer(first, answer(Outcome.DENIED, reason="no"))
        ended = json.loads(next(lines))["request"]
        assert (ended["requestId"], ended["status"], ended["reason"]) == (first, "denied", "no")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
