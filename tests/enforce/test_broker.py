"""What a handler gets of the state and of storage, and handlers that try to get past the broker (MODULES §limit).

Security tests come in threes: the attack fails, the same works when it is granted, and with the control
taken away the attack succeeds.
"""

import inspect
from pathlib import Path
from typing import Any

import pytest

from consentry.base.errors import ConsentryError
from consentry.enforce.broker import CapabilityRejected, GatedStorage, ModuleCall
from tests.service import weakenedmodules
from tests.service.modulehosting import (
    EXPORT,
    MODULE,
    READ,
    STORE,
    WRITE,
    Board,
    package,
    summary,
)
from tests.service.weakenedmodules import swallowing

pytestmark = pytest.mark.timeout(120)

VIOLATION = "capability-policy-violation"


# state.read


def _tampers(call: ModuleCall) -> int:
    """Tries every way to change what it was given; how many worked."""
    state: Any = call.state()
    tries = (
        lambda: state.__setitem__("notes", []),
        lambda: state["notes"].append("mine"),
        lambda: state["notes"].insert(0, "mine"),
        lambda: state.update(notes=[]),
        lambda: state.pop("notes"),
        lambda: setattr(state, "notes", []),
    )
    worked = 0
    for each in tries:
        try:
            each()
        except (TypeError, AttributeError):
            continue
        worked += 1
    return worked


def test_a_snapshot_cannot_be_changed(board: Board) -> None:
    """MODULES §limit-read-only: “read-only”: every way to write fails, and the host's state is as it was."""
    board.ready(READ)
    board.does["notes.count"] = _tampers
    assert board.call("count").results == (0,)
    assert board.notes == {"notes": ["one", "two"]}


def test_without_snapshots_the_state_itself_would_be_changed(board: Board) -> None:
    """MODULES §limit-read-only: “read-only”: what the copy holds off."""
    board.ready(READ)
    board.does["notes.count"] = _tampers
    with weakenedmodules.without_snapshots():
        [worked] = board.call("count").results
    assert worked > 0
    assert board.notes != {"notes": ["one", "two"]}


def test_a_snapshot_does_not_follow_the_state(board: Board) -> None:
    """MODULES §limit-read-only: “no change as a side effect”: neither of the two is the other."""
    board.ready(READ)
    kept: list[Any] = []
    board.does["notes.count"] = lambda call: kept.append(call.state())
    board.call("count")
    board.notes["notes"].append("three")
    assert kept[0]["notes"] == ("one", "two")


@pytest.mark.parametrize(
    ("capability", "act"),
    [
        (STORE, lambda call: call.storage.put("k", 1)),
        (STORE, lambda call: call.storage.get("k")),
        (STORE, lambda call: call.storage.keys()),
        (STORE, lambda call: call.storage.remove("k")),
        (EXPORT, lambda call: call.export("x")),
        (WRITE, lambda call: call.write({"notes": []})),
    ],
)
def test_a_command_that_reads_does_nothing_else(board: Board, capability: str, act: Any) -> None:
    """MODULES §limit-read-only: “no change as a side effect”: not what its command did not declare."""
    board.ready(READ, STORE, EXPORT, WRITE)
    board.does["notes.count"] = act
    outcome = board.call("count", target=board.target())
    assert summary(outcome) == ("rejected", VIOLATION, capability)
    assert board.rejected() == [(VIOLATION, capability)]
    assert board.used() == [READ]
    assert not (Path(board.environ["HOME"]) / "chosen/out.txt").exists()


def test_what_a_command_declares_works_when_it_is_granted(board: Board) -> None:
    """MODULES §limit-read-only: the same operation, from a command that declares it."""
    board.ready(STORE)
    board.does["notes.keep"] = lambda call: call.storage.put("k", 1)
    assert board.call("keep").ok


def test_without_declarations_a_reader_would_write(board: Board) -> None:
    """MODULES §limit-read-only: what the declaration holds off, where the module was granted it."""
    board.ready(READ, STORE)
    board.does["notes.count"] = lambda call: call.storage.put("k", 1)
    with weakenedmodules.without_declarations():
        assert board.call("count").ok
    assert board.used() == [READ, STORE]


# module.storage.local


def _two_modules(board: Board) -> None:
    for name in (MODULE, "other-one"):
        board.take(package(module_id=name))
        board.grant(STORE, module_id=name)


def test_each_module_has_its_own_keys(board: Board) -> None:
    """MODULES §limit-storage-namespace: “one namespace per module”: one key, two values."""
    _two_modules(board)
    board.call("keep", arguments="first")
    board.call("keep", arguments="second", module_id="other-one")
    board.does["notes.keep"] = lambda call: (call.storage.keys(), call.storage.get("kept"))
    assert board.call("keep").results == ((("kept",), "first"),)
    assert board.call("keep", module_id="other-one").results == ((("kept",), "second"),)


