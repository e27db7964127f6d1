"""The action graph of a module: what its actions call, change and need, for whoever plans with them.

    {"actionGraphVersion": "1.0", "moduleId": "tidy-notes", "actions": [
      {"id": "tidy", "label": "Tidy up", "calls": ["notes.sort"], "mutates": ["/notes"],
       "requiresApproval": {"reason": "it moves notes", "level": "soft"},
       "undoCommand": "notes.unsort", "surface": ["toolbar", "automation"]}]}

Rules kept (CONTRACTS §2): it is JSON whatever it is called, at most 8 MiB. What is missing from an action
means `requiresApproval: false`, `undoCommand: null`, `surface: ["commandPalette"]`. A key that is not
known is ignored at every level, which is this format's own rule; what it holds must still be sound JSON.
An action calls at most 64 commands. `true` and a rule stay apart, so that what is written is what was
read. Two actions never have one id: the audit log names an action by it.

A graph that was read claims, and no more. What it says is held against the package and the host by
`actiongraphcheck`. Labels and reasons are a stranger's text.
"""

import json
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, TypeAlias

from consentry.base.canonical import Json
from consentry.base.values import dataclass
from consentry.declare.documentids import identifier, known_version
from consentry.declare.hostdescription import ApprovalLevel, ApprovalRule
from consentry.declare.jsonnodes import json_nodes
from consentry.declare.nodes import Kind, Mapping, Mark, Node, clipped
from consentry.declare.problems import Problems
from consentry.declare.reader import read_document
from consentry.declare.repeats import without_repeats
from consentry.declare.source import checked_text
from consentry.declare.statepaths import is_pointer
from consentry.declare.values import Fields, Value, one_of

ACTION_GRAPH_VERSION: Final = "1.0"
MOST_BYTES: Final = 8 << 20
MOST_VALUES: Final = 200_000
MOST_PATH: Final = 1000
MOST_CALLS: Final = 64
"""All of them stand in every question and every use of the action."""
KEYS: Final = ("actionGraphVersion", "moduleId", "actions")
KEYS_OF_ACTION: Final = (
    "id",
    "label",
    "calls",
    "mutates",
    "requiresApproval",
    "undoCommand",
    "surface",
)
KEYS_OF_RULE: Final = ("reason", "level", "approver")
_RULE_FORM: Final = 'write true, false or {"reason": …, "level": "soft" or "hard"}'
_MODULE_ID: Final = re.compile(r"[a-z0-9][a-z0-9-]{2,63}", re.ASCII)


class GraphSurface(StrEnum):
    """From where an action can be called; there are no others."""

    TOOLBAR = "toolbar"
    PANEL = "panel"
    COMMAND_PALETTE = "commandPalette"
    AUTOMATION = "automation"
    BACKGROUND = "background"

    @property
    def is_automation(self) -> bool:
        """Whether no person is there who calls it."""
        return self in (GraphSurface.AUTOMATION, GraphSurface.BACKGROUND)


UNSAID_SURFACE: Final = (GraphSurface.COMMAND_PALETTE,)
Approval: TypeAlias = ApprovalRule | bool
"""As it is written: `true` says neither why nor how often."""


@dataclass(frozen=True, slots=True)
class GraphAction:
    """One action; `calls` are command ids in order, `mutates` state paths."""

    id: str
    label: str
    calls: tuple[str, ...]
    mutates: tuple[str, ...] = ()
    requires_approval: Approval = False
    undo_command: str | None = None
    surface: tuple[GraphSurface, ...] = UNSAID_SURFACE

    def to_json(self) -> dict[str, Json]:
        """The fields as they are written, those with a default too."""
        approval = self.requires_approval
        return {
            "id": self.id,
            "label": self.label,
            "calls": list(self.calls),
            "mutates": list(self.mutates),
            "requiresApproval": approval if isinstance(approval, bool) else approval.to_json(),
            "undoCommand": self.undo_command,
            "surface": [each.value for each in self.surface],
        }


@dataclass(frozen=True, slots=True)
class ActionGraph:
    """The actions of one module, in the order they were written."""

    module_id: str
    actions: tuple[GraphAction, ...] = ()

    def action(self, action_id: str) -> GraphAction | None:
        """The action with exactly this id."""
        return next((each for each in self.actions if each.id == action_id), None)

    def to_json(self) -> dict[str, Json]:
        """The document."""
        return {
            "actionGraphVersion": ACTION_GRAPH_VERSION,
            "moduleId": self.module_id,
            "actions": [each.to_json() for each in self.actions],
        }


