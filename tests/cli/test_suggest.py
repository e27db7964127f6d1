"""The help line for a mistyped word."""

from consentry.cli.suggest import help_for

WORDS = ["status", "explain", "completion", "NET_ACCESS"]


def test_help_line_names_it_or_says_where_to_look() -> None:
    """One or the other, never both."""
    assert help_for("statsu", WORDS, "look there") == "did you mean `status`?"
    assert help_for("zzz", WORDS, "look there") == "look there"
