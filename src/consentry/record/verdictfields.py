"""The verdict of the capability guard (GUARD §5), the payload of `guard.verdict`.

Exactly what `CAPABILITY_VERDICT.json` holds. A verdict without its witnesses is not recorded: each
names what was computed or consulted and the digest of it.
"""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Final

from consentry.record.fieldrules import (
    ANY_JSON,
    ANY_TEXT,
    BOOLEAN,
    LIST,
    OBJECT,
    TEXT,
    Kind,
    field,
    list_of,
    nullable,
    object_of,
    one_of,
    refuse,
    whole_from,
)
from consentry.surface.dimensions import Dimension, Level, LoadLevel

WITNESSES: Final = (
    "compute://cap_surface/extract_v1",
    "trace://cap_surface/delta_report",
    "canon://policy/protected_roots_v1",
)
"""What every verdict cites (GUARD §4)."""

RUNGS: Final = ("641", "274177", "65537")
"""The rungs of the ladder of checks (GUARD §6)."""

_WITNESS = re.compile(r"[a-z]+://[!-\"$-~]+#sha256:[0-9a-f]{64}", re.ASCII)
_BANDS: Final = {"PASS": ("GREEN", "YELLOW"), "BLOCKED": ("RED",), "UNKNOWN": ("YELLOW",)}
_TAGS: Final = (
    *(f"capability_escalation:{dimension}" for dimension in Dimension),
    "protected_root_access",
    "dynamic_code_load",
    "insufficient_patch_data",
)


def _band_of_the_status(verdict: Mapping[str, Any]) -> None:
    if verdict["risk_band"] not in _BANDS[verdict["status"]]:
        refuse("risk_band", "must have the band that belongs to its status here")


def _dimensions_in_order(verdict: Mapping[str, Any]) -> None:
    if any(before >= after for before, after in pairwise(verdict["delta_dimensions"])):
        refuse("delta_dimensions", "must have each dimension once, in ascending order")


def _every_witness(verdict: Mapping[str, Any]) -> None:
    cited = {witness.partition("#")[0] for witness in verdict["witnesses"]}
    for address in WITNESSES:
        if address not in cited:
            refuse("witnesses", f"cannot be without the witness `{address}`")


_ROOTS: Final = list_of(TEXT)
_LEVEL: Final = one_of(*Level)
_SURFACE: Final = object_of(
    field("fs_read_roots", _ROOTS),
    field("fs_write_roots", _ROOTS),
    field("net_access", _LEVEL),
    field("proc_exec", _LEVEL),
    field("env_read", _LEVEL),
    field("dynamic_code_load", one_of(*LoadLevel)),
    field("crypto_primitives", _LEVEL),
    field("tool_classes", _ROOTS),
    field("allowlists", OBJECT),
)
_DIMENSION: Final = one_of(*Dimension)
_DELTA: Final = object_of(
    field("dimension", _DIMENSION),
    field("before", ANY_JSON),
    field("after", ANY_JSON),
    field("reason", ANY_TEXT),
    nullable("file", TEXT),
    nullable("line", whole_from(1)),
)
_RUNG: Final = object_of(field("ok", BOOLEAN), field("checks", LIST))
_WITNESS_KIND: Final = Kind(
    "a witness `<address>#sha256:<hex>`",
    lambda value: isinstance(value, str) and _WITNESS.fullmatch(value) is not None,
)

GUARD_VERDICT: Final = object_of(
    field("schema_version", whole_from(1)),
    field("status", one_of(*_BANDS)),
    field("risk_band", one_of("GREEN", "YELLOW", "RED")),
    field("surface_before", _SURFACE),
    field("surface_after", _SURFACE),
    field("delta", list_of(_DELTA)),
    field("delta_dimensions", list_of(_DIMENSION)),
    field("reasons", list_of(object_of(field("tag", one_of(*_TAGS)), field("detail", ANY_TEXT)))),
    field("required_wish_fields_missing", list_of(TEXT)),
    field("rungs", object_of(*(field(rung, _RUNG) for rung in RUNGS))),
    field("witnesses", list_of(_WITNESS_KIND, least=1)),
    across=(_band_of_the_status, _dimensions_in_order, _every_witness),
)
