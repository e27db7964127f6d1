r"""The verdict of the guard: its words, and the document `CAPABILITY_VERDICT.json` (GUARD section 5).

Same input, same bytes: the document has no time and no id in it, lists are sorted, keys stand in the
order of the document. A witness is an address and the digest of what stands behind it. A name that is
not UTF-8 has no JSON form of its own: its odd bytes are written out, as `\xff`.
"""

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from consentry.base.canonical import Digest, Json, digest_json
from consentry.base.values import dataclass
from consentry.examine.delta import Delta
from consentry.examine.sides import Side
from consentry.surface.wire import surface_to_json

SCHEMA_VERSION: Final = 1
FILE_NAME: Final = "CAPABILITY_VERDICT.json"

EXTRACTION: Final = "compute://cap_surface/extract_v1"
DELTA_REPORT: Final = "trace://cap_surface/delta_report"


class Status(StrEnum):
    """The three answers."""

    PASS = "PASS"  # noqa: S105 - an answer
    BLOCKED = "BLOCKED"
    UNKNOWN = "UNKNOWN"


class Band(StrEnum):
    """How much it matters."""

    GREEN = "GREEN"
    YELLOW = "YELLOW"
    RED = "RED"


class Tag(StrEnum):
    """What a reason is about; an escalation has the dimension behind a colon."""

    ESCALATION = "capability_escalation"
    PROTECTED = "protected_root_access"
    LOADING = "dynamic_code_load"
    INSUFFICIENT = "insufficient_patch_data"


@dataclass(frozen=True, slots=True, order=True)
class Reason:
    """Why the answer is what it is."""

    tag: str
    detail: str


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a rung."""

    name: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Rung:
    """A step of the ladder that verifies the verdict itself; without a check it does not hold."""

    number: str
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether every check of it holds."""
        return bool(self.checks) and all(check.ok for check in self.checks)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer with all that it rests on."""

    status: Status
    band: Band
    delta: Delta
    reasons: tuple[Reason, ...]
    missing_fields: tuple[str, ...]
    witnesses: tuple[str, ...]
    rungs: tuple[Rung, ...]

    def __getitem__(self, key: str) -> Json:
        """A field of the document, for those who know that: `verdict["status"]`."""
        return self.to_json()[key]

    def __iter__(self) -> Iterator[str]:
        """The fields of the document."""
        return iter(self.to_json())

    def to_json(self) -> dict[str, Json]:
        """The document, its keys in their order."""
        steps = (*self.delta.gained, *self.delta.lost)
        document: dict[str, Json] = {
            "schema_version": SCHEMA_VERSION,
            "status": self.status.value,
            "risk_band": self.band.value,
            "surface_before": surface_to_json(self.delta.before),
            "surface_after": surface_to_json(self.delta.after),
            "delta": [step.to_json() for step in steps],
            "delta_dimensions": list(self.delta.dimensions),
            "reasons": [{"tag": each.tag, "detail": each.detail} for each in self.reasons],
            "required_wish_fields_missing": list(self.missing_fields),
            "witnesses": list(self.witnesses),
            "rungs": {
                rung.number: {
                    "ok": rung.ok,
                    "checks": [{"name": each.name, "ok": each.ok} for each in rung.checks],
                }
                for rung in self.rungs
            },
        }
        return {key: _plain(value) for key, value in document.items()}


def verdict_text(document: Mapping[str, Json]) -> str:
    """The document as it is written to a file: pure ASCII, two spaces, a final newline."""
    return json.dumps(document, ensure_ascii=True, allow_nan=False, indent=2) + "\n"


def witness(address: str, digest: Digest) -> str:
    """An address and the digest of what stands behind it."""
    return f"{address}#{digest}"


def transcript_digest(before: Side, after: Side) -> Digest:
    """The digest of everything that extraction found, on both sides, file by file."""
    return digest_json({"before": _transcript(before), "after": _transcript(after)})


def delta_digest(delta: Delta) -> Digest:
    """The digest of the list of what was gained and lost."""
    return digest_json(_plain([step.to_json() for step in (*delta.gained, *delta.lost)]))


def _plain(value: Json) -> Json:
    """The same value with nothing in its texts that JSON has no form for."""
    if isinstance(value, str):
        return value if value.isascii() else _text(value)
    if isinstance(value, Mapping):
        return {_text(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _transcript(side: Side) -> Json:
    return {
        "files": [_text(each) for each in side.files],
        "found": [
            [
                _text(each.file),
                each.found.line,
                each.found.atom.dimension.value,
                each.found.atom.operation.value,
                _text(each.found.atom.target),
                _text(each.found.reason),
                each.found.provenance.value,
            ]
            for each in side.found
        ],
        "unclassified": [
            [_text(each.file), each.about.line, _text(each.about.key), _text(each.about.reason)]
            for each in side.doubts
        ],
    }


def _text(name: str) -> str:
    """Bytes that are not UTF-8 are written out, and so are halves of pairs that stand alone."""
    try:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:
        return name.encode("utf-8", "backslashreplace").decode("utf-8")
