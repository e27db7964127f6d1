"""Purging records how many rows went, in the transaction in which they go."""

import json
from collections.abc import Iterator

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.base.errors import BadInput, UsageProblem
from consentry.base.ids import Uuid7Ids
from consentry.base.units import Duration
from consentry.decide.session import SessionKind
from consentry.service.identity import local_user
from consentry.service.purging import count_purgeable, moment_before, purge
from consentry.service.sessions import journal_here, sessions_of
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal
from tests.service.conftest import MakeAround

NOW = Instant(1_790_000_000_000)


@pytest.fixture
def clock() -> ManualClock:
    """A clock that a test moves."""
    return ManualClock(NOW)


@pytest.fixture
def here(around: MakeAround) -> Surroundings:
    """The surroundings of this process."""
    return around()


@pytest.fixture
def journal(here: Surroundings, clock: ManualClock) -> Iterator[Journal]:
    """A ledger in which two sessions were over a month and more ago."""
    opened = journal_here(here, clock, Uuid7Ids(clock))
    stored = sessions_of(here, opened.ledger, clock, opened.ids)
    user = local_user(here, opened.ledger.writer)
    for _ in range(2):
        stored.end(stored.start(user, SessionKind.LIBRARY).session_id)
    clock.advance(Duration.parse("31d"))
    yield opened
    opened.ledger.close()


def recorded(journal: Journal) -> list[dict[str, object]]:
    """The events about purging."""
    rows = journal.ledger.history.events()
    events = [json.loads(row.body) for row in rows]
    return [event for event in events if event["type"] == "ledger.purged"]


def test_rows_go_with_an_event_that_counts_them(journal: Journal, clock: ManualClock) -> None:
    """And the second time there is nothing, of which nothing is recorded."""
    before = moment_before(clock, "30d")
    assert count_purgeable(journal.database, before).total == 2
    assert recorded(journal) == []
    done = purge(journal, before)
    assert (done.total, done.rows["session"]) == (2, 2)
    [event] = recorded(journal)
    assert event["payload"] == {
        "what": "rows without effect",
        "count": 2,
        "rows": dict(done.rows),
        "before": str(before),
    }
    assert event["subject"] == journal.ledger.history.store_id()
    assert purge(journal, before).total == 0
    assert len(recorded(journal)) == 1
    assert isinstance(journal.ledger.history.verify(), list)


def test_what_was_settled_today_is_never_purged(clock: ManualClock) -> None:
    """It may still be on its way to taking effect."""
    assert moment_before(clock, "1d") == Instant(NOW.unix_ms - 86_400_000)
    for span in ("0s", "23h", "1439min"):
        with pytest.raises(UsageProblem, match="too short"):
            moment_before(clock, span)
    with pytest.raises(BadInput):
        moment_before(clock, "a month")
    assert moment_before(clock, "99999999d") == Instant(0)
