"""The product's own lives: what must agree inside one payload, and what may stand in it."""

from typing import Any

import pytest

from consentry.record.events import EventType
from consentry.record.payload import check_payload
from tests.record.payloads import AT, DIGEST, LATER, MACHINE, sample_id, sample_payload
from tests.record.refusals import field_named, refusal

CONSENT = EventType.CONSENT_GIVEN
SESSION = sample_id("session")


def accepted(event_type: EventType, **changes: Any) -> None:
    """A changed sample is recorded."""
    check_payload(event_type, sample_payload(event_type, **changes))


def refused_at(event_type: EventType, **changes: Any) -> str:
    """The field that a changed sample is refused for."""
    return field_named(refusal(event_type, sample_payload(event_type, **changes)))


def test_a_deadline_lies_not_before_the_question() -> None:
    """A request that was late when it was asked could not be answered at all."""
    asked = EventType.APPROVAL_REQUESTED
    accepted(asked, requestedAt=AT, deadline=AT)
    assert refused_at(asked, requestedAt=LATER, deadline=AT) == "payload.deadline"


@pytest.mark.parametrize("preview", [None, {"a": 1}, ["a"], "words", 3])
def test_a_preview_is_whatever_can_be_shown(preview: Any) -> None:
    """Its form belongs to what is asked about."""
    accepted(EventType.APPROVAL_REQUESTED, preview=preview)


@pytest.mark.parametrize("decision", ["pending", "expired", "superseded", "yes"])
def test_an_answer_is_yes_or_no(decision: str) -> None:
    """How a request ends otherwise has an event of its own."""
    assert refused_at(EventType.APPROVAL_ANSWERED, decision=decision) == "payload.decision"


def test_a_consent_for_once_binds_its_arguments_and_no_other_does() -> None:
    """CONTRACTS §8; no arguments are arguments too."""
    accepted(CONSENT, lasts="once", arguments=[], sessionId=None)
    accepted(CONSENT, lasts="once", arguments=["--draft", ""])
    assert refused_at(CONSENT, lasts="once", arguments=None) == "payload.arguments"
    assert refused_at(CONSENT, lasts="session", arguments=["x"]) == "payload.arguments"
    assert refused_at(CONSENT, lasts="once", arguments=["x", 1]) == "payload.arguments[1]"


def test_a_consent_names_what_ends_it() -> None:
    """A session, a time, or neither."""
    accepted(CONSENT, lasts="session", sessionId=SESSION)
    accepted(CONSENT, lasts="until", sessionId=None, expiresAt=LATER)
    accepted(CONSENT, lasts="permanent", sessionId=None)
    assert refused_at(CONSENT, lasts="session", sessionId=None) == "payload.sessionId"
    assert refused_at(CONSENT, lasts="until", expiresAt=None) == "payload.expiresAt"
    assert refused_at(CONSENT, lasts="permanent", expiresAt=LATER) == "payload.expiresAt"
    assert refused_at(CONSENT, lasts="a week") == "payload.lasts"


def test_a_grant_for_a_session_names_it_and_no_other_does() -> None:
    """MODULES §decision-1, §decision-2."""
    given = EventType.GRANT_GIVEN
    accepted(given, scope="persistent", sessionId=None)
    assert refused_at(given, scope="session", sessionId=None) == "payload.sessionId"
    assert refused_at(given, scope="persistent", sessionId=SESSION) == "payload.sessionId"
    assert refused_at(given, scope="none") == "payload.scope"


@pytest.mark.parametrize("expires", ["2026-01-01T00:00:00.001Z", "2026-01-01T00:01:00.000Z"])
def test_a_permit_lives_up_to_a_minute(expires: str) -> None:
    """To the millisecond."""
    accepted(EventType.PERMIT_MADE, madeAt=AT, expiresAt=expires)


@pytest.mark.parametrize(
    "expires",
    ["2025-12-31T23:59:59.999Z", "2026-01-01T00:00:00.000Z", "2026-01-01T00:01:00.001Z"],
)
def test_a_permit_lives_neither_longer_nor_not_at_all(expires: str) -> None:
    """To the millisecond."""
    made = EventType.PERMIT_MADE
    assert refused_at(made, madeAt=AT, expiresAt=expires) == "payload.expiresAt"


def test_a_permit_names_the_bytes_it_is_for() -> None:
    """At least one digest, each under a name."""
    made = EventType.PERMIT_MADE
    accepted(made, digests={"program": DIGEST})
    assert refused_at(made, digests={}) == "payload.digests"
    assert refused_at(made, digests={"program": "abc"}) == "payload.digests.program"
    assert refused_at(made, digests={"program": None}) == "payload.digests.program"


def test_a_session_may_have_no_leader_but_no_half_of_one() -> None:
    """In the library and over MCP there is none."""
    started = EventType.SESSION_STARTED
    accepted(started, kind="library", leader=None)
    leader = {"pid": 0, "startedAtTicks": 1, "bootId": "b"}
    assert refused_at(started, leader=leader) == "payload.leader.pid"
    assert refused_at(started, kind="browser") == "payload.kind"


def test_an_archive_holds_each_chain_from_a_first_to_a_last_event() -> None:
    """Which may be one and the same, and between which there is room for all of them."""
    archived = EventType.LEDGER_ARCHIVED
    one = {"writer": MACHINE, "events": 1, "firstSeq": 4, "lastSeq": 4, "root": "d" * 64}
    accepted(archived, writers=[{**one, "hash": DIGEST}])
    assert refused_at(archived, writers=[{**one, "lastSeq": 3}]) == "payload.writers[0].lastSeq"
    assert refused_at(archived, writers=[{**one, "events": 2}]) == "payload.writers[0].events"
    assert refused_at(archived, writers=[{**one, "root": "d"}]) == "payload.writers[0].root"


def test_a_rebuild_names_its_tables() -> None:
    """Rebuilding nothing is nothing to record."""
    assert refused_at(EventType.LEDGER_REBUILT, tables=[]) == "payload.tables"
