"""Effects at a place in the code: which powers a call, or handing something on, gives."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from consentry.examine.atoms import (
    ANYTHING,
    NAMELESS,
    SOMEWHERE,
    Atom,
    calling,
    connecting,
    encrypting,
    loading,
    reading,
    seeing,
    starting,
    writing,
)
from consentry.examine.constanttargets import (
    algorithm_atom,
    command_atoms,
    host_atom,
    host_target,
    is_ambiguous,
    path_atoms,
    program_atom,
    variable_atom,
)
from consentry.examine.javascript.folding import Folding, branches
from consentry.examine.javascript.values import UNKNOWN, Partial, Value, shown
from consentry.examine.knowledge.effects import Argument, Condition, Effect, Power
from consentry.examine.syntaxtree import Syntax
from consentry.surface.dimensions import LoadLevel

_PORT: Final = "port"
_FETCHED: Final = ("http://", "https://", "ws://", "wss://", "ftp://")
_WRITING: Final = frozenset("wax+")
_LISTENING: Final = ("", "0.0.0.0", "::")  # noqa: S104 - read, not bound


class Place:
    """A call with its arguments; without, everything that they would say is computed."""

    def __init__(self, folding: Folding, given: list[Syntax] | None) -> None:
        self._folding = folding
        self._given = given

    def has(self, argument: Argument) -> bool:
        """Whether the argument is given, or may be."""
        return bool(self.nodes(argument))

    def nodes(self, argument: Argument) -> list[Syntax | None]:
        """The expressions that the argument may be; None for one that is computed."""
        if self._given is None:
            return [None]
        if argument.position is None:
            return self._named(argument.keyword or "")
        for node in self._given[: argument.position + 1]:
            if node.kind == "spread_element":
                return [None]
        if argument.position >= len(self._given):
            return []
        node = self._given[argument.position]
        written = self._folding.object_of(node)
        if written is None or argument.keyword is None:
            return [*branches(node)]
        return self._property(written, argument.keyword)

    def _named(self, keyword: str) -> list[Syntax | None]:
        found: list[Syntax | None] = []
        for node in self._given or ():
            written = self._folding.object_of(node)
            if written is not None:
                found += self._property(written, keyword)
        return found

    def _property(self, written: Syntax, keyword: str) -> list[Syntax | None]:
        value = self._folding.property_of(written, keyword)
        if value is not None:
            return [*branches(value)]
        return [None] if self._folding.is_open(written, keyword) else []

    def values(self, argument: Argument) -> list[Value]:
        """What the argument may be; empty when it is not given."""
        return [
            UNKNOWN if node is None else self._folding.value(node) for node in self.nodes(argument)
        ]


def atoms_of(effects: Iterable[Effect], place: Place) -> Iterator[Atom]:
    """The powers that the effects give here."""
    for effect in effects:
        if effect.condition is None or _holds(effect.condition, place):
            yield from _GIVES[effect.power](effect, place)


def bare_atoms(effects: Iterable[Effect]) -> Iterator[Atom]:
    """The powers of an import: its effects speak of no arguments."""
    yield from atoms_of(effects, Place(None, None))  # type: ignore[arg-type]


def _holds(condition: Condition, place: Place) -> bool:
    values = place.values(condition.argument)
    if not values:
        return condition.negated
    for value in values:
        said = shown(value)
        if said is None or (said.lower() in condition.values) is not condition.negated:
            return True
    return False


def _values(effect: Effect, place: Place) -> list[Value]:
    """What the first argument of the effect that is given may be; ports are not counted."""
    for argument in effect.arguments:
        if argument.keyword == _PORT:
            continue
        values = place.values(argument)
        if values:
            return values
    return [UNKNOWN]


def _files(effect: Effect, place: Place, makers: Iterable[Callable[[str], Atom]]) -> Iterator[Atom]:
    for make in makers:
        if effect.constant is not None:
            yield from path_atoms(make, effect.constant)
        elif not effect.arguments:
            yield make(SOMEWHERE)
        else:
            for value in _values(effect, place):
                yield from _path(make, value)


def _path(make: Callable[[str], Atom], value: Value) -> tuple[Atom, ...]:
    match value:
        case bool() | int() | float():
            return ()  # a descriptor that was opened elsewhere
        case bytes():
            return path_atoms(make, value.decode("utf-8", "replace"))
        case str() if value.startswith(_FETCHED):
            return (host_atom(value),)
        case str():
            return path_atoms(make, value)
        case Partial(prefix):
            folder = prefix.removeprefix("file://").rpartition("/")[0]
            if folder or prefix.startswith("/"):
                return path_atoms(make, f"{folder}/")
            if prefix.startswith("~"):
                return path_atoms(make, "~/")
    return (make(SOMEWHERE),)


def _opens(effect: Effect, place: Place) -> Iterator[Atom]:
    makers: dict[Callable[[str], Atom], None] = {}
    modes = place.values(effect.arguments[1]) if len(effect.arguments) > 1 else []
    for mode in modes or ["r"]:
        letters = set(mode) if isinstance(mode, str) else {"r", "+"}
        if letters & {"r", "+"}:
            makers[reading] = None
        if letters & _WRITING:
            makers[writing] = None
    yield from _files(effect, place, makers)


def _connects(effect: Effect, place: Place) -> Iterator[Atom]:
    if effect.is_any:
        yield connecting(ANYTHING)
    elif effect.constant is not None:
        yield host_atom(effect.constant)
    elif not effect.arguments:
        yield connecting(NAMELESS)
    else:
        ports = [
            each for arg in effect.arguments if arg.keyword == _PORT for each in place.values(arg)
        ]
        port = next((each for each in ports if isinstance(each, int)), None)
        for value in _values(effect, place):
            yield _address(value, port)


def _address(value: Value, port: int | None) -> Atom:
    said = value.prefix if isinstance(value, Partial) else value
    if isinstance(said, str) and is_ambiguous(said):
        return connecting(ANYTHING)
    if isinstance(value, str):
        if value in _LISTENING or _is_same_origin(value):
            return connecting(NAMELESS)
        return host_atom(value, port)
    if isinstance(value, Partial):
        scheme, mark, rest = value.prefix.partition("://")
        if mark and any(end in rest for end in "/?#") and "@" not in rest.split("/")[0]:
            return host_atom(value.prefix) if host_target(value.prefix) else connecting(ANYTHING)
        if not mark and _is_same_origin(value.prefix) and len(scheme) > 1:
            return connecting(NAMELESS)
    return connecting(ANYTHING)


def _is_same_origin(address: str) -> bool:
    """A path on the server that the page came from: no host is named."""
    if address.startswith(("./", "../", "?", "#")):
        return True
    return address.startswith("/") and address[1:2] not in ("/", "\\")


def _starts(effect: Effect, place: Place) -> Iterator[Atom]:
    if effect.is_any:
        yield starting(ANYTHING)
    elif effect.constant is not None:
        yield program_atom(effect.constant)
    elif not effect.arguments:
        yield starting(NAMELESS)
    else:
        for value in _values(effect, place):
            yield from _command(value)


def _command(value: Value) -> tuple[Atom, ...]:
    match value:
        case str():
            return command_atoms(value)
        case tuple():
            first = value[0] if value else None
            return (program_atom(first if isinstance(first, str) else None),)
        case Partial(prefix) if " " in prefix.strip():
            return (*command_atoms(prefix.rpartition(" ")[0]), starting(ANYTHING))
    return (starting(ANYTHING),)


def _named(
    effect: Effect,
    place: Place,
    make: Callable[[str], Atom],
    named: Callable[[str | None], Atom],
) -> Iterator[Atom]:
    if effect.is_any:
        yield make(ANYTHING)
    elif effect.constant is not None:
        yield named(effect.constant)
    elif not effect.arguments:
        yield make(NAMELESS)
    else:
        for value in _values(effect, place):
            yield named(value if isinstance(value, str) else None)


def _encrypts(effect: Effect, place: Place) -> Iterator[Atom]:
    sizes = [each for arg in effect.arguments[1:] for each in place.values(arg)]
    size = next((each for each in sizes if isinstance(each, int)), None)
    if size is None:
        yield from _named(effect, place, encrypting, algorithm_atom)
        return
    for value in _values(effect, place):
        yield algorithm_atom(f"{value}-{size}" if isinstance(value, str) else None)


def _loads(effect: Effect, place: Place) -> Iterator[Atom]:
    if effect.constant is not None:
        yield loading(LoadLevel(effect.constant.upper()))
    elif (
        effect.is_any
        or not effect.arguments
        or any(not isinstance(value, str) for value in _values(effect, place))
    ):
        yield loading(LoadLevel.ANY)


_GIVES: Final[dict[Power, Callable[[Effect, Place], Iterator[Atom]]]] = {
    Power.READ: lambda effect, place: _files(effect, place, (reading,)),
    Power.WRITE: lambda effect, place: _files(effect, place, (writing,)),
    Power.OPEN: _opens,
    Power.NET: _connects,
    Power.PROC: _starts,
    Power.ENV: lambda effect, place: _named(effect, place, seeing, variable_atom),
    Power.CRYPTO: _encrypts,
    Power.LOAD: _loads,
    Power.TOOL: lambda effect, _: iter((calling(effect.constant or ANYTHING),)),
    Power.RETURNS: lambda _, __: iter(()),
}
