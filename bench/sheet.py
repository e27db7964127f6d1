"""A sheet of measurements: each line is printed when it is taken, and kept to be written as a page.

A ratio stands beside what it is a ratio of, and a target beside whether it is met. The page holds
nothing that was not printed, so what the documentation shows is one real run.
"""

from dataclasses import dataclass, field
from pathlib import Path

from bench.report import Sample, heading, shown

_ABOUT = (
    "Every figure on this page is from one run of the bench on one machine: {machine}. What is "
    "compared was measured in turns, so that a busy moment hits all of it alike; a ratio is one of "
    "medians. `make bench` measures on yours, `{command}` writes this page."
)


@dataclass(frozen=True, slots=True)
class Target:
    """What a ratio must not exceed, or must reach."""

    ratio: float
    is_least: bool = False

    def is_met_by(self, ratio: float) -> bool:
        """Whether this one is good enough."""
        return ratio >= self.ratio if self.is_least else ratio <= self.ratio

    def __str__(self) -> str:
        return f"{'>=' if self.is_least else '<='} {self.ratio} x"


@dataclass(frozen=True, slots=True)
class Line:
    """One measurement, as text; `beside` names what the ratio is taken to."""

    name: str
    p50: str = ""
    p95: str = ""
    ratio: str = ""
    beside: str = ""
    target: str = ""
    verdict: str = ""

    def cells(self) -> tuple[str, ...]:
        """In the order of the page's columns."""
        return (self.name, self.p50, self.p95, self.ratio, self.beside, self.target, self.verdict)


@dataclass(slots=True)
class Section:
    """Lines that belong together, and what a reader must know to read them."""

    title: str
    about: str
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Sheet:
    """What one run of a bench has measured until now."""

    def __init__(self) -> None:
        self._sections: list[Section] = []
        self.missed: list[str] = []

    def section(self, title: str, about: str) -> None:
        """Begins a table."""
        self._sections.append(Section(title, about))
        heading(title)
        print(about)

    def time(self, name: str, sample: Sample) -> None:
        """How long something takes, beside nothing."""
        self._put(Line(name, shown(sample.p50), shown(sample.p95)))

    def ratio(
        self,
        name: str,
        sample: Sample,
        base: Sample,
        beside: str,
        target: Target | None = None,
    ) -> None:
        """How long something takes, by the medians of the same rounds."""
        times = (shown(sample.p50), shown(sample.p95))
        self._judged(name, times, sample.p50 / base.p50, beside, target)

    def figure(
        self,
        name: str,
        value: str,
        *,
        ratio: float | None = None,
        beside: str = "",
        target: Target | None = None,
    ) -> None:
        """Something that is not a time taken many times over."""
        if ratio is None:
            self._put(Line(name, value))
        else:
            self._judged(name, (value, ""), ratio, beside, target)

    def note(self, text: str) -> None:
        """A sentence below the table."""
        self._sections[-1].notes.append(text)
        print(f"  {text}")

    def missing(self, name: str, reason: str) -> None:
        """A line that could not be measured counts as missed."""
        self.missed.append(name)
        self.note(f"{name}: not measured, {reason}")

    def page(self, machine: str, command: str) -> str:
        """Everything as Markdown."""
        parts = [
            f"<!-- Written by `{command}`; do not edit. -->",
            "# How fast",
            _ABOUT.format(machine=machine, command=command),
        ]
        for section in self._sections:
            parts += [f"## {section.title}", section.about]
            if section.lines:
                parts.append(_table(section.lines))
            if section.notes:
                parts.append("\n".join(f"- {note}" for note in section.notes))
        return "\n\n".join(parts) + "\n"

    def write(self, path: Path, machine: str, command: str) -> None:
        """The page, for the documentation."""
        path.write_text(self.page(machine, command), encoding="utf-8")
        print(f"written: {path}")

    def _judged(
        self,
        name: str,
        times: tuple[str, str],
        ratio: float,
        beside: str,
        target: Target | None,
    ) -> None:
        verdict = ""
        if target is not None:
            is_met = target.is_met_by(ratio)
            verdict = "met" if is_met else "not met"
            if not is_met:
                self.missed.append(name)
        goal = "" if target is None else str(target)
        self._put(Line(name, *times, f"{ratio:.2f} x", beside, goal, verdict))

    def _put(self, line: Line) -> None:
        self._sections[-1].lines.append(line)
        said = f"{line.name:<44} {line.p50:>9}"
        said += f"  p95 {line.p95:>9}" if line.p95 else " " * 15
        if line.ratio:
            said += f"  {line.ratio:>8} {line.beside}"
        if line.target:
            said += f"  target {line.target}: {line.verdict.upper()}"
        print(said.rstrip(), flush=True)


def _table(lines: list[Line]) -> str:
    head = ("what", "p50", "p95", "ratio", "beside", "target", "")
    rows = [head, ("---",) * len(head), *(line.cells() for line in lines)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
