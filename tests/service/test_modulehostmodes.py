"""The operator's mode, what a slot shows, and hosts that change, seen by a running host (MODULES)."""

import pytest

from consentry.base.errors import BadInput, UsageProblem
from consentry.decide.modulemode import ModuleMode
from consentry.declare.hostdescription import CommandDeclaration, MutationScope
from consentry.declare.modulevalues import Slot
from consentry.service.modulehost import HostCommand
from consentry.service.moduleloading import Unfit
from tests.service.modulehosting import (
    ALL,
    DECLARED,
    EXPORT,
    FOR_GOOD,
    MODULE,
    READ,
    SHOW,
    STARTED,
    STORE,
    YES,
    Board,
    graph,
    package,
    summary,
)

pytestmark = pytest.mark.timeout(120)


# The operator's mode, seen at once.


@pytest.mark.parametrize("mode", [ModuleMode.DENY_ALL, ModuleMode.INSPECT_ONLY])
def test_a_mode_that_stops_actions_stops_them_at_once(board: Board, mode: ModuleMode) -> None:
    """MODULES §mode-deny-all, §mode-inspect-only: nobody is asked; going back finds the grants."""
    board.ready(READ)
    board.set_mode(mode)
    for how in ({}, {"asker": board.person()}):
        outcome = board.call("count", **how)
        assert summary(outcome) == ("rejected", "capability-not-granted", READ)
        assert outcome.states == (STARTED,)
    assert (board.used(), board.host.pending()) == ([], [])
    assert board.take(package(module_id="other-one"))["ok"], "importing and looking goes on"
    board.set_mode(ModuleMode.NORMAL)
    assert board.call("count").ok


def test_what_was_rejected_stays_blocked_until_the_mode_changes(board: Board) -> None:
    """MODULES §mode-block-rejected: also when it is granted later; others go on, and nobody is asked."""
    board.ready(STORE)
    board.grant(READ, decision=FOR_GOOD)
    board.revoke(READ)
    board.set_mode(ModuleMode.BLOCK_REJECTED)
    assert summary(board.call("count")) == ("rejected", "capability-not-granted", READ)
    assert board.call("keep").ok
    board.set_mode(ModuleMode.NORMAL)
    board.grant(READ)
    board.set_mode(ModuleMode.BLOCK_REJECTED)
    assert board.call("count").ok, "another mode meanwhile set it free"
    assert summary(board.call("save"))[1] == "capability-not-granted"
    assert summary(board.call("save"))[1] == "capability-not-granted"


def test_a_mode_that_went_there_and_back_frees_what_was_blocked(board: Board) -> None:
    """MODULES §mode-block-rejected: though the host looked at neither of the changes."""
    board.ready(EXPORT, READ)
    board.set_mode(ModuleMode.BLOCK_REJECTED)
    assert summary(board.call("save"))[1] == "capability-policy-violation"
    assert not board.host.check(MODULE, [READ]).rejection
    assert summary(board.call("save"))[1] == "capability-policy-violation"
    board.set_mode(ModuleMode.NORMAL)
    board.set_mode(ModuleMode.BLOCK_REJECTED)
    assert board.call("save", target=board.target()).ok


def test_a_block_is_for_the_content_that_was_rejected(board: Board) -> None:
    """MODULES §mode-block-rejected: a new import begins free."""
    board.ready(EXPORT, READ)
    board.set_mode(ModuleMode.BLOCK_REJECTED)
    assert not board.call("save").ok
    assert not board.call("save", target=board.target()).ok
    board.take()
    assert board.call("save", target=board.target()).ok


# What a slot shows.


def test_a_slot_shows_what_was_declared_and_may_be_shown(board: Board) -> None:
    """MODULES §limit-render-dom: as data, under a grant, with its use on record."""
    board.ready()
    held = board.host.render(Slot.LEFT_PANEL)
    assert (held.entries, [each.code for each in held.held_back]) == (
        (),
        ["capability-not-granted"],
    )
    board.host.render(Slot.LEFT_PANEL)
    assert board.rejected() == [("capability-not-granted", SHOW)], "a page is drawn often"
    board.grant(SHOW)
    shown = board.host.render(Slot.LEFT_PANEL)
    assert [each.entry_id for each in shown.entries][:2] == ["count", "keep"]
    assert board.host.render(Slot.TOOLBAR_BOTTOM).entries == ()
    assert board.used() == [SHOW]


def test_inspect_only_still_shows_and_deny_all_does_not(board: Board) -> None:
    """MODULES §mode-inspect-only, §mode-deny-all: what was granted to be shown."""
    board.ready(SHOW)
    board.set_mode(ModuleMode.INSPECT_ONLY)
    assert board.host.render(Slot.LEFT_PANEL).entries
    board.set_mode(ModuleMode.DENY_ALL)
    assert not board.host.render(Slot.LEFT_PANEL).entries


# Hosts that change.


def test_a_module_that_does_not_fit_its_host_any_more_does_nothing(board: Board) -> None:
    """CONTRACTS §1-handlers: it stays registered and is told; the host as it was has it back."""
    board.ready()
    board.grant(READ, SHOW, decision=FOR_GOOD)
    fewer = [
        HostCommand(each, lambda _: None) for each in DECLARED if each.command_id != "notes.add"
    ]
    board.host.close()
    with board.opened(commands=fewer) as changed:
        [module] = changed.modules()
        assert isinstance(module, Unfit)
        with pytest.raises(UsageProblem, match="does not fit this host"):
            changed.invoke(MODULE, "count")
        assert changed.render(Slot.LEFT_PANEL).entries == ()
    board.host = board.opened()
    assert board.call("count").ok


def test_a_host_whose_command_needs_nothing_is_refused(board: Board) -> None:
    """MODULES §base-2, §deny-1: there is nothing it could be allowed by."""
    zoom = HostCommand(CommandDeclaration("view.zoom", MutationScope.LOCAL), lambda _: None)
    with pytest.raises(BadInput, match=r"`view\.zoom` needs no capability"):
        board.opened(commands=[zoom])


def test_the_same_package_with_another_graph_is_seen_at_once(board: Board) -> None:
    """CONTRACTS §2-shape: the graph is no part of the package, and what was loaded is not kept beyond it."""
    board.take(None, graph({"id": "one", "calls": ["notes.count"]}))
    board.grant(READ, STORE)
    assert board.call("one").ok
    board.take(
        None, graph({"id": "one", "calls": ["notes.keep"]}, {"id": "two", "calls": ["notes.count"]})
    )
    assert board.call("two").ok
    board.call("one")
    assert [each[0] for each in board.calls] == ["notes.count", "notes.count", "notes.keep"]


def test_what_is_not_there_is_a_usage_problem(board: Board) -> None:
    """An unknown module, action, request: told, and nothing is recorded."""
    board.ready()
    before = len(board.events())
    for act in (
        lambda: board.call("no-such-action"),
        lambda: board.call("count", module_id="no-such-module"),
        lambda: board.host.remove("no-such-module"),
        lambda: board.host.answer("request-00000000-0000-7000-8000-000000000001", YES),
    ):
        with pytest.raises(UsageProblem):
            act()
    assert len(board.events()) == before


def test_every_capability_is_listed_by_name(board: Board) -> None:
    """MODULES §base-1: what was asked for is on record with the import, one by one."""
    board.ready()
    [imported] = board.payloads("module.imported")
    assert imported["capabilities"] == sorted(ALL)
