"""A preview as a diff that people read: entity by entity, change by change, down to single values.

What is added or removed is told value by value with its place; of what is replaced only what differs is told,
and how many values stay as they are; a move says from where. Nothing is cut here and nothing made safe: both
is done where it is shown. What a role does not see is what its view in the preview says.

Pure, and linear in what changes. Values below `MOST_LEVELS` are told as one.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from consentry.base.canonical import Json
from consentry.base.frozenjson import thawed
from consentry.base.values import dataclass
from consentry.decide.identity import Role
from consentry.decide.statechange import Absent, EntityName, EntityWrite, Op, is_same, pointer

MOST_LEVELS: Final = 16
_DOC: Final = "doc"


class Mark(StrEnum):
    """What happens to a value: it comes, it goes, or it stays where something else is said of it."""

    ADDED = "+"
    REMOVED = "-"
    KEPT = " "


@dataclass(frozen=True, slots=True)
class DiffValue:
    """One value at a place below its change; empty where it is the change itself."""

    mark: Mark
    place: str
    value: Json


@dataclass(frozen=True, slots=True)
class DiffChange:
    """One operation: where in its entity, what became of which values, and how many stay as they are."""

    op: Op
    place: str
    values: tuple[DiffValue, ...]
    stays: int = 0
    source: str | None = None
    is_redacted: bool = False


@dataclass(frozen=True, slots=True)
class DiffEntity:
    """Everything that happens to one entity, in the order it was asked for."""

    scope: str
    name: EntityName
    changes: tuple[DiffChange, ...]


def diff_of(preview: Mapping[str, Any], role: Role) -> tuple[DiffEntity, ...]:
    """What a preview changes, as that role sees it."""
    grouped: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for each in preview["entries"]:
        key = (str(each["scope"]), str(each["entityType"]), str(each["entityId"]))
        grouped.setdefault(key, []).append(each)
    return tuple(
        DiffEntity(
            scope,
            EntityName(entity_type, entity_id),
            tuple(_change(each, role) for each in sorted(entries, key=lambda each: each["seq"])),
        )
        for (scope, entity_type, entity_id), entries in grouped.items()
    )


def diff_of_writes(writes: Sequence[EntityWrite]) -> tuple[DiffEntity, ...]:
    """What these writes do to each entity as a whole: of a roll-back, what comes back."""
    return tuple(DiffEntity(_DOC, each.name, (_written(each),)) for each in writes)


def role_entries(preview: Mapping[str, Any], role: Role) -> list[dict[str, Json]]:
    """The entries of a preview with nothing in them but what that role sees."""
    shown = []
    for each in preview["entries"]:
        view = each["roleViews"][role.value]
        kept = {name: value for name, value in each.items() if name != "roleViews"}
        shown.append({**kept, **view})
    return shown


def _change(entry: Mapping[str, Any], role: Role) -> DiffChange:
    op, view = Op(entry["op"]), entry["roleViews"][role.value]
    before, after, is_redacted = view["before"], view["after"], bool(view["redacted"])
    place = str(entry["path"])
    match op:
        case Op.ADD:
            return DiffChange(op, place, _all(Mark.ADDED, after), is_redacted=is_redacted)
        case Op.REMOVE:
            return DiffChange(op, place, _all(Mark.REMOVED, before), is_redacted=is_redacted)
        case Op.MOVE:
            values = _all(Mark.KEPT, after["value"])
            source = str(before["pointer"])
            return DiffChange(op, place, values, source=source, is_redacted=is_redacted)
        case Op.REPLACE:
            return _replaced(place, before, after, is_redacted=is_redacted)


def _written(write: EntityWrite) -> DiffChange:
    before, after = write.before, write.after
    if isinstance(before, Absent):
        return DiffChange(Op.ADD, "", () if isinstance(after, Absent) else _all(Mark.ADDED, after))
    if isinstance(after, Absent):
        return DiffChange(Op.REMOVE, "", _all(Mark.REMOVED, before))
    return _replaced("", thawed(before), thawed(after))


def _replaced(place: str, before: Json, after: Json, *, is_redacted: bool = False) -> DiffChange:
    differing = list(_differing(before, after, ()))
    values = tuple(each for each in differing if each.mark is not Mark.KEPT)
    stays = len(differing) - len(values)
    return DiffChange(Op.REPLACE, place, values, stays, is_redacted=is_redacted)


def _all(mark: Mark, value: Json) -> tuple[DiffValue, ...]:
    return tuple(_values(mark, thawed(value), ()))


def _values(mark: Mark, value: Json, way: tuple[str, ...]) -> Iterator[DiffValue]:
    """Every single value in it; an empty object or list is one, too."""
    parts = _parts(value) if len(way) < MOST_LEVELS else None
    if not parts:
        yield DiffValue(mark, pointer(way), value)
        return
    for step, part in parts.items():
        yield from _values(mark, part, (*way, step))


def _differing(before: Json, after: Json, way: tuple[str, ...]) -> Iterator[DiffValue]:
    if type(before) is type(after) and len(way) < MOST_LEVELS:
        ours, theirs = _parts(before), _parts(after)
        if ours and theirs:
            for step in dict.fromkeys((*ours, *theirs)):
                below = (*way, step)
                if step not in theirs:
                    yield from _values(Mark.REMOVED, ours[step], below)
                elif step not in ours:
                    yield from _values(Mark.ADDED, theirs[step], below)
                else:
                    yield from _differing(ours[step], theirs[step], below)
            return
    if is_same(before, after):
        yield from _values(Mark.KEPT, after, way)
        return
    yield from _values(Mark.REMOVED, before, way)
    yield from _values(Mark.ADDED, after, way)


def _parts(value: Json) -> dict[str, Json] | None:
    """What an object or list holds, by the steps that lead there; None where it holds nothing."""
    if isinstance(value, dict):
        return dict(sorted(value.items()))
    if isinstance(value, list):
        return {str(at): item for at, item in enumerate(value)}
    return None
