"""`ModuleHost`: from a call that needs something to its end, in five states and seven codes (MODULES)."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from consentry.service.actionoutcome import ActionStatus
from tests.service.modulehosting import (
    AUTO,
    DECISION,
    EXPORT,
    FOR_GOOD,
    LONG,
    MODULE,
    PASSED,
    READ,
    REQUIRED,
    RESULT,
    STARTED,
    STORE,
    YES,
    Board,
    package,
    summary,
)

pytestmark = pytest.mark.timeout(120)

THIRTEEN = {
    "eventId",
    "timestampUtc",
    "moduleId",
    "moduleVersion",
    "capabilityId",
    "actionId",
    "transactionId",
    "decision",
    "decisionReasonCode",
    "approverIdentity",
    "approverRole",
    "grantScope",
    "grantVersion",
}

# The flow, by its states.


def test_what_is_granted_runs_and_every_use_is_on_record_first(board: Board) -> None:
    """MODULES §flow-1, §flow-2, §base-1: started, passed; the use before the command, its end after it."""
    board.ready(READ)
    at_the_command: list[list[str]] = []

    def count(call: Any) -> int:
        at_the_command.append(board.used())
        return len(call.state()["notes"])

    board.does["notes.count"] = count
    outcome = board.call("count", arguments={"deep": [1]})
    assert (outcome.ok, outcome.results, outcome.states) == (True, (2,), (STARTED, PASSED))
    assert at_the_command == [[READ]]
    assert board.calls == [("notes.count", {"of": "count"}, {"deep": (1,)})]
    [ended] = board.payloads("module.action.ended")
    assert (ended["outcome"], ended["actionRunId"]) == ("done", outcome.run.action_run_id)


def test_what_is_missing_waits_for_a_person_and_runs_nothing(board: Board) -> None:
    """MODULES §flow-3, §base-2: started, required; a stored question, no use, no command."""
    board.ready()
    outcome = board.call("count")
    assert (outcome.status, outcome.states) == (ActionStatus.WAITING, (STARTED, REQUIRED))
    assert [each.request_id for each in board.host.pending()] == [outcome.request_id]
    assert (board.calls, board.used()) == ([], [])
    assert board.payloads("capability.escalation.requested")[0]["actionId"] == "count"


@pytest.mark.parametrize(
    ("says", "reason", "scope"),
    [
        (YES, "user-approved-session", "session"),
        (FOR_GOOD, "user-approved-persistent", "persistent"),
    ],
)
def test_a_yes_lets_the_action_go_on(board: Board, says: str, reason: str, scope: str) -> None:
    """MODULES §flow-4, §flow-5, §decision-1, §decision-2: decision, result; the grant, then the use."""
    board.ready()
    outcome = board.call("count", asker=board.person(says))
    assert outcome.ok
    assert outcome.states == (STARTED, REQUIRED, DECISION, RESULT)
    [approved] = board.payloads("capability.escalation.approved")
    assert (approved["decisionReasonCode"], approved["grantScope"]) == (reason, scope)
    order = [each["type"] for each in board.events()]
    given, used = order.index("grant.given"), order.index("module.capability.used")
    assert given < used < order.index("module.action.ended")


def test_a_no_rejects_the_action_and_leaves_nothing(board: Board) -> None:
    """MODULES §flow-4, §flow-5, §decision-3: capability-escalation-denied; no grant, no use, no command."""
    board.ready()
    outcome = board.call("count", asker=board.person("deny"))
    assert summary(outcome) == ("rejected", "capability-escalation-denied", READ)
    assert outcome.states == (STARTED, REQUIRED, DECISION, RESULT)
    assert (board.calls, board.used(), board.events("grant.given")) == ([], [], [])
    assert board.rejected() == [("capability-escalation-denied", READ)]


def test_a_closed_prompt_is_a_no_whatever_stood_in_it(board: Board) -> None:
    """MODULES §decision-3: cancelled is denied, with a reason of its own, also beside a yes."""
    board.ready()
    for decision in ("deny", YES, FOR_GOOD):
        request_id = board.call("count").request_id
        assert request_id is not None
        ended = board.host.answer(request_id, decision, cancelled=True)
        assert ended.status == "denied"
        assert board.host.decision(request_id).rejection is not None
    reasons = [
        (each["decision"], each["decisionReasonCode"])
        for each in board.payloads("capability.escalation.denied")
    ]
    assert reasons == [("denied", "user-cancelled")] * 3
    assert board.events("grant.given", "capability.escalation.approved") == []


def test_no_answer_in_time_is_a_no(board: Board) -> None:
    """MODULES §flow-5, §decision-3: capability-escalation-timeout, as event denied with decision timeout."""
    board.ready()
    asker = board.person("gone", before=lambda: board.clock.advance(LONG))
    outcome = board.call("count", asker=asker)
    assert summary(outcome) == ("rejected", "capability-escalation-timeout", READ)
    assert outcome.states == (STARTED, REQUIRED, DECISION, RESULT)
    [denied] = board.payloads("capability.escalation.denied")
    assert (denied["decision"], denied["decisionReasonCode"]) == ("timeout", "deadline")
    assert (denied["approverIdentity"], denied["approverRole"]) == ("system", "system")
    assert (board.calls, board.used()) == ([], [])


def test_a_parked_question_is_answered_later_and_the_action_called_again(board: Board) -> None:
    """MODULES §flow-5: nothing runs by itself when the yes comes; the same call then passes."""
    board.ready()
    request_id = board.call("count").request_id
    assert request_id is not None
    board.host.answer(request_id, YES)
    assert board.calls == []
    assert board.host.decision(request_id).states == (STARTED, REQUIRED, DECISION, RESULT)
    again = board.call("count")
    assert (again.ok, again.states) == (True, (STARTED, PASSED))


def test_a_wait_is_ended_by_an_answer_from_another_thread(board: Board) -> None:
    """MODULES §flow-4: any channel answers; whoever waits goes on with it."""
    board.ready()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(board.call, "count", wait=True)
        while not (pending := board.host.pending()):
            assert not waiting.done()
        board.host.answer(pending[0].request_id, YES)
        outcome = waiting.result(60)
    assert (outcome.ok, outcome.results) == (True, (2,))


_ANSWERS_ELSEWHERE = """
import sys
from consentry.base.clock import SystemClock
from consentry.modules import ModuleHost
with ModuleHost("note-board", "2.4.0") as host:
    while not (found := host.pending()):
        pass
    host.answer(found[0].request_id, "approve_persistent")
