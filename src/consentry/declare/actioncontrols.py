"""Whether each of the five control fields of an action is sound (CONTRACTS §2, §4-h-kpi-3).

The five fields say what an action may do: `calls`, `mutates`, `requiresApproval`, `undoCommand`, `surface`.
Each is judged by itself, from the document as it is written, by the very reader and the very check that an
import goes through: a field is sound where neither of them finds anything wrong at it or inside it. One
that is missing is sound where its absence means something, which is so for the last three.

What is wrong with an action or with the document as a whole (it is no object, its version is not known,
there are too many things wrong to list them) is wrong with all fields. What has no actions at all raises.
Where the reader refuses one field of an action, the check against the host does not come to its others.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from consentry.base.errors import BadDocument, Problem
from consentry.base.values import dataclass
from consentry.declare.actiongraph import ACTION_GRAPH_VERSION, read_action_graph
from consentry.declare.actiongraphcheck import check_action_graph
from consentry.declare.hostdescription import HostDescription
from consentry.declare.modulevalues import ModulePackage
from consentry.record.signofffields import CONTROL_FIELDS

_NAME: Final = "graph.json"
_OF_ALL: Final = ("", "actionGraphVersion", "actions")
"""Where something can be wrong that leaves no action readable."""


@dataclass(frozen=True, slots=True)
class ActionControls:
    """One action of a document, by its position, and which of its control fields are sound."""

    position: int
    fields: Mapping[str, bool]

    @property
    def first_unsound(self) -> str | None:
        """The first field that is not sound, in the order in which they are named."""
        return next((name for name in CONTROL_FIELDS if not self.fields[name]), None)


def judged_controls(
    content: bytes, package: ModulePackage, host: HostDescription
) -> tuple[ActionControls, ...]:
    """The control fields of every action in a document; raises where it has no list of actions.

    Args:
        content: The bytes of the document.
        package: The package that the graph came with.
        host: Whose commands both are bound to.
    """
    whole = _problems(content, package, host)
    actions = _actions(content, whole)
    return tuple(
        ActionControls(
            index,
            # By itself as well: what is wrong elsewhere must not keep an action from being checked.
            _judged([(f"actions[{index}]", whole), ("actions[0]", _alone(action, package, host))]),
        )
        for index, action in enumerate(actions)
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """What the reader and the check say of a document."""

    problems: tuple[Problem, ...] = ()
    has_more: bool = False


def _problems(content: bytes, package: ModulePackage, host: HostDescription) -> _Found:
    try:
        check_action_graph(read_action_graph(content, _NAME), package, host)
    except BadDocument as wrong:
        return _Found(wrong.problems, wrong.unlisted > 0)
    return _Found()


def _alone(action: object, package: ModulePackage, host: HostDescription) -> _Found:
    document = {
        "actionGraphVersion": ACTION_GRAPH_VERSION,
        "moduleId": package.module_id,
        "actions": [action],
    }
    try:
        return _problems(json.dumps(document).encode(), package, host)
    except RecursionError:
        return _Found(has_more=True)


def _actions(content: bytes, found: _Found) -> Sequence[object]:
    """The actions as they are written; what is wrong with the text itself was found before."""
    try:
        document = json.loads(content.decode())
    except (ValueError, RecursionError):
        document = None
    actions = document.get("actions") if isinstance(document, dict) else None
    if not isinstance(actions, list):
        raise BadDocument(found.problems)
    return actions


def _judged(found: Iterable[tuple[str, _Found]]) -> dict[str, bool]:
    places = list(found)
    return {
        name: not any(_is_wrong(place, name, each) for place, each in places)
        for name in CONTROL_FIELDS
    }


def _is_wrong(place: str, name: str, found: _Found) -> bool:
    if found.has_more:
        return True
    paths = [each.where.field or "" for each in found.problems]
    return any(path in (*_OF_ALL, place) or _is_within(path, f"{place}.{name}") for path in paths)


def _is_within(path: str, place: str) -> bool:
    return path == place or path.startswith((f"{place}.", f"{place}["))
