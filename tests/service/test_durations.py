"""The estimate of a tool comes from its latest successful runs, and from nothing else (CONSENT §prompt)."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from consentry.base.clock import Instant
from consentry.base.units import Duration
from consentry.record.events import EventType
from consentry.service.durations import MOST_RUNS, estimate_of
from consentry.service.ledgers import ledger_for_reading
from consentry.store.history import History
from consentry.store.journal import About, Journal
from tests.record.payloads import sample_payload
from tests.service.conftest import MakeAround
from tests.service.toolplaces import PATH, OwnPlace

BEGUN = Instant.parse("2026-01-01T00:00:00.000Z")


@pytest.fixture
def own(around: MakeAround, project: Path) -> OwnPlace:
    """A tool that does nothing."""
    place = OwnPlace(around(environ=PATH), project)
    place.tool("idle", processExecution=[{"command": "true", "arguments": [], "purpose": "p"}])
    return place


@pytest.fixture
def history(own: OwnPlace) -> Iterator[History]:
    """What the ledger says, once something is in it."""
    with own.journal():
        pass
    found = ledger_for_reading(own.around)
    assert found is not None
    with closing(found.database):
        yield found


def ran(journal: Journal, seconds: float, status: str = "success", tool: str = "idle") -> None:
    """An entry of a run that took so long."""
    entry: dict[str, Any] = sample_payload(EventType.TOOL_AUDIT)
    entry["execution"] |= {
        "status": status,
        "startTime": str(BEGUN),
        "endTime": str(BEGUN.plus(Duration(round(seconds * 1000)))),
    }
    now = journal.clock.now()
    about = About(f"tool:{tool}")
    journal.ledger.append(journal.draft(EventType.TOOL_AUDIT, about, entry, now))


def test_a_tool_that_never_ran_has_none(own: OwnPlace) -> None:
    """Neither without a ledger nor with one that tells of others."""
    assert estimate_of(None, "idle") is None
    with own.journal() as journal:
        ran(journal, 5, tool="other")
        ran(journal, 5, status="failure")
        assert estimate_of(journal.ledger.history, "idle") is None


def test_half_and_nine_in_ten(own: OwnPlace) -> None:
    """Of the last twenty successful runs; older, failed and other ones do not count."""
    with own.journal() as journal:
        for _ in range(5):
            ran(journal, 1000)
        for seconds in range(1, MOST_RUNS + 1):
            ran(journal, seconds)
            ran(journal, 0.001, status="failure")
            ran(journal, 500, tool="other")
        estimate = estimate_of(journal.ledger.history, "idle")
    assert estimate is not None
    assert (estimate.p50, estimate.p90) == (Duration(10_000), Duration(18_000))
    assert estimate.runs == MOST_RUNS


def test_one_run_is_both(own: OwnPlace, history: History) -> None:
    """A real run, from its own entry."""
    run = own.run("idle")
    estimate = estimate_of(history, "idle")
    assert estimate is not None
    assert (estimate.p50, estimate.runs) == (estimate.p90, 1)
    execution: Any = run.entry["execution"]
    took = (
        Instant.parse(execution["endTime"]).unix_ms - Instant.parse(execution["startTime"]).unix_ms
    )
    assert estimate.p50.milliseconds == took
