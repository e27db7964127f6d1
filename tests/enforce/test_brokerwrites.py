"""Handlers that try to change what lasts past the transactions, or past what was approved (MODULES §limit-write).

Security tests come in threes: the attack fails, the same works when it is granted, and with the control
taken away the attack succeeds.
"""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from consentry.base.errors import BadInput, Refused
from consentry.decide.statechange import MOST_BYTES
from consentry.enforce.broker import CapabilityRejected, ModuleCall
from tests.service import weakenedmodules
from tests.service.changing import (
    APPLIED,
    PENDING,
    ChangingBoard,
    add,
    moved,
    removed,
    replaced,
)
from tests.service.modulehosting import MODULE, READ, STORE, WRITE, graph, package, summary
from tests.service.weakenedmodules import swallowing

pytestmark = pytest.mark.timeout(120)

VIOLATION = "capability-policy-violation"


# Its hard limit: no direct way to write.


def test_a_handler_has_no_other_way_to_write(changing: ChangingBoard) -> None:
    """MODULES §limit-write-path: “no direct way to write”: this is all that a handler is given."""
    names = {each for each in dir(ModuleCall) if not each.startswith("_")}
    assert names == {
        "arguments",
        "command_id",
        "context",
        "end",
        "export",
        "module_id",
        "noting",
        "payload",
        "refusal",
        "require",
        "run",
        "state",
        "storage",
        "write",
    }
    changing.ready(READ, WRITE)
    changing.does["notes.count"] = swallowing(lambda call: call.write([removed("n1")]))
    assert summary(changing.call("count")) == ("rejected", VIOLATION, WRITE)
    assert (changing.document, changing.payloads("transaction.transition")) == ({}, [])


@pytest.mark.parametrize("action", ["count", "keep"])
def test_a_command_that_changes_nothing_lasting_cannot_write(
    changing: ChangingBoard, action: str
) -> None:
    """MODULES §limit-write-path: “no direct way to write”: granted to the module, and not to this command."""
    changing.ready(READ, STORE, WRITE)
    changing.does[f"notes.{action}"] = lambda call: call.write([add()])
    assert summary(changing.call(action)) == ("rejected", VIOLATION, WRITE)
    assert changing.document == {}


def test_what_a_handler_asks_for_changes_nothing_by_itself(changing: ChangingBoard) -> None:
    """MODULES §limit-write-path: “through the shared transaction protocol only”: a handler that fails wrote nothing."""
    changing.ready(WRITE)
    seen: list[Any] = []

    def write_and_fail(call: ModuleCall) -> None:
        call.write([add()])
        seen.append(changing.document)
        raise ZeroDivisionError

    changing.does["notes.add"] = write_and_fail
    with pytest.raises(ZeroDivisionError):
        changing.call("add")
    assert (seen, changing.document) == ([{}], {})
    assert changing.payloads("transaction.transition") == []


def test_what_is_granted_changes_through_a_transaction(changing: ChangingBoard) -> None:
    """MODULES §limit-write-path: the same change, granted: applied, and every step of it is on record."""
    changing.ready(WRITE)
    outcome = changing.change("add", add())
    assert outcome.ok
    assert changing.document == {"notes": {"n1": "hello"}}
    assert changing.steps(str(outcome.transaction_id)) == [
        "RECEIVED",
        "PREVIEWING",
        "PREVIEW_READY",
        "APPROVAL_PENDING",
        "APPROVED",
        "APPLYING",
        "APPLIED",
    ]


def test_without_transactions_a_handler_that_fails_would_have_written(
    changing: ChangingBoard,
) -> None:
    """MODULES §limit-write-path: what the protocol holds off: a change that nobody saw, decided or recorded."""
    changing.ready(READ)

    def write_and_fail(call: ModuleCall) -> None:
        call.write([add()])
        raise ZeroDivisionError

    changing.does["notes.count"] = write_and_fail
    with (
        weakenedmodules.without_transactions(changing.host.document),
        pytest.raises(ZeroDivisionError),
    ):
        changing.call("count")
    assert changing.document == {"notes": {"n1": "hello"}}
    assert changing.payloads("transaction.transition") == []


