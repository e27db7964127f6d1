"""What a module's action asks to change, until it is done, waits, or comes to nothing (MODULES §limit-write, §stage).

One action is one transaction: of several commands, of mixed ones, by hand and from automation.
"""

from typing import Any

import pytest

from consentry.base.errors import Refused
from consentry.base.units import Duration
from consentry.service.transactionplace import TxTerms
from tests.service.changing import (
    APPLIED,
    COMMANDS,
    FAILED,
    PENDING,
    REJECTED,
    ROLLED_BACK,
    ChangingBoard,
    add,
    removed,
    replaced,
)
from tests.service.modulehosting import STORE, WRITE, graph, package, summary

pytestmark = pytest.mark.timeout(120)


def waits(board: ChangingBoard, action: str, *operations: Any, **how: Any) -> str:
    """The request that a change waits for."""
    outcome = board.change(action, *operations, **how)
    assert (outcome.status, outcome.transaction_state) == ("waiting", PENDING)
    return str(outcome.request_id)


# One action, one transaction.


def test_what_several_commands_ask_for_is_one_change(changing: ChangingBoard) -> None:
    """CONTRACTS §2-calls, §3-apply: proposed together, in their order, applied as a whole."""
    calls = ["notes.add", "notes.tag", "notes.add"]
    changing.take(package(COMMANDS), graph({"id": "all", "calls": calls, "mutates": ["/notes"]}))
    changing.grant(WRITE)
    later = iter(([add("n1")], [replaced("n1", "later")]))
    changing.does["notes.add"] = lambda call: call.write(next(later))
    changing.does["notes.tag"] = lambda call: call.write([add("t1", kind="tags")])
    outcome = changing.call("all")
    assert outcome.ok
    assert changing.document == {"notes": {"n1": "later"}, "tags": {"t1": "hello"}}
    drawn = changing.host.transactions.drawn(changing.attempt(outcome))
    assert [each.path for each in drawn.operations] == ["/notes/n1", "/tags/t1", "/notes/n1"]
    assert len(changing.host.transactions.listed()) == 1


def test_one_command_that_is_refused_takes_all_with_it(changing: ChangingBoard) -> None:
    """MODULES §order-3: no partial success: what an earlier command asked for is not changed either."""
    changing.take(
        package(COMMANDS),
        graph({"id": "all", "calls": ["notes.add", "notes.tag"], "mutates": ["/notes"]}),
    )
    changing.grant(WRITE)
    changing.does["notes.add"] = lambda call: call.write([add("n1")])
    changing.does["notes.tag"] = lambda call: call.write([add("n2")])
    outcome = changing.call("all")
    assert summary(outcome) == ("rejected", "capability-policy-violation", WRITE)
    assert (changing.document, outcome.transaction_id) == ({}, None)
    assert changing.payloads("transaction.transition") == []


def test_an_operation_that_cannot_be_done_takes_all_with_it(changing: ChangingBoard) -> None:
    """MODULES §stage-pre-apply: rejected before anything changes, with which operation it was."""
    changing.ready(WRITE)
    outcome = changing.change("add", add("n1"), removed("n2"))
    assert summary(outcome)[:2] == ("rejected", "tx-operation")
    assert outcome.transaction_state == FAILED
    assert str(outcome.why).startswith("operations[1]: `/notes/n2`")
    assert changing.document == {}


def test_an_action_that_asks_for_nothing_has_no_transaction(changing: ChangingBoard) -> None:
    """CONTRACTS §3-attempt: a lasting command that changed nothing proposes nothing."""
    changing.ready(WRITE)
    outcome = changing.change("add")
    assert (outcome.ok, outcome.transaction_id, outcome.results) == (True, None, ("asked",))
    assert changing.payloads("transaction.transition") == []


@pytest.mark.parametrize("operations", ["all", {}, [], [1], [{"op": "add"}], [{"op": "copy"}]])
def test_a_change_that_is_none_is_told(changing: ChangingBoard, operations: Any) -> None:
    """CONTRACTS §3-preview: what a handler hands over is read before anything is proposed."""
    changing.ready(WRITE)
    changing.does["notes.add"] = lambda call: call.write(operations)
    outcome = changing.call("add")
    assert summary(outcome)[:2] == ("rejected", "tx-operation")
    assert changing.payloads("transaction.transition") == []


