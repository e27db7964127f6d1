"""Appends that end in the middle: the program that a proof starts, and how it is judged afterwards.

The program appends to a store and says on standard output, a line at a time and at once, what it is
about to append (`trying ID …`), what was acknowledged (`told ID …`), what could not be appended and
why (`failed CODE`), and that it has come to the chosen step (`struck`), where it kills itself. Every shape of an append that has a change puts the
ids of its events into the table `appended`, so that the two can be compared.
"""

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread

from consentry.base.errors import LedgerProblem
from consentry.record.envelope import Draft
from consentry.record.events import EventType
from consentry.service.ledgers import ledger_for_writing
from consentry.service.surroundings import look_around
from consentry.store.database import Database, Transaction
from consentry.store.history import EventFilter, History
from consentry.store.ledger import Change, Ledger
from consentry.store.postgres import PostgresDatabase
from consentry.store.sqlite import SqliteDatabase
from consentry.store.steps import Step
from tests.record.payloads import sample_draft
from tests.record.samples import CONTEXT, WRITER, Drafts
from tests.store.ledgers import fresh_drafts

SINGLE, BATCH, CHANGE, THREADS = "single", "batch", "change", "threads"
SHAPES = (SINGLE, BATCH, CHANGE, THREADS)
BEFORE = 3  # how often each thread appends before the stroke falls
THREAD_COUNT = 4
WITH_CHANGE = (CHANGE, THREADS)


@dataclass(frozen=True, slots=True)
class Said:
    """What a program said before it ended; a line that was not finished counts for nothing."""

    tried: tuple[tuple[str, ...], ...]
    told: frozenset[str]
    struck: bool = False
    failed: tuple[str, ...] = ()

    @classmethod
    def read(cls, out: str) -> "Said":
        """From its standard output."""
        lines = [line.split() for line in out.splitlines(keepends=True) if line.endswith("\n")]
        return cls(
            tuple(tuple(ids) for word, *ids in lines if word == "trying"),
            frozenset(each for word, *ids in lines if word == "told" for each in ids),
            ["struck"] in lines,
            tuple(code for word, *codes in lines if word == "failed" for code in codes),
        )

    @classmethod
    def of_events(cls, events: Sequence[str]) -> "Said":
        """As if a program had said that these were acknowledged, one by one."""
        return cls(tuple((each,) for each in events), frozenset(events))


def make_appended(database: Database) -> None:
    """The table that changes write to."""
    with database.writing() as transaction:
        transaction.run("CREATE TABLE IF NOT EXISTS appended (event_id TEXT PRIMARY KEY)")


def drafts_of(shape: str, drafts: Drafts) -> list[Draft]:
    """What one append of that shape records; every second event also fills a table."""
    made = []
    for number in range(1 if shape == SINGLE else 3):
        if number % 2:
            made.append(drafts.make(n=number))
        else:
            drafts.make()
            given = drafts.ids.new("escalation")
            kind = EventType.PERMISSION_ESCALATION_DECIDED
            made.append(sample_draft(kind, drafts.ids, drafts.clock, CONTEXT, id=given))
    return made


def change_of(shape: str, made: Sequence[Draft]) -> Change | None:
    """What changes together with these events, if anything."""
    if shape not in WITH_CHANGE:
        return None

    def note(transaction: Transaction) -> None:
        rows = [(draft.event_id,) for draft in made]
        transaction.run_many("INSERT INTO appended (event_id) VALUES (?)", rows)

    return note


class Stroke:
    """Acts when a step is reached, for the first time after so many others; then never again."""

    def __init__(self, at: Step, act: Callable[[], None], *, passes: int = 0) -> None:
        self.at = at
        self.fell = False
        self._act = act
        self._passes = passes
        self._lock = Lock()

    def __call__(self, step: Step) -> None:
        """Told of every step."""
        with self._lock:
            if step is not self.at or self.fell:
                return
            self._passes -= 1
            if self._passes >= 0:
                return
            self.fell = True
        self._act()


@dataclass(frozen=True, slots=True)
class Kept:
    """Ids of what a store holds: events, rows of `appended` and of `permission_audit_log`."""

    events: list[str]
    changes: Counter[str]
    decisions: Counter[str]


def kept(database: Database) -> Kept:
    """What is there, in one view."""
    with database.reading() as view:
        return Kept(
            [str(row[0]) for row in view.rows("SELECT event_id FROM ledger_event")],
            Counter(str(row[0]) for row in view.rows("SELECT event_id FROM appended")),
            Counter(str(row[0]) for row in view.rows("SELECT id FROM permission_audit_log")),
        )


