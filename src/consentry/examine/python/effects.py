"""Effects at a place in the code: which powers a call, a name or an import gives, on which targets."""

import re
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
    path_atoms,
    program_atom,
    variable_atom,
)
from consentry.examine.innercode import Language, read_inner
from consentry.examine.knowledge.effects import Condition, Effect, Power
from consentry.examine.python import paths
from consentry.examine.python.place import Place
from consentry.examine.python.values import Const, Partial, Ref, Value, alternatives
from consentry.surface.dimensions import Dimension, LoadLevel

_WRITING: Final = frozenset("wax+")
_HOST_AND_PORT: Final = 2
_FILE_SCHEMES: Final = ("sqlite:", "duckdb:", "sqlite+", "file:")
_ELSEWHERE: Final = re.compile(r"(?!file:)[a-z][a-z0-9+.-]*://")
_PLAIN_LINE: Final = re.compile(r"[\w./+-]+(?: +[\w./:@,+%-]+)*")
_ASSIGNS: Final = re.compile(r"(?:^|[\s;&|(])\w+=")
"""A variable that a program is given may decide what it does."""
_FILES: Final = (Dimension.FS_READ_ROOTS, Dimension.FS_WRITE_ROOTS)
_SWITCHED_ON: Final = ("True",)
_GIVEN: Final = ("*",)
"""A condition on an argument being there at all, and not None."""


def atoms_of(effects: Iterable[Effect], place: Place) -> Iterator[Atom]:
    """The powers that the effects give here."""
    for effect in effects:
        if effect.condition is None or _holds(effect.condition, place):
            yield from _GIVES[effect.power](effect, place)


def _holds(condition: Condition, place: Place) -> bool:
    is_there, value = place.given(condition.argument)
    if not is_there:
        return condition.negated
    for each in alternatives(value):
        said = None
        if condition.values == _GIVEN:
            if isinstance(each, Const) and each.value is None:
                continue
            return True
        if isinstance(each, Const):
            # Whatever is true switches it on.
            is_switch = condition.values == _SWITCHED_ON
            said = str(bool(each.value) if is_switch else each.value)
        elif isinstance(each, Ref) and place.resolver.tables.is_known(each.name):
            said = each.name.rpartition(".")[2]
        if said is None or (said in condition.values) is not condition.negated:
            return True
    return False


def _values(effect: Effect, place: Place) -> tuple[Value, ...]:
    """What the first argument of an effect may be; nothing where it is not given."""
    is_there, value = place.given(effect.arguments[0])
    return tuple(map(paths.as_text, alternatives(value))) if is_there else ()


def _reads(effect: Effect, place: Place) -> Iterator[Atom]:
    yield from _files(effect, place, (reading,))


def _writes(effect: Effect, place: Place) -> Iterator[Atom]:
    yield from _files(effect, place, (writing,))


def _files(
    effect: Effect, place: Place, makers: tuple[Callable[[str], Atom], ...]
) -> Iterator[Atom]:
    for make in makers:
        if effect.constant is not None:
            yield from path_atoms(make, effect.constant)
        elif not effect.arguments:
            yield make(SOMEWHERE)
        else:
            # Without an argument it is some place that the function chooses itself.
            for value in _values(effect, place) or (None,):
                yield from _path_of(make, value, is_file=effect.power is Power.OPEN)


def _path_of(
    make: Callable[[str], Atom], value: Value, *, is_file: bool = False
) -> tuple[Atom, ...]:
    if isinstance(value, Const):
        content = value.value
        if isinstance(content, bytes):
            content = content.decode("utf-8", "replace")
        if isinstance(content, int):
            return ()  # a descriptor that somebody opened before
        if isinstance(content, str):
            if _ELSEWHERE.match(content) and not (is_file or ".." in content):
                return (host_atom(content),)
            return path_atoms(make, content)
    if isinstance(value, Partial):
        # What follows may climb out of a folder that the path begins with.
        folder = value.prefix.rpartition("/")[0]
        if value.prefix.startswith(("/", "~")):
            return (*path_atoms(make, f"{folder}/"), make(SOMEWHERE))
    return (make(SOMEWHERE),)


def _opens(effect: Effect, place: Place) -> Iterator[Atom]:
    makers: tuple[Callable[[str], Atom], ...] = (reading,)
    if place.call is None:
        makers = (reading, writing)
    elif len(effect.arguments) > 1:
        is_there, mode = place.given(effect.arguments[1])
        if is_there:
            makers = _by_mode(mode)
    yield from _files(effect, place, makers)


def _by_mode(mode: Value) -> tuple[Callable[[str], Atom], ...]:
    makers: dict[Callable[[str], Atom], None] = {}
    for each in alternatives(mode):
        if not isinstance(each, Const) or not isinstance(each.value, str):
            return (reading, writing)
        letters = {*re.split(r"[:|]", each.value)[0]}
        if not letters & {*"wax"} or "+" in letters:
            makers[reading] = None
        if letters & _WRITING:
            makers[writing] = None
    return tuple(makers)


def _connects(effect: Effect, place: Place) -> Iterator[Atom]:
    if effect.is_any:
        yield connecting(ANYTHING)
    elif effect.constant is not None:
        yield host_atom(effect.constant)
    elif not effect.arguments:
        yield connecting(NAMELESS)
    else:
        pair = place.words(effect.arguments[0])
        if pair is not None and len(pair) >= _HOST_AND_PORT:
            yield _address(pair[0], pair[1])
        elif pair is None:
            port = place.given(effect.arguments[1])[1] if len(effect.arguments) > 1 else None
            values = _values(effect, place)
            for value in values:
                yield from _local_database(value) or (_address(value, port),)
            if not values:
                yield connecting(NAMELESS)
        else:
            yield connecting(ANYTHING)