def action_graph_text(graph: ActionGraph) -> bytes:
    """The document as bytes that the reader takes: ASCII, so that nothing in it deceives the eye."""
    return f"{json.dumps(graph.to_json(), indent=2)}\n".encode("ascii")


def read_action_graph(content: bytes, name: str) -> ActionGraph:
    """The graph, or raises `document-invalid` with all that is wrong with it.

    Args:
        content: The bytes of the document.
        name: How errors call it.
    """
    return read_document(content, name, _document, _parsed)


def _parsed(content: bytes, problems: Problems) -> Node:
    root = json_nodes(checked_text(content, problems, MOST_BYTES), problems, MOST_VALUES)
    if root is None:
        problems.stop(Mark(1, 1), "the document is empty", "write the document, or remove the file")
    return root


def _document(root: Value) -> ActionGraph:
    fields = _known_fields(root, KEYS)
    if fields is None:
        return ActionGraph("")
    fields.need("actionGraphVersion", known_version(ACTION_GRAPH_VERSION), "")
    return ActionGraph(
        fields.need("moduleId", _module_id, ""),
        fields.need("actions", _actions, ()),
    )


def _known_fields(value: Value, names: Sequence[str]) -> Fields | None:
    """The fields of a mapping in which a key that is not known is nobody's concern."""
    entries = value.entries()
    if entries is None:
        return None
    known = {name: entry for name, entry in entries.items() if name in names}
    return Fields(value, known, names)


def _module_id(value: Value) -> str | None:
    return value.matching(
        _MODULE_ID, "the id of a module", "use a to z, digits and `-`, from 3 to 64"
    )


def _actions(value: Value) -> tuple[GraphAction, ...] | None:
    lines: dict[str, int] = {}
    return value.each(lambda item: _action(item, lines))


def _action(value: Value, lines: dict[str, int]) -> GraphAction | None:
    fields = _known_fields(value, KEYS_OF_ACTION)
    if fields is None:
        return None
    return GraphAction(
        fields.need("id", lambda item: _new_id(item, lines), ""),
        fields.need("label", Value.text, ""),
        fields.need("calls", _calls, ()),
        fields.need("mutates", _paths, ()),
        _approval(fields.find("requiresApproval")),
        fields.may("undoCommand", _identifier_or_null, None),
        fields.may("surface", _surface, UNSAID_SURFACE),
    )


def _new_id(value: Value, lines: dict[str, int]) -> str | None:
    found = identifier(value)
    if found is None:
        return None
    if found in lines:
        value.refuse(
            f"an action with the id `{clipped(found)}` is already in line {lines[found]}",
            "give each action an id of its own",
        )
    lines.setdefault(found, value.line)
    return found


def _calls(value: Value) -> tuple[str, ...] | None:
    found = value.each(identifier)
    if found is not None and len(found) > MOST_CALLS:
        value.refuse(
            f"the action calls {len(found)} commands, and {MOST_CALLS} is the most",
            "make several actions of it",
        )
        return None
    return found


def _paths(value: Value) -> tuple[str, ...] | None:
    return without_repeats(value, _path, lambda path: path)


def _path(value: Value) -> str | None:
    found = value.text()
    if found is None:
        return None
    if len(found) > MOST_PATH or not is_pointer(found):
        value.refuse(
            f"`{clipped(found)}` is not a state path",
            f"write a JSON pointer such as `/notes`, of at most {MOST_PATH} characters",
        )
        return None
    return found


def _approval(value: Value | None) -> Approval:
    if value is None:
        return False
    if value.is_kind(Kind.FLAG):
        return value.flag() or False
    if not isinstance(value.node, Mapping):
        value.refuse_kind("true, false or a rule", _RULE_FORM)
        return False
    fields = _known_fields(value, KEYS_OF_RULE)
    if fields is None:
        return False
    return ApprovalRule(
        fields.need("reason", Value.text, ""),
        fields.need("level", one_of(ApprovalLevel), ApprovalLevel.HARD),
        fields.may("approver", _identifier_or_null, None),
    )


def _identifier_or_null(value: Value) -> str | None:
    return None if value.is_kind(Kind.NOTHING) else identifier(value)


def _surface(value: Value) -> tuple[GraphSurface, ...] | None:
    return without_repeats(value, one_of(GraphSurface), lambda each: each)
