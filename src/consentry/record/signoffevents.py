"""Rows of the ledger as a sign-off reads them: what matters of an event, or why it cannot be read.

Most rows are looked at by their last few bytes only: an event as it was recorded ends with its time and
type. What ends otherwise is read as a whole. Every event that a gate reads is held to the fields of its
type once more, because a row may have come into the database by another way than the ledger.

The tags say where an event comes from (CONTRACTS §4-tags). One without its tags counts like every other;
that it lacks them is said besides.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from consentry.base.errors import BadInput
from consentry.record.chain import ChainRow
from consentry.record.envelope import EvidenceChannel
from consentry.record.events import EventGroup, EventType
from consentry.record.fieldrules import INSTANT
from consentry.record.payload import check_payload, check_repeated_text

POLICY_VIOLATION: Final = "capability-policy-violation"
VIOLATING: Final = frozenset(
    {EventType.CHECK_REJECTED, EventType.ROLLBACK_EXECUTED, EventType.ROLLBACK_FAILED}
)
EVIDENCE: Final = frozenset(
    {
        *(each for each in EventType if each.group is EventGroup.MODULES),
        EventType.TRANSACTION_TRANSITION,
        EventType.TRANSACTION_RESOLVED,
        EventType.MODULE_CAPABILITY_USED,
        EventType.MODULE_ACTION_ENDED,
        EventType.CERTIFICATION_CHECKED,
        EventType.SIGNOFF_RESOLVED,
    }
)
"""The types that a sign-off holds to their fields and tags."""

FIXTURE_TAGS: Final = ("fixtureRunId", "fixtureCaseId", "expectedOutcome")
DRILL_TAG: Final = "drillId"
DRILL_RUN: Final = "drill"
"""What the run of a drill begins with."""

_KINDS: Final = {each.value: each for each in EventType}
_CHANNELS: Final = frozenset(EvidenceChannel)
_TAIL_BEGINS: Final = b'"timestampUtc":"'
_STRING: Final = rb'"(?:[^"\\]|\\.)*"'
_TAIL: Final = re.compile(
    _TAIL_BEGINS + rb'(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)","type":"([^"\\]*)","workflowId":(?:null|'
    + _STRING + rb'),"writer":' + _STRING + rb"\}",
    re.DOTALL,
)  # fmt: skip


class Evidence(NamedTuple):
    """What matters of an event that can be read."""

    event_id: str
    at: str
    kind: EventType
    payload: Mapping[str, Any]
    session_id: str | None
    is_fixture: bool
    fields: Mapping[str, Any]


class Unreadable(NamedTuple):
    """A row that is no event of its type, and why."""

    event_id: str | None
    why: str
    fields: Mapping[str, Any]


class TagProblem(NamedTuple):
    """What is wrong with the tags of an event."""

    kind: str
    tags: tuple[str, ...]
    why: str


def glance(body: bytes) -> tuple[str, EventType | str] | None:
    """The time and type of an event; None where it has none. A type nobody knows is a text."""
    found = _TAIL.fullmatch(body, max(0, body.rfind(_TAIL_BEGINS)))
    if found is not None:
        try:
            at, kind = found[1].decode(), found[2].decode()
        except UnicodeDecodeError:
            return None
    else:
        fields = _fields_of(body)
        at, kind = fields.get("timestampUtc", ""), fields.get("type", "")
        if not isinstance(at, str) or not isinstance(kind, str) or not INSTANT.fits(at):
            return None
    return at, _KINDS.get(kind, kind)


def read_event(row: ChainRow, kind: EventType) -> Evidence | Unreadable:
    """The event in a row of that type."""
    fields = _fields_of(row.body)
    event_id = fields.get("eventId")
    payload, at = fields.get("payload"), fields.get("timestampUtc")
    if not isinstance(event_id, str) or not event_id:
        return Unreadable(None, "it has no `eventId`", fields)
    if not isinstance(payload, dict):
        return Unreadable(event_id, "it has no `payload`", fields)
    if not isinstance(at, str) or not INSTANT.fits(at):
        return Unreadable(event_id, "its `timestampUtc` is no time", fields)
    try:
        check_payload(kind, payload)
        check_repeated_text(kind, payload, event_id, at)
    except BadInput as problem:
        return Unreadable(event_id, str(problem), fields)
    session = fields.get("sessionId")
    return Evidence(
        event_id,
        at,
        kind,
        payload,
        session if isinstance(session, str) and session else None,
        is_fixture(fields),
        fields,
    )


def is_fixture(fields: Mapping[str, Any]) -> bool:
    """Whether an event says that it comes from a controlled fixture; whatever does not is real use."""
    return fields.get("evidenceChannel") == EvidenceChannel.CONTROLLED_FIXTURE


def is_violation(kind: EventType | str, fields: Mapping[str, Any]) -> bool:
    """Whether it is a violation of the capability policy by a module, in real use.

    Asked of events that cannot be read, too: one that lacks another field is a violation all the same.
    """
    payload = fields.get("payload")
    if kind not in VIOLATING or is_fixture(fields) or not isinstance(payload, dict):
        return False
    module = payload.get("moduleId")
    is_named = isinstance(module, str) and module != ""
    return is_named and payload.get("decisionReasonCode") == POLICY_VIOLATION


def tag_problem(fields: Mapping[str, Any]) -> TagProblem | None:
    """What is wrong with the tags of an event; None where they are as they must be."""
    channel = fields.get("evidenceChannel")
    if not isinstance(channel, str) or channel not in _CHANNELS:
        why = "it does not say whether it comes from real use or from a fixture"
        return TagProblem("missing-tag", ("evidenceChannel",), why)
    if channel == EvidenceChannel.PROD_TRAFFIC:
        odd = tuple(tag for tag in (*FIXTURE_TAGS, DRILL_TAG) if fields.get(tag) is not None)
        why = "it says that it comes from real use, and has tags of a fixture"
        return TagProblem("mislabelled", odd, why) if odd else None
    missing = tuple(tag for tag in FIXTURE_TAGS if not _has_text(fields, tag))
    if _is_drill(fields) and not _has_text(fields, DRILL_TAG):
        missing = (*missing, DRILL_TAG)
    why = "it comes from a fixture, and lacks tags that say which"
    return TagProblem("missing-tag", missing, why) if missing else None


def _is_drill(fields: Mapping[str, Any]) -> bool:
    run = fields.get("fixtureRunId")
    return isinstance(run, str) and run.startswith(DRILL_RUN)


def _has_text(fields: Mapping[str, Any], name: str) -> bool:
    value = fields.get(name)
    return isinstance(value, str) and value != ""


def _fields_of(body: bytes) -> Mapping[str, Any]:
    try:
        document = json.loads(body.decode())
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}
