"""Changes of a document by JSON pointers, worked out before anything is written (CONTRACTS §3).

A document is a set of entities, each with a type and an id; `/notes/n1/text` is the place `/text` in the
entity `n1` of the type `notes`, and `/notes/n1` is the whole of it. The four operations are strict, so that
what was shown is what happens: `add` needs a free place, `replace`, `remove` and `move` one that is taken.
In a list `add` puts an item before the one at that index, `-` at the end.

Pure: `worked_out` takes the entities as they are and gives every single change with what was there before
and what is there after, and each touched entity as it was and as it will be. Nothing else of the document is
looked at, so the work grows with the changes and the entities they touch.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

from consentry.base.canonical import Json, canonical_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where
from consentry.base.frozenjson import frozen, thawed
from consentry.base.values import dataclass
from consentry.declare.nodes import clipped
from consentry.declare.statepaths import segments

MOST_OPERATIONS: Final = 20_000
MOST_BYTES: Final = 8 * 1024**2
MOST_SHOWN: Final = 4 * MOST_BYTES
"""Bytes of all that one change takes away, replaces or moves: each is shown in full, however often it is."""
MOST_NAME: Final = 200
"""Letters of an entity's type or id."""
_KEYS: Final = frozenset({"op", "path", "value", "from", "scope"})
_NAMES: Final = 2


class Op(StrEnum):
    """What one operation does."""

    ADD = "add"
    REMOVE = "remove"
    REPLACE = "replace"
    MOVE = "move"


class Absent:
    """Stands where an entity is not there, which `null` does not say."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


class EntityName(NamedTuple):
    """One entity of a document."""

    entity_type: str
    entity_id: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One wanted change; `inside` is the way within the entity, empty for the whole of it."""

    op: Op
    entity: EntityName
    inside: tuple[str, ...] = ()
    value: Json = None
    source: tuple[str, ...] | None = None
    scope: str = "doc"

    @property
    def path(self) -> str:
        """The pointer into the document."""
        return pointer((*self.entity, *self.inside))

    def to_json(self) -> dict[str, Json]:
        """As it is asked for."""
        asked: dict[str, Json] = {"op": self.op.value, "path": self.path, "scope": self.scope}
        if self.op in (Op.ADD, Op.REPLACE):
            asked["value"] = thawed(self.value)
        if self.source is not None:
            asked["from"] = pointer(self.source)
        return asked


@dataclass(frozen=True, slots=True)
class Change:
    """One operation with what it finds and what it leaves; of a move, where from and where to."""

    seq: int
    operation: Operation
    before: Json
    after: Json


