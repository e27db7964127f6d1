"""The session of this terminal, in a real ledger: one for all commands, ended when it is over."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.base.ids import Uuid7Ids
from consentry.base.units import Duration
from consentry.decide.session import EndedWhy, Leader
from consentry.record.envelope import Context, Draft
from consentry.record.events import EventType
from consentry.service.identity import local_user
from consentry.service.leader import leader_here
from consentry.service.ledgers import ledger_for_writing
from consentry.service.registration import host_name
from consentry.service.sessions import (
    context_of,
    journal_here,
    open_session,
    session_here,
    sessions_of,
)
from consentry.service.surroundings import Surroundings
from consentry.store.ledger import Ledger
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
def ledger(here: Surroundings, clock: ManualClock) -> Iterator[Ledger]:
    """A ledger in the state directory."""
    opened = ledger_for_writing(here, clock)
    yield opened
    opened.close()


def types_in(ledger: Ledger) -> list[object]:
    """The types of all events, in the order of the chain."""
    rows = sorted(ledger.history.events(), key=lambda row: row.seq)
    return [json.loads(row.body)["type"] for row in rows]


def test_a_machine_is_registered_once_and_first(here: Surroundings, ledger: Ledger) -> None:
    """Opening the ledger again records nothing more."""
    again = ledger_for_writing(here)
    again.close()
    assert types_in(ledger) == ["machine.registered"]
    [row] = ledger.history.events()
    event = json.loads(row.body)
    assert event["payload"]["machineId"] == event["machineId"] == event["writer"] == ledger.writer
    assert event["payload"]["hostName"] == host_name()
    assert event["actor"] == local_user(here, ledger.writer)


def test_all_commands_of_a_terminal_share_its_session(
    here: Surroundings, ledger: Ledger, clock: ManualClock
) -> None:
    """It is started once; the context of every event names it."""
    ids = Uuid7Ids(clock)
    session = session_here(here, ledger, clock, ids)
    assert session_here(here, ledger, clock, ids) == session
    assert session.leader == leader_here()
    context = context_of(here, ledger, clock, ids)
    assert context == Context(local_user(here, ledger.writer), ledger.writer, session.session_id)
    assert types_in(ledger) == ["machine.registered", "session.started"]


def test_looking_for_a_session_starts_none(
    here: Surroundings, ledger: Ledger, clock: ManualClock
) -> None:
    """Only what records something does."""
    sessions = sessions_of(here, ledger, clock, Uuid7Ids(clock))
    user = local_user(here, ledger.writer)
    assert open_session(sessions, user, ledger.writer) is None
    started = session_here(here, ledger, clock, Uuid7Ids(clock))
    assert open_session(sessions, user, ledger.writer) == started
    assert open_session(sessions, user, "machine-" + "9" * 32) is None


def test_a_session_whose_process_is_gone_is_ended_by_whoever_looks(
    here: Surroundings, ledger: Ledger, clock: ManualClock
) -> None:
    """A real process that has ended; the session of this terminal goes on."""
    ids = Uuid7Ids(clock)
    sessions = sessions_of(here, ledger, clock, ids)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    gone = Leader(ended.pid, 1, leader_here().boot_id)
    lost = sessions.for_leader(local_user(here, ledger.writer), gone)
    mine = session_here(here, ledger, clock, ids)
    found = {each.session_id: each.ended_why for each in sessions.history()}
    assert found == {lost.session_id: EndedWhy.PROCESS_GONE, mine.session_id: None}


def test_after_twelve_hours_a_new_session_begins(
    here: Surroundings, ledger: Ledger, clock: ManualClock
) -> None:
    """The terminal is the same; what was given for the session is not."""
    ids = Uuid7Ids(clock)
    first = session_here(here, ledger, clock, ids)
    clock.advance(Duration.parse("12h"))
    assert session_here(here, ledger, clock, ids) == first
    clock.advance(Duration.parse("1ms"))
    second = session_here(here, ledger, clock, ids)
    assert second.session_id != first.session_id
    old = sessions_of(here, ledger, clock, ids).find(first.session_id)
    assert old is not None
    assert old.ended_why is EndedWhy.AGE


RECORD = """
import os
from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.service.sessions import journal_here
from consentry.service.surroundings import look_around
clock = SystemClock()
journal = journal_here(look_around(os.environ), clock, Uuid7Ids(clock))
print(journal.context.session_id)
journal.ledger.close()
"""


def test_processes_that_race_agree_on_one_session(here: Surroundings) -> None:
    """Four at once, on a state directory that is not there yet."""
    environ = {**here.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", RECORD], env=environ, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    said = [process.communicate()[0].strip() for process in started]
    assert len(set(said)) == 1
    assert said[0].startswith("session-")
    ledger = ledger_for_writing(here)
    assert types_in(ledger) == ["machine.registered", "session.started"]
    ledger.close()


def test_another_session_leader_has_another_session(here: Surroundings) -> None:
    """Each `setsid` is a login of its own, and over when its process is."""
    environ = {**here.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, "-c", RECORD]
    said = {
        subprocess.run(
            words, env=environ, capture_output=True, text=True, check=True, start_new_session=True
        ).stdout
        for _ in range(2)
    }
    assert len(said) == 2
    ledger = ledger_for_writing(here)
    recorded = types_in(ledger)
    ledger.close()
    assert recorded.count("session.started") == 2
    assert recorded.count("session.ended") == 1, "the second run found the first one gone"


def test_what_is_recorded_under_the_context_names_it(
    here: Surroundings, clock: ManualClock, home: Path
) -> None:
    """One call opens the ledger and gives all that an event needs."""
    ids = Uuid7Ids(clock)
    journal = journal_here(here, clock, ids)
    payload = {"what": "nothing", "count": 0}
    event_type = EventType.LEDGER_PURGED
    draft = Draft(ids.new("event"), event_type, clock.now(), "x", journal.context, payload)
    [linked] = journal.ledger.append(draft)
    journal.ledger.close()
    event = json.loads(linked.body)
    assert event["sessionId"] == journal.context.session_id
    assert event["actor"] == local_user(here, journal.ledger.writer)
    assert (home / ".local/state/consentry/machine-id").read_text().strip() == event["machineId"]
