"""Surfaces as JSON: the seven fields of a verdict's surface (GUARD §5), and two more, always there.

    {"fs_read_roots": [], "fs_write_roots": [], "net_access": "NONE", "proc_exec": "NONE",
     "env_read": "NONE", "dynamic_code_load": "NONE", "crypto_primitives": "NONE",
     "tool_classes": [],
     "allowlists": {"net_access": [], "proc_exec": [], "env_read": [], "crypto_primitives": []}}

Laws: reading what was written gives an equal surface, spelled the same; the bytes of the canonical
JSON do not depend on the order in which powers were named. Reading is strict: an unknown field, a
wrong type, a targets list beside `NONE` or `ANY`, a value twice, each is refused with the name of
the field.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from typing import TypeVar, cast

from consentry.base.canonical import Digest, Json, digest_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, Where
from consentry.surface.access import Access
from consentry.surface.automaton import Work
from consentry.surface.dimensions import Dimension, Level, LoadLevel
from consentry.surface.entries import read_entry
from consentry.surface.hosts import HostScope
from consentry.surface.lattice import Surface, check_tool_class, spellings, standing
from consentry.surface.pattern import Vocabulary
from consentry.surface.patterns import PatternScope
from consentry.surface.targets import Target

Rung = TypeVar("Rung", Level, LoadLevel)
Entry = TypeVar("Entry")

ALLOWLISTS = "allowlists"
MOST_ENTRIES = 20_000

_LISTED = (
    Dimension.NET_ACCESS,
    Dimension.PROC_EXEC,
    Dimension.ENV_READ,
    Dimension.CRYPTO_PRIMITIVES,
)
_LISTED_KEYS = tuple(dimension.key for dimension in _LISTED)
_FIELDS = (*(dimension.key for dimension in Dimension), ALLOWLISTS)


class Missing(StrEnum):
    """What a field that is not there means to the reader."""

    REFUSED = "refused"
    NOTHING = "nothing"


def surface_to_json(surface: Surface) -> dict[str, Json]:
    """The document form, every field present, lists sorted; spelled out once for each surface."""
    if surface.document is None:
        object.__setattr__(surface, "document", _spelled(surface))
    return cast("dict[str, Json]", {**(surface.document or {})})


def _spelled(surface: Surface) -> dict[str, Json]:
    fields: dict[str, Json] = {}
    for dimension in Dimension:
        stands = standing(surface[dimension])
        fields[dimension.key] = stands if isinstance(stands, str) else list(stands)
    fields[ALLOWLISTS] = {
        dimension.key: list(spellings(surface[dimension])) for dimension in _LISTED
    }
    return fields


def surface_digest(surface: Surface) -> Digest:
    """The digest of the canonical JSON; equal digests mean equal spelling, hence equal powers."""
    return digest_json(surface_to_json(surface))


def surface_from_json(document: object, *, missing: Missing = Missing.REFUSED) -> Surface:
    """Reads the document form; `missing` says whether absent fields are an error or no power."""
    fields = _mapping(document, "surface")
    _check_names(fields, _FIELDS, missing, prefix="")
    lists = _mapping(fields.get(ALLOWLISTS, {}), ALLOWLISTS)
    _check_names(lists, _LISTED_KEYS, missing, prefix=f"{ALLOWLISTS}.")
    return Surface(
        fs_read_roots=_paths(fields, Dimension.FS_READ_ROOTS),
        fs_write_roots=_paths(fields, Dimension.FS_WRITE_ROOTS),
        net_access=_hosts(fields, lists),
        proc_exec=_patterns(fields, lists, Dimension.PROC_EXEC, Vocabulary.COMMAND),
        env_read=_patterns(fields, lists, Dimension.ENV_READ, Vocabulary.NAME),
        dynamic_code_load=_rung(fields, Dimension.DYNAMIC_CODE_LOAD, LoadLevel),
        crypto_primitives=_patterns(fields, lists, Dimension.CRYPTO_PRIMITIVES, Vocabulary.NAME),
        tool_classes=frozenset(_entries(fields, Dimension.TOOL_CLASSES.key, "", check_tool_class)),
    )


def _paths(fields: Mapping[str, object], dimension: Dimension) -> PatternScope:
    read = partial(read_entry, vocabulary=Vocabulary.PATH, work=Work())
    return PatternScope.of(Vocabulary.PATH, _entries(fields, dimension.key, "", read))


def _hosts(fields: Mapping[str, object], lists: Mapping[str, object]) -> Access[HostScope]:
    level = _rung(fields, Dimension.NET_ACCESS, Level)
    targets = _entries(lists, Dimension.NET_ACCESS.key, f"{ALLOWLISTS}.", Target.parse)
    with _placed(Dimension.NET_ACCESS.key):
        return Access(level, HostScope.of(targets))


def _patterns(
    fields: Mapping[str, object],
    lists: Mapping[str, object],
    dimension: Dimension,
    vocabulary: Vocabulary,
) -> Access[PatternScope]:
    level = _rung(fields, dimension, Level)
    read = partial(read_entry, vocabulary=vocabulary, work=Work())
    entries = _entries(lists, dimension.key, f"{ALLOWLISTS}.", read)
    with _placed(dimension.key):
        return Access(level, PatternScope.of(vocabulary, entries))


def _rung(fields: Mapping[str, object], dimension: Dimension, ladder: type[Rung]) -> Rung:
    value = fields.get(dimension.key, "NONE")
    if not isinstance(value, str) or value not in list(ladder):
        raise _problem(dimension.key, f"`{value}` is not one of {', '.join(ladder)}")
    return ladder(value)


def _entries(
    fields: Mapping[str, object], name: str, prefix: str, read: Callable[[str], Entry]
) -> list[Entry]:
    """Each string of a list field through `read`; an error names the very entry."""
    values = fields.get(name, [])
    place = prefix + name
    if not isinstance(values, list | tuple):
        raise _problem(place, "is not a list")
    if len(values) > MOST_ENTRIES:
        raise _problem(place, f"has more than {MOST_ENTRIES} entries")
    entries: list[Entry] = []
    seen: set[str] = set()
    for index, value in enumerate(values):
        with _placed(f"{place}[{index}]"):
            if not isinstance(value, str):
                raise BadInput(Code.SURFACE_FIELD, "is not a string")
            if value in seen:
                raise BadInput(Code.SURFACE_FIELD, f"`{value}` is listed twice")
            seen.add(value)
            entries.append(read(value))
    return entries


def _mapping(value: object, name: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise _problem(name, "is not an object")
    return value


def _check_names(
    fields: Mapping[str, object], expected: tuple[str, ...], missing: Missing, *, prefix: str
) -> None:
    for name in sorted(map(str, fields.keys() - set(expected))):
        raise _problem(prefix + name, "is not a field of a surface")
    for name in expected:
        if missing is Missing.REFUSED and name not in fields:
            raise _problem(prefix + name, "is missing")


def _problem(name: str, message: str) -> BadInput:
    return BadInput(Code.SURFACE_FIELD, message, where=Where(field=name))


@contextmanager
def _placed(name: str) -> Iterator[None]:
    try:
        yield
    except ConsentryError as problem:
        problem.at(Where(field=name))
        raise
