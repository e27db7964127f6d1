"""Permits: a minute, a machine, one start; and one maker."""

import re
from pathlib import Path

import pytest

import consentry
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.base.units import Duration
from consentry.decide.permit import LONGEST_LIFE, Permit, make_permit
from tests.decide.samples import MACHINE, NOW, OTHER_MACHINE, order, permit, sample_id

SOURCE = Path(consentry.__file__).parent


def refusal(of: Permit, *, machine: str = MACHINE, now: Instant = NOW) -> str:
    """Why it cannot be spent."""
    with pytest.raises(Refused) as caught:
        of.spent("run", machine, now)
    assert caught.value.code is Code.PERMIT_REFUSED
    return caught.value.message


def test_it_is_spent_within_its_minute() -> None:
    """From the moment it was made to its last millisecond."""
    for now in (NOW, permit().expires_at):
        spent = permit().spent("run", MACHINE, now)
        assert (spent.spent_at, spent.spent_by) == (now, "run")


def test_it_is_refused_a_second_time_and_says_who_had_it() -> None:
    """Once means once."""
    assert "was spent by `first`" in refusal(permit().spent("first", MACHINE, NOW))


def test_it_is_refused_after_its_minute() -> None:
    """One millisecond is too old."""
    assert "expired" in refusal(permit(), now=Instant(permit().expires_at.unix_ms + 1))


def test_it_is_refused_on_another_machine() -> None:
    """The permit is made where it is spent."""
    assert MACHINE in refusal(permit(), machine=OTHER_MACHINE)


def test_a_clock_set_back_does_not_lengthen_its_life() -> None:
    """A permit from the future is refused."""
    assert "after the present" in refusal(permit(), now=Instant(NOW.unix_ms - 1))


@pytest.mark.parametrize("milliseconds", [0, LONGEST_LIFE.milliseconds + 1])
def test_no_permit_lives_longer_than_a_minute_or_not_at_all(milliseconds: int) -> None:
    """Whoever asks for it."""
    with pytest.raises(BadInput, match="expiresAt"):
        make_permit(order(), sample_id("permit"), MACHINE, NOW, Duration(milliseconds))


def test_a_permit_may_live_shorter() -> None:
    """Down to a millisecond."""
    short = make_permit(order(), sample_id("permit"), MACHINE, NOW, Duration(1))
    assert short.expires_at == Instant(NOW.unix_ms + 1)


def test_only_this_module_makes_permits() -> None:
    """No other file of the product calls the class."""
    makers = [
        path.relative_to(SOURCE).as_posix()
        for path in sorted(SOURCE.rglob("*.py"))
        if re.search(r"(?<!class )\bPermit\(", path.read_text(encoding="utf-8"))
    ]
    assert makers == ["decide/permit.py"]
    others = [
        path
        for path in SOURCE.rglob("*.py")
        if re.search(r"\bmake_permit\(", path.read_text(encoding="utf-8"))
    ]
    assert {path.relative_to(SOURCE).as_posix() for path in others} == {
        "decide/permit.py",
        "store/permits.py",
    }
