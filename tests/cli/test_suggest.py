"""The right word for a mistyped one."""

import pytest

from consentry.cli.suggest import closest, help_for

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
    ],
)
def test_nearest_word(word: str, expected: str | None) -> None:
    """Near in spelling, whatever the case; nothing rather than nonsense."""
    assert closest(word, WORDS) == expected


def test_help_line_names_it_or_says_where_to_look() -> None:
    """One or the other, never both."""
    assert help_for("statsu", WORDS, "look there") == "did you mean `status`?"
    assert help_for("zzz", WORDS, "look there") == "look there"
