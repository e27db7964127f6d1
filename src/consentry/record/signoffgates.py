"""The gates and sample floors of a sign-off as values: what was counted, of what, and whether it is enough.

A gate is met, missed or unknown; without a single sample nothing is known, which is no better than
missed (CONTRACTS §4-unknown). Shares are compared as whole numbers, and shown rounded down, so that 100 %
is shown only where it is. Of the events behind a figure a few are named, those against it first; the
others are counted.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from consentry.base.canonical import Json
from consentry.base.values import dataclass, field

MOST_EVENTS: Final = 20
"""How many events are named for one gate."""

ALL: Final = 1000
"""Everything, in thousandths."""


class GateStatus(StrEnum):
    """How a gate stands."""

    MET = "met"
    MISSED = "missed"
    UNKNOWN = "unknown"


class Counts(StrEnum):
    """What a sample does to the figure of its gate."""

    AGAINST = "against"
    OPEN = "open"
    FOR = "for"


class EventBehind(NamedTuple):
    """An event that a figure was taken from: what it is about, how it counts, and why so."""

    event_id: str
    about: str
    counts: Counts
    why: str

    def to_json(self) -> dict[str, Json]:
        """As the document has it."""
        return {
            "eventId": self.event_id,
            "about": self.about,
            "counts": self.counts.value,
            "why": self.why,
        }


@dataclass(slots=True)
class Samples:
    """Counts the samples of one gate, and keeps a few of their events."""

    counted: dict[Counts, int] = field(default_factory=lambda: dict.fromkeys(Counts, 0))
    _kept: dict[Counts, list[EventBehind]] = field(
        default_factory=lambda: {each: [] for each in Counts}
    )

    def add(self, event_id: str, about: str, counts: Counts, why: str) -> None:
        """The next sample."""
        self.counted[counts] += 1
        kept = self._kept[counts]
        if len(kept) < MOST_EVENTS:
            kept.append(EventBehind(event_id, about, counts, why))

    @property
    def total(self) -> int:
        """All that count for or against; what is open does neither."""
        return self.counted[Counts.FOR] + self.counted[Counts.AGAINST]

    def events(self) -> tuple[EventBehind, ...]:
        """Some of them, the ones against first."""
        return tuple(each for counts in Counts for each in self._kept[counts])[:MOST_EVENTS]

    @property
    def left_out(self) -> int:
        """How many are not among them."""
        return sum(self.counted.values()) - len(self.events())


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate with its figure; `figure` is a percentage, or a number where `denominator` is None."""

    id: str
    formula: str
    required: str
    status: GateStatus
    figure: float | None
    numerator: int
    denominator: int | None
    open: int
    events: tuple[EventBehind, ...]
    left_out: int

    def to_json(self) -> dict[str, Json]:
        """As the document has it."""
        return {
            "id": self.id,
            "formula": self.formula,
            "required": self.required,
            "status": self.status.value,
            "figure": self.figure,
            "numerator": self.numerator,
            "denominator": self.denominator,
            "open": self.open,
            "events": [each.to_json() for each in self.events],
            "eventsLeftOut": self.left_out,
        }

    @property
    def shown(self) -> str:
        """The figure as a person reads it."""
        if self.figure is None:
            return "unknown"
        return f"{self.figure:g}" if self.denominator is None else f"{self.figure:g} %"

    @property
    def counted(self) -> str:
        """What it was taken from, in words."""
        if self.denominator is None:
            return ""
        known = f"{self.numerator} of {self.denominator}" if self.denominator else "no sample"
        return f"{known}, {self.open} open" if self.open else known


def share_gate(
    id: str,  # noqa: A002 - a gate's own word for it
    formula: str,
    required: str,
    samples: Samples,
    *,
    least: int = ALL,
    excluded: Sequence[EventBehind] = (),
    is_excluded: bool = False,
    besides: int = 0,
) -> Gate:
    """A gate that asks for a share of at least so many thousandths, and for nothing of what it excludes.

    `excluded` are events of that which are not among the samples, of `besides` altogether.
    """
    good, total = samples.counted[Counts.FOR], samples.total
    if is_excluded or good * ALL < total * least:
        status = GateStatus.MISSED
    elif total == 0:
        status = GateStatus.UNKNOWN
    else:
        status = GateStatus.MET
    events = (*excluded, *samples.events())[:MOST_EVENTS]
    return Gate(
        id,
        formula,
        required,
        status,
        None if total == 0 else good * 10_000 // total / 100,
        good,
        total,
        samples.counted[Counts.OPEN],
        events,
        besides + sum(samples.counted.values()) - len(events),
    )


def count_gate(id: str, formula: str, required: str, samples: Samples) -> Gate:  # noqa: A002 - as above
    """A gate that nothing may count against; none is an answer, too."""
    against = samples.counted[Counts.AGAINST]
    status = GateStatus.MISSED if against else GateStatus.MET
    return Gate(
        id, formula, required, status, against, against, None, 0, samples.events(), samples.left_out
    )


@dataclass(frozen=True, slots=True)
class Floor:
    """How many samples there must be, how many there were, and how many of those were fixtures."""

    id: str
    about: str
    required: int
    found: int
    fixtures: int

    @property
    def is_reached(self) -> bool:
        """Whether they are enough."""
        return self.found >= self.required

    def to_json(self) -> dict[str, Json]:
        """As the document has it."""
        return {
            "id": self.id,
            "about": self.about,
            "required": self.required,
            "found": self.found,
            "fixtures": self.fixtures,
            "status": "reached" if self.is_reached else "below",
        }
