"""Instants and clocks (CONTRACTS §9 time)."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.clock import Instant, ManualClock, SystemClock
from consentry.base.errors import BadInput
from consentry.base.units import Duration

FIRST, LAST = "0001-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"


@contextmanager
def local_time(zone: str) -> Iterator[None]:
    """This process as if it ran there."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = zone
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ")
        if before is not None:
            os.environ["TZ"] = before
        time.tzset()


def test_the_wire_form() -> None:
    """ISO-8601, UTC, milliseconds, Z."""
    assert str(Instant(0)) == "1970-01-01T00:00:00.000Z"
    assert str(Instant(1_734_085_800_000)) == "2024-12-13T10:30:00.000Z"
    assert str(Instant(-1)) == "1969-12-31T23:59:59.999Z"


@pytest.mark.parametrize(
    ("zone", "winter", "summer"),
    [
        ("EST5EDT,M3.2.0,M11.1.0", "2026-01-15 07:00:01-05:00", "2026-07-15 18:30:01-04:00"),
        ("IST-5:30", "2026-01-15 17:30:01+05:30", "2026-07-16 04:00:01+05:30"),
        ("UTC0", "2026-01-15 12:00:01+00:00", "2026-07-15 22:30:01+00:00"),
    ],
)
def test_the_shown_form(zone: str, winter: str, summer: str) -> None:
    """CONTRACTS §9-time-1: local, with the offset of that day; the wire form stays in UTC."""
    moments = ("2026-01-15T12:00:01.999Z", "2026-07-15T22:30:01.000Z")
    with local_time(zone):
        assert tuple(Instant.parse(moment).shown() for moment in moments) == (winter, summer)
        assert tuple(str(Instant.parse(moment)) for moment in moments) == moments


@pytest.mark.parametrize("zone", ["EST5", "IST-5:30"])
def test_the_first_and_the_last_moment_can_be_shown(zone: str) -> None:
    """Where the local year would be none, in UTC; the offset says so."""
    with local_time(zone):
        first, last = (Instant.parse(at).shown() for at in (FIRST, LAST))
    assert first in {"0001-01-01 00:00:00+00:00", "0001-01-01 05:30:00+05:30"}
    assert last in {"9999-12-31 23:59:59+00:00", "9999-12-31 18:59:59-05:00"}


@given(st.integers(min_value=-62_135_596_800_000, max_value=253_402_300_799_999))
def test_instants_read_back(unix_ms: int) -> None:
    """Every instant of the years 1 to 9999, and text order is time order."""
    instant = Instant(unix_ms)
    assert Instant.parse(str(instant)) == instant
    if unix_ms < 253_402_300_799_999:
        assert str(instant) < str(Instant(unix_ms + 1))


def test_the_fraction_may_be_left_out() -> None:
    """Documents written by people rarely have one."""
    assert Instant.parse("2024-12-13T10:30:00Z") == Instant(1_734_085_800_000)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2024-12-13",
        "2024-12-13T10:30:00",
        "2024-12-13T10:30:00+00:00",
        "2024-12-13 10:30:00Z",
        "2024-13-01T00:00:00Z",
        "2024-02-30T00:00:00Z",
        "2024-12-13T10:30:00.0Z",
        "\uff12024-12-13T10:30:00Z",
        "2024-12-13T10:30:00Z\n",
    ],
)
def test_other_spellings_are_refused(text: str) -> None:
    """One wire form: a zone left out or spelled otherwise is an error, not a guess."""
    with pytest.raises(BadInput) as caught:
        Instant.parse(text)
    assert caught.value.code == "timestamp"


def test_years_beyond_four_digits_are_refused() -> None:
    """Adding a huge duration says so instead of wrapping."""
    with pytest.raises(BadInput):
        str(Instant(0).plus(Duration(10**18)))


def system_clock(wall: list[int], steady: list[int]) -> SystemClock:
    """A system clock over two hands that the test moves, in milliseconds."""
    return SystemClock(lambda: wall[0] * 1_000_000, lambda: steady[0] * 1_000_000)


def test_a_clock_set_back_expires_nothing_early_and_extends_nothing() -> None:
    """Time goes on by the steady clock, so a deadline is met after the time it was given."""
    wall, steady = [10_000], [0]
    clock = system_clock(wall, steady)
    deadline = clock.now().plus(Duration(5000))
    wall[0], steady[0] = 2_000, 1_000
    assert clock.now() == Instant(11_000)
    wall[0], steady[0] = 5_000, 4_000
    assert clock.now() == Instant(14_000)
    assert clock.now() < deadline
    wall[0], steady[0] = 6_500, 5_500
    assert clock.now() > deadline


def test_a_clock_that_catches_up_is_believed_again() -> None:
    """Once the wall clock passes the last instant given out, it is the truth again."""
    wall, steady = [10_000], [0]
    clock = system_clock(wall, steady)
    wall[0], steady[0] = 9_000, 100
    assert clock.now() == Instant(10_100)
    wall[0], steady[0] = 20_000, 200
    assert clock.now() == Instant(20_000)


def test_the_real_clock_never_goes_back() -> None:
    """Ten thousand readings ascend."""
    clock = SystemClock()
    readings = [clock.now() for _ in range(10_000)]
    assert readings == sorted(readings)


def test_a_manual_clock_moves_only_when_told() -> None:
    """For tests and replays."""
    clock = ManualClock(Instant(5))
    clock.advance(Duration(10))
    assert clock.now() == Instant(15)
    clock.set_to(Instant(1))
    assert clock.now().since(Instant(15)) == Duration(0)
