"""The sign-off from a real database: what the tables hold is what a plain reader counts, in flat memory."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from consentry.base.clock import Instant, ManualClock, SystemClock
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.ids import Uuid7Ids
from consentry.record.signoff import SignoffAnswer
from consentry.service.signoff import (
    asked_window,
    behind_the_latest,
    require_violation,
    resolve_violation,
    signoff_answer,
)
from consentry.store.history import History
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from consentry.store.migrations import migrate
from consentry.store.resolutions import Resolution
from consentry.store.sqlite import SqliteDatabase
from tests.record.payloads import sample_id
from tests.record.samples import CONTEXT, WRITER
from tests.record.signoffreader import Reader
from tests.record.signoffsamples import (
    DRILL,
    FIXTURE,
    HOUR,
    OTHER_DIGEST,
    SINCE,
    UNDONE,
    WINDOW,
    Story,
    approval_of,
    good_story,
    time_at,
)
from tests.record.test_signoffproof import read, told
from tests.store.archiving import all_before, record_of
from tests.store.conftest import Store
from tests.store.rawevents import put_raw

NOW = Instant(SINCE.unix_ms + 86_400_000)


def mixed_story() -> Story:
    """What counts, with what is missing, repeated and out of the window between it; three writers."""
    story = good_story()
    for number in range(12):
        story.attempt(f"late-{number}", UNDONE, 58 + number / 3, writer=number % 3, tags=FIXTURE)
        story.used(
            number, 10 + number, writer=2, tags={**DRILL, "drillId": None} if number == 3 else DRILL
        )
    story.attempt("odd", approval=approval_of("odd", previewHash=OTHER_DIGEST), minute=20, writer=1)
    for event in story.events[40:90:7]:
        tags = {name: event[name] for name in DRILL}
        payload = {**event["payload"], "timestamp": time_at(30)}
        story.add(event["type"], payload, 30, writer=1, tags=tags)
    violation = story.rejected(minute=-300, writer=2)
    story.resolved(violation, 90, writer=1)
    story.rejected("capability.rollback.executed", 12, writer=1)
    story.checked("valid", 61)
    story.step("odd", "RECEIVED", "APPLIED", 31)
    return story  # fmt: skip


def answer_of(store: Store, story: Story) -> SignoffAnswer:
    """Put into a database as it is, and read from there."""
    database = store.open()
    put_raw(database, story.rows())
    return signoff_answer(History(database), WINDOW)


@pytest.mark.parametrize("make", [good_story, mixed_story, Story])
def test_what_the_tables_hold_is_what_a_plain_reader_counts(store: Store, make: Any) -> None:
    """CONTRACTS §4-signoff: missing tags, repeated and out-of-window rows, on either database."""
    story = make()
    answer = answer_of(store, story)
    assert told(answer) == read(story)
    assert json.dumps(answer.to_json()) == json.dumps(story.answer().to_json())


def test_the_plain_reader_reads_what_the_database_gives(store: Store) -> None:
    """The order and the bodies of the rows are the database's own here, and not the test's."""
    story = mixed_story()
    answer = answer_of(store, story)
    with store.open().reading() as view:
        query = "SELECT body FROM ledger_event ORDER BY at, writer, seq"
        events = [json.loads(str(row[0])) for row in view.rows(query)]
    reader = Reader(events, str(WINDOW.since), str(WINDOW.until))
    assert told(answer)["S-SLO-2"] == reader.rolled_back()
    assert told(answer)["failures"] == reader.failures() != []
    assert told(answer)["violations"] == reader.violations()
    assert reader.is_go() is answer.is_go is False


def test_a_ledger_that_was_tampered_with_is_a_no_go(store: Store) -> None:
    """CONTRACTS §4-signoff: an event that was dropped, and everything left is a GO otherwise."""
    database, story = store.open(), good_story()
    story.add("machine.registered", {"machineId": WRITER, "hostName": "host"})
    story.checked("valid")
    put_raw(database, story.rows())
    assert signoff_answer(History(database), WINDOW).is_go
    with database.writing() as transaction:
        transaction.run("DELETE FROM ledger_event WHERE type = 'machine.registered'")
    answer = signoff_answer(History(database), WINDOW)
    assert [each.kind for each in answer.integrity] == ["chain"]
    assert "is missing" in answer.integrity[0].why
    assert answer.verdict == "NO-GO"


@pytest.mark.parametrize("minute", [HOUR, HOUR + 1, 100_000])
def test_a_violation_that_seems_yet_to_come_is_in_the_window_of_now(
    store: Store, minute: int
) -> None:
    """CONTRACTS §4-s-slo-3: one machine's clock is ahead, or this one was set back; named ends stay as named."""
    database, story = store.open(), good_story()
    violation = story.rejected(minute=minute)
    put_raw(database, story.rows_as_recorded())
    history = History(database)
    assert signoff_answer(history, WINDOW).is_go
    moved = behind_the_latest(WINDOW, history)
    assert moved.until.since(moved.since) == WINDOW.until.since(WINDOW.since)
    answer = signoff_answer(history, moved)
    assert [each["eventId"] for each in answer.violations] == [violation]
    assert not answer.is_go


def test_the_window_of_now_stays_where_nothing_seems_yet_to_come(store: Store) -> None:
    """CONTRACTS §4-signoff: also without a ledger, and where the latest time cannot be read."""
    database = store.open()
    assert behind_the_latest(WINDOW, None) == behind_the_latest(WINDOW, History(database)) == WINDOW
    story = good_story()
    story.events[-1]["timestampUtc"] = "soon"
    put_raw(database, story.rows_as_recorded())
    history = History(database)
    assert behind_the_latest(WINDOW, history) == WINDOW
    assert not signoff_answer(history, WINDOW).is_go


