"""The right word for a mistyped one."""

import pytest

from consentry.base.nearest import closest

WORDS = ["status", "explain", "completion", "NET_ACCESS"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("statsu", "status"),
        ("stat", "status"),
        ("STATUS", "status"),
        ("explian", "explain"),
        ("net-access", "NET_ACCESS"),
        ("zzz", None),
        ("", None),
        ("status" * 1000, None),
    ],
)
def test_nearest_word(word: str, expected: str | None) -> None:
    """Near in spelling, whatever the case; nothing rather than nonsense, also for hostile lengths."""
    assert closest(word, WORDS) == expected
