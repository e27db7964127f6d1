"""The page of the guard's bench: tables of any columns, each row printed when it is taken.

As on a sheet of times (`bench.sheet`), a ratio stands beside what it is a ratio of and a target beside
whether it is met, and the page holds nothing that was not printed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.report import heading
from bench.sheet import Target

_ABOUT = (
    "Every figure on this page is from one run of the bench on one machine: {machine}. What is "
    "compared was measured in turns. `{command}` writes this page."
)
JUDGED = ("what", "measured", "ratio", "beside", "target", "")
"""The columns of a table of ratios."""


@dataclass(slots=True)
class _Part:
    title: str
    about: str
    head: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class GuardPage:
    """What one run has found until now."""

    def __init__(self) -> None:
        self._parts: list[_Part] = []
        self.missed: list[str] = []

    def part(self, title: str, about: str, head: Sequence[str] = JUDGED) -> None:
        """Begins a table."""
        self._parts.append(_Part(title, about, head))
        heading(title)
        print(about)
        if head is not JUDGED:
            self._print(head)

    def row(self, *cells: str) -> None:
        """One line of it."""
        part = self._parts[-1]
        part.rows.append((*cells, *[""] * (len(part.head) - len(cells))))
        self._print(cells)

    def ratio(
        self, name: str, measured: str, ratio: float, beside: str, target: Target | None = None
    ) -> None:
        """One line of a table of ratios, judged where it has a target."""
        goal = verdict = ""
        if target is not None:
            is_met = target.is_met_by(ratio)
            goal, verdict = str(target), "met" if is_met else "not met"
            if not is_met:
                self.missed.append(name)
        self.row(name, measured, f"{ratio:.2f} x", beside, goal, verdict)

    def note(self, text: str) -> None:
        """A sentence below the table."""
        self._parts[-1].notes.append(text)
        print(f"  {text}", flush=True)

    def write(self, path: Path, machine: str, command: str) -> None:
        """All of it as Markdown."""
        parts = [
            f"<!-- Written by `{command}`; do not edit. -->",
            "# How well and how fast the guard reads",
            _ABOUT.format(machine=machine, command=command),
        ]
        for part in self._parts:
            parts += [f"## {part.title}", part.about]
            if part.rows:
                lines = [part.head, ("---",) * len(part.head), *part.rows]
                parts.append("\n".join(f"| {' | '.join(cells)} |" for cells in lines))
            if part.notes:
                parts.append("\n".join(f"- {note}" for note in part.notes))
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        print(f"written: {path}")

    def _print(self, cells: Sequence[str]) -> None:
        first, *rest = cells
        print(f"{first:<46}" + "".join(f" {cell:>14}" for cell in rest).rstrip(), flush=True)
