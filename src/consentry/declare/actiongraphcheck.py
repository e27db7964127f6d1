"""Holds an action graph against the package it belongs to and the host that has the commands.

A graph is a module's own words, and planners act on them. Rules kept, each told with the field that breaks
it, all at once:

- it is the graph of this package;
- an action calls at least one command, and only such as the host has and the package is bound to: a graph
  never reaches more than the bindings do. What undoes it is a command of the host too, one that the
  package is bound to or that the host itself names as the undo of a called one;
- `mutates` are state paths that the host lets anyone write and that a called command says it changes;
- `requiresApproval` is not weaker than that of any called command, and no two of them name approvers of
  whom neither may stand for the other.

Not promised: that `mutates` is complete. What a command may change stands with the command, and readers
of the graph are shown both.
"""

from collections.abc import Sequence
from typing import Final

from consentry.declare.actionapproval import OWNER, approval_of, called, stated_rule
from consentry.declare.actiongraph import ActionGraph, GraphAction
from consentry.declare.hostdescription import ApprovalLevel, ApprovalRule, HostDescription
from consentry.declare.modulevalues import ModulePackage
from consentry.declare.nodes import clipped
from consentry.declare.problems import Problems
from consentry.declare.statepaths import PathSet

__all__ = ["approval_of", "check_action_graph"]

_MOST_NAMED: Final = 5


def check_action_graph(graph: ActionGraph, package: ModulePackage, host: HostDescription) -> None:
    """Raises `document-invalid` with all that the graph says and may not say."""
    check = _Check(package, host)
    if graph.module_id != package.module_id:
        check.refuse(
            "moduleId",
            f"this is the graph of `{clipped(graph.module_id)}`, and the package is "
            f"`{package.module_id}`",
            "give the graph to the package it was written for",
        )
    for index, action in enumerate(graph.actions):
        check.action(f"actions[{index}]", action)
    check.problems.raise_any()


class _Check:
    """What one package and one host allow a graph to say."""

    def __init__(self, package: ModulePackage, host: HostDescription) -> None:
        self.problems = Problems("action graph")
        self._host = host
        self._bound = frozenset(each.command_id for each in package.bindings)
        self._writable = PathSet(host.writable_paths)

    def refuse(self, field: str, message: str, help_line: str) -> None:
        """Notes what is wrong with a field."""
        self.problems.add(None, field, message, help_line)

    def action(self, place: str, action: GraphAction) -> None:
        """Notes all that is wrong with an action."""
        self._calls(f"{place}.calls", action.calls)
        self._mutates(f"{place}.mutates", action)
        self._approval(f"{place}.requiresApproval", action)
        self._undo(f"{place}.undoCommand", action)

    def _calls(self, place: str, calls: Sequence[str]) -> None:
        if not calls:
            self.refuse(place, "the action calls no command", "name a command, or remove it")
        for index, command_id in enumerate(calls):
            if self._host.command(command_id) is None:
                self._refuse_unknown(f"{place}[{index}]", command_id)
            elif command_id not in self._bound:
                self.refuse(
                    f"{place}[{index}]",
                    f"the package has no binding for `{clipped(command_id)}`",
                    "call what the package is bound to; a graph reaches no further",
                )

    def _undo(self, place: str, action: GraphAction) -> None:
        undo = action.undo_command
        if undo is None:
            return
        if self._host.command(undo) is None:
            self._refuse_unknown(place, undo)
        elif undo not in self._bound and undo not in _undos(action, self._host):
            self.refuse(
                place,
                f"`{clipped(undo)}` neither undoes a called command nor has a binding",
                "name the undo of a command that is called, or null",
            )

    def _mutates(self, place: str, action: GraphAction) -> None:
        commands = called(action, self._host)
        changed = PathSet(path for each in commands for path in each.mutates)
        for index, path in enumerate(action.mutates):
            if not self._writable.covers(path):
                self.refuse(
                    f"{place}[{index}]",
                    f"`{clipped(path)}` is not a writable state path of the host",
                    _below(self._host.writable_paths),
                )
            elif not changed.covers(path):
                self.refuse(
                    f"{place}[{index}]",
                    f"no called command says that it changes `{clipped(path)}`",
                    "name only what the called commands change",
                )

    def _approval(self, place: str, action: GraphAction) -> None:
        own = stated_rule(action.requires_approval)
        approvers = {} if own is None else {own.approver: None}
        for command in called(action, self._host):
            theirs = command.requires_approval
            if theirs is None:
                continue
            approvers.setdefault(theirs.approver)
            if _is_weaker(own, theirs):
                self.refuse(
                    place,
                    f"{_asked_words(own)}, and `{clipped(command.command_id)}` requires "
                    f"{theirs.level} approval",
                    f'write {{"reason": …, "level": "{theirs.level}"}}, or call another command',
                )
        named = [each for each in approvers if each is not None]
        one_stands_for_all = own is None or own.approver in (None, OWNER)
        if len(named) > 1 and not (OWNER in named and one_stands_for_all):
            self.refuse(
                place,
                f"different approvers are named: {_quoted(named)}",
                "name the approver of the commands or none, and make an action for each approver",
            )

    def _refuse_unknown(self, place: str, command_id: str) -> None:
        self.refuse(
            place,
            f"`{clipped(command_id)}` is not a command of the host",
            "call a command that the host's description has",
        )


def _undos(action: GraphAction, host: HostDescription) -> frozenset[str | None]:
    return frozenset(each.undo_command for each in called(action, host))


def _is_weaker(own: ApprovalRule | None, theirs: ApprovalRule) -> bool:
    if own is None:
        return True
    return own.level is ApprovalLevel.SOFT and theirs.level is ApprovalLevel.HARD


def _asked_words(own: ApprovalRule | None) -> str:
    return "no approval is required" if own is None else f"{own.level} approval is required"


def _below(paths: Sequence[str]) -> str:
    if not paths:
        return "leave it out; this host has no writable state"
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return f"what can be written lies below {_quoted(paths[:_MOST_NAMED])}{more}"


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"`{clipped(each)}`" for each in names)
