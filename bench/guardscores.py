"""How much of what is true an analyser says, by dimension, on the labelled samples.

Recall: of the powers that samples have, the share that is named. Precision: of the powers that are
named where a label speaks of them, the share that is there. What a label does not mention counts for
nobody, and a sample that has one of several powers is left out here.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from consentry.surface.dimensions import Dimension
from tests.examine.corpus.reader import LABELLED, Sample

Named = Mapping[str, frozenset[Dimension]]
NOBODY: frozenset[Dimension] = frozenset()


@dataclass(frozen=True, slots=True)
class Score:
    """How often right, missed, invented."""

    right: int
    missed: int
    invented: int

    def __add__(self, other: "Score") -> "Score":
        return Score(
            self.right + other.right, self.missed + other.missed, self.invented + other.invented
        )

    def __str__(self) -> str:
        return f"{_share(self.right, self.missed)} / {_share(self.right, self.invented)}"


def scored(labels: Mapping[str, Sample], named: Named) -> dict[Dimension, Score]:
    """The score of what is named for each file, by dimension."""
    return {dimension: _scored(dimension, labels, named) for dimension in LABELLED}


def _scored(dimension: Dimension, labels: Mapping[str, Sample], named: Named) -> Score:
    right = missed = invented = 0
    for name, sample in labels.items():
        is_named = dimension in named.get(name, NOBODY)
        if dimension in sample.must:
            right += is_named
            missed += not is_named
        elif dimension in sample.must_not:
            invented += is_named
    return Score(right, missed, invented)


def caught(labels: Mapping[str, Sample], named: Named) -> tuple[int, int]:
    """Of how many evasions at least one power is named, and of how many there are."""
    evasions = [name for name in labels if labels[name].name.startswith("evasion/")]
    hidden = [name for name in evasions if labels[name].must | labels[name].must_any]
    seen = [
        name
        for name in hidden
        if named.get(name, NOBODY) & (labels[name].must | labels[name].must_any)
    ]
    return len(seen), len(hidden)


def _share(hits: int, faults: int) -> str:
    return f"{hits / (hits + faults):.2f}" if hits + faults else "-"
