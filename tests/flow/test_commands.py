"""The command and the queue: strictly read, routed by question, refused where nobody waits."""

import json
import time
from threading import Thread
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError
from consentry.decide.identity import Identity, web_identity
from consentry.flow.commands import (
    MOST_FEEDBACK,
    CommandQueue,
    CommandType,
    PermissionEscalationResponse,
)

TYPE = "permission_escalation_response"


def refused(queue: CommandQueue, **command: Any) -> ConsentryError:
    """Why a response is not taken."""
    with pytest.raises(ConsentryError) as caught:
        queue.enqueue({"type": TYPE, "approved": True, **command})
    return caught.value


def test_the_command_is_read_and_written() -> None:
    """ESCALATION §ask-3: the type is the document's; what was not said is left out."""
    document = {"type": TYPE, "approved": False, "feedback": "no", "requestId": "r", "by": "web:me"}
    read = PermissionEscalationResponse.from_json(document)
    assert read == PermissionEscalationResponse(
        approved=False, request_id="r", feedback="no", by=web_identity("me")
    )
    assert json.loads(json.dumps(read.to_json())) == document
    assert PermissionEscalationResponse(approved=True).to_json() == {"type": TYPE, "approved": True}
    assert list(CommandType) == [TYPE]


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({}, "type"),
        ({"type": "abort", "approved": True}, "type"),
        ({"type": TYPE}, "approved"),
        ({"type": TYPE, "approved": "yes"}, "approved"),
        ({"type": TYPE, "approved": 1}, "approved"),
        ({"type": TYPE, "approved": True, "feedback": 3}, "feedback"),
        ({"type": TYPE, "approved": True, "feedback": "a\0b"}, "feedback"),
        ({"type": TYPE, "approved": True, "feedback": "a" * (MOST_FEEDBACK + 1)}, "feedback"),
        ({"type": TYPE, "approved": True, "requestID": "r"}, "requestID"),
        ({"type": TYPE, "approved": True, "by": "system"}, "by"),
        ({"type": TYPE, "approved": True, "by": "capability:x"}, "by"),
    ],
)
def test_what_is_no_response_is_refused_with_its_field(
    document: dict[str, Any], field: str
) -> None:
    """Nothing is guessed: a yes is `true`, and who says it is a person."""
    with pytest.raises(BadInput) as caught:
        CommandQueue().enqueue(document)
    assert caught.value.where is not None
    assert caught.value.where.field == field


def test_a_slip_in_a_key_is_told() -> None:
    """With the key that was probably meant."""
    problem = refused(CommandQueue(), requestid="r")
    assert problem.help_line == "did you mean `requestId`?"


def test_a_response_in_python_is_checked_too() -> None:
    """By the same rules as its JSON form."""
    with pytest.raises(BadInput, match="neither true nor false"):
        PermissionEscalationResponse(approved="yes")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="not a person"):
        PermissionEscalationResponse(approved=True, by=Identity("system"))


def test_a_response_goes_to_the_question_it_names() -> None:
    """And to no other."""
    queue = CommandQueue()
    with queue.expecting(request_id="one") as one, queue.expecting(request_id="two") as two:
        assert queue.waiting() == ("one", "two")
        queue.enqueue({"type": TYPE, "approved": True, "requestId": "two"})
        assert one.wait(0) is None
        assert two.wait(0) == PermissionEscalationResponse(approved=True, request_id="two")
    assert queue.waiting() == ()


def test_without_a_name_it_counts_where_one_question_waits() -> None:
    """Several: refused, with their ids; none: refused as well."""
    queue = CommandQueue()
    assert refused(queue).code is Code.ID_UNKNOWN
    with queue.expecting(request_id="one") as one:
        with queue.expecting(request_id="two") as two:
            problem = refused(queue)
            assert problem.code is Code.ID_AMBIGUOUS
            assert problem.help_line == "give it a `requestId`: `one`, `two`"
            assert (one.wait(0), two.wait(0)) == (None, None)
        queue.enqueue({"type": TYPE, "approved": True})
        assert one.wait(0) is not None


def test_an_answer_before_the_question_is_refused() -> None:
    """Nothing lies ready for a question that nobody has seen."""
    queue = CommandQueue()
    assert refused(queue, requestId="one").code is Code.ID_UNKNOWN
    with queue.expecting(request_id="one") as one:
        assert one.wait(0) is None


def test_a_second_response_is_refused() -> None:
    """The first one counts."""
    queue = CommandQueue()
    with queue.expecting(request_id="one") as one:
        queue.enqueue({"type": TYPE, "approved": False, "requestId": "one"})
        assert refused(queue, requestId="one").code is Code.REQUEST_SETTLED
        first = one.wait(0)
        assert first is not None
        assert not first.approved


def test_a_question_that_is_answered_elsewhere_takes_none() -> None:
    """Whoever sends one is told why."""
    queue = CommandQueue()
    with queue.expecting(request_id="one", closed="answers need a passphrase") as one:
        problem = refused(queue, requestId="one")
        assert (problem.code, problem.message) == (
            Code.ANSWER_REFUSED,
            "answers need a passphrase",
        )
        assert one.wait(0) is None


def test_a_wait_ends() -> None:
    """With nothing after its time, with the response as soon as it is there."""
    queue = CommandQueue()
    assert queue.wait(TYPE, 0.01) is None
    found: list[object] = []
    waiting = Thread(target=lambda: found.append(queue.wait(TYPE, 30)))
    waiting.start()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            queue.enqueue({"type": TYPE, "approved": True})
            break
        except ConsentryError:
            time.sleep(0.005)  # it does not wait yet
    waiting.join(30)
    assert found == [PermissionEscalationResponse(approved=True)]


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan"), True, "5"])
def test_no_wait_is_without_end(timeout: Any) -> None:
    """What is no bound is refused."""
    with pytest.raises(BadInput):
        CommandQueue().wait(TYPE, timeout)


def test_an_unknown_type_is_refused() -> None:
    """Where somebody waits for it, too."""
    with pytest.raises(BadInput, match="is not one of"):
        CommandQueue().wait("abort", 1)


def test_two_who_wait_for_one_question() -> None:
    """One of them gets the response; a response without a name still means that one question."""
    queue = CommandQueue()
    with queue.expecting(request_id="one") as first, queue.expecting(request_id="one") as second:
        queue.enqueue({"type": TYPE, "approved": True})
        assert [first.wait(0) is None, second.wait(0) is None] == [False, True]
