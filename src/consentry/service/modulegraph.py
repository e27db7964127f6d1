"""The action graph of a module as a picture: the module, its actions, and the commands that they call.

Left to right: who asks, what a person or a planner can call, and what then happens in the host, with what
it changes, what undoes it and what it needs. An action has the colour of the approval that will really be
asked for, which is the strictest of its own and its commands'; a command has that of its scope. Colours
are never alone: the words stand beside them. A command stands once, beside the first action that calls it;
one that the host does not have is drawn broken.

A graph may be a stranger's and need not have passed its check to be looked at. Drawing takes time and room
in proportion to what is drawn, and lists that are long end in a count of what was left out.
"""

from collections.abc import Sequence
from typing import Final

from consentry.declare.actionapproval import approval_of
from consentry.declare.actiongraph import ActionGraph, GraphAction, GraphSurface
from consentry.declare.hostdescription import (
    ApprovalLevel,
    ApprovalRule,
    HostDescription,
    MutationScope,
)
from consentry.declare.modulevalues import ModulePackage
from consentry.declare.requiredcapabilities import required_capabilities
from consentry.service.graphcards import (
    Card,
    Line,
    heading,
    legend,
    legend_height,
    name,
    picture,
    tip,
    trunk,
    wire,
    words_of,
)

_EDGE: Final = 24
_GAP: Final = 16
_MODULE_X, _MODULE_WIDTH = _EDGE, 280
_TRUNK_X: Final = 328
_ACTION_X, _ACTION_WIDTH = 356, 384
_COMMAND_X, _COMMAND_WIDTH = 824, 384
_WIDTH: Final = _COMMAND_X + _COMMAND_WIDTH + _EDGE
_MOST_CALLS: Final = 40
_MOST_PATHS: Final = 6
_IN_MODULE: Final = 32
_IN_LABEL: Final = 42
_IN_WORDS: Final = 54
_IN_NAME: Final = 46
_BESIDE: Final = 36
"""Columns of anything in the card of the module, of a label, of a sentence, of an id by itself, and of one behind a word of ours."""
_TOP: Final = 2 * _EDGE

_ASKED: Final = {
    None: ("none", "nobody is asked"),
    ApprovalLevel.SOFT: ("soft", "asked, may be remembered for the session"),
    ApprovalLevel.HARD: ("hard", "asked every time"),
}
_SCOPES: Final = {
    MutationScope.DOC: "changes the document",
    MutationScope.SYNC: "changes what is shared",
    MutationScope.LOCAL: "changes nothing that lasts",
}
_LEGEND: Final = (
    ("Before an action runs", tuple(_ASKED.values())),
    ("A command", tuple((scope.value, f"{scope}: {said}") for scope, said in _SCOPES.items())),
)


def graph_svg(
    graph: ActionGraph, host: HostDescription, package: ModulePackage | None = None
) -> str:
    """The graph as one SVG document that needs nothing else.

    Args:
        graph: What to draw, whether it passed its check or not.
        host: What has the commands.
        package: Whose name and version are shown, where they are known.
    """
    placed = _Placed(graph, host)
    module = Card(_MODULE_WIDTH, _module_lines(graph, host, package))
    legend_y = _TOP + module.height + _GAP
    height = max(legend_y + legend_height(_LEGEND), placed.bottom) + _EDGE
    parts = [
        heading(_MODULE_X, _EDGE, "Module"),
        heading(_ACTION_X, _EDGE, _many(len(graph.actions), "action")),
        heading(_COMMAND_X, _EDGE, _many(len(placed.commands), "command")),
        trunk(
            (_MODULE_X + _MODULE_WIDTH, _TOP + module.middle_of(0)),
            _TRUNK_X,
            _ACTION_X,
            [y + card.middle_of(0) for y, card in placed.actions],
        ),
        *placed.wires(),
        module.drawn(_MODULE_X, _TOP),
        legend(_MODULE_X, legend_y, _LEGEND),
        *(card.drawn(_ACTION_X, y) for y, card in placed.actions),
        *(card.drawn(_COMMAND_X, y) for y, card in placed.commands.values()),
    ]
    about = f"Action graph of {words_of(graph.module_id, 64)}: {_counted(graph, placed)}"
    return picture(_WIDTH, height, about, parts)


class _Placed:
    """Where everything stands: actions one below the other, each command beside its first caller."""

    def __init__(self, graph: ActionGraph, host: HostDescription) -> None:
        self.actions: list[tuple[int, Card]] = []
        self.commands: dict[str, tuple[int, Card]] = {}
        self._calls: list[tuple[int, str]] = []
        y = next_command_y = _TOP
        for action in graph.actions:
            card, first_call = _action_card(action, host)
            self.actions.append((y, card))
            for index, command_id in enumerate(action.calls[:_MOST_CALLS]):
                self._calls.append((y + card.middle_of(first_call + index), command_id))
                if command_id not in self.commands:
                    command = _command_card(command_id, host)
                    command_y = max(next_command_y, y)
                    self.commands[command_id] = (command_y, command)
                    next_command_y = command_y + command.height + _GAP
            y += card.height + _GAP
        self.bottom = max(y, next_command_y) - _GAP

    def wires(self) -> list[str]:
        """From every line that names a call to the command it names."""
        ends = {
            command_id: (_COMMAND_X, y + card.middle_of(0))
            for command_id, (y, card) in self.commands.items()
        }
        start = _ACTION_X + _ACTION_WIDTH
        drawn = dict.fromkeys(wire((start, y), ends[to]) for y, to in self._calls)
        return [*drawn, *(tip(*end) for end in ends.values())]


