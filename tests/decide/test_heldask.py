"""What a person is asked about a program that waits: written once, read back strictly, said plainly."""

from typing import Any

import pytest

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.base.safetext import safe_line
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.approval import ApprovalRequest
from consentry.decide.heldask import AT_ONCE, HeldAsk
from consentry.decide.question import Question, RequestKind
from consentry.decide.session import Leader
from consentry.surface.operations import Operation
from tests.record.samples import WRITER

ASKED = Instant.parse("2026-11-18T10:00:00.000Z")
PROCESS = Leader(4711, 99, "a-boot")
ASK = HeldAsk(
    "tool:job",
    Operation.READ,
    "/srv/prices.csv",
    "open",
    PROCESS,
    program="/usr/bin/python3",
    arguments=("job", "--all"),
    workspace="/project",
    run="event-1",
)


def request(question: Question) -> ApprovalRequest:
    """As it is stored."""
    return ApprovalRequest(
        "request-0198c2f4-0000-7000-8000-000000000001",
        question,
        WRITER,
        ASKED,
        ASKED.plus(Duration(1000)),
    )


def asked(ask: HeldAsk = ASK) -> Question:
    """The question that is put for it."""
    return ask.question(session_id=None, policy_hash=None)


def test_what_was_asked_is_read_back() -> None:
    """Through the request and through its JSON, the same value."""
    assert HeldAsk.of(request(asked())) == ASK
    assert HeldAsk.from_json(ASK.to_json()) == ASK
    assert asked().kind is RequestKind.HOLD


CHANGES: dict[str, dict[str, Any]] = {
    "another object": {"resource": "/etc/shadow"},
    "another operation": {"operation": "write"},
    "not at once": {"direct": True},
    "another run": {"run": "event-2"},
    "a word more": {"more": 1},
    "another version": {"askVersion": 2},
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_preview_that_was_changed_is_no_question(what: str) -> None:
    """The answer binds to the digest of all that was shown."""
    question = replace(asked(), preview={**ASK.to_json(), **CHANGES[what]})
    with pytest.raises(ConsentryError):
        HeldAsk.of(request(question))


def test_another_kind_of_question_is_refused() -> None:
    """With the code of an answer that does not fit."""
    with pytest.raises(ConsentryError) as caught:
        HeldAsk.of(request(replace(asked(), kind=RequestKind.COMMIT)))
    assert caught.value.code is Code.ANSWER_REFUSED


WORDS: dict[str, tuple[dict[str, Any], str]] = {
    "a file": ({}, "read"),
    "a folder": ({"is_folder": True}, "list the folder"),
    "a write": ({"operation": Operation.WRITE}, "write"),
    "both": ({"operation": Operation.WRITE, "also_reads": True}, "write and read it"),
    "a new file": ({"operation": Operation.WRITE, "verb": "create"}, "make the file"),
    "a new folder": ({"operation": Operation.WRITE, "verb": "mkdir"}, "make the folder"),
    "a host": ({"operation": Operation.NET, "verb": "connect"}, "connect to"),
}


@pytest.mark.parametrize("what", WORDS)
def test_each_operation_has_its_words(what: str) -> None:
    """One sentence that says who, what and which object."""
    changes, words = WORDS[what]
    ask = replace(ASK, **changes)
    assert asked(ask).text == f"may /usr/bin/python3 {words} /srv/prices.csv?"
    assert ask.lines()[0] == f"/usr/bin/python3 waits for you: it wants to {words}"


def test_only_what_reaches_the_host_at_once_says_so() -> None:
    """And what goes through the layer says that."""
    write = replace(ASK, operation=Operation.WRITE)
    assert AT_ONCE in replace(write, direct=True).lines()
    layered = replace(write, through_layer=True).lines()
    assert AT_ONCE not in layered
    assert any("through the layer" in line for line in layered)
    assert AT_ONCE not in ASK.lines()


def test_names_of_strangers_draw_nothing() -> None:
    """Whatever a path, a program or an argument holds, each line stays one line of ours."""
    bad = "a\x1b[2J\nb\u202e\u200b"
    ask = replace(ASK, resource=bad, program=bad, arguments=(bad,), workspace=bad, run=bad)
    for line in ask.lines():
        assert line.isprintable()
    assert len(ask.lines()) == len(ASK.lines())


def test_the_question_is_made_safe_where_it_is_shown_and_only_there() -> None:
    """Its text holds the names as they are: escaped here, they would be escaped twice on a terminal."""
    bad = "a\x1b[2J\nb"
    text = asked(replace(ASK, resource=bad, program=bad)).text
    assert text == f"may {bad} read {bad}?"
    assert safe_line(text) == "may a\\u{1b}[2J\\u{a}b read a\\u{1b}[2J\\u{a}b?"


def test_a_long_name_is_shown_whole() -> None:
    """The object is what the answer is about: nothing of it is left out."""
    path = "/srv/" + "/".join(f"folder{number:03}" for number in range(300))
    assert f"  {path}" in replace(ASK, resource=path).lines()
    hidden = replace(ASK, resource="/srv/" + "\x1b\x07" * 2000).lines()[2]
    assert hidden.count("\\u{1b}") == hidden.count("\\u{7}") == 2000


@pytest.mark.parametrize(
    ("place", "is_name"),
    [("example.org:443", True), ("192.168.1.4:80", False), ("[fd00::1]:80", False)],
)
def test_only_of_a_name_it_is_said_that_nobody_looked_it_up(place: str, *, is_name: bool) -> None:
    """An address may be what a name led to, after a yes to the name."""
    lines = HeldAsk("tool:job", Operation.NET, place, "connect", PROCESS).lines()
    said = "nothing was sent there, and the name was not looked up"
    assert (said in lines, "nothing was sent there" in lines) == (is_name, not is_name)