@dataclass(frozen=True, slots=True)
class EntityWrite:
    """A touched entity: as it was, and as it will be; either may be absent, and not both."""

    name: EntityName
    before: "Json | Absent"
    after: "Json | Absent"

    def to_json(self) -> dict[str, Json]:
        """As the journal keeps it; what is absent is null, what is there stands in an object."""
        return {
            "entityType": self.name.entity_type,
            "entityId": self.name.entity_id,
            "before": there(self.before),
            "after": there(self.after),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "EntityWrite":
        """Reads what `to_json` writes."""
        name = EntityName(str(document["entityType"]), str(document["entityId"]))
        return cls(name, _or_absent(document["before"]), _or_absent(document["after"]))

    @property
    def undone(self) -> "EntityWrite":
        """What takes it back."""
        return EntityWrite(self.name, self.after, self.before)


@dataclass(frozen=True, slots=True)
class WorkedOut:
    """Every change in the order it was asked for, and the touched entities in the order of their names."""

    changes: tuple[Change, ...]
    writes: tuple[EntityWrite, ...]


class WantedOperations:
    """What the commands of one action ask to change, in their order, and no more than one change may be."""

    __slots__ = ("_asked", "_bytes")

    def __init__(self) -> None:
        self._asked: list[Operation] = []
        self._bytes = 0

    def add(self, asked: Sequence[Operation]) -> None:
        """Takes these, too; raises `tx-operation` where it is too much together, and takes none of them."""
        weight = self._bytes + len(canonical_json([each.to_json() for each in asked]))
        _require_room(len(self._asked) + len(asked), weight)
        self._asked.extend(asked)
        self._bytes = weight

    def all(self) -> tuple[Operation, ...]:
        """What was asked for so far."""
        return tuple(self._asked)


def read_operations(given: object, scope: str = "doc") -> tuple[Operation, ...]:
    """The operations of a list like `[{"op": "add", "path": "/notes/n1", "value": …}]`.

    What a handler hands over is copied: nobody changes it after it was looked at.
    """
    copied = thawed(frozen(given))
    if isinstance(copied, list):
        _require_room(len(copied), len(canonical_json(copied)))
    return kept_operations(copied, scope)


def kept_operations(kept: object, scope: str = "doc") -> tuple[Operation, ...]:
    """The operations of a list whose size was looked at before, when they were asked for."""
    if not isinstance(kept, list) or not kept:
        raise _wrong("operations", "a change is a list of at least one operation")
    return tuple(_operation(each, f"operations[{at}]", scope) for at, each in enumerate(kept))


def entities_of(operations: Iterable[Operation]) -> frozenset[EntityName]:
    """The entities that must be known to work these out."""
    named = set[EntityName]()
    for each in operations:
        named.add(each.entity)
        if each.source is not None:
            named.add(EntityName(*each.source[:_NAMES]))
    return frozenset(named)


def worked_out(entities: Mapping[EntityName, Json], operations: Sequence[Operation]) -> WorkedOut:
    """What these do to entities that are so; raises `tx-operation` at the first that cannot be done."""
    root: dict[EntityName, Any] = {}
    before: dict[EntityName, Json | Absent] = {}
    for name in entities_of(operations):
        found = entities.get(name, ABSENT)
        before[name] = found
        if not isinstance(found, Absent):
            root[name] = thawed(frozen(found))
    changes, room = [], MOST_SHOWN
    for seq, each in enumerate(operations):
        try:
            change = _done(root, seq, each)
            if each.op is not Op.ADD:
                room -= len(canonical_json(thawed(change.before)))
            if room < 0:
                raise _CannotBe(f"shows more than {MOST_SHOWN:,} bytes, with those before it")
            changes.append(change)
        except _CannotBe as problem:
            raise _wrong(f"operations[{seq}]", f"`{clipped(each.path)}` {problem}") from None
    writes = []
    for name in sorted(before):
        kept = _kept(name, root.get(name, ABSENT))
        if not is_same(before[name], kept):
            writes.append(EntityWrite(name, before[name], kept))
    return WorkedOut(tuple(changes), tuple(writes))


def pointer(names: Iterable[str]) -> str:
    """The JSON pointer of a way."""
    return "".join("/" + each.replace("~", "~0").replace("/", "~1") for each in names)


class _CannotBe(Exception):
    """An operation that does not fit what is there."""


def _require_room(operations: int, weight: int) -> None:
    if operations > MOST_OPERATIONS:
        raise _wrong("operations", f"{operations:,} operations are more than {MOST_OPERATIONS:,}")
    if weight > MOST_BYTES:
        raise _wrong("operations", f"more than {MOST_BYTES:,} bytes in one change")


def _operation(given: object, where: str, scope: str) -> Operation:
    if not isinstance(given, dict):
        raise _wrong(where, "an operation is an object")
    unknown = sorted(given.keys() - _KEYS)
    if unknown:
        raise _wrong(f"{where}.{clipped(unknown[0])}", "this is no part of an operation")
    try:
        op = Op(str(given.get("op")))
    except ValueError:
        raise _wrong(f"{where}.op", f"an operation is one of {', '.join(Op)}") from None
    takes_value = op in (Op.ADD, Op.REPLACE)
    if ("value" in given) is not takes_value:
        raise _wrong(f"{where}.value", f"`{op}` has {'a' if takes_value else 'no'} value")
    if ("from" in given) is not (op is Op.MOVE):
        raise _wrong(f"{where}.from", "`from` belongs to a move, and every move has it")
    way = _way(given.get("path"), f"{where}.path")
    source = _way(given["from"], f"{where}.from") if op is Op.MOVE else None
    if source is not None and way[: len(source)] == source:
        raise _wrong(f"{where}.from", "nothing can be moved to itself or into itself")
    named = given.get("scope", scope)
    if named not in ("doc", "sync"):
        raise _wrong(f"{where}.scope", "a scope is `doc` or `sync`")
    # Frozen, or a later operation of the same change would reach into what this one asked for.
    value = frozen(given.get("value"))
    return Operation(op, EntityName(*way[:_NAMES]), way[_NAMES:], value, source, str(named))


def _way(given: object, where: str) -> tuple[str, ...]:
    way = segments(given) if isinstance(given, str) else None
    if way is None or len(way) < _NAMES:
        raise _wrong(where, "a place is a JSON pointer `/type/id` or below")
    for name in way[:_NAMES]:
        if not name or len(name) > MOST_NAME or not name.isprintable():
            message = f"a type or id has 1 to {MOST_NAME} printable letters"
            raise _wrong(where, message)
    return way


def _done(root: dict[EntityName, Any], seq: int, asked: Operation) -> Change:
    way = (asked.entity, *asked.inside)
    match asked.op:
        case Op.ADD:
            _put_new(root, way, thawed(asked.value))
            return Change(seq, asked, None, asked.value)
        case Op.REMOVE:
            return Change(seq, asked, frozen(_taken(root, way)), None)
        case Op.REPLACE:
            return Change(
                seq, asked, frozen(_replaced(root, way, thawed(asked.value))), asked.value
            )
        case Op.MOVE:
            names = asked.source or ()
            source = (EntityName(*names[:_NAMES]), *names[_NAMES:])
            value = _taken(root, source)
            _put_new(root, way, value)
            held = frozen(value)
            return Change(
                seq,
                asked,
                frozen({"pointer": pointer(names), "value": held}),
                frozen({"pointer": asked.path, "value": held}),
            )


def _holder(root: dict[EntityName, Any], way: tuple[Any, ...]) -> tuple[Any, Any]:
    """What holds the last step of a way, and that step as a key or an index."""
    holder: Any = root
    for step in way[:-1]:
        holder = _at(holder, step)
    return holder, way[-1]


def _at(holder: Any, step: Any) -> Any:
    if isinstance(holder, dict):
        if step in holder:
            return holder[step]
    elif isinstance(holder, list):
        return holder[_index(holder, step, len(holder) - 1)]
    raise _CannotBe("is not there")


def _index(items: list[Any], step: str, last: int) -> int:
    if step.isascii() and step.isdigit() and (step == "0" or step[0] != "0"):
        at = int(step) if len(step) <= len(str(len(items))) else len(items) + 1
        if at <= last:
            return at
    raise _CannotBe("is not there")


def _put_new(root: dict[EntityName, Any], way: tuple[Any, ...], value: Any) -> None:
    holder, step = _holder(root, way)
    if isinstance(holder, list):
        holder.insert(len(holder) if step == "-" else _index(holder, step, len(holder)), value)
    elif isinstance(holder, dict):
        if step in holder:
            raise _CannotBe("is there already; `replace` changes it")
        holder[step] = value
    else:
        raise _CannotBe("lies in what has no parts")


def _taken(root: dict[EntityName, Any], way: tuple[Any, ...]) -> Any:
    holder, step = _holder(root, way)
    found = _at(holder, step)
    if isinstance(holder, list):
        del holder[int(step)]
    else:
        del holder[step]
    return found


def _replaced(root: dict[EntityName, Any], way: tuple[Any, ...], value: Any) -> Any:
    holder, step = _holder(root, way)
    found = _at(holder, step)
    holder[int(step) if isinstance(holder, list) else step] = value
    return found


def _kept(name: EntityName, after: Any) -> "Json | Absent":
    if isinstance(after, Absent):
        return ABSENT
    try:
        return frozen(after)
    except BadInput as problem:
        raise _wrong("operations", f"`{clipped(pointer(name))}`: {problem.message}") from None


def is_same(one: "Json | Absent", other: "Json | Absent") -> bool:
    """Whether both are the same value, or both are absent."""
    if isinstance(one, Absent) or isinstance(other, Absent):
        return one is other
    return canonical_json(thawed(one)) == canonical_json(thawed(other))


def there(value: "Json | Absent") -> Json:
    """What is absent as null, and what is there in an object, so that `null` is told apart."""
    return None if isinstance(value, Absent) else {"value": thawed(value)}


def _or_absent(stored: Any) -> "Json | Absent":
    if stored is None:
        return ABSENT
    found: Json = stored["value"]
    return found


def _wrong(field: str, message: str) -> BadInput:
    return BadInput(Code.TX_OPERATION, message, where=Where(field=field))
