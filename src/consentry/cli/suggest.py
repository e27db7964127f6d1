"""The help line for a mistyped word."""

from collections.abc import Iterable

from consentry.base.nearest import closest


def help_for(word: str, candidates: Iterable[str], otherwise: str) -> str:
    """The help line for a word that is not one: the nearest right word, or else where to look."""
    found = closest(word, candidates)
    return otherwise if found is None else f"did you mean `{found}`?"
