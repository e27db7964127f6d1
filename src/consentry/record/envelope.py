"""The envelope every event travels in, and the hash that chains it to the one before.

An event is a `Draft` (what happened, to what, by whom) linked into its writer's chain (`writer`,
`seq`, `prev`, `hash`). The hash is SHA-256 over the canonical JSON of the whole event but for
`hash` itself, so that changing, dropping, repeating or moving an event is seen by whoever follows
the chain. It is not a signature: anyone who may write the store can write another chain, and only
a checkpoint kept elsewhere shows it.

In the canonical order of keys everything of weight stands before `prev` and the rest behind `seq`;
a draft is therefore encoded once, before the lock on the chain is taken, and linked by joining bytes.
"""

import hashlib
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from consentry.base.canonical import Digest, Json, canonical_json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Where
from consentry.base.ids import check_id
from consentry.base.values import dataclass, field, replace
from consentry.record.events import EventType
from consentry.record.payload import check_payload, check_repeats

SCHEMA_VERSION: Final = 1
GENESIS: Final = Digest("sha256:" + "0" * 64)
"""What the first event of a chain has as `prev`."""

EVENT_PREFIX: Final = "event"
MOST_SUBJECT: Final = 512
"""Characters of a subject: it is looked up by an index, and an index takes no longer entries."""


class EvidenceChannel(StrEnum):
    """Where the event comes from: real use, or a fixture that says so."""

    PROD_TRAFFIC = "prod_traffic"
    CONTROLLED_FIXTURE = "controlled_fixture"


@dataclass(frozen=True, slots=True)
class Context:
    """Who acted, where and under which rules: the part of an envelope that a caller keeps."""

    actor: str
    machine_id: str
    session_id: str | None = None
    workflow_id: str | None = None
    policy_hash: str | None = None
    evidence_channel: EvidenceChannel = EvidenceChannel.PROD_TRAFFIC
    fixture_run_id: str | None = None
    fixture_case_id: str | None = None
    expected_outcome: str | None = None
    drill_id: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """An event before it has a place in a chain."""

    event_id: str
    type: EventType
    timestamp: Instant
    subject: str
    context: Context
    payload: Mapping[str, Json] = field(repr=False)

    def __post_init__(self) -> None:
        check_id(self.event_id, EVENT_PREFIX)
        check_payload(self.type, self.payload)
        check_repeats(self.type, self.payload, self.event_id, self.timestamp)
        _check_subject(self.subject)
        _check_fixture(self.context)


@dataclass(frozen=True, slots=True)
class EncodedDraft:
    """A draft in canonical bytes, cut open where its link goes."""

    draft: Draft
    writer: str
    head: bytes = field(repr=False)
    tail: bytes = field(repr=False)

    def linked(self, seq: int, prev: Digest) -> "LinkedEvent":
        """The event at its place: its bytes and their hash."""
        link = f',"prev":"{prev}","schemaVersion":{SCHEMA_VERSION},"seq":{seq},'.encode("ascii")
        body = self.head + link + self.tail
        return LinkedEvent(self.writer, seq, prev, hash_of(body), body, self.draft)


@dataclass(frozen=True, slots=True)
class LinkedEvent:
    """An event in its chain; `body` is the canonical JSON that `hash` is over."""

    writer: str
    seq: int
    prev: Digest
    hash: Digest
    body: bytes = field(repr=False)
    draft: Draft = field(repr=False)


def encode(draft: Draft, writer: str) -> EncodedDraft:
    """The canonical bytes of everything but the link."""
    frame = _frame(draft.context, writer)
    head = b"".join(
        (
            frame.to_id,
            canonical_json(draft.event_id),
            frame.to_payload,
            canonical_json(draft.payload),
            frame.behind_payload,
        )
    )
    tail = b"".join(
        (
            frame.to_subject,
            canonical_json(draft.subject),
            f',"timestampUtc":"{draft.timestamp}","type":"{draft.type.value}"'.encode(),
            frame.behind_type,
        )
    )
    return EncodedDraft(draft, writer, head, tail)


class _Frame(NamedTuple):
    """What all events of one context have in common, cut open where they differ."""

    to_id: bytes
    to_payload: bytes
    behind_payload: bytes
    to_subject: bytes
    behind_type: bytes


@lru_cache(maxsize=64)
def _frame(context: Context, writer: str) -> _Frame:
    def fields(**values: str | None) -> bytes:
        return canonical_json(values)[1:-1]

    return _Frame(
        b"{" + fields(actor=context.actor, drillId=context.drill_id) + b',"eventId":',
        b","
        + fields(
            evidenceChannel=context.evidence_channel.value,
            expectedOutcome=context.expected_outcome,
            fixtureCaseId=context.fixture_case_id,
            fixtureRunId=context.fixture_run_id,
            machineId=context.machine_id,
        )
        + b',"payload":',
        b"," + fields(policyHash=context.policy_hash),
        fields(sessionId=context.session_id) + b',"subject":',
        b"," + fields(workflowId=context.workflow_id, writer=writer) + b"}",
    )


def hash_of(body: bytes) -> Digest:
    """The hash that an event with these canonical bytes has."""
    return Digest(f"sha256:{hashlib.sha256(body).hexdigest()}")


def marked_as_fixture(context: Context, run: str, case: str, expected: str) -> Context:
    """The same context for a controlled fixture, with the three tags it must carry."""
    return replace(
        context,
        evidence_channel=EvidenceChannel.CONTROLLED_FIXTURE,
        fixture_run_id=run,
        fixture_case_id=case,
        expected_outcome=expected,
    )


def _check_subject(subject: str) -> None:
    if not 0 < len(subject) <= MOST_SUBJECT or "\0" in subject:
        message = f"a subject has 1 to {MOST_SUBJECT} characters, none of them NUL"
        raise BadInput(Code.EVENT_FIELD, message, where=Where(field="subject"))


def _check_fixture(context: Context) -> None:
    tags = {
        "fixtureRunId": context.fixture_run_id,
        "fixtureCaseId": context.fixture_case_id,
        "expectedOutcome": context.expected_outcome,
    }
    is_fixture = context.evidence_channel is EvidenceChannel.CONTROLLED_FIXTURE
    for name, value in tags.items():
        if is_fixture and value is None:
            raise BadInput(
                Code.EVENT_FIELD, "a fixture event cannot be without it", where=Where(field=name)
            )
