"""Sessions in a real store: one for each terminal, ended by whoever looks first."""

from dataclasses import replace

import pytest

from consentry.base.clock import ManualClock
from consentry.base.errors import BadInput, ConsentryError
from consentry.base.units import Duration
from consentry.decide.session import EndedWhy, SessionKind
from consentry.store.ledger import Ledger
from tests.decide.samples import (
    APPROVER,
    LEADER,
    NOW,
    OTHER_MACHINE,
    OWNER,
    sample_id,
)
from tests.store.conftest import Store
from tests.store.keepers import Keepers, events, pass_time, types

TWELVE_HOURS = Duration(12 * 3_600_000)


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """Everything that keeps, on a clock that moves when told to."""
    return Keepers(ledger, ManualClock(NOW))


def test_a_terminal_has_one_session(keepers: Keepers, store: Store) -> None:
    """Every process below the same leader finds it; it is started and recorded once."""
    session = keepers.sessions.for_leader(OWNER, LEADER)
    again = Keepers(Ledger(store.open(), keepers.machine_id), keepers.clock)
    assert again.sessions.for_leader(OWNER, LEADER) == session
    assert keepers.sessions.find(session.session_id) == session
    [event] = events(keepers.ledger)
    assert event["payload"] == session.to_json()
    assert (event["type"], event["sessionId"]) == ("session.started", session.session_id)


def test_another_leader_user_or_machine_has_another_session(keepers: Keepers, store: Store) -> None:
    """The same process number from another time or boot, too."""
    elsewhere = keepers.elsewhere(OTHER_MACHINE, store.open())
    sessions = [
        keepers.sessions.for_leader(OWNER, LEADER),
        keepers.sessions.for_leader(APPROVER, LEADER),
        keepers.sessions.for_leader(OWNER, replace(LEADER, pid=1)),
        keepers.sessions.for_leader(OWNER, replace(LEADER, started_at_ticks=1)),
        keepers.sessions.for_leader(OWNER, replace(LEADER, boot_id="other")),
        elsewhere.sessions.for_leader(OWNER, LEADER),
    ]
    assert len({session.session_id for session in sessions}) == 6
    assert len(keepers.sessions.open()) == 6


def test_a_session_whose_process_is_gone_is_ended_by_whoever_looks(keepers: Keepers) -> None:
    """By finding it, by listing, or by coming back to the terminal; once."""
    for look in (
        lambda each: keepers.sessions.find(each.session_id),
        lambda _each: keepers.sessions.open(),
        lambda _each: keepers.sessions.for_leader(OWNER, LEADER),
    ):
        keepers.processes.gone.clear()
        session = keepers.sessions.for_leader(OWNER, LEADER)
        keepers.processes.gone.add(LEADER)
        before = types(keepers.ledger).count("session.ended")
        look(session)
        found = keepers.sessions.find(session.session_id)
        assert found is not None
        assert found.ended_why is EndedWhy.PROCESS_GONE
        assert types(keepers.ledger).count("session.ended") == before + 1


def test_a_terminal_whose_session_is_over_gets_a_new_one(keepers: Keepers) -> None:
    """After twelve hours, or after somebody ended it."""
    first = keepers.sessions.for_leader(OWNER, LEADER)
    pass_time(keepers, TWELVE_HOURS)
    assert keepers.sessions.for_leader(OWNER, LEADER) == first
    pass_time(keepers, Duration(1))
    second = keepers.sessions.for_leader(OWNER, LEADER)
    old = keepers.sessions.find(first.session_id)
    assert old is not None
    assert (old.ended_why, second.is_open) == (EndedWhy.AGE, True)
    keepers.sessions.end(second.session_id)
    third = keepers.sessions.for_leader(OWNER, LEADER)
    assert len({first.session_id, second.session_id, third.session_id}) == 3


def test_a_session_of_another_machine_is_not_judged_by_our_processes(
    keepers: Keepers, store: Store
) -> None:
    """But its age is the same everywhere."""
    theirs = keepers.elsewhere(OTHER_MACHINE, store.open()).sessions.for_leader(OWNER, LEADER)
    keepers.processes.gone.add(LEADER)
    assert keepers.sessions.find(theirs.session_id) == theirs
    pass_time(keepers, Duration(TWELVE_HOURS.milliseconds + 1))
    found = keepers.sessions.find(theirs.session_id)
    assert found is not None
    assert found.ended_why is EndedWhy.AGE


@pytest.mark.parametrize("kind", [SessionKind.LIBRARY, SessionKind.MCP])
def test_an_object_or_connection_has_a_session_of_its_own(
    keepers: Keepers, kind: SessionKind
) -> None:
    """As many as are started; with a process, it ends with that."""
    first, second = (keepers.sessions.start(OWNER, kind) for _ in range(2))
    assert list(keepers.sessions.open()) == [first, second]
    tied = keepers.sessions.start(OWNER, kind, LEADER)
    keepers.processes.gone.add(LEADER)
    assert list(keepers.sessions.open()) == [first, second]
    assert [each.session_id for each in keepers.sessions.history()] == [
        first.session_id,
        second.session_id,
        tied.session_id,
    ]


@pytest.mark.parametrize("why", list(EndedWhy))
def test_an_ended_session_stays_as_it_ended(keepers: Keepers, why: EndedWhy) -> None:
    """Ending it again changes and records nothing."""
    session = keepers.sessions.start(OWNER, SessionKind.MCP)
    ended = keepers.sessions.end(session.session_id, why)
    assert (ended.is_open, ended.ended_why) == (False, why)
    pass_time(keepers, Duration(5))
    assert keepers.sessions.end(session.session_id) == ended
    assert types(keepers.ledger) == ["session.started", "session.ended"]
    assert events(keepers.ledger)[-1]["payload"] == {
        "sessionId": session.session_id,
        "endedAt": str(ended.ended_at),
        "endedWhy": why.value,
    }


def test_what_cannot_be_a_session_is_refused(keepers: Keepers) -> None:
    """An unknown id, a terminal without its leader."""
    with pytest.raises(ConsentryError) as caught:
        keepers.sessions.end(sample_id("session", 99))
    assert caught.value.code == "id-unknown"
    assert keepers.sessions.find("nothing") is None
    with pytest.raises(BadInput, match="kind"):
        keepers.sessions.start(OWNER, SessionKind.TERMINAL)
    assert types(keepers.ledger) == []
