"""Events that leave the ledger: which ones, all together, once, and with their hashes left behind."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from threading import Barrier, Thread

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused
from consentry.record.checkpoint import make_head
from consentry.record.events import EventType
from consentry.store import archive
from consentry.store.archive import (
    NEVER_ARCHIVED,
    Selection,
    archived_rows,
    at_most,
    chosen,
    chosen_events,
    own_spans,
)
from consentry.store.ledger import Ledger
from consentry.store.steps import Step
from tests.record.payloads import kept_for, sample_id
from tests.record.samples import WRITER, Drafts
from tests.store.archiving import (
    OTHER,
    all_before,
    at_second,
    count_of,
    draft_of,
    record_of,
    taken_out,
)
from tests.store.conftest import Store

LONG_AGO = Selection(at_second(0), at_second(0))


def heads_of(ledger: Ledger) -> list[int]:
    """How long the chains are; that everything verifies is asserted."""
    heads = ledger.history.verify()
    assert isinstance(heads, list), heads
    return [head.seq for head in heads]


def seqs(ledger: Ledger, selection: Selection) -> list[int]:
    """The places of what the selection has."""
    with ledger.database.reading() as view:
        return [row.seq for row in chosen_events(view, selection)]


def filled(ledger: Ledger, count: int) -> Drafts:
    """So many events, a second apart."""
    drafts = Drafts()
    ledger.append(*(drafts.make(n=number) for number in range(count)))
    return drafts


def test_what_is_older_than_the_moment_is_chosen(ledger: Ledger) -> None:
    """The event of that very moment is not."""
    filled(ledger, 6)
    assert seqs(ledger, all_before(4)) == [1, 2, 3]
    assert seqs(ledger, LONG_AGO) == []
    with ledger.database.reading() as view:
        [only] = chosen(view, all_before(4))
    assert only == (WRITER, 3, 1, 3, str(at_second(1)), str(at_second(3)))


def test_some_kinds_never_leave(ledger: Ledger) -> None:
    """Records of archives and checkpoints, and whatever a table is filled from."""
    drafts = Drafts()
    ledger.append(*(draft_of(drafts, EventType(kind)) for kind in NEVER_ARCHIVED), drafts.make())
    assert seqs(ledger, all_before(100)) == [len(NEVER_ARCHIVED) + 1]
    assert EventType.PERMISSION_ESCALATION_DECIDED in NEVER_ARCHIVED
    assert EventType.WORKFLOW_PATTERN_SAVED in NEVER_ARCHIVED


def test_an_event_may_say_itself_how_long_it_stays(ledger: Ledger) -> None:
    """A longer time of its own keeps it; without a general moment, only such events go."""
    drafts, tool = Drafts(), EventType.TOOL_AUDIT
    spans: list[dict[str, object]] = [kept_for("1s"), kept_for("90d"), {}]
    spans += [kept_for(7), kept_for("'; DROP TABLE ledger_event; --")]
    ledger.append(drafts.make(), *(draft_of(drafts, tool, **span) for span in spans))
    with ledger.database.reading() as view:
        found = own_spans(view, at_second(100))
        assert own_spans(view, at_second(2)) == []
    assert sorted(found) == ["'; DROP TABLE ledger_event; --", "1s", "7", "90d"]
    limits = {"1s": at_second(50), "90d": at_second(0)}
    assert seqs(ledger, Selection(at_second(100), at_second(100), limits)) == [1, 2, 4, 5, 6]
    assert seqs(ledger, Selection(at_second(100), None, limits)) == [2]
    assert seqs(ledger, Selection(at_second(2), None, limits)) == []


def test_what_became_of_an_effect_stays_as_long_as_any_entry(ledger: Ledger) -> None:
    """CONSENT §manifest-6: no entry that stays loses the event that says it was committed."""
    drafts = Drafts()
    kinds = (EventType.EFFECT_DECIDED, EventType.EFFECT_SETTLED)
    entry = draft_of(drafts, EventType.TOOL_AUDIT, **kept_for("90d"))
    ledger.append(entry, *(draft_of(drafts, kind) for kind in kinds), drafts.make())
    limits = {"90d": at_second(0)}
    assert seqs(ledger, Selection(at_second(100), at_second(100), limits)) == [4]
    assert seqs(ledger, Selection(at_second(100), at_second(100), {})) == [1, 2, 3, 4]
    assert seqs(ledger, Selection(at_second(100), None, limits)) == []


def test_a_time_that_cannot_be_read_stops_nothing(ledger: Ledger) -> None:
    """A NUL in it, an object, a text without end: the event goes with the others."""
    drafts, tool = Drafts(), EventType.TOOL_AUDIT
    spans: list[object] = ["1s\0", {"a": [1]}, "9" * 9999, None, "\u202e1d", True]
    ledger.append(*(draft_of(drafts, tool, **kept_for(span)) for span in spans))
    with ledger.database.reading() as view:
        assert len(own_spans(view, at_second(100))) == 5
    assert seqs(ledger, all_before(100)) == [1, 2, 3, 4, 5, 6]


def test_one_archive_takes_the_oldest_when_there_are_too_many(ledger: Ledger) -> None:
    """By time, not by half a moment; events of one moment stay together."""
    drafts = filled(ledger, 5)
    same = [replace(drafts.make(), timestamp=at_second(20)) for _ in range(3)]
    ledger.append(*same)
    with ledger.database.reading() as view:
        assert at_most(view, all_before(100), 8) == all_before(100)
        three = at_most(view, all_before(100), 3)
        six = at_most(view, all_before(100), 6)
        all_at_once = Selection(at_second(21), None, {})
        assert at_most(view, all_at_once, 2) == all_at_once
    assert seqs(ledger, three) == [1, 2, 3]
    assert seqs(ledger, six) == [1, 2, 3, 4, 5]


def test_archived_events_leave_their_hashes_and_nothing_else_changes(store: Store) -> None:
    """On two chains at once: every place is taken, every head and root is as before."""
    ledger, other = Ledger(store.open(), WRITER), Ledger(store.open(), OTHER)
    drafts = filled(ledger, 8)
    other.append(*(drafts.make(n=number) for number in range(4)))
    before = {name: list(ledger.history.hashes(name, 99)) for name in (WRITER, OTHER)}
    heads = {name: make_head(name, found) for name, found in before.items()}
    record = taken_out(ledger, drafts, all_before(11))
    assert [(part.writer, part.events) for part in record.parts] == [(WRITER, 8), (OTHER, 2)]
    assert heads_of(ledger) == [9, 4]
    assert sorted(row.seq for row in ledger.history.events()) == [3, 4, 9]
    for name, head in heads.items():
        assert make_head(name, ledger.history.hashes(name, head.size)) == head
    with ledger.database.reading() as view:
        left = list(archived_rows(view, record.archive_id))
    assert [row.hash for row in left] == before[WRITER] + before[OTHER][:2]
    assert ledger.history.archive_of(left[0].event_id) == record.archive_id


def test_archives_follow_one_another(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """With events in between that stayed, page after page."""
    monkeypatch.setattr(archive, "_PAGE", 2)
    drafts = Drafts()
    kept = EventType.PERMISSION_ESCALATION_DECIDED
    ledger.append(*(draft_of(drafts, kept) if n % 3 == 2 else drafts.make() for n in range(12)))
    for number, before in enumerate((5, 9, 13), 1):
        record = record_of(ledger.database, all_before(before), number)
        taken_out(ledger, drafts, all_before(before), record)
    assert heads_of(ledger) == [15]
    assert [row.seq for row in ledger.history.events()] == [3, 6, 9, 12, 13, 14, 15]
    with ledger.database.reading() as view:
        first = list(archived_rows(view, sample_id("archive", 1)))
    assert [row.seq for row in first] == [1, 2, 4]


def refused(act: Callable[[], object]) -> None:
    """Asserts that it is refused as a race."""
    with pytest.raises(Refused) as caught:
        act()
    assert caught.value.code is Code.RETAIN_RACED


def test_an_archive_that_does_not_hold_them_takes_nothing_out(ledger: Ledger) -> None:
    """One event more, one less, or others: the ledger is as before, and goes on."""
    drafts = filled(ledger, 6)
    others = [record_of(ledger.database, all_before(n)) for n in (3, 5)]
    one = others[0].parts[0]
    forged = replace(record_of(ledger.database, all_before(4)).parts[0], root=one.root)
    others.append(replace(others[0], parts=(forged,)))
    for record in others:
        refused(lambda record=record: taken_out(ledger, drafts, all_before(4), record))  # type: ignore[misc]
    assert heads_of(ledger) == [6]
    assert count_of(ledger.database, "archived_event") == 0
    ledger.append(drafts.make())
    assert heads_of(ledger) == [7]


def test_an_old_event_that_came_meanwhile_is_not_lost(ledger: Ledger) -> None:
    """A clock that was behind: the archive does not hold it, so it is not taken out."""
    drafts = filled(ledger, 4)
    record = record_of(ledger.database, all_before(4))
    ledger.append(replace(drafts.make(), timestamp=at_second(2)))
    refused(lambda: taken_out(ledger, drafts, all_before(4), record))
    assert seqs(ledger, all_before(4)) == [1, 2, 3, 5]


def test_of_two_that_archive_at_once_one_does(store: Store) -> None:
    """Each with its own archive of the same events; the other changes nothing."""
    filled(Ledger(store.open(), WRITER), 50)
    ready, problems = Barrier(2), []

    def archive_it(writer: str, number: int) -> None:
        ledger, drafts = Ledger(store.open(), writer), Drafts()
        for _ in range(100 * number):
            drafts.make()
        record = record_of(ledger.database, all_before(40), number)
        ready.wait()
        try:
            taken_out(ledger, drafts, all_before(40), record)
        except ConsentryError as problem:
            problems.append(problem)

    threads = [Thread(target=archive_it, args=each) for each in ((WRITER, 1), (OTHER, 2))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [problem.code for problem in problems] == [Code.RETAIN_RACED]
    ledger = Ledger(store.open(), WRITER)
    assert sum(heads_of(ledger)) == 51
    assert count_of(ledger.database, "archived_event") == 39


@pytest.mark.parametrize("step", [step for step in Step if step is not Step.QUEUED], ids=str)
def test_a_process_killed_at_any_step_has_moved_all_or_nothing(store: Store, step: Step) -> None:
    """The chain verifies, every hash is there, and archiving again does what is left to do."""
    ledger = Ledger(store.open(), WRITER)
    filled(ledger, 20)
    before = list(ledger.history.hashes(WRITER, 99))
    program = [sys.executable, "-m", "tests.store.archiving"]
    killed = subprocess.run([*program, str(store.url_or_path), step.name, "21"], check=False)
    assert killed.returncode == -9
    is_moved = step in (Step.COMMITTED, Step.SYNCED)
    again = Ledger(store.open(), WRITER)
    assert heads_of(again) == [21 if is_moved else 20]
    assert count_of(again.database, "archived_event") == (20 if is_moved else 0)
    assert list(again.history.hashes(WRITER, 20)) == before
    drafts = Drafts()
    for _ in range(30):
        drafts.make()
    taken_out(again, drafts, all_before(21), record_of(again.database, all_before(21), 2))
    assert heads_of(again) == [22 if is_moved else 21]
