"""The rules of the host's own commands: approval, role, queue, order (CONTRACTS §1, §2, §12)."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event
from typing import Any

import pytest

from consentry.base.errors import BadInput, Refused
from consentry.decide.actionask import ActionAsk
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Channel, Outcome
from consentry.service.approvals import Desk
from consentry.store.requests import StoredRequests
from tests.decide.samples import APPROVER
from tests.service.modulehosting import (
    LONG,
    MODULE,
    PASSED,
    READ,
    STARTED,
    STORE,
    YES,
    Board,
    graph,
    package,
    summary,
)

pytestmark = pytest.mark.timeout(120)
AN_HOUR = (LONG,) * 10


def waiting(board: Board, action_id: str, **how: Any) -> str:
    """The question that a call waits for."""
    outcome = board.call(action_id, **how)
    assert (outcome.status, outcome.states) == ("waiting", (STARTED, PASSED))
    assert outcome.request_id is not None
    return outcome.request_id


def ran(board: Board) -> list[Any]:
    """The arguments of every command that was called."""
    return [each[2] for each in board.calls]


# Soft: may be remembered for the session.


def test_a_soft_yes_for_the_session_is_remembered(board: Board) -> None:
    """CONTRACTS §12-approval-level: asked once, for whatever arguments; not in the next session."""
    board.take()
    board.grant(READ, decision="approve_persistent")
    asked = board.person(YES)
    assert board.call("remind", arguments=1, asker=asked).ok
    assert board.call("remind", arguments=2, asker=asked).ok
    assert board.call("remind", arguments=3).ok
    assert (len(asked.asked), ran(board)) == (1, [1, 2, 3])
    board.restart()
    waiting(board, "remind")


def test_a_soft_yes_for_once_is_for_one_run(board: Board) -> None:
    """CONTRACTS §12-approval-level: the next call is asked about anew."""
    board.ready(READ)
    assert board.call("remind", asker=board.person("approve_once")).ok
    waiting(board, "remind")


def test_a_soft_yes_is_not_for_another_action_module_or_origin(board: Board) -> None:
    """CONTRACTS §12-approval-level: it is remembered for what was asked."""
    soft = {"requiresApproval": {"reason": "r", "level": "soft"}}
    both = [{"id": name, "calls": ["notes.remind"], **soft} for name in ("one", "two")]
    board.take(None, graph(*both))
    board.take(package(module_id="other-one"))
    board.grant(READ)
    board.grant(READ, module_id="other-one")
    assert board.call("one", asker=board.person(YES)).ok
    assert board.call("one").ok
    waiting(board, "two")
    assert board.call("remind", module_id="other-one").status == "waiting"


def test_the_last_word_about_a_soft_rule_counts(board: Board) -> None:
    """CONTRACTS §12-approval-level: a no after a yes, to a question that was put before it and waited."""
    board.ready(READ)
    first, second = waiting(board, "remind", arguments=1), waiting(board, "remind", arguments=2)
    board.host.answer(second, YES)
    assert board.call("remind", arguments=3).ok, "though another question waits"
    assert board.call("remind", arguments=1).ok, "or the very one"
    board.clock.advance(LONG)
    board.host.answer(first, "deny")
    waiting(board, "remind", arguments=3)


def test_a_call_with_other_arguments_is_another_question(board: Board) -> None:
    """CONTRACTS §12-approval-level: nobody says yes to arguments they were not shown."""
    board.ready(READ)
    one, same, other = (waiting(board, "remind", arguments=each) for each in ("a", "a", "b"))
    assert (one == same, one == other) == (True, False)
    board.host.answer(other, "approve_once")
    assert board.host.resume(other).ok
    assert ran(board) == ["b"]
    assert board.host.resume(one).status == "waiting"


def test_a_call_that_waits_joins_a_soft_question_and_goes_on_with_it(board: Board) -> None:
    """CONTRACTS §12-approval-level: it does not come back empty-handed because somebody asked before."""
    board.ready(READ)
    request_id = waiting(board, "remind")
    with ThreadPoolExecutor(1) as pool:
        called = pool.submit(board.call, "remind", wait=True)
        board.host.answer(request_id, YES)
        assert called.result(60).ok
    assert len(board.events("approval.requested")) == 2, "READ, and one for both calls"


# Hard: asked every time, carried out once.


def test_a_hard_yes_is_asked_for_every_time(board: Board) -> None:
    """CONTRACTS §12-approval-level: for the same arguments, too."""
    board.ready(READ)
    asked = board.person("approve_once", "approve_once")
    assert board.call("shout", asker=asked).ok
    assert board.call("shout", asker=asked).ok
    assert len(asked.asked) == 2
    waiting(board, "shout")


def test_a_hard_yes_cannot_be_for_longer(board: Board) -> None:
    """CONTRACTS §12-approval-level: refused where it is given, and not believed where it stands."""
    board.ready(READ)
    request_id = waiting(board, "shout")
    for decision in (YES, "approve_persistent"):
        with pytest.raises(Refused) as refused:
            board.host.answer(request_id, decision)
        assert refused.value.code == "answer-refused"
    journal = board.journal()
    forged = Answer(Outcome.APPROVED, APPROVER, Role.OPERATOR, Channel.COMMAND, lasts=Lasts.SESSION)
    StoredRequests(journal.ledger, journal.ids, journal.clock, journal.context).answer(
        request_id, forged
    )
    journal.ledger.close()
    with pytest.raises(Refused):
        board.host.resume(request_id)
    assert board.calls == []


def test_what_waited_is_resumed_once(board: Board) -> None:
    """CONTRACTS §12-approval-level: with the arguments that were shown, and never again."""
    board.ready(READ)
    given = {"text": ["as it was"]}
    request_id = waiting(board, "shout", arguments=given)
    given["text"].append("changed since")
    assert board.host.resume(request_id).status == "waiting"
    board.host.answer(request_id, "approve_once", by=APPROVER, role="operator")
    outcome = board.host.resume(request_id)
    assert (outcome.ok, ran(board)) == (True, [{"text": ("as it was",)}])
    with pytest.raises(Refused) as again:
        board.host.resume(request_id)
    assert again.value.code == "request-settled"
    assert (len(board.calls), board.used()) == (1, [READ])


@pytest.mark.parametrize("action", ["shout", "remind"])
def test_what_is_changed_while_a_person_reads_is_not_carried_out(board: Board, action: str) -> None:
    """CONTRACTS §12-approval-level: the arguments are those that were shown, whatever the caller does to them."""
    board.ready(READ)
    given = {"text": ["as it was"]}
    asked = board.person("approve_once", before=lambda: given["text"].append("changed since"))
    assert board.call(action, arguments=given, asker=asked).ok
    assert ran(board) == [{"text": ("as it was",)}]


def test_of_many_who_resume_at_once_one_does(board: Board) -> None:
    """CONTRACTS §12-approval-level: four threads, one yes, one run."""
    board.ready(READ)
    request_id = waiting(board, "shout")
    board.host.answer(request_id, "approve_once")
    start = Barrier(4)

    def resume(_: int) -> str:
        start.wait(60)
        try:
            return board.host.resume(request_id).status.value
        except Refused as refused:
            return refused.code.value

    with ThreadPoolExecutor(4) as pool:
        outcomes = sorted(pool.map(resume, range(4)))
    assert outcomes == ["done", "request-settled", "request-settled", "request-settled"]
    assert len(board.calls) == 1


def test_a_no_is_carried_out_never(board: Board) -> None:
    """CONTRACTS §12-approval-level: denied, or nobody said anything in time."""
    board.ready(READ)
    denied, late = waiting(board, "shout"), waiting(board, "shout")
    board.host.answer(denied, "deny")
    assert summary(board.host.resume(denied))[:2] == ("rejected", "approval-denied")
    for each in AN_HOUR:
        board.clock.advance(each)
    assert summary(board.host.resume(late))[:2] == ("rejected", "approval-expired")
    assert (board.calls, board.used()) == ([], [])


def test_only_who_the_rule_names_can_approve(board: Board) -> None:
    """CONTRACTS §1-handlers: the role that the command asks for, or the owner."""
    board.ready(READ)
    request_id = waiting(board, "shout")
    with pytest.raises(Refused, match="only somebody who is `operator`"):
        board.host.answer(request_id, "approve_once", by=APPROVER, role="approver")
    assert [each.request_id for each in board.host.pending()] == [request_id]
    board.host.answer(request_id, "approve_once", by=APPROVER, role="operator")
    assert board.host.resume(request_id).ok


def test_an_approval_ends_with_the_content_it_was_given_for(board: Board) -> None:
    """MODULES §grant-2: another version is another module; what was approved before opens nothing."""
    board.ready(READ)
    open_one, approved = waiting(board, "shout"), waiting(board, "shout")
    board.host.answer(approved, "approve_once")
    board.take(package(version="2.0.0"))
    board.grant(READ)
    with pytest.raises(Refused):
        board.host.answer(open_one, "approve_once")
    with pytest.raises(Exception, match="was replaced meanwhile"):
        board.host.resume(approved)
    assert board.calls == []


@pytest.mark.parametrize(
    "changed",
    [
        {"calls": ["notes.shout", "notes.keep"]},
        {
            "calls": ["notes.shout"],
            "requiresApproval": {"reason": "loud", "level": "hard", "approver": "owner"},
        },
        {"id": "gone", "calls": ["notes.shout"]},
    ],
    ids=["calls more", "names another approver", "is gone"],
)
def test_an_approval_is_for_the_action_as_it_was_shown(board: Board, changed: Any) -> None:
    """CONTRACTS §2-calls: the same package with another graph does not carry out more on an old yes."""
    hard = {"requiresApproval": {"reason": "loud", "level": "hard", "approver": "operator"}}
    shown = {"id": "loud", "calls": ["notes.shout"], **hard}
    board.take(None, graph(shown))
    board.grant(READ, STORE)
    request_id = waiting(board, "loud")
    board.host.answer(request_id, "approve_once")
    board.take(None, graph({**shown, **changed}))
    with pytest.raises(Exception, match=r"the action was changed since|has no action"):
        board.host.resume(request_id)
    assert (board.calls, board.used()) == ([], [])
    board.take(None, graph(shown))
    assert board.host.resume(request_id).ok


def test_an_approval_is_no_grant(board: Board) -> None:
    """MODULES §base-3: revoked while the question was open, the resumed call is rejected as any other."""
    board.ready(READ)
    request_id = waiting(board, "shout")
    board.host.answer(request_id, "approve_once")
    board.revoke(READ)
    resumed = board.host.resume(request_id)
    assert resumed.status == "waiting", "for the capability, now"
    assert (board.calls, board.used()) == ([], [])
    board.grant(READ)
    assert board.host.resume(request_id).ok, "the yes was not used up"


def test_another_session_resumes_nothing(board: Board) -> None:
    """CONTRACTS §12-approval-level: what was approved in one window is carried out there."""
    board.ready(READ)
    request_id = waiting(board, "shout")
    board.host.answer(request_id, "approve_once")
    with board.opened() as other, pytest.raises(Refused, match="in another session"):
        other.resume(request_id)
    capability = board.host.request(MODULE, [STORE]).request_id
    assert capability is not None
    with pytest.raises(Refused):
        board.host.resume(capability)


def test_the_question_shows_what_is_about_to_happen(board: Board) -> None:
    """CONTRACTS §2-approval: the commands, the arguments and the host's reason."""
    board.ready(READ)
    asked = board.person("deny")
    board.call("shout", arguments={"volume": 11}, asker=asked)
    text = "\n".join(ActionAsk.of(asked.asked[0]).lines())
    assert "notes.shout" in text
    assert '{"volume":11}' in text
    assert "“is loud” (asked every time)" in text


