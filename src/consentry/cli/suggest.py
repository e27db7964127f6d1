"""The right word for a mistyped one."""

from collections.abc import Iterable


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `word`, or None when none is near. Case does not count."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistyped word pays for it

    by_folded = {candidate.lower(): candidate for candidate in candidates}
    found = get_close_matches(word.lower(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def help_for(word: str, candidates: Iterable[str], otherwise: str) -> str:
    """The help line for a word that is not one: the nearest right word, or else where to look."""
    found = closest(word, candidates)
    return otherwise if found is None else f"did you mean `{found}`?"
