"""Reads a surface that stands inside a document, field by field: what a wish allows, what a tool can do.

    fs_read_roots: [feeds]
    net_access: ALLOWLIST
    allowlists: {net_access: ["feeds.example.org:443"]}

The fields are those of a surface in JSON, each may be left out, and what is left out is no power. The
block keeps which were said, because a wish that says nothing of a dimension is told apart from one
that says `NONE`. A list of targets goes with the level `ALLOWLIST` and no other: a list beside `NONE`
or beside nothing would be an allowance that somebody has to infer.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import partial
from types import MappingProxyType
from typing import Final

from consentry.base.errors import BadInput
from consentry.base.values import dataclass, field, replace
from consentry.declare.nodes import Scalar
from consentry.declare.pathentries import PathEntry
from consentry.declare.repeats import without_repeats
from consentry.declare.values import Fields, Value, one_of
from consentry.surface.dimensions import Dimension, Level, LoadLevel
from consentry.surface.lattice import NOTHING, Surface, check_tool_class
from consentry.surface.pattern import Anchor, Pattern, Vocabulary
from consentry.surface.targets import Target
from consentry.surface.wire import ALLOWLISTS

KEYS: Final = (*(dimension.key for dimension in Dimension), ALLOWLISTS)
KEYS_OF_ALLOWLISTS: Final = ("net_access", "proc_exec", "env_read", "crypto_primitives")
_NO_LISTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({})


class Reach(StrEnum):
    """What a path in the workspace stands for that has no wildcards."""

    ITSELF = "itself"
    ALL_BELOW = "all below"


@dataclass(frozen=True, slots=True)
class SurfaceBlock:
    """A surface as a document has it; `said` are the keys that are there, `allowlists.KEY` included.

    `allowlists` has the lists that are there, in canonical spelling; `surface` is all of it.
    """

    said: frozenset[str] = frozenset()
    fs_read_roots: tuple[PathEntry, ...] = ()
    fs_write_roots: tuple[PathEntry, ...] = ()
    net_access: Level = Level.NONE
    proc_exec: Level = Level.NONE
    env_read: Level = Level.NONE
    dynamic_code_load: LoadLevel = LoadLevel.NONE
    crypto_primitives: Level = Level.NONE
    tool_classes: tuple[str, ...] = ()
    allowlists: Mapping[str, tuple[str, ...]] = field(default=_NO_LISTS)
    surface: Surface = NOTHING


def surface_block(value: Value, reach: Reach) -> SurfaceBlock | None:
    """The block; `reach` says what its roots stand for."""
    fields = value.fields(KEYS)
    if fields is None:
        return None
    lists = fields.may(ALLOWLISTS, partial(_allowlists, fields=fields), _NO_LISTS)
    block = SurfaceBlock(
        said=fields.said | {f"{ALLOWLISTS}.{key}" for key in lists},
        fs_read_roots=fields.may("fs_read_roots", _roots, ()),
        fs_write_roots=fields.may("fs_write_roots", _roots, ()),
        net_access=_level(fields, "net_access"),
        proc_exec=_level(fields, "proc_exec"),
        env_read=_level(fields, "env_read"),
        dynamic_code_load=fields.may("dynamic_code_load", one_of(LoadLevel), LoadLevel.NONE),
        crypto_primitives=_level(fields, "crypto_primitives"),
        tool_classes=fields.may("tool_classes", _tool_classes, ()),
        allowlists=lists,
    )
    try:
        return replace(block, surface=_surface(block, reach))
    except BadInput as problem:
        # What one entry alone is wrong with was noted where it stands; this is all of them together.
        value.refuse_for(problem)
        return block


def _surface(block: SurfaceBlock, reach: Reach) -> Surface:
    return Surface.of(
        read=[_spelled(entry, reach) for entry in block.fs_read_roots],
        write=[_spelled(entry, reach) for entry in block.fs_write_roots],
        net=_targets(block.net_access, block.allowlists.get("net_access", ())),
        run=_targets(block.proc_exec, block.allowlists.get("proc_exec", ())),
        env=_targets(block.env_read, block.allowlists.get("env_read", ())),
        load=block.dynamic_code_load,
        crypto=_targets(block.crypto_primitives, block.allowlists.get("crypto_primitives", ())),
        tools=block.tool_classes,
    )


def _spelled(entry: PathEntry, reach: Reach) -> str:
    """A root in the workspace is a folder with all below it; outside, a path is that path."""
    opens_all = reach is Reach.ALL_BELOW and entry.pattern.anchor is Anchor.WORKSPACE
    return (entry.root if opens_all else entry.pattern).text


def _targets(level: Level, listed: tuple[str, ...]) -> tuple[str, ...] | Level:
    return listed if level is Level.ALLOWLIST else level


def _level(fields: Fields, key: str) -> Level:
    return fields.may(key, one_of(Level), Level.NONE)


def _roots(value: Value) -> tuple[PathEntry, ...] | None:
    return without_repeats(value, _root, lambda entry: entry.pattern)


def _root(value: Value) -> PathEntry | None:
    pattern = value.parsed(Pattern.parse)
    return None if pattern is None else PathEntry(pattern, value.text() or "", value.where)


def _tool_classes(value: Value) -> tuple[str, ...] | None:
    return without_repeats(value, tool_class, lambda word: word)


def tool_class(value: Value) -> str | None:
    """The name of a class of tools."""
    return value.parsed(check_tool_class)


def _allowlists(value: Value, fields: Fields) -> dict[str, tuple[str, ...]] | None:
    """The lists that are there; `fields` are those around them, which have the levels."""
    lists = value.fields(KEYS_OF_ALLOWLISTS)
    if lists is None:
        return None
    found: dict[str, tuple[str, ...]] = {}
    for key in KEYS_OF_ALLOWLISTS:
        inner = lists.find(key)
        if inner is None:
            continue
        found[key] = without_repeats(inner, partial(_target, key=key), lambda text: text) or ()
        level = fields.find(key)
        if found[key] and (level is None or not _is_allowlist(level)):
            inner.refuse(
                f"a list goes with the level {Level.ALLOWLIST}, and `{key}` is something else",
                f"write `{key}: {Level.ALLOWLIST}`, or leave the list out",
            )
    return found


def _is_allowlist(level: Value) -> bool:
    return isinstance(level.node, Scalar) and level.node.text == Level.ALLOWLIST


def _target(value: Value, key: str) -> str | None:
    """One target in canonical spelling."""
    return value.parsed(_PARSERS[key])


def _host(text: str) -> str:
    return str(Target.parse(text))


def _program(text: str) -> str:
    return Pattern.parse(text, Vocabulary.COMMAND).text


def _variable(text: str) -> str:
    return Pattern.parse(text, Vocabulary.NAME).text


def _algorithm(text: str) -> str:
    """As extraction names algorithms: in lower case, with dashes."""
    return Pattern.parse(text.lower().replace("_", "-"), Vocabulary.NAME).text


_PARSERS: Final = {
    "net_access": _host,
    "proc_exec": _program,
    "env_read": _variable,
    "crypto_primitives": _algorithm,
}
