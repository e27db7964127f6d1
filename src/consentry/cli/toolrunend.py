"""What a person is told when a tool's run is over: its impact, and what became of its effect."""

from collections.abc import Iterator

from consentry.cli.output import write_message
from consentry.cli.runtext import rehearsed_at_the_end, told_at_the_end
from consentry.cli.table import PROGRAM
from consentry.service.toolruns import ToolRun


def tell_end(over: ToolRun) -> None:
    """Everything worth knowing, on standard error."""
    lines = list(_lines(over))
    if lines:
        write_message("\n".join(lines))


def _lines(over: ToolRun) -> Iterator[str]:
    entry = over.run.entry
    yield from told_at_the_end(entry)
    if over.problem is not None:
        yield f"{PROGRAM}: {over.problem.message}"
        if not over.waits:
            yield f"{PROGRAM}: nothing of what it wrote was taken over"
        return
    if over.settled is None and over.run.facts.impact.rehearsal is not None:
        yield from rehearsed_at_the_end(entry)
