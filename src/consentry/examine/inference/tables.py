"""The tables of inference, read once: what calls a tool, what is data, what no set opens."""

import builtins
from functools import cache
from typing import Final

from consentry.base.ownfiles import own_bytes
from consentry.base.values import dataclass

_PACKAGE: Final = "consentry.examine.inference"
_TABLE: Final = "inference.toml"
_DATA: Final = (str, int, float, bool, list, dict, type(None))
"""What the arguments of a capability are in Python."""


@dataclass(frozen=True, slots=True)
class Names:
    """What a language has without being told: names that are bound, and the members of data."""

    bound: frozenset[str]
    of_data: frozenset[str]


@dataclass(frozen=True, slots=True)
class Tables:
    """All of the file."""

    roots: frozenset[str]
    members: frozenset[str]
    python: Names
    javascript: Names
    machine: frozenset[str]
    ffi: tuple[str, ...]
    temporary: tuple[str, ...]
    harmless: frozenset[str]


@cache
def tables() -> Tables:
    """The tables, as they are beside this file."""
    import tomllib  # noqa: PLC0415 - for those who infer alone

    table = tomllib.loads(own_bytes(_PACKAGE, _TABLE).decode())
    javascript, powers = table["javascript"], table["powers"]
    members_of_data = {name for kind in _DATA for name in dir(kind)}
    return Tables(
        roots=frozenset(table["roots"]),
        members=frozenset(table["members"]),
        python=Names(frozenset(dir(builtins)), frozenset(members_of_data)),
        javascript=Names(
            frozenset(javascript["globals"].split()), frozenset(javascript["data"].split())
        ),
        machine=frozenset(javascript["machine"].split()),
        ffi=tuple(powers["ffi"]),
        temporary=tuple(powers["temporary"]),
        harmless=frozenset(powers["harmless"]),
    )
