"""Resolutions of violations: recorded once, behind the violation, on either database."""

import threading

import pytest

from consentry.base.clock import Instant, ManualClock, SystemClock
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.ids import Uuid7Ids
from consentry.record.chain import event_fields
from consentry.record.envelope import Context
from consentry.store.history import EventFilter
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from consentry.store.resolutions import Resolution, record_resolution
from tests.record.payloads import sample_id
from tests.record.samples import CONTEXT, WRITER
from tests.store.archiving import OTHER
from tests.store.conftest import Store

VIOLATION = sample_id("event", 7)
SAID = Resolution(VIOLATION, "a path was not checked", "checked since 1.2.1")
NOW = Instant(1_767_225_600_000)


def journal_of(store: Store, writer: str = WRITER, at: Instant = NOW) -> Journal:
    """A machine's own, with its clock at that moment."""
    context = Context(actor=f"local:1000:{writer[-1]}@host", machine_id=writer)
    ids = Uuid7Ids(SystemClock())
    return Journal(Ledger(store.open(), writer), ids, ManualClock(at), context)


def test_it_is_recorded_with_who_and_what(store: Store) -> None:
    """CONTRACTS §4-s-slo-3: an event like any other, found by its violation."""
    journal = journal_of(store)
    recorded = record_resolution(journal, SAID, Instant(NOW.unix_ms - 5))
    [row] = journal.ledger.history.events(EventFilter(subject=f"event:{VIOLATION}"))
    event = event_fields(row.body)
    assert event["type"] == "signoff.resolved"
    assert {"eventId": event["eventId"], **dict(event["payload"])} == recorded  # type: ignore[call-overload]
    assert recorded["resolvedBy"] == journal.context.actor != CONTEXT.actor
    assert recorded["rootCause"] == "a path was not checked"


def test_it_comes_behind_the_violation_whatever_the_clock_says(store: Store) -> None:
    """The machine that recorded the violation was ahead by an hour: the order of time still holds."""
    ahead = Instant(NOW.unix_ms + 3_600_000)
    recorded = record_resolution(journal_of(store), SAID, ahead)
    assert recorded["resolvedAt"] == str(Instant(ahead.unix_ms + 1))


def test_the_second_is_told_who_was_first(store: Store) -> None:
    """CONTRACTS §4-s-slo-3: also from another machine; nothing is recorded."""
    first = record_resolution(journal_of(store), SAID, NOW)
    other = journal_of(store, OTHER)
    with pytest.raises(Refused) as caught:
        record_resolution(other, SAID, NOW)
    assert caught.value.code is Code.SIGNOFF_RESOLVED
    assert str(first["eventId"]) in caught.value.message
    assert "local:1000:1@host" in caught.value.message
    assert len(list(other.ledger.history.events())) == 1
    record_resolution(other, Resolution(sample_id("event", 8), "x", "y"), NOW)


def test_of_many_at_once_one_is_first(store: Store) -> None:
    """Several machines, one moment: one event, and everybody else is refused."""
    journals = [journal_of(store, f"machine-{digit * 32}") for digit in "12345"]
    start, refused = threading.Barrier(len(journals)), []

    def resolve(journal: Journal) -> None:
        start.wait()
        try:
            record_resolution(journal, SAID, NOW)
        except Refused as problem:
            refused.append(problem.code)

    threads = [threading.Thread(target=resolve, args=(each,)) for each in journals]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused == [Code.SIGNOFF_RESOLVED] * 4
    assert len(list(journals[0].ledger.history.events())) == 1