def _counted(graph: ActionGraph, placed: _Placed) -> str:
    return f"{_many(len(graph.actions), 'action')}, {_many(len(placed.commands), 'command')}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _module_lines(
    graph: ActionGraph, host: HostDescription, package: ModulePackage | None
) -> tuple[Line, ...]:
    app = f"{name(host.host_id, _IN_MODULE)} {name(host.app_version, _IN_MODULE)}"
    lines = [Line("", f"on {app}")]
    if not graph.actions:
        lines.append(Line("", "this module has no actions"))
    if package is None:
        return (Line("name", name(graph.module_id, _IN_MODULE)), *lines)
    return (
        Line("name", words_of(package.display_name, _IN_MODULE)),
        Line("", name(graph.module_id, _IN_MODULE)),
        Line("", f"version {name(package.module_version, _IN_MODULE)}"),
        *lines,
    )


def _action_card(action: GraphAction, host: HostDescription) -> tuple[Card, int]:
    """The card of an action, and which of its lines is the first call."""
    approval = approval_of(action, host)
    css, asked = _ASKED[None if approval is None else approval.level]
    head = [
        Line("name", words_of(action.label, _IN_LABEL)),
        Line("", name(action.id, _IN_NAME)),
        *_surface_lines(action.surface),
        Line(css, asked),
        *_approval_lines(approval),
    ]
    calls = [
        Line("", f"{index + 1}. {name(command_id, _BESIDE)}")
        for index, command_id in enumerate(action.calls[:_MOST_CALLS])
    ]
    lines = [
        *head,
        *calls,
        *_left_out(action.calls, _MOST_CALLS),
        *_effect_lines(action.mutates, action.undo_command),
    ]
    return Card(_ACTION_WIDTH, tuple(lines), css, action.label), len(head)


def _command_card(command_id: str, host: HostDescription) -> Card:
    command = host.command(command_id)
    first = Line("head", name(command_id, _IN_NAME))
    if command is None:
        missing = Line("hard", "not a command of this host")
        return Card(_COMMAND_WIDTH, (first, missing), "hard", command_id, is_missing=True)
    scope = command.mutation_scope
    css, asked = _ASKED[
        None if command.requires_approval is None else command.requires_approval.level
    ]
    needs = required_capabilities((command_id,), host, is_automation=False)
    lines = [
        first,
        *([Line("", words_of(command.label, _IN_WORDS))] if command.label else []),
        Line(scope.value, f"{scope}: {_SCOPES[scope]}"),
        Line(css, asked),
        *_approval_lines(command.requires_approval),
        *_effect_lines(command.mutates, command.undo_command),
        *(Line("", f"needs {name(each, _BESIDE)}") for each in needs[:_MOST_PATHS]),
        *_left_out(needs, _MOST_PATHS),
        *([Line("", f"only for {name(command.role, _BESIDE)}")] if command.role else []),
    ]
    return Card(_COMMAND_WIDTH, tuple(lines), scope.value, command.label or command_id)


def _surface_lines(surface: Sequence[GraphSurface]) -> list[Line]:
    by_a_person = " · ".join(each for each in surface if not each.is_automation)
    unasked = " · ".join(each for each in surface if each.is_automation)
    lines = [Line("", f"called from {by_a_person}")] if by_a_person else []
    if unasked:
        lines.append(Line("", f"called without a person from {unasked}"))
    return lines or [Line("", "called from nowhere")]


def _approval_lines(approval: ApprovalRule | None) -> list[Line]:
    if approval is None:
        return []
    lines = [Line("reason", words_of(approval.reason, _IN_WORDS))]
    if approval.approver is not None:
        lines.append(Line("", f"approved by {name(approval.approver, _BESIDE)}"))
    return lines


def _effect_lines(paths: Sequence[str], undo: str | None) -> list[Line]:
    lines = [Line("", f"writes {name(each, _BESIDE)}") for each in paths[:_MOST_PATHS]]
    lines += _left_out(paths, _MOST_PATHS)
    if undo is not None:
        lines.append(Line("", f"undone by {name(undo, _BESIDE)}"))
    elif paths:
        lines.append(Line("", "cannot be undone"))
    return lines


def _left_out(items: Sequence[str], most: int) -> list[Line]:
    return [Line("", f"and {len(items) - most:,} more")] if len(items) > most else []
