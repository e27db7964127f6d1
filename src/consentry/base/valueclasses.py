"""Makes classes of values, whose methods are written when they are first needed (see `values`).

A class gets its slots when it is defined. The method that makes an instance is written when the first
one is made; comparing, hashing and showing go through the names of the fields. `dataclasses.fields`,
`asdict` and `replace` work on what is made here, and what assigns to a frozen value meets
`dataclasses.FrozenInstanceError`.

Kept is what this project uses: `frozen`, `slots`, `eq`, `order`, `kw_only`, `unsafe_hash`, and fields
with `default`, `default_factory`, `init`, `repr`, `compare`, `hash` and `kw_only`, inherited ones too.
A mutable default is not refused here; the type checker and the linter do that.
"""

import sys
from operator import attrgetter, ge, gt, le, lt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

_FIELDS = "__value_fields__"
_COMPARISONS = {"__lt__": lt, "__le__": le, "__gt__": gt, "__ge__": ge}


class _Missing:
    __slots__ = ()


_MISSING = _Missing()


class _Field:
    """One field, as it was written."""

    __slots__ = ("annotation", "compare", "default", "factory", "hash", "init", "kw_only", "repr")

    def __init__(self, default: "Any", factory: "Any", **kinds: "Any") -> None:
        self.default, self.factory = default, factory
        self.init, self.repr = kinds.get("init", True), kinds.get("repr", True)
        self.compare, self.hash = kinds.get("compare", True), kinds.get("hash")
        self.kw_only = kinds.get("kw_only", _MISSING)
        self.annotation: Any = None

    @property
    def is_hashed(self) -> bool:
        """Whether it counts for the hash; as for comparing, where nothing else is said."""
        return bool(self.compare if self.hash is None else self.hash)


def field(*, default: "Any" = _MISSING, default_factory: "Any" = _MISSING, **kinds: "Any") -> "Any":
    """As `dataclasses.field`."""
    unknown = kinds.keys() - {"init", "repr", "compare", "hash", "kw_only"}
    if unknown:
        raise TypeError(f"a field of a value has no {', '.join(sorted(unknown))}")
    return _Field(default, default_factory, **kinds)


def dataclass(
    cls: "type | None" = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    order: bool = False,
    kw_only: bool = False,
    unsafe_hash: bool = False,
) -> "Any":
    """As `dataclasses.dataclass`."""

    def made(plain: type) -> type:
        fields, own = _fields_of(plain, kw_only=kw_only)
        names = dict(plain.__dict__)
        for name in own:
            default = own[name].default
            names.pop(name, None)
            if default is not _MISSING and not slots:
                names[name] = default
        names[_FIELDS] = fields
        names["__dataclass_fields__"] = _FieldsOfDataclasses()
        first = tuple(name for name, each in fields.items() if each.init and not each.kw_only)
        names.setdefault("__match_args__", first)
        names.setdefault("__repr__", _shown)
        if eq:
            names.setdefault("__eq__", _equality(fields))
        if order:
            names |= _orderings(fields)
        if plain.__dict__.get("__hash__") is None and eq:
            names["__hash__"] = _hashing(fields) if frozen or unsafe_hash else None
        if frozen:
            names |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        names["__init__"] = _making(fields, is_frozen=frozen)
        if not slots:
            return _with(plain, names)
        if frozen:
            names |= {"__getstate__": _state, "__setstate__": _take_state}
        inherited = {name for base in plain.__mro__[1:-1] for name in _slots_of(base)}
        names["__slots__"] = tuple(name for name in own if name not in inherited)
        del names["__dict__"]
        names.pop("__weakref__", None)
        new = type(plain)(plain.__name__, plain.__bases__, names)
        new.__qualname__ = plain.__qualname__
        return new

    return made if cls is None else made(cls)


def replace(value: "Any", /, **changes: "Any") -> "Any":
    """As `dataclasses.replace`."""
    for name, each in getattr(type(value), _FIELDS).items():
        if not each.init:
            if name in changes:
                raise ValueError(f"{name} is not given when a {type(value).__name__} is made")
        elif name not in changes:
            changes[name] = getattr(value, name)
    return type(value)(**changes)


def _fields_of(plain: type, *, kw_only: bool) -> "tuple[dict[str, _Field], dict[str, _Field]]":
    """All fields in their order, and those that the class itself has."""
    fields: dict[str, _Field] = {}
    for base in reversed(plain.__mro__[1:]):
        fields |= base.__dict__.get(_FIELDS, {})
    own: dict[str, _Field] = {}
    annotations = plain.__dict__.get("__annotations__", {})  # noqa: RUF063 - `inspect` costs more
    for name, annotation in annotations.items():
        if _is_of_the_class(annotation):
            continue
        given = plain.__dict__.get(name, _MISSING)
        each = given if isinstance(given, _Field) else _Field(given, _MISSING)
        each.annotation = annotation
        if each.kw_only is _MISSING:
            each.kw_only = kw_only
        own[name] = each
    return fields | own, own


def _is_of_the_class(annotation: object) -> bool:
    if isinstance(annotation, str):
        return annotation.startswith(("ClassVar", "typing.ClassVar"))
    typing = sys.modules.get("typing")
    if typing is None:
        return False
    return typing.ClassVar in (annotation, getattr(annotation, "__origin__", None))