# Without asking, without JSON, in the wrong role.


def test_where_nobody_is_to_be_asked_the_call_is_rejected(board: Board) -> None:
    """CONTRACTS §1-handlers: an outcome with a code, as for a capability, and no question."""
    board.ready(READ)
    for action in ("remind", "shout"):
        assert summary(board.call(action, ask=False)) == ("rejected", "approval-pending", None)
    assert (board.host.pending(), board.calls, board.used()) == ([], [], [])


def test_arguments_that_are_no_json_are_told_before_anybody_is_asked(board: Board) -> None:
    """CONTRACTS §1-data: nothing is recorded of such a call."""
    board.ready()
    before = len(board.events())
    for wrong in (object(), float("nan"), {1: 2}, b"x", "\ud800"):
        with pytest.raises(BadInput):
            board.call("shout", arguments=wrong)
    assert len(board.events()) == before


def test_a_call_in_the_wrong_role_is_refused_and_on_record(board: Board) -> None:
    """CONTRACTS §1-handlers: with no use, no question and no call; the end of the action says why."""
    board.ready(READ)
    outcome = board.call("audit", role="approver")
    assert summary(outcome) == ("rejected", "command-refused", None)
    assert outcome.why == "`notes.audit` is for somebody who is `operator`, not `approver`"
    assert (board.calls, board.used(), board.host.pending()) == ([], [], [])
    [ended] = board.payloads("module.action.ended")
    assert (ended["outcome"], ended["code"], ended["actionRunId"]) == (
        "rejected",
        "command-refused",
        outcome.run.action_run_id,
    )


