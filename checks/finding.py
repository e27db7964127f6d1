"""What a check reports: a place, a sentence, and whether it fails the run."""

from dataclasses import dataclass
from enum import StrEnum


class Weight(StrEnum):
    """Whether a finding fails the run or is only shown."""

    FAILURE = "failure"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One fault at one place; prints as `file:line message`, which editors can jump to."""

    path: str
    line: int
    message: str
    weight: Weight = Weight.FAILURE

    def __str__(self) -> str:
        mark = "warning: " if self.weight is Weight.WARNING else ""
        return f"{self.path}:{self.line} {mark}{self.message}"
