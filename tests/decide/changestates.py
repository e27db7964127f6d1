"""Documents, operations that fit them, and a plain reference for what those do, for the tests of changes.

The reference is written from the words of the rules, on plain nested dicts and lists, copied at every step:
it is slow, and nothing in it is shared with the code that it is held against.
"""

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from consentry.decide.statechange import EntityName

NAMES = ("n1", "n2", "a/b", "m~n", "0", "-", "ü")
"""Of entities and keys: few, so that operations meet; and those that have to be escaped."""
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "x", "long text"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=6,
)
documents = st.dictionaries(
    st.tuples(st.sampled_from(("notes", "tags")), st.sampled_from(NAMES)), values, max_size=4
)


class CannotBe(Exception):
    """An operation that the rules do not allow there."""


def escaped(names: tuple[str, ...]) -> str:
    """A JSON pointer."""
    return "".join(f"/{each.replace('~', '~0').replace('/', '~1')}" for each in names)


def ways_of(document: Any, before: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every place that is taken in a document of dicts and lists."""
    pairs = (
        document.items()
        if isinstance(document, dict)
        else ((str(at), each) for at, each in enumerate(document))
        if isinstance(document, list)
        else ()
    )
    found = [before] if len(before) > 1 else []
    for key, item in pairs:
        found += ways_of(item, (*before, key))
    return found


def nested(entities: dict[tuple[str, str], Any]) -> dict[str, dict[str, Any]]:
    """Entities by type and id."""
    document: dict[str, dict[str, Any]] = {}
    for (kind, name), value in entities.items():
        document.setdefault(kind, {})[name] = deepcopy(value)
    return document


def flat(document: dict[str, dict[str, Any]]) -> dict[EntityName, Any]:
    """And back."""
    return {
        EntityName(kind, name): value
        for kind, named in document.items()
        for name, value in named.items()
    }


@st.composite
def operations_on(draw: st.DrawFn, entities: dict[tuple[str, str], Any]) -> list[dict[str, Any]]:
    """Up to eight operations, most of which fit what the ones before them leave."""
    document, asked = nested(entities), []
    for _ in range(draw(st.integers(1, 8))):
        taken = ways_of(document)
        free = [(*way, name) for way in taken for name in ("new", "-", "0", "1")]
        free += [(kind, name) for kind in ("notes", "tags") for name in NAMES]
        op = draw(st.sampled_from(["add", "add", "remove", "replace", "move"]))
        target = draw(st.sampled_from(free if op in ("add", "move") or not taken else taken))
        one: dict[str, Any] = {"op": op, "path": escaped(target)}
        if op in ("add", "replace"):
            one["value"] = draw(values)
        if op == "move":
            one["from"] = escaped(draw(st.sampled_from(taken or [("notes", "none")])))
            if is_into_itself(one):
                continue
        try:
            document = done(document, one)
        except CannotBe:
            # One that does not fit ends the change; most of the time another one is looked for.
            if draw(st.integers(0, 9)):
                continue
            return [*asked, one]
        asked.append(one)
    return asked


def is_into_itself(one: dict[str, Any]) -> bool:
    """Whether it would move something to itself or into itself."""
    return f"{one['path']}/".startswith(f"{one['from']}/")


def done(document: dict[str, dict[str, Any]], one: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The document after one operation, by the words of the rules."""
    after = deepcopy(document)
    match one["op"]:
        case "add":
            _add(after, _way(one["path"]), deepcopy(one["value"]))
        case "remove":
            _remove(after, _way(one["path"]))
        case "replace":
            way = _way(one["path"])
            holder, step = _found(after, way)
            holder[step] = deepcopy(one["value"])
        case "move":
            value = _remove(after, _way(one["from"]))
            _add(after, _way(one["path"]), value)
    return after


def _way(text: str) -> list[str]:
    return [each.replace("~1", "/").replace("~0", "~") for each in text.split("/")[1:]]


def _at(items: list[Any], step: str) -> int:
    if step not in [str(at) for at in range(len(items))]:
        raise CannotBe
    return int(step)


def _down(document: Any, way: list[str]) -> Any:
    for step in way:
        if isinstance(document, dict):
            if step not in document:
                raise CannotBe
            document = document[step]
        elif isinstance(document, list):
            document = document[_at(document, step)]
        else:
            raise CannotBe
    return document


def _found(document: Any, way: list[str]) -> tuple[Any, Any]:
    _down(document, way)
    holder = _down(document, way[:-1])
    return holder, int(way[-1]) if isinstance(holder, list) else way[-1]


def _remove(document: Any, way: list[str]) -> Any:
    holder, step = _found(document, way)
    return holder.pop(step)


def _add(document: Any, way: list[str], value: Any) -> None:
    if len(way) == 2:
        document.setdefault(way[0], {})
    holder, step = _down(document, way[:-1]), way[-1]
    if isinstance(holder, list):
        places = [str(at) for at in range(len(holder) + 1)]
        if step != "-" and step not in places:
            raise CannotBe
        holder.insert(len(holder) if step == "-" else int(step), value)
    elif isinstance(holder, dict):
        if step in holder:
            raise CannotBe
        holder[step] = value
    else:
        raise CannotBe
