"""Sizes and durations as documents write them (CONTRACTS §12: powers of 1024, seconds of CPU)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import BadInput
from consentry.base.units import Duration, Size


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("512MB", 512 * 1024**2),
        ("512M", 512 * 1024**2),
        ("100m", 100 * 1024**2),
        ("1G", 1024**3),
        ("1GB", 1024**3),
        ("64K", 65_536),
        ("64KB", 65_536),
        ("2T", 2 * 1024**4),
        ("7B", 7),
        ("512 MB", 512 * 1024**2),
    ],
)
def test_sizes(text: str, count: int) -> None:
    """K, M and G are powers of 1024, with or without B, in any case."""
    assert Size.parse(text).count == count


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("60s", 60_000),
        ("500ms", 500),
        ("30d", 30 * 86_400_000),
        ("1hour", 3_600_000),
        ("1day", 86_400_000),
        ("15min", 900_000),
        ("2weeks", 14 * 86_400_000),
        ("0.04s", 40),
        ("1.5s", 1500),
    ],
)
def test_durations(text: str, milliseconds: int) -> None:
    """Every spelling the documents use."""
    assert Duration.parse(text).milliseconds == milliseconds


@pytest.mark.parametrize(
    "text",
    ["", "512", "MB", "-1MB", "1.5MB", "1 M B", "1e3MB", "½G", "\uff11G", "1GiBB", "9" * 30 + "G"],
)
def test_bad_sizes(text: str) -> None:
    """One error with a stable code and what to write instead."""
    with pytest.raises(BadInput) as caught:
        Size.parse(text)
    assert caught.value.code == "unit-size"
    assert "512MB" in caught.value.help_line


@pytest.mark.parametrize(
    "text", ["", "60", "s", "-1s", "1.5d", "0.0004s", "session", "1 month", "30M", "1D"]
)
def test_bad_durations(text: str) -> None:
    """A number without a unit is refused here; the document that allows one knows which it means."""
    with pytest.raises(BadInput) as caught:
        Duration.parse(text)
    assert caught.value.code == "unit-duration"


@given(st.integers(min_value=0, max_value=2**63))
def test_sizes_read_back(count: int) -> None:
    """What is written reads back as the same size."""
    assert Size.parse(str(Size(count))).count == count


@given(st.integers(min_value=0, max_value=2**53))
def test_durations_read_back(milliseconds: int) -> None:
    """What is written reads back as the same duration, in both spellings."""
    duration = Duration(milliseconds)
    assert Duration.parse(str(duration)) == duration
    assert Duration.parse(duration.in_seconds()) == duration


def test_spellings_people_expect() -> None:
    """Round values print round; CPU time prints as the audit entry wants it."""
    assert str(Size(128 * 1024**2)) == "128MB"
    assert str(Size(0)) == "0B"
    assert str(Duration(30 * 86_400_000)) == "30d"
    assert str(Duration(90_000)) == "90s"
    assert Duration(32_000).in_seconds() == "32s"
    assert Duration(40).in_seconds() == "0.04s"
    assert Duration(90_000).in_seconds() == "90s"


def test_negative_amounts_do_not_exist() -> None:
    """Neither as a size nor as a duration."""
    with pytest.raises(BadInput):
        Size(-1)
    with pytest.raises(BadInput):
        Duration(-1)