def test_a_change_needs_its_grant(changing: ChangingBoard) -> None:
    """MODULES §limit-write-path, §deny-1: nothing is called without it; without the check all would be."""
    changing.ready()
    outcome = changing.change("add", add(), ask=False)
    assert summary(outcome) == ("rejected", "capability-not-granted", WRITE)
    assert (changing.calls, changing.document) == ([], {})
    with weakenedmodules.without_grants():
        assert changing.change("add", add()).ok
    assert changing.document == {"notes": {"n1": "hello"}}


_OUTSIDE: list[tuple[str, list[Any]]] = [
    ("add", [add(kind="tags")]),
    ("add", [add(kind="note")]),
    ("add", [add(kind="notes2")]),
    ("add", [add(kind="no~1tes")]),
    ("add", [add("n1"), add("n2", kind="shared")]),
    ("add", [moved("/tags/t1", "/notes/n9")]),
    ("add", [moved("/notes/n9", "/tags/t1")]),
    ("tag", [replaced("first", "x")]),
    ("share", [add()]),
    ("share", [{**add(kind="shared"), "scope": "doc"}]),
    ("add", [{**add(), "scope": "sync"}]),
    ("first", [replaced("first", {"text": "x"})]),
    ("first", [removed("first")]),
    ("first", [replaced("first", "x", "/title")]),
    ("first", [replaced("second", "x", "/text")]),
]


@pytest.mark.parametrize(("action", "operations"), _OUTSIDE)
def test_a_command_changes_only_what_it_says(
    changing: ChangingBoard, action: str, operations: list[Any]
) -> None:
    """MODULES §limit-write-path, CONTRACTS §1-handlers: what lies outside of its paths ends the whole action."""
    changing.own(add("first", {"text": "t", "title": "u"}), add("second", {"text": "t"}))
    changing.own(add("n9"), add("t1", kind="tags"))
    before = changing.document
    changing.ready(WRITE)
    assert summary(changing.change(action, *operations)) == ("rejected", VIOLATION, WRITE)
    changing.does[f"notes.{action}"] = swallowing(lambda call: call.write(call.arguments))
    assert summary(changing.change(action, *operations)) == ("rejected", VIOLATION, WRITE)
    assert changing.document == before


def test_a_command_changes_what_it_says(changing: ChangingBoard) -> None:
    """MODULES §limit-write-path: the narrow place, the other kind, the other scope: each by its own command."""
    changing.own(add("first", {"text": "t", "title": "u"}))
    changing.ready(WRITE)
    assert changing.change("first", replaced("first", "x", "/text")).ok
    assert changing.change("tag", add("t1", kind="tags")).ok
    assert changing.change("share", add("s1", kind="shared")).ok
    assert changing.document == {
        "notes": {"first": {"text": "x", "title": "u"}},
        "shared": {"s1": "hello"},
        "tags": {"t1": "hello"},
    }


def test_without_paths_it_would_change_anything(changing: ChangingBoard) -> None:
    """MODULES §limit-write-path: what the paths hold off."""
    changing.ready(WRITE)
    with weakenedmodules.without_paths():
        assert changing.change("add", add("t1", kind="tags")).ok
    assert changing.document == {"tags": {"t1": "hello"}}


def test_a_call_that_is_over_writes_nothing(changing: ChangingBoard) -> None:
    """MODULES §limit-write-path: a call that is kept cannot add to a later action's change."""
    changing.ready(WRITE)
    kept: list[ModuleCall] = []
    changing.does["notes.add"] = kept.append
    assert changing.call("add").ok

    def late(_: ModuleCall) -> None:
        with pytest.raises(CapabilityRejected, match="is over"):
            kept[0].write([add("late")])

    changing.does["notes.tag"] = late
    assert changing.call("tag").ok
    assert changing.document == {}
    changing.does["notes.tag"] = lambda _: kept[1].write([add("late")])
    with weakenedmodules.without_ends():
        assert changing.call("add").ok
        assert changing.call("tag").ok
    assert changing.document == {}, "even then it reaches no other action's change"


def test_what_is_asked_for_stays_as_it_was_asked(changing: ChangingBoard) -> None:
    """MODULES §limit-write-path: a handler that changes its list afterwards changes nothing of it."""
    changing.ready(WRITE)

    def write_and_change(call: ModuleCall) -> None:
        value: dict[str, Any] = {"text": "shown"}
        operations = [add("n1", value)]
        call.write(operations)
        value["text"] = "something else"
        operations.append(removed("n1"))

    changing.does["notes.add"] = write_and_change
    assert changing.call("add").ok
    assert changing.document == {"notes": {"n1": {"text": "shown"}}}