@pytest.mark.parametrize(
    "key",
    [
        "other-one/kept",
        "../other-one/kept",
        "other-one\0kept",
        "note-board:other-one:kept",
        "kept' OR module_id = 'other-one",
        "%",
        "*",
    ],
)
def test_no_key_reaches_another_module(board: Board, key: str) -> None:
    """MODULES §limit-storage-cross: “no reading or writing of another module's”: a key is only a key."""
    _two_modules(board)
    board.call("keep", arguments="secret", module_id="other-one")

    def reach(call: ModuleCall) -> Any:
        found = call.storage.get(key)
        call.storage.put(key, "mine")
        return found

    board.does["notes.keep"] = reach
    outcome = board.call("keep")
    assert outcome.results in ((), (None,)), "it is no key at all, or one of its own"
    board.does["notes.keep"] = lambda call: [*map(call.storage.get, call.storage.keys())]
    assert board.call("keep", module_id="other-one").results == (["secret"],)


def test_there_is_no_way_to_name_another_module() -> None:
    """MODULES §limit-storage-cross: “no reading or writing of another module's”: nothing takes a module."""
    for name in ("get", "put", "remove", "keys"):
        parameters = inspect.signature(getattr(GatedStorage, name)).parameters
        assert set(parameters) <= {"self", "key", "value"}


def test_without_namespaces_one_would_read_the_other(board: Board) -> None:
    """MODULES §limit-storage-namespace, §limit-storage-cross: what the name of the module holds off."""
    with weakenedmodules.without_namespaces():
        _two_modules(board)
        board.call("keep", arguments="secret", module_id="other-one")
        board.does["notes.keep"] = lambda call: call.storage.get("kept")
        assert board.call("keep").results == ("secret",)


@pytest.mark.parametrize(
    "value",
    [
        print,
        b"\x7fELF",
        object(),
        {1, 2},
        float("nan"),
        {1: "a"},
        "\ud800",
        ModuleCall,
        [[lambda: None]],
    ],
    ids=lambda value: type(value).__name__,
)
def test_only_data_is_kept(board: Board, value: Any) -> None:
    """MODULES §limit-storage-data: “nothing executable”: what is no JSON is refused, and nothing is kept."""
    board.ready(STORE)
    board.does["notes.keep"] = lambda call: call.storage.put("k", value)
    assert summary(board.call("keep"))[:2] == ("rejected", "canonical-json")
    board.does["notes.keep"] = lambda call: call.storage.keys()
    assert board.call("keep").results == ((),)


def test_text_that_looks_like_code_stays_text(board: Board) -> None:
    """MODULES §limit-storage-data, CONTRACTS §1-data: “nothing executable”: it comes back as it went in."""
    words = "__import__('os').system('touch /tmp/owned'); ${7*7} {{7*7}} $(id)"
    board.ready(STORE)
    board.call("keep", arguments={"run": words})
    board.does["notes.keep"] = lambda call: call.storage.get("kept")
    assert board.call("keep").results == ({"run": words},)


def test_storage_needs_its_grant(board: Board) -> None:
    """MODULES §limit-storage-namespace: nothing without it; with the check taken away it would be kept."""
    board.ready()
    assert not board.call("keep", arguments=1, ask=False).ok
    with weakenedmodules.without_grants():
        assert board.call("keep", arguments=1, ask=False).ok


# Handlers that try to get past the broker.


@pytest.mark.parametrize("wraps", [False, True])
def test_a_swallowed_refusal_rejects_the_action(board: Board, *, wraps: bool) -> None:
    """MODULES §base-2: also where the handler makes an error of its own of it, which is told as the cause."""
    board.ready(READ)

    def handle(call: ModuleCall) -> str:
        try:
            call.storage.put("k", 1)
        except CapabilityRejected:
            if wraps:
                raise ValueError("something else") from None
        return "done"

    board.does["notes.count"] = handle
    assert summary(board.call("count")) == ("rejected", VIOLATION, STORE)
    [ended] = board.payloads("module.action.ended")
    assert (ended["outcome"], ended["code"]) == ("rejected", VIOLATION)
    assert board.rejected() == [(VIOLATION, STORE)]


def test_a_swallowed_refusal_would_go_unnoticed(board: Board) -> None:
    """MODULES §base-2: what remembering it holds off."""
    board.ready(READ)
    board.does["notes.count"] = swallowing(lambda call: call.storage.put("k", 1))
    with weakenedmodules.without_noticing():
        assert board.call("count").ok
    assert board.rejected() == []