def test_a_busy_command_refuses_who_comes_meanwhile(board: Board) -> None:
    """CONTRACTS §1-handlers: the queue policy is the command's, for every module alike."""
    board.take(package(module_id="other-one"))
    board.grant(READ, module_id="other-one")
    board.ready(READ)
    entered, leave = Event(), Event()

    def slow(_: Any) -> str:
        entered.set()
        assert leave.wait(60)
        return "slow"

    board.does["notes.alone"] = slow
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(board.call, "alone")
        assert entered.wait(60)
        second = board.call("alone", module_id="other-one")
        leave.set()
        assert first.result(60).ok
    assert summary(second)[:2] == ("rejected", "command-busy")
    assert len(board.calls) == 1


def test_commands_are_called_in_their_order_until_one_refuses(board: Board) -> None:
    """CONTRACTS §2-calls: and what an action answers is what each of them did."""
    board.take(None, graph({"id": "both", "calls": ["notes.keep", "notes.count", "notes.keep"]}))
    board.grant(READ, STORE)
    assert board.call("both", arguments=1).results == (None, 2, None)
    assert [each[0] for each in board.calls] == ["notes.keep", "notes.count", "notes.keep"]
    board.does["notes.count"] = lambda call: call.write([])
    assert not board.call("both", arguments=2).ok
    assert [each[0] for each in board.calls][3:] == ["notes.keep", "notes.count"]


