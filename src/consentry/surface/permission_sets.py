"""The named permission sets, the legal steps between them, and what they mean on an engine.

The sets are data beside this file. `trusted` is set by hand only: no step leads to it, and nothing
infers it. A legal step never takes power away, and a set that no step leaves suggests nothing.
"""

import tomllib
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import Any

from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.values import dataclass
from consentry.surface.dimensions import Dimension, Level
from consentry.surface.lattice import NOTHING, Surface

_TABLE = "permission_sets.toml"


class PermissionSet(StrEnum):
    """The six names, weakest first; the values are what documents and the store hold."""

    MINIMAL = "minimal"
    READONLY = "readonly"
    FILESYSTEM = "filesystem"
    NETWORK_API = "network-api"
    MCP_STANDARD = "mcp-standard"
    TRUSTED = "trusted"

    @classmethod
    def named(cls, text: str) -> "PermissionSet":
        """The set of that name; raises `permission-set`."""
        try:
            return cls(text)
        except ValueError:
            names = ", ".join(cls)
            raise UsageProblem(Code.PERMISSION_SET, f"`{text}` is not one of {names}") from None


@dataclass(frozen=True, slots=True)
class NativeMeaning:
    """What a set amounts to on the native engine, in words for prompts and the reference."""

    workspace: str
    tmp_and_home: str
    other_reads: str
    net: str
    env: str
    run_and_ffi: str = "none"


@dataclass(frozen=True, slots=True)
class SetDefinition:
    """One row of the table."""

    name: PermissionSet
    summary: str
    surface: Surface
    steps: tuple[PermissionSet, ...]
    deno_flags: tuple[str, ...]
    native: NativeMeaning


def definition(name: PermissionSet) -> SetDefinition:
    """All that is known of one set."""
    return _definitions()[name]


def is_legal_step(current: PermissionSet, wanted: PermissionSet) -> bool:
    """Whether an escalation may lead from one set to the other in one step."""
    return wanted in definition(current).steps


def require_legal_step(current: PermissionSet, wanted: PermissionSet) -> PermissionSet:
    """Returns the wanted set, or raises `permission-step`."""
    if not is_legal_step(current, wanted):
        reachable = ", ".join(definition(current).steps) or "no other set"
        raise Refused(
            Code.PERMISSION_STEP,
            f"no step leads from `{current}` to `{wanted}`; from `{current}` one may reach {reachable}",
        )
    return wanted


def governed_part(surface: Surface) -> Surface:
    """The powers that a permission set speaks of; the rest of the surface is left out."""
    kept = {dimension.key: surface[dimension] for dimension in governed_dimensions()}
    others = {d.key: NOTHING[d] for d in Dimension if d.key not in kept}
    fields: dict[str, Any] = {**kept, **others}
    return Surface(**fields)


def least_sets_covering(needed: Surface, current: PermissionSet) -> tuple[PermissionSet, ...]:
    """The narrowest sets, one legal step away, that open what is needed; none when no step helps."""
    wanted = governed_part(needed) | definition(current).surface
    able = [step for step in definition(current).steps if wanted <= definition(step).surface]
    return tuple(
        step
        for step in able
        if not any(
            other is not step and definition(other).surface <= definition(step).surface
            for other in able
        )
    )


@lru_cache(maxsize=1)
def governed_dimensions() -> tuple[Dimension, ...]:
    """The dimensions that a permission set decides."""
    return tuple(Dimension(key.upper()) for key in _table()["governs"])  # type: ignore[call-arg]


@lru_cache(maxsize=1)
def _definitions() -> dict[PermissionSet, SetDefinition]:
    table = _table()
    always = tuple(table["always"])
    return {name: _read(name, table[name], always) for name in PermissionSet}


def _read(name: PermissionSet, row: dict[str, Any], always: tuple[str, ...]) -> SetDefinition:
    return SetDefinition(
        name=name,
        summary=row["summary"],
        surface=Surface.of(
            read=row.get("read", ()),
            write=row.get("write", ()),
            net=_level_or_list(row.get("net", "NONE")),
            env=_level_or_list(row.get("env", "NONE")),
        ),
        steps=tuple(PermissionSet(step) for step in row["steps"]),
        deno_flags=(*row["deno"], *always),
        native=NativeMeaning(**row["native"]),
    )


def _level_or_list(value: str | list[str]) -> Level | list[str]:
    return Level(value) if isinstance(value, str) else value


def _table() -> dict[str, Any]:
    return tomllib.loads(files("consentry.surface").joinpath(_TABLE).read_text(encoding="utf-8"))
