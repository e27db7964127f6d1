"""When a session is over: its process gone, twelve hours, or somebody's word."""

from dataclasses import replace

import pytest

from consentry.base.clock import Instant
from consentry.decide.session import LONGEST, EndedWhy, Leader, SessionKind
from tests.decide.samples import LEADER, MACHINE, NOW, OTHER_MACHINE, session

END = NOW.plus(LONGEST)


def is_alive(leader: Leader) -> bool:
    """Only that very process."""
    return leader == LEADER


def is_gone(_leader: Leader) -> bool:
    """No process is left."""
    return False


def test_it_goes_on_while_its_leader_lives() -> None:
    """Up to twelve hours."""
    assert session().why_over(NOW, MACHINE, is_alive) is None
    assert session().why_over(END, MACHINE, is_alive) is None


def test_it_is_over_when_its_leader_is_gone() -> None:
    """A process with the same number from another time or boot is another process."""
    assert session().why_over(NOW, MACHINE, is_gone) is EndedWhy.PROCESS_GONE
    for other in (replace(LEADER, started_at_ticks=78), replace(LEADER, boot_id="later")):
        now_led_by = replace(session(), leader=other)
        assert now_led_by.why_over(NOW, MACHINE, is_alive) is EndedWhy.PROCESS_GONE


def test_it_is_over_after_twelve_hours() -> None:
    """On a terminal; an object or a connection has its own end."""
    late = Instant(END.unix_ms + 1)
    assert session().why_over(late, MACHINE, is_alive) is EndedWhy.AGE
    for kind in (SessionKind.LIBRARY, SessionKind.MCP):
        assert session(kind).why_over(late, MACHINE, is_gone) is None


def test_nobody_judges_a_process_of_another_machine() -> None:
    """Its numbers mean nothing here."""
    assert session().why_over(NOW, OTHER_MACHINE, is_gone) is None


@pytest.mark.parametrize("why", list(EndedWhy))
def test_an_ended_session_says_why(why: EndedWhy) -> None:
    """And is not open."""
    ended = session().ended(END, why)
    assert (ended.is_open, ended.ended_at, ended.ended_why) == (False, END, why)


def test_a_clock_that_went_back_ends_it_when_it_began() -> None:
    """No session ends before its start."""
    assert session().ended(Instant(0), EndedWhy.ENDED).ended_at == NOW