def test_mixed_commands_are_asked_about_before_they_run(changing: ChangingBoard) -> None:
    """MODULES §limit-write-policy: what keeps something at once waits for its yes, and the change for its own."""
    calls = ["notes.keep", "notes.edit"]
    rule = {"requiresApproval": {"reason": "r", "level": "soft"}}
    mixed = {"id": "mixed", "calls": calls, "mutates": ["/notes"], **rule}
    changing.take(package(COMMANDS), graph(mixed))
    changing.grant(WRITE, STORE)
    person = changing.person("approve_once")
    changing.does["notes.edit"] = lambda call: call.write([add()])
    outcome = changing.call("mixed")
    assert (outcome.status, changing.calls) == ("waiting", [])
    changing.host.answer(str(outcome.request_id), "approve_once")
    then = changing.host.resume(str(outcome.request_id))
    assert (then.status, then.transaction_state) == ("waiting", PENDING)
    assert [each[0] for each in changing.calls] == calls
    assert (changing.document, person.asked) == ({}, [])
    changing.host.answer(str(then.request_id), "approve_once")
    assert changing.host.resume(str(then.request_id)).ok
    assert changing.document == {"notes": {"n1": "hello"}}


# Waiting, and going on.


def test_a_change_that_waits_is_resumed_once(changing: ChangingBoard) -> None:
    """CONTRACTS §3-apply: a yes carries it out, and going on again finds it done."""
    changing.ready(WRITE)
    request_id = waits(changing, "edit", add())
    changing.host.answer(request_id, "approve_once")
    for _ in range(3):
        outcome = changing.host.resume(request_id)
        assert (outcome.ok, outcome.transaction_state) == (True, APPLIED)
    assert len(changing.calls) == 1, "the command is not called again"
    assert changing.document == {"notes": {"n1": "hello"}}


def test_a_no_leaves_everything_as_it_was(changing: ChangingBoard) -> None:
    """CONTRACTS §3-states: denied is `REJECTED`."""
    changing.ready(WRITE)
    request_id = waits(changing, "edit", add())
    changing.host.answer(request_id, "deny", reason="not this one")
    outcome = changing.host.resume(request_id)
    assert summary(outcome)[:2] == ("rejected", "approval-denied")
    assert (outcome.transaction_state, outcome.why) == (REJECTED, "not this one")
    assert changing.document == {}


def test_no_answer_in_time_is_a_no(changing: ChangingBoard) -> None:
    """CONTRACTS §3-states: and a late yes is refused."""
    changing.ready(WRITE)
    request_id = waits(changing, "edit", add())
    changing.clock.advance(changing.host._desk.settings.parked_deadline)
    changing.clock.advance(changing.host._desk.settings.prompt_deadline)
    outcome = changing.host.resume(request_id)
    assert summary(outcome)[:2] == ("rejected", "approval-expired")
    with pytest.raises(Refused):
        changing.host.answer(request_id, "approve_once")
    assert changing.document == {}


def test_a_yes_that_expired_applies_nothing(changing: ChangingBoard) -> None:
    """CONTRACTS §3-approval: at its last moment it counts, and then not; a new preview asks again."""
    changing.host.close()
    changing.host = changing.opened(terms=TxTerms(ttl_seconds=1))
    changing.ready(WRITE)
    request_id = waits(changing, "edit", add())
    changing.host.answer(request_id, "approve_once")
    changing.clock.advance(Duration(1000))
    outcome = changing.host.resume(request_id)
    assert summary(outcome)[:2] == ("rejected", "tx-approval")
    again = changing.host.transactions.preview_again(str(outcome.transaction_id))
    assert (again.state, again.attempt_no, changing.document) == (PENDING, 2, {})


def test_a_document_that_moved_on_voids_the_yes(changing: ChangingBoard) -> None:
    """CONTRACTS §3-apply: another revision than the one that was shown: nothing is written."""
    changing.ready(WRITE)
    request_id = waits(changing, "edit", add())
    changing.host.answer(request_id, "approve_once")
    changing.own(add("mine"))
    outcome = changing.host.resume(request_id)
    assert summary(outcome)[:2] == ("rejected", "tx-conflict")
    assert (outcome.transaction_state, changing.document) == (FAILED, {"notes": {"mine": "hello"}})


def test_another_session_goes_on_only_with_a_grant_of_its_own(changing: ChangingBoard) -> None:
    """CONTRACTS §3-apply: what was granted for a session ends with it, the question does not."""
    changing.ready(WRITE)
    request_id = waits(changing, "edit", add())
    changing.restart()
    changing.host.answer(request_id, "approve_once")
    assert changing.host.resume(request_id).transaction_state == FAILED
    assert changing.document == {}


def test_a_change_that_was_taken_back_is_told(changing: ChangingBoard) -> None:
    """CONTRACTS §3-rollback: who goes on with it afterwards learns that it was."""
    changing.ready(WRITE)
    request_id = waits(changing, "edit", add())
    changing.host.answer(request_id, "approve_once")
    tx_id = str(changing.host.resume(request_id).transaction_id)
    assert changing.host.transactions.roll_back(tx_id).state is ROLLED_BACK
    outcome = changing.host.resume(request_id)
    assert (outcome.status, outcome.why) == ("rejected", "it was rolled back meanwhile")
