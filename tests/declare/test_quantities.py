"""Limits: sizes and times need a unit, CPU time may be seconds, nothing is zero (CONTRACTS §12)."""

from collections.abc import Callable

import pytest

from consentry.base.units import Duration, Size
from consentry.declare import quantities
from consentry.declare.reader import read_document
from consentry.declare.values import Value
from tests.declare.reading import problems_with

Way = Callable[[Value], object]


@pytest.mark.parametrize(
    ("way", "written", "value"),
    [
        (quantities.size, "512M", Size(512 * 1024**2)),
        (quantities.size, '"512MB"', Size(512 * 1024**2)),
        (quantities.size, "1K", Size(1024)),
        (quantities.size, "2GB", Size(2 * 1024**3)),
        (quantities.cpu_time, "60", Duration(60_000)),
        (quantities.cpu_time, '"60s"', Duration(60_000)),
        (quantities.cpu_time, "2min", Duration(120_000)),
        (quantities.duration, "30d", Duration(30 * 86_400_000)),
        (quantities.processes, "50", 50),
    ],
)
def test_read(way: Way, written: str, value: object) -> None:
    """K, M and G are powers of 1024, with and without B."""
    assert read_document(written.encode(), "d.yaml", way) == value


@pytest.mark.parametrize(
    ("way", "written", "said"),
    [
        (quantities.size, "512", "this size has no unit; write a unit behind it, such as 512MB"),
        (quantities.size, "0M", "`0B` is no limit; write a size above 0 and below 8388608TB"),
        (
            quantities.size,
            "99999999999T",
            "`99999999999TB` is no limit; write a size above 0 and below 8388608TB",
        ),
        (quantities.duration, "60", "this time has no unit; write a unit behind it, such as 60s"),
        (quantities.duration, "0s", "`0s` is no limit; write a time above 0 and up to 1000000000s"),
        (quantities.cpu_time, "0", "`0` is out of range; write a number from 1 to 1000000000"),
        (quantities.processes, "0", "`0` is out of range; write a number from 1 to 4194304"),
    ],
)
def test_refused(way: Way, written: str, said: str) -> None:
    """A limit that is none, or that could be read in two ways."""
    assert problems_with(written, way) == [f"d.yaml:1:1: {said}"]


@pytest.mark.parametrize("written", ["60S", "1.5G", "-1M", "512 MiB", "lots"])
def test_other_spellings_are_refused(written: str) -> None:
    """By the units of base."""
    assert problems_with(written, quantities.size)
    assert problems_with(written, quantities.duration)
