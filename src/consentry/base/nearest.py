"""The word that was probably meant, for people who mistyped one."""

from collections.abc import Iterable

_MOST_LETTERS = 64  # comparing takes the square of the length; nobody mistypes a longer word


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate most like `word`, or None when none is near. Case does not count."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistyped word pays for it

    if len(word) > _MOST_LETTERS:
        return None
    by_folded = {candidate.lower(): candidate for candidate in candidates}
    found = get_close_matches(word.lower(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None
