"""Events in OCSF 1.8.0, the form that security data lakes and SIEMs read.

Which class and activity an event becomes, and which attributes it fills, stands in `ocsf.toml`. The
whole event as it was recorded stands under `unmapped`, so that nothing is lost and the hash can
still be followed from there. A type that the table does not know becomes a Base Event, and so does
an event that was damaged in the store; `time` is 0 where no time can be read.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.errors import BadInput
from consentry.base.values import dataclass
from consentry.record.eventline import is_damaged
from consentry.record.events import EventType

PRODUCT: Final = "Consentry"
OTHER: Final = 99
HIGH: Final = 4

_TABLE = "ocsf.toml"
_MEANINGS: Final = {each.value: each.meaning for each in EventType}
_STATUS: Final = {1: "Success", 2: "Failure"}
_LOCAL = re.compile(r"local:[^:]*:(?P<name>.+)@[^@]*", re.DOTALL)
_USER, _SYSTEM, _SERVICE, _UNKNOWN = 1, 3, 4, 0
_ACTOR_KINDS: Final = {"local": _USER, "web": _USER, "system": _SYSTEM, "policy": _SERVICE}


@dataclass(frozen=True, slots=True)
class WordRule:
    """An attribute whose number follows from a word in the event."""

    place: tuple[str, ...]
    numbers: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class OcsfRow:
    """How one type of event is told."""

    class_uid: int
    class_name: str
    category_uid: int
    activity_id: int
    activity_name: str
    severity_id: int
    sources: Mapping[str, tuple[tuple[str, ...], ...]]
    words: Mapping[str, WordRule]
    fixed: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class OcsfTable:
    """All rows, and which attributes are not plain texts."""

    version: str
    rows: Mapping[str, OcsfRow]
    lists: frozenset[str]
    numbers: frozenset[str]
    times: frozenset[str]


@lru_cache(maxsize=1)
def ocsf_table() -> OcsfTable:
    """The table as shipped."""
    text = files("consentry.record").joinpath(_TABLE).read_text(encoding="utf-8")
    table = tomllib.loads(text)
    classes = {each["uid"]: each for each in table["class"]}
    rows = {}
    for each in table["event"]:
        known = classes[each["class"]]
        rules = {
            target: WordRule(_place(rule["of"]), table["words"][rule["by"]])
            for target, rule in each.get("words", {}).items()
        }
        sources = {
            target: tuple(map(_place, places)) for target, places in each.get("from", {}).items()
        }
        row = OcsfRow(
            class_uid=known["uid"],
            class_name=known["name"],
            category_uid=known["category"],
            activity_id=each["activity"],
            activity_name=each["activity_name"],
            severity_id=each["severity"],
            sources=sources,
            words=rules,
            fixed=each.get("fixed", {}),
        )
        rows.update(dict.fromkeys(each["types"], row))
    kinds = {name: frozenset(targets) for name, targets in table["attributes"].items()}
    return OcsfTable(table["version"], rows, kinds["lists"], kinds["numbers"], kinds["times"])


def ocsf_event(event: Mapping[str, Any], product_version: str) -> dict[str, Any]:
    """An exported event (`eventline.document_of`), redacted or not, as an OCSF event."""
    table = ocsf_table()
    row = table.rows.get(str(event.get("type"))) or _fallback(event)
    told: dict[str, Any] = {
        "activity_id": row.activity_id,
        "activity_name": row.activity_name,
        "category_uid": row.category_uid,
        "class_uid": row.class_uid,
        "class_name": row.class_name,
        "type_uid": row.class_uid * 100 + row.activity_id,
        "severity_id": row.severity_id,
        "time": _milliseconds(event.get("timestampUtc")) or 0,
        "metadata": _metadata(event, table.version, product_version),
        "actor": _actor(event),
        "device": {"uid": _text(event.get("machineId")) or "unknown", "type_id": _UNKNOWN},
        "unmapped": dict(event),
    }
    meaning = _MEANINGS.get(str(event.get("type")))
    if meaning is not None:
        told["message"] = meaning
    for target, value in _attributes(table, row, event):
        _put(told, target, value)
    if told.get("status_id") in _STATUS:
        told["status"] = _STATUS[told["status_id"]]
    return told


def _attributes(
    table: OcsfTable, row: OcsfRow, event: Mapping[str, Any]
) -> Iterator[tuple[str, Json]]:
    yield from row.fixed.items()
    for target, places in row.sources.items():
        found = (_converted(table, target, _at(event, place)) for place in places)
        value = next((each for each in found if each is not None), None)
        if value is not None:
            yield target, value
    for target, rule in row.words.items():
        word = _at(event, rule.place)
        spelled = str(word).lower() if isinstance(word, bool) else str(word)
        if spelled in rule.numbers:
            yield target, rule.numbers[spelled]


def _converted(table: OcsfTable, target: str, value: object) -> Json:
    """The value as that attribute has it, or None when it is not one."""
    if target in table.times:
        return _milliseconds(value)
    if target in table.numbers:
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    text = _text(value)
    return [text] if text is not None and target in table.lists else text


def _metadata(event: Mapping[str, Any], version: str, product_version: str) -> dict[str, Any]:
    told: dict[str, Any] = {
        "version": version,
        "product": {"name": PRODUCT, "vendor_name": PRODUCT, "version": product_version},
        "profiles": ["host"],
        "log_name": "consentry-ledger",
    }
    sources = {
        "uid": "eventId",
        "event_code": "type",
        "original_time": "timestampUtc",
        "correlation_uid": "workflowId",
        "log_provider": "writer",
    }
    told |= {name: event[of] for name, of in sources.items() if _text(event.get(of))}
    if isinstance(event.get("seq"), int):
        told["sequence"] = event["seq"]
    labels = [_text(event.get("evidenceChannel")), "redacted" if event.get("redacted") else None]
    told["labels"] = [label for label in labels if label]
    return told


def _actor(event: Mapping[str, Any]) -> dict[str, Any]:
    actor = _text(event.get("actor")) or "unknown"
    local = _LOCAL.fullmatch(actor)
    kind = _ACTOR_KINDS.get(actor.partition(":")[0], _UNKNOWN)
    name = actor.partition(":")[2] or actor if local is None else local["name"]
    told: dict[str, Any] = {"user": {"uid": actor, "name": name, "type_id": kind}}
    session = _text(event.get("sessionId"))
    return told if session is None else {**told, "session": {"uid": session}}


def _fallback(event: Mapping[str, Any]) -> OcsfRow:
    damaged = is_damaged(event)
    name = "Damaged" if damaged else _text(event.get("type")) or "Unknown"
    severity, fixed = (HIGH, {"status_id": 2}) if damaged else (_UNKNOWN, {})
    return OcsfRow(0, "Base Event", 0, OTHER, name, severity, {}, {}, fixed)


def _put(document: dict[str, Any], target: str, value: Json) -> None:
    *outer, last = target.split(".")
    for name in outer:
        document = document.setdefault(name, {})
    document[last] = value


def _at(event: Mapping[str, Any], place: tuple[str, ...]) -> object:
    value: object = event
    for name in place:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _place(dotted: str) -> tuple[str, ...]:
    return tuple(dotted.split("."))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _milliseconds(value: object) -> int | None:
    try:
        return Instant.parse(value).unix_ms if isinstance(value, str) else None
    except BadInput:
        return None
