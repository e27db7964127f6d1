"""The graph of a module that has none of its own: its bindings, in the host's terms."""

import pytest

from consentry.base.errors import BadDocument
from consentry.declare.actiongraph import (
    GraphAction,
    GraphSurface,
    action_graph_text,
    read_action_graph,
)
from consentry.declare.actiongraphcheck import check_action_graph
from consentry.declare.actiongraphfrom import graph_of
from consentry.declare.hostdescription import HostDescription
from consentry.declare.modulevalues import EntryType, Slot, UiAction, UiEntry
from tests.declare.actiongraphs import HOST, MODULE, PACKAGE, SOFT, button, package_with

TOOLBAR = (GraphSurface.TOOLBAR, GraphSurface.COMMAND_PALETTE)
PANEL = (GraphSurface.PANEL, GraphSurface.COMMAND_PALETTE)


def test_one_action_for_each_binding() -> None:
    """CONTRACTS §2-shape: id and label from the package, all else from the host, in their order."""
    package = package_with(
        (
            button("share", "notes.share", "Share it"),
            button("add", "notes.add"),
            UiEntry("about", Slot.LEFT_PANEL, EntryType.PANEL, "About"),
        )
    )
    assert graph_of(package, HOST).module_id == MODULE
    assert graph_of(package, HOST).actions == (
        GraphAction("bind-share", "Share it", ("notes.share",), ("/shared",), SOFT, None, TOOLBAR),
        GraphAction("bind-add", "add", ("notes.add",), ("/notes",), False, "notes.remove", TOOLBAR),
    )


@pytest.mark.parametrize(
    ("slot", "kind", "surface"),
    [
        (Slot.TOOLBAR_INLINE, EntryType.BUTTON, TOOLBAR),
        (Slot.TOOLBAR_BOTTOM, EntryType.BUTTON, TOOLBAR),
        (Slot.CHROME_TOP_TOOLBAR, EntryType.BUTTON, TOOLBAR),
        (Slot.LEFT_PANEL, EntryType.BUTTON, PANEL),
        (Slot.LEFT_PANEL, EntryType.PANEL, PANEL),
        (Slot.TOOLBAR_BOTTOM, EntryType.PANEL, PANEL),
    ],
)
def test_where_an_action_is_found(
    slot: Slot, kind: EntryType, surface: tuple[GraphSurface, ...]
) -> None:
    """CONTRACTS §2-surface: where its entry is shown and in the palette; never in automation."""
    entry = UiEntry("e", slot, kind, action=UiAction("view.zoom"))
    assert graph_of(package_with((entry,)), HOST).actions[0].surface == surface


def test_it_passes_its_own_check_and_is_read_again() -> None:
    """CONTRACTS §2-shape: what is derived claims nothing that the check would refuse."""
    package = package_with(
        tuple(button(each, each) for each in ("notes.add", "notes.share", "view.zoom"))
    )
    graph = graph_of(package, HOST)
    check_action_graph(graph, package, HOST)
    assert read_action_graph(action_graph_text(graph), "graph.json") == graph
    assert graph_of(package, HOST) == graph


def test_a_command_that_is_gone_fails_the_check() -> None:
    """CONTRACTS §2-calls: the host changed since the import; nothing is left out in silence."""
    later = HostDescription("board", "3.0.0")
    graph = graph_of(PACKAGE, later)
    assert [each.calls for each in graph.actions] == [
        (each.command_id,) for each in PACKAGE.bindings
    ]
    with pytest.raises(BadDocument) as caught:
        check_action_graph(graph, PACKAGE, later)
    assert len(caught.value.problems) == len(PACKAGE.bindings)
