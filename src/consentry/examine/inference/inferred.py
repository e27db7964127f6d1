"""What inference answers: a permission set, how sure that is, and what in the code speaks for it."""

from enum import StrEnum
from typing import Final

from consentry.base.values import dataclass
from consentry.surface.permission_sets import PermissionSet

MOST_PATTERNS: Final = 64
"""So many patterns are kept of one piece of code; hostile code could have any number."""

MOST_LETTERS: Final = 120
"""So long is a pattern at most."""


class Language(StrEnum):
    """The languages that saved code may be written in."""

    PYTHON = "python"
    TYPESCRIPT = "typescript"
    JAVASCRIPT = "javascript"


@dataclass(frozen=True, slots=True)
class Inferred:
    """The least named set that covers what the code does, as far as that can be told from the code.

    The confidence is from 0 to 1; the patterns are short, sorted, few, and of visible characters.
    """

    permission_set: PermissionSet
    confidence: float
    detected_patterns: tuple[str, ...] = ()


UNREADABLE: Final = Inferred(PermissionSet.MINIMAL, 0.0)
"""What is inferred of code that cannot be read: nothing is opened, and nothing is sure."""
