"""What came of a drill: every case, how often it was carried out, and what came out otherwise."""

from typing import Final

from consentry.base.canonical import Json
from consentry.base.values import dataclass
from consentry.declare.certification import certification_corpus

MOST_OTHERWISE: Final = 20
"""How many repetitions of one case are told that came out otherwise; all are counted."""


@dataclass(frozen=True, slots=True)
class Otherwise:
    """One repetition that came out otherwise than it has to."""

    name: str
    found: str
    why: str

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {"name": self.name, "found": self.found, "why": self.why}


@dataclass(frozen=True, slots=True)
class DrilledCase:
    """A case, how often it was carried out, and how often it came out as it has to."""

    case_id: str
    about: str
    expected: str
    times: int
    as_expected: int
    otherwise: tuple[Otherwise, ...] = ()

    @property
    def is_good(self) -> bool:
        """Whether it was carried out, and came out so every time."""
        return self.as_expected == self.times > 0

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {
            "caseId": self.case_id,
            "about": self.about,
            "expected": self.expected,
            "times": self.times,
            "asExpected": self.as_expected,
            "isGood": self.is_good,
            "otherwise": [each.to_json() for each in self.otherwise[:MOST_OTHERWISE]],
        }


@dataclass(frozen=True, slots=True)
class Drilled:
    """A whole drill."""

    drill_id: str
    cases: tuple[DrilledCase, ...]

    @property
    def is_good(self) -> bool:
        """Whether every case came out as it has to."""
        return all(each.is_good for each in self.cases)

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        corpus = certification_corpus()
        return {
            "drillId": self.drill_id,
            "isGood": self.is_good,
            "corpusVersion": corpus.version,
            "corpusDigest": corpus.digest,
            "cases": [each.to_json() for each in self.cases],
        }