def test_an_unresolved_violation_and_an_approval_are_never_archived(store: Store) -> None:
    """MODULES §metric-violation: an archive would make a GO of a NO-GO."""
    database, story = store.open(), good_story()
    story.rejected(minute=-100)
    story.add("machine.registered", {"machineId": WRITER, "hostName": "host"}, -50)
    put_raw(database, story.rows())
    record = record_of(database, all_before(0))
    assert record.events == 1
    answer = signoff_answer(History(database), WINDOW)
    assert answer.reasons == ("S-SLO-3 is missed",)


def test_without_a_ledger_nothing_is_known() -> None:
    """CONTRACTS §4-unknown: which is a NO-GO."""
    answer = signoff_answer(None, WINDOW)
    assert answer.verdict == "NO-GO"
    assert answer.events == 0


@pytest.mark.parametrize(
    ("window", "until", "since", "end"),
    [
        (None, None, "2025-12-26T00:00:00.000Z", "2026-01-02T00:00:00.000Z"),
        ("1h", "2026-01-01T01:00:00Z", str(WINDOW.since), str(WINDOW.until)),
        ("2weeks", "1d", "2025-12-18T00:00:00.000Z", "2026-01-01T00:00:00.000Z"),
    ],
)
def test_a_window_is_asked_for_in_words(
    window: str | None, until: str | None, since: str, end: str
) -> None:
    """CONTRACTS §4-signoff: the last seven days unless it is said otherwise."""
    asked = asked_window(ManualClock(NOW), window, until)
    assert (str(asked.since), str(asked.until)) == (since, end)


@pytest.mark.parametrize(
    ("window", "until"),
    [("7", None), ("week", None), ("0d", None), ("-1d", None), (None, "soon"),
     (None, "2026-01-02T00:00:00.001Z"), (None, "1960-01-01T00:00:00Z")],
)  # fmt: skip
def test_a_window_that_is_none_is_refused(window: str | None, until: str | None) -> None:
    """Before anything is opened; one that ends in time to come would have another answer tomorrow."""
    with pytest.raises(UsageProblem):
        asked_window(ManualClock(NOW), window, until)


def journal_of(store: Store) -> Journal:
    """The ledger, to record in."""
    ledger = Ledger(store.open(), WRITER)
    return Journal(ledger, Uuid7Ids(SystemClock()), ManualClock(NOW), CONTEXT)


def test_a_violation_is_resolved_and_then_it_is_a_go(store: Store) -> None:
    """CONTRACTS §4-s-slo-3: with a root cause and a corrective action, recorded after the window."""
    story = good_story()
    violation = story.rejected(writer=1)
    assert answer_of(store, story).reasons == ("S-SLO-3 is missed",)
    journal = journal_of(store)
    recorded = resolve_violation(journal, Resolution(violation, "unchecked path", "checked"))
    answer = signoff_answer(journal.ledger.history, WINDOW)
    assert answer.is_go
    assert answer.resolutions == (recorded,)


def test_only_a_violation_of_real_use_can_be_resolved(store: Store) -> None:
    """CONTRACTS §4-s-slo-3: no other event, none of a fixture, and none that is not there."""
    story = Story()
    others = [
        story.rejected(tags=DRILL),
        story.rejected(reason="capability-not-granted"),
        story.approved(),
        sample_id("event", 999),
        "event-\x1b[2J",
    ]
    real = story.rejected()
    put_raw(store.open(), story.rows())
    journal = journal_of(store)
    found = []
    for event_id in others:
        with pytest.raises(UsageProblem) as caught:
            resolve_violation(journal, Resolution(event_id, "x", "y"))
        found.append(caught.value.code)
    assert found == [Code.SIGNOFF_EVENT] * 3 + [Code.EVENT_UNKNOWN] * 2
    for said in (("", "y"), ("x", " \n")):
        with pytest.raises(UsageProblem, match="says nothing"):
            resolve_violation(journal, Resolution(real, *said))
    assert len(list(journal.ledger.history.events())) == len(story.events)
    assert str(require_violation(journal, real)) == time_at(3)


_PEAK = """
import sys
from pathlib import Path
from consentry.store.history import History
from consentry.store.sqlite import Access, SqliteDatabase
from consentry.service.signoff import signoff_answer
from tests.record.signoffsamples import WINDOW
answer = signoff_answer(History(SqliteDatabase(Path(sys.argv[1]), Access.READ)), WINDOW)
assert not answer.integrity, answer.integrity[:2]
[peak] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(answer.events, peak)
"""


def _peak(path: Path) -> tuple[int, int]:
    words = [sys.executable, "-c", _PEAK, str(path)]
    done = subprocess.run(words, check=True, capture_output=True, text=True, cwd=Path.cwd())
    events, peak = done.stdout.split()
    return int(events), int(peak)


def test_memory_does_not_grow_with_the_ledger(tmp_path: Path) -> None:
    """CONTRACTS §4-signoff: four times as many attempts, sessions and runs, about the same room."""
    peaks = {}
    for number in (2_000, 8_000):
        story = Story()
        story.approved()
        for each in range(number):
            story.attempt(f"tx-{each}", UNDONE[2:], 5)
            story.used(each, session=f"session-{each}")
        database = SqliteDatabase(tmp_path / f"{number}.db")
        migrate(database)
        put_raw(database, story.rows_as_recorded())
        database.close()
        events, peaks[number] = _peak(database.path)
        assert events == len(story.events)
    # A dictionary of the 18,000 states more would take over 20 MiB.
    assert peaks[8_000] - peaks[2_000] < 4 * 1024