def require_whole(database: Database, all_said: Sequence[Said], shape: str) -> list[str]:
    """Asserts all that a crash must leave true; returns the ids of the events."""
    found, history = kept(database), History(database)
    events = found.events
    heads = history.verify()
    assert isinstance(heads, list), heads
    assert sum(head.seq for head in heads) == len(events)
    recorded = set(events)
    assert len(recorded) == len(events), "an event is there twice"
    for said in all_said:
        assert said.told <= recorded, "an acknowledged event is missing"
        for together in said.tried:
            assert recorded.isdisjoint(together) or recorded.issuperset(together), "half a batch"
    tried = {each for said in all_said for together in said.tried for each in together}
    assert recorded <= tried, "an event that nobody appended"
    assert found.changes == (Counter(events) if shape in WITH_CHANGE else Counter())
    wanted = EventFilter(type=EventType.PERMISSION_ESCALATION_DECIDED)
    payloads = [json.loads(row.body)["payload"] for row in history.events(wanted)]
    assert found.decisions == Counter(payload["id"] for payload in payloads)
    return events


def append(ledger: Ledger, shape: str) -> Said:
    """One append of that shape, acknowledged."""
    made = drafts_of(shape, fresh_drafts())
    ids = tuple(draft.event_id for draft in made)
    ledger.append(*made, change=change_of(shape, made))
    return Said((ids,), frozenset(ids))


def say(*words: str) -> None:
    """One line, in one system call, so that it is whole or absent."""
    os.write(1, (" ".join(words) + "\n").encode())


def append_and_say(ledger: Ledger, shape: str, drafts: Drafts) -> None:
    """One append of that shape."""
    made = drafts_of(shape, drafts)
    ids = [draft.event_id for draft in made]
    say("trying", *ids)
    ledger.append(*made, change=change_of(shape, made))
    say("told", *ids)


def opened(place: str) -> Database:
    """The store at that path or URL."""
    return SqliteDatabase(Path(place)) if place.startswith("/") else PostgresDatabase(place)


def append_and_crash(place: str, shape: str, step: str) -> None:
    """Appends until the step is reached often enough, then kills itself."""

    def strike() -> None:
        say("struck")
        os.kill(os.getpid(), signal.SIGKILL)

    database = opened(place)
    ledger = Ledger(database, WRITER, Stroke(Step[step], strike, passes=BEFORE))

    def go_on() -> None:
        drafts = fresh_drafts()
        for _ in range(4 * BEFORE):
            append_and_say(ledger, shape, drafts)

    threads = [Thread(target=go_on) for _ in range(THREAD_COUNT if shape == THREADS else 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def append_and_end(place: str, shape: str, times: str) -> None:
    """Appends so many times, and ends in good order."""
    database = opened(place)
    ledger, drafts = Ledger(database, WRITER), fresh_drafts()
    for _ in range(int(times)):
        append_and_say(ledger, shape, drafts)
    database.close()


def append_or_say_why(place: str, shape: str, times: str) -> None:
    """Appends so many times; what cannot be appended is said, and the next is tried all the same."""
    try:
        database = opened(place)
    except LedgerProblem as problem:
        say("failed", problem.code)
        return
    ledger, drafts = Ledger(database, WRITER), fresh_drafts()
    for _ in range(int(times)):
        try:
            append_and_say(ledger, shape, drafts)
        except LedgerProblem as problem:
            say("failed", problem.code)
    database.close()


def append_until_it_fails(place: str, shape: str) -> None:
    """Appends until one cannot be appended, and kills itself at once."""
    ledger, drafts = Ledger(opened(place), WRITER), fresh_drafts()
    try:
        while True:
            append_and_say(ledger, shape, drafts)
    except LedgerProblem as problem:
        say("failed", problem.code)
        os.kill(os.getpid(), signal.SIGKILL)


def use_first(times: str) -> None:
    """As the command would on a new machine: makes the state directory and all in it, and appends."""
    ledger, drafts = ledger_for_writing(look_around(os.environ)), fresh_drafts()
    for _ in range(int(times)):
        append_and_say(ledger, BATCH, drafts)
    ledger.close()


PROGRAMS = {
    "crash": append_and_crash,
    "end": append_and_end,
    "try": append_or_say_why,
    "fail": append_until_it_fails,
    "first": use_first,
}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])
