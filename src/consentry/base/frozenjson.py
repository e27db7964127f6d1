"""JSON as a value: a deep copy of plain data that whoever holds it cannot change.

A list becomes a tuple, an object a `FrozenObject`, and text and numbers are of the exact built-in types,
whatever subclasses came in. What has no JSON form is refused, with the place where it stands: NaN and
infinities, bytes, sets, objects, keys that are no text, lone surrogates, whole numbers that a double does
not hold, what contains itself, more than 64 levels, and more than a bounded amount in all, which what is
shared between many places counts for each of them.

Laws: what is frozen is not changed by a change of what it was made from; `frozen(thawed(x)) == x`; a
frozen object gives its keys in ascending order, whatever order they came in.

Not promised: that code which goes past the methods of Python (`object.__setattr__`, `ctypes`) is kept
out. There is no wall inside a process; a module brings no code.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from math import isfinite
from types import MappingProxyType
from typing import Final, NoReturn

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where

MOST_DEPTH: Final = 64
MOST_INTEGER: Final = 2**53 - 1
MOST_WEIGHT: Final = 1 << 24
"""Letters in all, where each value counts as eight besides its letters."""

_WEIGHT: Final = 8
_SHOWN: Final = 64


class FrozenObject(Mapping[str, Json]):
    """A JSON object that cannot be changed: made by `frozen` only.

    Two tuples, so that nothing in it could be changed by whoever gets hold of a part. No method and no
    operator hands out anything else than keys and frozen values.
    """

    __slots__ = ("_keys", "_values")

    _keys: tuple[str, ...]
    _values: tuple[Json, ...]

    def __getitem__(self, key: str) -> Json:
        if isinstance(key, str):
            at = bisect_left(self._keys, key)
            if at < len(self._keys) and self._keys[at] == key:
                return self._values[at]
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenObject):
            return self._keys == other._keys and self._values == other._values
        if isinstance(other, Mapping):
            return dict(self) == dict(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self._keys, self._values))

    def __repr__(self) -> str:
        return f"FrozenObject({dict(self)!r})"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a frozen object cannot be changed: `{name}`")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a frozen object cannot be changed: `{name}`")

    def __copy__(self) -> "FrozenObject":
        return self

    def __deepcopy__(self, memo: object) -> "FrozenObject":
        return self

    def __reduce__(self) -> tuple[object, tuple[Json]]:
        return frozen, (thawed(self),)


def frozen(value: object) -> Json:
    """The deep, immutable copy; `BadInput` with `canonical-json` where there is no JSON for it."""
    return _Walk().copied(value, 1)


def thawed(value: Json) -> Json:
    """A copy in lists and dicts of what `frozen` made, for writers that know no other types."""
    if type(value) is FrozenObject:
        return {key: thawed(item) for key, item in value.items()}
    if type(value) is tuple:
        return [thawed(item) for item in value]
    return value


class _Walk:
    """One copy under way, and how much more it may weigh."""

    __slots__ = ("_room",)

    def __init__(self) -> None:
        self._room = MOST_WEIGHT

    def copied(self, value: object, depth: int) -> Json:
        """The copy of one value; `depth` counts the containers, with this one if it is one."""
        kind = type(value)
        if kind is dict:
            return self._object(tuple(value.items()), depth)  # type: ignore[attr-defined]
        if kind is list:
            return self._items(tuple(value), depth)  # type: ignore[arg-type]
        return self._unusual(value, depth)

    def _unusual(self, value: object, depth: int) -> Json:
        """What is no container of the usual kind; of subclasses, only what the built-in type holds."""
        kind = type(value)
        if value is None or kind is bool:
            return value  # type: ignore[return-value]
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int):
            return _whole(int.__int__(value))
        if isinstance(value, float):
            return _decimal(float.__float__(value))
        if isinstance(value, dict):
            return self._object(tuple(dict.items(value)), depth)
        if isinstance(value, list):
            return self._items(tuple(list.__iter__(value)), depth)
        if isinstance(value, tuple):
            return self._items(tuple(tuple.__iter__(value)), depth)
        if kind is FrozenObject or kind is MappingProxyType:
            # Copied before anything is checked: what a proxy shows may change meanwhile.
            return self._object(tuple(dict(value).items()), depth)  # type: ignore[call-overload]
        raise _no_json(f"{kind.__name__} has no JSON form")

    def _text(self, value: str) -> str:
        text = str.__str__(value)
        self._take(len(text))
        if not text.isascii():
            _check_letters(text)
        return text

    def _items(self, items: tuple[object, ...], depth: int) -> tuple[Json, ...]:
        self._enter(len(items), depth)
        copies: list[Json] = []
        letters = 0
        for item in items:
            # The common scalars in line: a call for each would be most of what a copy costs.
            kind = type(item)
            if kind is str and item.isascii():  # type: ignore[attr-defined]
                letters += len(item)  # type: ignore[arg-type]
                copies.append(item)  # type: ignore[arg-type]
            elif kind is int and -MOST_INTEGER <= item <= MOST_INTEGER:  # type: ignore[operator]
                copies.append(item)  # type: ignore[arg-type]
            else:
                try:
                    copies.append(self.copied(item, depth + 1))
                except BadInput as problem:
                    raise _placed(problem, f"[{len(copies)}]") from None
        self._take(letters)
        return tuple(copies)

    def _object(self, items: tuple[tuple[object, object], ...], depth: int) -> FrozenObject:
        self._enter(len(items), depth)
        copies: dict[str, Json] = {}
        letters = 0
        for key, item in items:
            name = key if type(key) is str and key.isascii() else _checked_key(key)
            letters += len(name)
            kind = type(item)
            if kind is str and item.isascii():  # type: ignore[attr-defined]
                letters += len(item)  # type: ignore[arg-type]
                copies[name] = item  # type: ignore[assignment]
            elif kind is int and -MOST_INTEGER <= item <= MOST_INTEGER:  # type: ignore[operator]
                copies[name] = item  # type: ignore[assignment]
            else:
                try:
                    copies[name] = self.copied(item, depth + 1)
                except BadInput as problem:
                    raise _placed(problem, name) from None
        self._take(letters)
        if len(copies) != len(items):
            raise _no_json("two of its keys are the same text")
        return _made(copies)

    def _enter(self, length: int, depth: int) -> None:
        if depth > MOST_DEPTH:
            raise _no_json(f"it is nested more than {MOST_DEPTH} levels deep, or contains itself")
        self._take(_WEIGHT * length)

    def _take(self, weight: int) -> None:
        self._room -= weight
        if self._room < 0:
            raise _no_json(f"it is larger than {MOST_WEIGHT:,} letters and values")


def _checked_key(key: object) -> str:
    if not isinstance(key, str):
        raise _no_json(f"a key is no text, it is {type(key).__name__}")
    name = str.__str__(key)
    _check_letters(name)
    return name


_SET_KEYS: Final = FrozenObject.__dict__["_keys"].__set__
_SET_VALUES: Final = FrozenObject.__dict__["_values"].__set__


def _made(copies: dict[str, Json]) -> FrozenObject:
    made = FrozenObject.__new__(FrozenObject)
    keys = sorted(copies)
    _SET_KEYS(made, tuple(keys))
    _SET_VALUES(made, tuple([copies[key] for key in keys]))
    return made


def _whole(number: int) -> int:
    if not -MOST_INTEGER <= number <= MOST_INTEGER:
        raise _no_json("a whole number beyond 2**53 - 1 is read differently elsewhere")
    return number


def _decimal(number: float) -> float:
    if not isfinite(number):
        raise _no_json(f"{number} is no number that JSON has")
    return number


def _check_letters(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _no_json("it holds a lone surrogate, which no UTF-8 can say") from None


def _no_json(why: str) -> BadInput:
    return BadInput(Code.CANONICAL_JSON, why)


def _placed(problem: BadInput, name: str) -> BadInput:
    """The same problem, one level further up."""
    short = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
    problem.at((problem.where or Where()).within(short))
    return problem
