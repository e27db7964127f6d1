"""Targets between backticks that they cannot close, safe to show anywhere."""

from collections.abc import Sequence

from consentry.base.safetext import Letters, safe_line


def quoted(targets: Sequence[str], letters: Letters = Letters.ANY) -> str:
    """`a`, `b` and `c`, each made safe to show."""
    shown = [f"`{quoted_one(target, letters)}`" for target in targets]
    return listed(shown, "and")


def quoted_one(target: str, letters: Letters = Letters.ANY) -> str:
    """One target, without the backticks around it."""
    return safe_line(target, letters=letters).replace("`", "\\u{60}")


def listed(items: Sequence[str], conjunction: str) -> str:
    """A list as a sentence has it: commas, and a word before the last."""
    if len(items) <= 1:
        return "".join(items)
    return f"{', '.join(items[:-1])} {conjunction} {items[-1]}"
