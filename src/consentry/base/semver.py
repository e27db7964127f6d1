"""Semantic versions (SemVer 2.0.0) and their order.

What stands behind `+` is part of the spelling and not of the order: `1.0.0+a` and `1.0.0+b` have the
same rank and are two versions. Whoever compares contents by version asks `rank`.
"""

import re
from typing import Final, TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass

_NUMBER = r"(?:0|[1-9][0-9]{0,17})"
_BEFORE = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_BUILD = r"[0-9A-Za-z-]+"
_FORM: Final = re.compile(
    rf"({_NUMBER})\.({_NUMBER})\.({_NUMBER})"
    rf"(?:-({_BEFORE}(?:\.{_BEFORE})*))?(?:\+{_BUILD}(?:\.{_BUILD})*)?",
    re.ASCII,
)
_MOST_LETTERS: Final = 128

# A release comes after all that lead to it; of two names a number comes before a word.
Rank: TypeAlias = tuple[int, int, int, int, tuple[tuple[int, int, str], ...]]


@dataclass(frozen=True, slots=True)
class SemVer:
    """A version as it is spelled, and its place in the order."""

    text: str
    rank: Rank

    @classmethod
    def parse(cls, text: str) -> "SemVer":
        """Reads one, or raises."""
        found = _FORM.fullmatch(text) if len(text) <= _MOST_LETTERS else None
        if found is None:
            raise BadInput(Code.DOCUMENT_INVALID, f"`{text[:_MOST_LETTERS]}` is not a version")
        names = () if found[4] is None else tuple(map(_name, found[4].split(".")))
        return cls(text, (int(found[1]), int(found[2]), int(found[3]), 0 if names else 1, names))


def _name(text: str) -> tuple[int, int, str]:
    return (0, int(text), "") if text.isdigit() else (1, 0, text)