def _local_database(value: Value) -> tuple[Atom, ...]:
    """An address without a host is a file: `sqlite:///data.db`."""
    content = value.value if isinstance(value, Const) else None
    if not isinstance(content, str) or not content.startswith(_FILE_SCHEMES):
        return ()
    path = content.partition(":///")[2] or None
    if path is None or path == ":memory:":
        return ()
    return (*path_atoms(reading, path), *path_atoms(writing, path))


def _address(host: Value, port: Value) -> Atom:
    number = port.value if isinstance(port, Const) and isinstance(port.value, int) else None
    if isinstance(host, Const):
        content = host.value
        if isinstance(content, bytes):
            content = content.decode("utf-8", "replace")
        if isinstance(content, str):
            if content in ("", "0.0.0.0", "::"):  # noqa: S104 - read, not bound
                return connecting(NAMELESS)
            return host_atom(content, number)
        return connecting(ANYTHING)
    if isinstance(host, Partial):
        start, mark, rest = host.prefix.partition("://")
        if mark and "/" in rest and host_target(f"{start}://{rest}") is not None:
            return host_atom(f"{start}://{rest}")
    return connecting(ANYTHING)


def _starts(effect: Effect, place: Place) -> Iterator[Atom]:
    if effect.is_any:
        yield starting(ANYTHING)
    elif effect.constant is not None:
        yield program_atom(effect.constant)
    elif not effect.arguments:
        yield starting(NAMELESS)
    else:
        words = place.words(effect.arguments[0])
        if words is not None:
            yield from _program_of(words)
        else:
            values = _values(effect, place)
            for value in values:
                yield from _command_of(value)
            if not values:
                yield starting(NAMELESS)


def _program_of(words: list[Value]) -> Iterator[Atom]:
    first = paths.as_text(words[0]) if words else None
    for each in alternatives(first):
        known = each.value if isinstance(each, Const) else None
        if isinstance(known, bytes):
            known = known.decode("utf-8", "replace")
        if isinstance(each, Ref) and each.name == "sys.executable":
            known = "python"
        yield program_atom(known if isinstance(known, str) else None)


def _command_of(value: Value) -> tuple[Atom, ...]:
    if isinstance(value, Const):
        content = value.value
        if isinstance(content, bytes):
            content = content.decode("utf-8", "replace")
        if isinstance(content, str):
            return _line_atoms(content)
    if isinstance(value, Ref) and value.name == "sys.executable":
        return (program_atom("python"),)
    if isinstance(value, Partial) and " " in value.prefix.strip():
        return (*command_atoms(value.prefix.rpartition(" ")[0]), starting(ANYTHING))
    return (starting(ANYTHING),)


def _line_atoms(line: str) -> tuple[Atom, ...]:
    """What a shell does with a command line: the programs it starts, the files it opens for them.

    What the programs do with their arguments is theirs, as it is where they are given as a list.
    """
    if _PLAIN_LINE.fullmatch(line):
        return command_atoms(line)
    found = read_inner(Language.SHELL, line.encode("utf-8", "replace"))
    atoms = dict.fromkeys(
        each.atom
        for each in found.found
        if each.atom.dimension is Dimension.PROC_EXEC
        or (each.atom.dimension in _FILES and each.reason.startswith((">", "<", "&>")))
    )
    if found.unclassified or not atoms or _ASSIGNS.search(line):
        atoms[starting(ANYTHING)] = None
    return tuple(atoms)


def _sees(effect: Effect, place: Place) -> Iterator[Atom]:
    yield from _named(effect, place, seeing, variable_atom)


def _encrypts(effect: Effect, place: Place) -> Iterator[Atom]:
    if effect.constant is not None and effect.arguments:
        for value in _values(effect, place) or (None,):
            size = value.value if isinstance(value, Const) else None
            known = isinstance(size, int) and not isinstance(size, bool)
            yield algorithm_atom(f"{effect.constant}-{size}" if known else effect.constant)
    else:
        yield from _named(effect, place, encrypting, algorithm_atom)


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
        values = _values(effect, place)
        if not values:
            yield make(NAMELESS)
        for value in values:
            content = value.value if isinstance(value, Const) else None
            if isinstance(content, bytes):
                content = content.decode("utf-8", "replace")
            if isinstance(value, Ref) and make is encrypting:
                content = value.name.rpartition(".")[2]
            yield named(content if isinstance(content, str) else None)


def _loads(effect: Effect, place: Place) -> Iterator[Atom]:
    if effect.constant is not None:
        yield loading(LoadLevel(effect.constant.upper()))
    else:
        for value in _values(effect, place):
            known = isinstance(value, Const) and isinstance(value.value, str)
            yield loading(LoadLevel.LIMITED if known else LoadLevel.ANY)


def _calls(effect: Effect, _: Place) -> Iterator[Atom]:
    yield calling(effect.constant or "")


def _returns(_: Effect, __: Place) -> Iterator[Atom]:
    yield from ()


_GIVES: Final[dict[Power, Callable[[Effect, Place], Iterator[Atom]]]] = {
    Power.READ: _reads,
    Power.WRITE: _writes,
    Power.OPEN: _opens,
    Power.NET: _connects,
    Power.PROC: _starts,
    Power.ENV: _sees,
    Power.LOAD: _loads,
    Power.CRYPTO: _encrypts,
    Power.TOOL: _calls,
    Power.RETURNS: _returns,
}
