"""Rows of an answer that open with something of ours and go on with a text that may be long."""

from collections.abc import Iterable

from consentry.base.safetext import safe_line
from consentry.cli.layout import laid_out
from consentry.cli.output import Output, page_width
from consentry.service.concern import Concern

# Columns of one message; the JSON document has it whole.
LONGEST = 480


def hanging(
    start: str, text: str, *, width_of_start: int | None = None, indent: int | None = None
) -> list[str]:
    """`text` behind `start`, in rows; those after the first are marked as continued.

    `width_of_start` is how wide `start` shows when it carries colour.
    """
    width = len(start) if width_of_start is None else width_of_start
    margin = width if indent is None else indent
    first, *others = laid_out(text, width=page_width() - 1, start=width, margin=margin)
    return [start + first, *others]


def problem_rows(output: Output, concerns: Iterable[Concern]) -> list[str]:
    """What is wrong, each with its code and what to do."""
    lines = [output.paint("problems", "bold")]
    for concern in concerns:
        start = f"  {output.paint(f'[{concern.code}]', 'red')} "
        width = len(str(concern.code)) + 5
        said = safe_line(concern.message, limit=LONGEST)
        lines += hanging(start, said, width_of_start=width, indent=4)
        lines += hanging("    help: ", safe_line(concern.help_line))
    return lines