def _slots_of(base: type) -> "Sequence[str]":
    found = base.__dict__.get("__slots__", ())
    return (found,) if isinstance(found, str) else tuple(found)


def _with(plain: type, names: "Mapping[str, Any]") -> type:
    for name in getattr(plain, _FIELDS, {}) | names[_FIELDS]:
        if name in plain.__dict__ and name not in names:
            delattr(plain, name)
    for name, found in names.items():
        if name not in ("__dict__", "__weakref__") and plain.__dict__.get(name) is not found:
            setattr(plain, name, found)
    return plain


def _values_of(names: "list[str]") -> "Callable[[Any], tuple[Any, ...]]":
    """The values of these fields, as a tuple however many there are."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple(getattr(value, name) for name in names)


def _equality(fields: "Mapping[str, _Field]") -> "Callable[[Any, Any], Any]":
    values = _values_of([name for name, each in fields.items() if each.compare])

    def __eq__(self: "Any", other: "Any") -> "Any":  # noqa: N807 - it is that method
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    return __eq__


def _orderings(fields: "Mapping[str, _Field]") -> "dict[str, Any]":
    values = _values_of([name for name, each in fields.items() if each.compare])

    def ordering(compared: "Callable[[Any, Any], bool]") -> "Callable[[Any, Any], Any]":
        def method(self: "Any", other: "Any") -> "Any":
            if other.__class__ is not self.__class__:
                return NotImplemented
            return compared(values(self), values(other))

        return method

    return {name: ordering(compared) for name, compared in _COMPARISONS.items()}


def _hashing(fields: "Mapping[str, _Field]") -> "Callable[[Any], int]":
    values = _values_of([name for name, each in fields.items() if each.is_hashed])
    return lambda value: hash(values(value))


def _shown(value: "Any") -> str:
    fields = getattr(type(value), _FIELDS)
    shown = ", ".join(f"{name}={getattr(value, name)!r}" for name in fields if fields[name].repr)
    return f"{type(value).__qualname__}({shown})"


def _state(value: "Any") -> "list[Any]":
    return [getattr(value, name) for name in getattr(type(value), _FIELDS)]


def _take_state(value: "Any", state: "list[Any]") -> None:
    for name, found in zip(getattr(type(value), _FIELDS), state, strict=True):
        object.__setattr__(value, name, found)


def _refuse_to_set(_: object, name: str, __: object) -> None:
    from dataclasses import FrozenInstanceError  # noqa: PLC0415 - only mistakes pay for it

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> None:
    from dataclasses import FrozenInstanceError  # noqa: PLC0415 - as above

    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _making(fields: "Mapping[str, _Field]", *, is_frozen: bool) -> "Callable[..., None]":
    """The method that makes an instance; it is written, and takes this one's place, when called."""
    written: list[Callable[..., None]] = []

    def __init__(self: "Any", *args: "Any", **given: "Any") -> None:  # noqa: N807 - it is that one
        if not written:
            cls = next(
                each for each in type(self).__mro__ if each.__dict__.get("__init__") is __init__
            )
            written.append(_written(cls, fields, is_frozen=is_frozen))
            setattr(cls, "__init__", written[0])  # noqa: B010 - to a type checker it is no attribute
        written[0](self, *args, **given)

    return __init__


def _written(
    cls: type, fields: "Mapping[str, _Field]", *, is_frozen: bool
) -> "Callable[..., None]":
    scope: dict[str, Any] = {"_set": object.__setattr__, "_missing": _MISSING}
    positional, body = ["self"], []
    named: list[str] = []
    for name, each in fields.items():
        value = name
        if each.factory is not _MISSING:
            scope[f"_factory_{name}"] = each.factory
            value = f"_factory_{name}()"
            if each.init:
                value += f" if {name} is _missing else {name}"
        elif each.default is not _MISSING:
            scope[f"_default_{name}"] = each.default
        elif not each.init:
            continue
        if each.init:
            default = ""
            if each.factory is not _MISSING:
                default = "=_missing"
            elif each.default is not _MISSING:
                default = f"=_default_{name}"
            (named if each.kw_only else positional).append(name + default)
        elif each.factory is _MISSING:
            value = f"_default_{name}"
        body.append(f"_set(self, {name!r}, {value})" if is_frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    words = ", ".join([*positional, *(["*", *named] if named else [])])
    exec(f"def __init__({words}):\n " + "\n ".join(body or ["pass"]), scope)  # noqa: S102 - names of fields
    made: Callable[..., None] = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


class _FieldsOfDataclasses:
    """`__dataclass_fields__`, made when `dataclasses` itself looks for it."""

    def __get__(self, _: object, cls: type) -> "dict[str, Any]":
        import dataclasses  # noqa: PLC0415 - only who asks pays for it

        made: dict[str, Any] = {}
        for name, each in getattr(cls, _FIELDS).items():
            kinds = {"default": each.default} if each.default is not _MISSING else {}
            if each.factory is not _MISSING:
                kinds["default_factory"] = each.factory
            shown = dataclasses.field(
                init=each.init, repr=each.repr, hash=each.hash, compare=each.compare, **kinds
            )
            shown.name, shown.type = name, each.annotation
            shown._field_type = dataclasses._FIELD  # type: ignore[attr-defined]  # noqa: SLF001
            made[name] = shown
        return made
