"""Attacks on imported modules that came through once: each held off, and what is allowed beside it."""

from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import BadDocument, Refused
from consentry.decide.modulemode import ModuleMode
from consentry.declare.actiongraph import MOST_CALLS, read_action_graph
from consentry.service.sessions import sessions_of
from consentry.service.surroundings import look_around
from consentry.store.journal import Journal
from tests.service.modulehosting import (
    AUTO,
    FOR_GOOD,
    READ,
    STORE,
    YES,
    Board,
    graph,
    package,
    summary,
)

NOT_GRANTED = ("rejected", "capability-not-granted", READ)
TWO = graph({"id": "two", "calls": ["notes.count", "notes.alone"]})


@pytest.fixture
def board(tmp_path: Path) -> Board:
    """A host with its own store."""
    return Board(tmp_path)


def _called(board: Board) -> list[str]:
    return [each[0] for each in board.calls]


@pytest.mark.parametrize("how", ["revoked", "deny-all", "inspect-only"])
def test_the_second_command_is_not_called_after_all_was_taken_back(board: Board, how: str) -> None:
    """MODULES §grant-4: what is taken back while the first command runs is missing for the next one."""
    board.take(package(), TWO)
    board.grant(READ)

    def taken(_: Any) -> None:
        if how == "revoked":
            board.revoke(READ)
        else:
            board.set_mode(ModuleMode(how))

    board.does["notes.count"] = taken
    assert summary(board.call("two")) == NOT_GRANTED
    assert _called(board) == ["notes.count"]
    assert board.rejected() == [NOT_GRANTED[1:]]
    ended = board.payloads("module.action.ended")
    assert [each["outcome"] for each in ended] == ["rejected"]


def test_both_commands_are_called_while_the_grant_stands(board: Board) -> None:
    """MODULES §grant-4: the same action runs to its end where nothing was taken back."""
    board.take(package(), TWO)
    board.grant(READ)
    assert board.call("two").ok
    assert _called(board) == ["notes.count", "notes.alone"]


def test_a_call_that_waited_for_its_turn_is_checked_when_it_comes(board: Board) -> None:
    """MODULES §grant-4: one that was let in and queued does not run on what was revoked meanwhile."""
    board.ready(READ)
    began, go_on = Event(), Event()
    outcomes: list[Any] = []

    def slow(_: Any) -> None:
        began.set()
        assert go_on.wait(30)

    board.does["notes.count"] = slow
    first = Thread(target=lambda: outcomes.append(board.call("count")))
    second = Thread(target=lambda: outcomes.append(board.call("count")))
    first.start()
    assert began.wait(30)
    second.start()
    lanes = board.host._runner._lanes
    while not lanes.waiting("notes.count"):
        assert second.is_alive()
    board.revoke(READ)
    go_on.set()
    first.join(30)
    second.join(30)
    # Which of the two threads tells its outcome first is left to chance.
    assert {summary(each) for each in outcomes} == {("done", None, None), NOT_GRANTED}
    assert _called(board) == ["notes.count"]


@pytest.mark.parametrize(("action", "level"), [("remind", "soft"), ("shout", "hard")])
def test_automation_takes_a_no_to_a_command(board: Board, action: str, level: str) -> None:
    """CONTRACTS §12-approval-level: it does not ask again in that session; a click asks anew."""
    rule = {"reason": "it is loud", "level": level, "approver": "operator"}
    offered = {"calls": [f"notes.{action}"], "surface": ["automation"], "requiresApproval": rule}
    board.take(package(), graph({"id": action, **offered}))
    board.grant(READ, AUTO)
    waiting = board.call(action, origin="automation")
    board.host.answer(str(waiting.request_id), "deny")
    for _ in range(3):
        again = board.call(action, origin="automation")
        assert (again.code, again.request_id) == (Code.APPROVAL_DENIED, waiting.request_id)
    assert board.host.pending() == []
    assert board.call(action).status == "waiting"
    assert _called(board) == []


def test_automation_asks_again_where_nobody_answered(board: Board) -> None:
    """CONTRACTS §12-approval-level: only a no is the word of a person; one that waits is joined."""
    offered = {"calls": ["notes.remind"], "surface": ["automation"]}
    rule = {"reason": "it is loud", "level": "soft"}
    board.take(package(), graph({"id": "remind", **offered, "requiresApproval": rule}))
    board.grant(READ, AUTO)
    first = board.call("remind", origin="automation").request_id
    assert board.call("remind", origin="automation").request_id == first
    board.host._desk.requests.supersede(str(first), "nobody was there")
    assert board.call("remind", origin="automation").request_id != first


def _end_session(board: Board) -> None:
    """Somebody ends the session of the host, in another process."""

    def end(journal: Journal) -> None:
        around = look_around(board.environ)
        sessions = sessions_of(around, journal.ledger, journal.clock, journal.ids)
        sessions.end(board.host.session_id)

    board._elsewhere(end)


def test_a_soft_yes_ends_with_a_session_that_was_ended_elsewhere(board: Board) -> None:
    """CONTRACTS §12-approval-level: also where the capabilities were granted for good."""
    board.ready()
    board.grant(READ, decision=FOR_GOOD)
    assert board.call("remind", asker=board.person(YES)).ok
    assert board.call("remind").ok
    _end_session(board)
    outcome = board.call("remind")
    assert summary(outcome) == ("rejected", Code.APPROVAL_SUPERSEDED.value, None)
    assert _called(board) == ["notes.remind"] * 2
    assert board.call("count").ok


def test_a_hard_yes_is_not_carried_out_after_its_session(board: Board) -> None:
    """CONTRACTS §12-approval-level: nor is a call resumed that waited in a session which is over."""
    board.ready()
    board.grant(READ, decision=FOR_GOOD)
    waiting = board.call("shout")
    board.host.answer(str(waiting.request_id), "approve_once")
    _end_session(board)
    outcome = board.host.resume(str(waiting.request_id))
    assert summary(outcome) == ("rejected", Code.APPROVAL_SUPERSEDED.value, None)
    assert _called(board) == []


def test_a_call_that_waited_is_carried_out_once_also_for_a_yes_for_the_session(
    board: Board,
) -> None:
    """CONTRACTS §12-approval-level: what is remembered serves later calls, each a run of its own."""
    board.ready(READ)
    waiting = board.call("remind")
    board.host.answer(str(waiting.request_id), YES)
    assert board.host.resume(str(waiting.request_id)).ok
    with pytest.raises(Refused) as refused:
        board.host.resume(str(waiting.request_id))
    assert refused.value.code is Code.REQUEST_SETTLED
    assert board.call("remind").ok
    runs = [each["actionRunId"] for each in board.payloads("module.action.ended")]
    assert len(set(runs)) == len(runs) == len(board.calls) == 2


def test_an_action_calls_no_more_than_a_person_can_read(board: Board) -> None:
    """CONTRACTS §2-calls: all of them stand in every question and use, so there is a most."""
    longest = graph({"id": "long", "calls": ["notes.keep"] * MOST_CALLS})
    assert len(read_action_graph(longest, "graph.json").actions[0].calls) == MOST_CALLS
    longer = graph({"id": "long", "calls": ["notes.keep"] * (MOST_CALLS + 1)})
    with pytest.raises(BadDocument) as refused:
        board.take(package(requested=(STORE,)), longer)
    assert refused.value.where is not None
    assert refused.value.where.field == "actions[0].calls"
    assert board.host.modules() == []
