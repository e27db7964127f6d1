"""What a role does not see of a preview: rules of the host, and where their values go within one change.

A rule names a place in every entity of one type, and who sees it. What lies there keeps its shape: objects
keep their keys, lists their length, and each value in them is a mark. A value that a move carries away stays
hidden where it arrives, in every entry of that preview, so that no two operations together show what neither
may. Rules kept:

- In doubt it is hidden: where a hidden value comes into a list, the whole list is, for its places shift; and so
  is an entity that more than `MOST_CARRIED` hidden values came into.
- A place at the end of a list is taken for any of its places.

A rule names keys; one that names the place in a list means that place, whatever comes to stand there. What a
command's own code copies out of a hidden place into another one is that command's business, as is what was
moved by an earlier change.
"""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from consentry.base.canonical import Json, canonical_json
from consentry.base.values import dataclass
from consentry.decide.identity import Role
from consentry.decide.statechange import Change, Op
from consentry.declare.statepaths import segments

REDACTED: Final = "[redacted]"
"""What stands for a value that a role does not see."""
MOST_CARRIED: Final = 64
_END: Final = "-"
_Way: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Redaction:
    """A place of every entity of one type that only some roles see; `path` is a pointer into the entity."""

    entity_type: str
    path: str
    visible_to: frozenset[Role] = frozenset({Role.OWNER})


@dataclass(frozen=True, slots=True)
class _Rule:
    """A hidden way, in every entity of a type or in one."""

    way: _Way
    visible_to: frozenset[Role]


class Curtain:
    """What each role sees of the changes of one preview."""

    def __init__(self, redactions: Sequence[Redaction], changes: Sequence[Change]) -> None:
        self._of_type: dict[str, list[_Rule]] = {}
        self._of_entity: dict[_Way, dict[_Rule, None]] = {}
        for each in redactions:
            rule = _Rule(segments(each.path) or (), each.visible_to)
            self._of_type.setdefault(each.entity_type, []).append(rule)
        if redactions:
            for change in sorted(changes, key=_seq):
                if change.operation.op is Op.MOVE:
                    self._follow(change)

    def view(self, role: Role, change: Change, before: Json, after: Json) -> dict[str, Json]:
        """Both sides of a change as this role sees them."""
        asked = change.operation
        target = (*asked.entity, *asked.inside)
        if asked.op is Op.MOVE:
            # Both ends show the same value, and what is hidden at either is hidden at both.
            value = self._cut(role, _held(before), asked.source or ())
            value = self._cut(role, value, target)
            seen: list[Json] = [_holding(before, value), _holding(after, value)]
        else:
            seen = [
                before if asked.op is Op.ADD else self._cut(role, before, target),
                after if asked.op is Op.REMOVE else self._cut(role, after, target),
            ]
        is_cut = seen != [before, after] and canonical_json(seen) != canonical_json([before, after])
        return {"before": seen[0], "after": seen[1], "redacted": is_cut}

    def _follow(self, change: Change) -> None:
        """Hides where it arrives what a move takes from a hidden place."""
        asked = change.operation
        source, target = asked.source or (), (*asked.entity, *asked.inside)
        for rule in self._rules(source):
            if not _meet(source[2:], rule.way):
                continue
            below = rule.way[len(source) - 2 :]
            arrived = _Rule(_outside_lists((*target[2:], *below)), rule.visible_to)
            known = self._of_entity.setdefault(target[:2], {})
            if len(known) >= MOST_CARRIED:
                everyone = frozenset.intersection(*(each.visible_to for each in known))
                known.clear()
                arrived = _Rule((), everyone & rule.visible_to)
            known[arrived] = None

    def _rules(self, way: _Way) -> list[_Rule]:
        return [*self._of_type.get(way[0], ()), *self._of_entity.get(way[:2], ())]

    def _cut(self, role: Role, value: Json, way: _Way) -> Json:
        """The value at that place without what this role does not see."""
        inside = way[2:]
        for rule in self._rules(way):
            if role not in rule.visible_to and _meet(inside, rule.way):
                value = _hidden_below(value, rule.way[len(inside) :])
        return value


def _seq(change: Change) -> int:
    return change.seq


def _held(end: Json) -> Json:
    """The value that a move carries."""
    return end["value"] if isinstance(end, Mapping) else None


def _holding(end: Json, value: Json) -> Json:
    return {**end, "value": value} if isinstance(end, Mapping) else end


def _meet(inside: _Way, rule: _Way) -> bool:
    """Whether one of the two places lies in the other."""
    return all(
        one == other or (one == _END and _is_place(other))
        for one, other in zip(inside, rule, strict=False)
    )


def _is_place(step: str) -> bool:
    return step == _END or (step.isascii() and step.isdigit())


def _outside_lists(way: _Way) -> _Way:
    """The way as far as it may lead through no list."""
    at = next((number for number, step in enumerate(way) if _is_place(step)), len(way))
    return way[:at]


def _hidden_below(value: Json, way: _Way) -> Json:
    if not way:
        return _marked(value)
    if isinstance(value, Mapping) and way[0] in value:
        return {**value, way[0]: _hidden_below(value[way[0]], way[1:])}
    if isinstance(value, list) and way[0].isascii() and way[0].isdigit():
        at = int(way[0]) if len(way[0]) <= len(str(len(value))) else len(value)
        if at < len(value):
            return [*value[:at], _hidden_below(value[at], way[1:]), *value[at + 1 :]]
    return value


def _marked(value: Json) -> Json:
    """The shape of a value, with a mark for every value in it."""
    if isinstance(value, Mapping):
        return {key: _marked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_marked(item) for item in value]
    return REDACTED