"""


def test_a_wait_is_ended_by_an_answer_from_another_process(home: Path) -> None:
    """MODULES §flow-4, §decision-2: a yes for good that another process recorded."""
    board = Board(home)
    with board.opened(clock=None) as host:
        host.import_module(package())
        command = [sys.executable, "-c", _ANSWERS_ELSEWHERE]
        with subprocess.Popen(command, env={**os.environ, **board.environ}) as answering:
            outcome = host.invoke(MODULE, "count", wait=True)
            assert answering.wait(60) == 0
        assert outcome.ok
    board.host.close()


# Seven codes in one order: each adjacent pair broken at once.


def test_unknown_comes_before_not_requested(board: Board) -> None:
    """MODULES §order-1, pair 1: at the host."""
    board.ready(requested=(READ,))
    assert summary(board.host.request(MODULE, [AUTO]))[1] == "capability-not-requested"
    outcome = board.host.request(MODULE, [AUTO, "zz.unknown"])
    assert summary(outcome) == ("rejected", "capability-unknown-id", "zz.unknown")
    assert board.host.pending() == []


def test_not_requested_comes_before_not_granted(board: Board) -> None:
    """MODULES §order-1, pair 2: at the host, and nobody is asked."""
    board.ready(requested=(EXPORT,))
    asked = board.person()
    outcome = board.call("save", asker=asked)
    assert summary(outcome) == ("rejected", "capability-not-requested", READ)
    assert (outcome.states, asked.asked) == ((STARTED,), [])


def test_not_granted_comes_before_stale(board: Board) -> None:
    """MODULES §order-1, pair 3: at the host; the stale one has the name that comes first."""
    board.ready(EXPORT)
    board.restart()
    assert summary(board.host.request(MODULE, [EXPORT]))[0] == "waiting"
    outcome = board.call("save", ask=False)
    assert summary(outcome) == ("rejected", "capability-not-granted", READ)
    only = board.host.check(MODULE, [EXPORT]).rejection
    assert only is not None
    assert only.code == "capability-grant-stale"


def test_stale_comes_before_denied(board: Board) -> None:
    """MODULES §order-1, pair 4: a stale grant whose question was denied is stale where nobody is asked anew."""
    board.ready(READ)
    board.restart()
    assert summary(board.call("count", asker=board.person("deny")))[1] == (
        "capability-escalation-denied"
    )
    assert summary(board.call("count", ask=False)) == ("rejected", "capability-grant-stale", READ)


def test_denied_comes_before_timeout(board: Board) -> None:
    """MODULES §order-1, pair 5: a no in time stays one when the deadline has passed as well."""
    board.ready()
    request_id = board.call("count").request_id
    assert request_id is not None
    board.host.answer(request_id, "deny")
    board.clock.advance(LONG)
    rejection = board.host.decision(request_id).rejection
    assert rejection is not None
    assert rejection.code == "capability-escalation-denied"


def test_timeout_comes_before_a_policy_violation(board: Board) -> None:
    """MODULES §order-1, pair 6: an export without a target whose question nobody answers."""
    board.ready()
    asker = board.person("gone", before=lambda: board.clock.advance(LONG))
    assert summary(board.call("save", asker=asker))[1] == "capability-escalation-timeout"
    board.grant(EXPORT, READ)
    assert summary(board.call("save")) == ("rejected", "capability-policy-violation", EXPORT)


def test_denied_comes_before_a_policy_violation(board: Board) -> None:
    """MODULES §order-1: what the person refused is the answer, not what the call lacks besides."""
    board.ready()
    outcome = board.call("save", asker=board.person("deny"))
    assert summary(outcome)[1] == "capability-escalation-denied"


# No partial success.


@pytest.mark.parametrize("missing", [EXPORT, STORE, READ])
def test_one_missing_of_three_uses_none(board: Board, missing: str) -> None:
    """MODULES §order-3: no use of the other two is on record, and no command was called."""
    board.ready(*{EXPORT, STORE, READ} - {missing})
    outcome = board.call("three", ask=False)
    assert summary(outcome) == ("rejected", "capability-not-granted", missing)
    assert (board.used(), board.calls) == ([], [])
    denied = board.call("three", asker=board.person("deny"))
    assert summary(denied) == ("rejected", "capability-escalation-denied", missing)
    assert (board.used(), board.calls) == ([], [])


def test_the_question_asks_only_for_what_is_missing(board: Board) -> None:
    """MODULES §flow-3: not again for what is granted; and for all that is missing at once."""
    board.ready(STORE)
    asked = board.person("deny")
    board.call("three", asker=asked)
    [request] = asked.asked
    preview: Any = request.question.preview
    assert [each["capabilityId"] for each in preview["capabilities"]] == [EXPORT, READ]


def test_a_denial_is_not_worked_around(board: Board) -> None:
    """MODULES §grant-5: after a no the same call is rejected or asked again; nothing narrower or wider runs."""
    board.ready()
    board.call("three", asker=board.person("deny"))
    again = board.call("three", ask=False)
    assert summary(again)[1] == "capability-not-granted"
    assert {each["capabilityId"] for each in board.payloads("capability.escalation.requested")} == {
        EXPORT,
        STORE,
        READ,
    }
    assert (board.events("grant.given"), board.used()) == ([], [])


# What is on record.


def test_every_request_and_decision_has_the_thirteen_fields(board: Board) -> None:
    """MODULES §audit-1, CONTRACTS §12-events-1, §12-events-2: nulls only where they may stand."""
    board.ready()
    board.call("count", asker=board.person(YES))
    board.call("keep", asker=board.person("deny"))
    board.call("save", asker=board.person("gone", before=lambda: board.clock.advance(LONG)))
    board.host.request(MODULE, ["no.such"])
    events = [each for each in board.events() if each["type"].startswith("capability.")]
    assert {each["type"] for each in events} == {
        "capability.escalation.requested",
        "capability.escalation.approved",
        "capability.escalation.denied",
        "capability.check.rejected",
    }
    for each in events:
        payload = each["payload"]
        assert set(payload) == THIRTEEN
        may_be_null = {"actionId", "transactionId"}
        if each["type"] == "capability.escalation.requested":
            may_be_null |= {"approverIdentity", "approverRole"}
        nulls = {name for name, value in payload.items() if value is None}
        assert nulls <= may_be_null, each["type"]
        assert payload["eventId"] == each["eventId"]
        assert payload["timestampUtc"].endswith("Z")
    ids = [each["payload"]["eventId"] for each in events]
    assert len(set(ids)) == len(ids)


def test_looking_records_nothing_and_asks_nobody(board: Board) -> None:
    """MODULES §flow-1: `check` says what the policy says, in its own states."""
    board.ready()
    before = len(board.events())
    result = board.host.check(MODULE, [STORE, READ, STORE])
    assert (result.needed, result.states) == ((STORE, READ), (STARTED, REQUIRED))
    assert (len(board.events()), board.host.pending()) == (before, [])