def test_after_a_refusal_nothing_more_is_given(board: Board) -> None:
    """MODULES §order-3: not even what was granted."""
    board.ready(READ)
    seen: list[Any] = []
    board.does["notes.count"] = swallowing(
        lambda call: call.storage.get("k"), lambda call: seen.append(call.state())
    )
    assert not board.call("count").ok
    assert seen == []


def test_a_grant_that_is_revoked_meanwhile_ends_the_action_there(board: Board) -> None:
    """MODULES §grant-4: by another process, in the middle of a command."""
    board.ready(READ)
    seen: list[Any] = []

    def handle(call: ModuleCall) -> None:
        seen.append(call.state())
        board.revoke(READ)
        seen.append(call.state())

    board.does["notes.count"] = handle
    assert summary(board.call("count")) == ("rejected", "capability-not-granted", READ)
    assert len(seen) == 1
    with weakenedmodules.without_asking_again():
        board.grant(READ)
        assert board.call("count").ok
    assert len(seen) == 3


def test_an_operation_is_not_recorded_after_its_grant_is_gone(board: Board) -> None:
    """MODULES §grant-4: revoked between the question and the write, nothing is kept and nobody swallows it."""
    board.ready(STORE)

    def handle(call: ModuleCall) -> None:
        storage = call.storage._storage
        board.revoke(STORE)
        with pytest.raises(CapabilityRejected), call.noting():
            storage.put("k", 1)

    board.does["notes.keep"] = handle
    assert summary(board.call("keep")) == ("rejected", "capability-not-granted", STORE)
    assert board.used() == [STORE]


@pytest.mark.parametrize("swallows", [False, True])
@pytest.mark.parametrize("becomes", ["removed", "replaced"])
def test_a_module_that_is_gone_meanwhile_gets_nothing_more(
    board: Board, becomes: str, *, swallows: bool
) -> None:
    """MODULES §use-4: the action does not end well, whatever its handler makes of the refusal."""
    board.ready(READ)

    def handle(call: ModuleCall) -> str:
        if becomes == "removed":
            board.host.remove(MODULE)
        else:
            board.take(package(version="2.0.0"))
        try:
            call.state()
        except ConsentryError:
            if not swallows:
                raise
        return "done"

    board.does["notes.count"] = handle
    outcome = board.call("count")
    assert summary(outcome)[:2] == ("rejected", "module-unknown")
    [ended] = board.payloads("module.action.ended")
    assert (ended["outcome"], ended["moduleVersion"]) == ("failed", "1.0.0")


def test_a_refusal_is_on_record_though_the_module_is_gone(board: Board) -> None:
    """MODULES §audit-1: for the version that acted, not for what is registered by then."""
    board.ready(READ)

    def handle(call: ModuleCall) -> None:
        try:
            call.write([])
        finally:
            board.take(package(version="2.0.0"))

    board.does["notes.count"] = handle
    assert summary(board.call("count"))[1] == VIOLATION
    [rejected] = board.payloads("capability.check.rejected")
    assert rejected["moduleVersion"] == "1.0.0"

    def leave(call: ModuleCall) -> None:
        try:
            call.write([])
        finally:
            board.host.remove(MODULE)

    board.does["notes.count"] = leave
    board.grant(READ)
    assert summary(board.call("count"))[1] == VIOLATION
    assert [each["outcome"] for each in board.payloads("module.action.ended")] == ["rejected"] * 2


def test_a_call_that_is_kept_is_worth_nothing(board: Board) -> None:
    """MODULES §limit-storage-namespace: when the action is over, so is all that it was given."""
    board.ready(STORE)
    kept: list[ModuleCall] = []
    board.does["notes.keep"] = kept.append
    assert board.call("keep").ok
    for act in (lambda: kept[0].storage.put("late", 1), lambda: kept[0].storage.get("late")):
        with pytest.raises(CapabilityRejected, match="is over"):
            act()
    assert board.used() == [STORE]
    with weakenedmodules.without_ends():
        board.call("keep")
        kept[1].storage.put("late", 1)
    assert board.used() == [STORE] * 3


def test_an_error_of_the_host_is_the_hosts(board: Board) -> None:
    """CONTRACTS §1-handlers: it reaches the caller, and that the action failed is on record."""
    board.ready(READ)

    def fail(_: ModuleCall) -> None:
        raise ZeroDivisionError

    board.does["notes.count"] = fail
    with pytest.raises(ZeroDivisionError):
        board.call("count")
    [ended] = board.payloads("module.action.ended")
    assert (ended["outcome"], ended["code"]) == ("failed", None)