def test_each_command_gets_the_payload_of_its_own_binding(board: Board) -> None:
    """CONTRACTS §1-bindings: of two buttons for one command, each has its own."""
    document = package(("notes.count", "notes.keep"))
    for index in (0, 1):
        document["pluginManifest"]["ui"][index]["action"]["commandId"] = "notes.count"
        document["commandBindings"][index]["commandId"] = "notes.count"
    board.take(document)
    board.grant(READ)
    board.call("count")
    board.call("keep")
    assert [each[1] for each in board.calls] == [{"of": "count"}, {"of": "keep"}]


def test_automation_piles_up_no_questions(board: Board) -> None:
    """MODULES §limit-automation-channel: the same call that waits already is not asked about again."""
    hard = {"requiresApproval": {"reason": "r", "level": "hard", "approver": "operator"}}
    board.take(
        None, graph({"id": "loud", "calls": ["notes.shout"], "surface": ["automation"], **hard})
    )
    board.grant(READ, "automation.invoke")
    first = waiting(board, "loud", origin="automation", arguments=1)
    assert waiting(board, "loud", origin="automation", arguments=1) == first
    assert waiting(board, "loud", origin="automation", arguments=2) != first
    assert len(board.host.pending()) == 2


def test_the_desk_takes_no_answer_that_the_question_does_not(board: Board) -> None:
    """CONTRACTS §12-approval-level: on whatever way it comes, here as from a terminal."""
    board.ready(READ)
    request_id = waiting(board, "shout")
    journal = board.journal()
    try:
        for lasts in (Lasts.SESSION, Lasts.PERMANENT):
            said = Answer(Outcome.APPROVED, APPROVER, Role.OPERATOR, Channel.COMMAND, lasts=lasts)
            with pytest.raises(Refused):
                Desk(journal).answer(request_id, said)
    finally:
        journal.ledger.close()
    assert board.host.pending()
