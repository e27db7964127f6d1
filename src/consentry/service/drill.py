"""A drill: controlled fixtures that go the whole way, so that sign-off has something to count (CONTRACTS §4).

    1  what a drill left that was killed is put in order
    2  every case is carried out through the interface that hosts have, in a session of its own, and what
       really came of it is compared with what has to come of it
    3  the certification corpus is tried
    4  the drill's module, document and host are emptied and removed, also where something failed

Everything happens under two hosts of the drill's own and is marked as a controlled fixture. Nobody else's
modules, grants, documents and modes are touched; a running host beside it sees nothing of it but the ledger.
One drill at a time runs in a state directory.

The drill answers its own questions, as the person at this machine, through the channel of the library.
Where an approval passphrase is set, whoever starts it has to know the passphrase.

Not promised: that anything works which the cases do not do.
"""

from typing import Final

from consentry.base.canonical import Json
from consentry.base.values import dataclass
from consentry.decide.modulemode import ModuleMode
from consentry.declare.certification import CaseKind, certification_corpus

LOCK_NAME: Final = "drill.lock"
CORPUS_CASES: Final = {f"corpus-{each.value}": each for each in CaseKind}
"""The cases of the corpus, by kind, as a drill names them."""

_CORPUS_WORDS: Final = {
    CaseKind.VALID: "valid packages of the certification corpus import",
    CaseKind.INVALID: "invalid ones are refused, each three times for the same reason",
    CaseKind.ACTION: "actions of its graphs have five sound control fields",
}
_MODE: ModuleMode = ModuleMode.NORMAL
_FILE_MODE: Final = 0o600
_MOST_WRONG: Final = 20
"""How many repetitions of one case are told that came out otherwise."""


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
        """Whether every repetition came out so."""
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
            "otherwise": [each.to_json() for each in self.otherwise[:_MOST_WRONG]],
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
