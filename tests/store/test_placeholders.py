"""Statements with `?` as the PostgreSQL driver wants them."""

import pytest

from consentry.store.placeholders import percent_marked


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("SELECT 1", "SELECT 1"),
        ("a = ? AND b > ?", "a = %s AND b > %s"),
        ("a = '?' AND b = ?", "a = '?' AND b = %s"),
        ("a = 'it''s ?' AND b = ?", "a = 'it''s ?' AND b = %s"),
        ('"odd?name" = ?', '"odd?name" = %s'),
        ("a LIKE '10%?' AND b % ? = 0", "a LIKE '10%%?' AND b %% %s = 0"),
        ("a -- why?\n = ?", "a -- why?\n = %s"),
        ("a /* why? ' */ = ?", "a /* why? ' */ = %s"),
        ("$$ ? 5% $$ || $x$ $$ ? $x$ || ?", "$$ ? 5%% $$ || $x$ $$ ? $x$ || %s"),
    ],
)
def test_only_a_mark_outside_of_quotes_becomes_a_parameter(written: str, sent: str) -> None:
    """Text, names and comments keep their question marks; a percent sign is doubled everywhere."""
    assert percent_marked(written) == sent