def test_many_writes_are_no_more_than_one_change_may_be(changing: ChangingBoard) -> None:
    """MODULES §limit-write-path: together they are one change, as large as one may be, which can still be shown."""
    changing.ready(WRITE)
    half = "x" * (MOST_BYTES // 2 - 100)

    def write_more(call: ModuleCall) -> None:
        call.write([add("n1", half)])
        call.write([add("n2", half)])
        with pytest.raises(BadInput, match="bytes in one change"):
            call.write([add("n3", half)])

    changing.does["notes.add"] = write_more
    done = changing.call("add")
    assert (done.status, sorted(changing.document["notes"])) == ("done", ["n1", "n2"])
    applied = changing.host.transactions.look(str(done.transaction_id))
    assert len(changing.host.transactions.drawn(applied).operations) == 2


# Its hard limit: the command's approval and queue policy.


def test_a_module_cannot_lower_what_a_command_asks_for(changing: ChangingBoard) -> None:
    """MODULES §limit-write-policy, §base-3: “no way around the command bus's approval and queue policy”: not by its graph."""
    lower = graph({"id": "quiet", "calls": ["notes.wipe"], "requiresApproval": False})
    with pytest.raises(BadInput, match="requires hard approval"):
        changing.take(package(("notes.wipe",)), lower)
    assert changing.host.modules() == []


def test_a_change_waits_for_the_approval_of_its_command(changing: ChangingBoard) -> None:
    """MODULES §limit-write-policy: “no way around the command bus's approval and queue policy”: nothing changes before."""
    changing.own(add())
    changing.ready(WRITE)
    for action in ("edit", "wipe"):
        outcome = changing.change(action, removed("n1"))
        assert (outcome.status, outcome.transaction_state) == ("waiting", PENDING)
        with pytest.raises(Refused, match="has to be `APPROVED`"):
            changing.host.transactions.apply(str(outcome.transaction_id))
        assert changing.host.resume(str(outcome.request_id)).status == "waiting"
    assert summary(changing.change("audit", add("n2"), role="approver"))[1] == "command-refused"
    assert changing.document == {"notes": {"n1": "hello"}}


def test_what_a_command_asks_for_is_enough(changing: ChangingBoard) -> None:
    """MODULES §limit-write-policy: the same calls, approved and in the right role."""
    changing.ready(WRITE)
    assert changing.change("edit", add("n1"), asker=changing.person("approve_once")).ok
    assert changing.change("wipe", removed("n1"), asker=changing.person("approve_once")).ok
    assert changing.change("audit", add("n2"), role="operator").ok
    assert changing.document == {"notes": {"n2": "hello"}}


def test_without_the_commands_rules_it_would_be_applied(changing: ChangingBoard) -> None:
    """MODULES §limit-write-policy: what approval and role hold off."""
    changing.own(add())
    changing.ready(WRITE)
    with weakenedmodules.without_command_rules():
        assert changing.change("wipe", removed("n1")).ok
        assert changing.change("audit", add("n2"), role="approver").ok
    assert changing.document == {"notes": {"n2": "hello"}}


def test_a_change_waits_in_the_queue_of_its_command(changing: ChangingBoard) -> None:
    """MODULES §limit-write-policy: “queue policy”: who comes while the command runs is refused, and changes nothing."""
    changing.ready(WRITE)
    changing.take(package(("notes.alone",), module_id="other-one"))
    changing.grant(WRITE, module_id="other-one")
    entered, leave = Event(), Event()

    def slow(call: ModuleCall) -> None:
        call.write([add(call.module_id)])
        entered.set()
        assert leave.wait(60)

    changing.does["notes.alone"] = slow
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(changing.call, "alone")
        assert entered.wait(60)
        second = changing.call("alone", module_id="other-one")
        leave.set()
        assert first.result(60).transaction_state == APPLIED
    assert summary(second)[:2] == ("rejected", "command-busy")
    assert changing.document == {"notes": {MODULE: "hello"}}
