"""Charts of the report as inline SVG, with every number as text beside them.

Nothing is drawn that is not also said: each bar carries its numbers as a label for those who do not see
it, and stands beside them in the page. The drawings have no text of their own, so that they can be as
wide as the page; they use classes alone, because the page allows no style in its elements.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from consentry.base.safetext import SafeHtml, safe_html
from consentry.record.report import GROUPS, Report, Step

_HIGH: Final = 1000
_WIDE: Final = 1000
_STEP: Final = 10
_GAP: Final = 2
_DAY_MS: Final = 86_400_000
_MOST_ROWS: Final = 400


def css_class(word: str) -> str:
    """The class of one of our own words."""
    return word.replace(" ", "-")


def legend(words: Iterable[str]) -> str:
    """What the colours mean."""
    items = (
        f'<li><svg viewBox="0 0 1 1" aria-hidden="true"><rect class="{css_class(word)}" width="1" '
        f'height="1"/></svg>{word}</li>'
        for word in words
    )
    return f'<ul class="legend">{"".join(items)}</ul>'


def bar(
    name: SafeHtml | str, parts: Mapping[str, int], most: int, said: str, number: str = ""
) -> str:
    """One row: a name, a bar of parts as long as their share of `most`, and the numbers in words.

    `name` is safe HTML, or a word of ours; `number` stands behind the bar, where not the sum does.
    """
    at, drawn = 0, []
    for word, count in parts.items():
        width = round(count * _WIDE / max(1, most))
        if width:
            drawn.append(f'<rect class="{css_class(word)}" x="{at}" width="{width}" height="10"/>')
        at += width
    label = f"{name}: {said}"
    return (
        f'<li><span class="name">{name}</span><svg viewBox="0 0 {_WIDE} 10" role="img" '
        f'preserveAspectRatio="none" aria-label="{label}">{"".join(drawn)}</svg>'
        f'<span class="number">{number or sum(parts.values())}</span></li>'
    )


def bars(rows: Sequence[str]) -> str:
    """Rows of bars."""
    return f'<ul class="bars">{"".join(rows)}</ul>'


def over_time(report: Report) -> str:
    """Runs over time, one column for each step, and a table of the same numbers."""
    steps = report.over_time
    most = max((each.total for each in steps), default=0)
    drawn = "".join(
        _column(at, each, most, report.period.width_ms) for at, each in enumerate(steps)
    )
    counted = f"{report.runs} {'run' if report.runs == 1 else 'runs'} in {len(steps)} steps"
    first, last = (_step_words(each, report.period.width_ms) for each in (steps[0], steps[-1]))
    rows = [each for each in steps if each.total][-_MOST_ROWS:]
    return (
        f"{legend(GROUPS)}"
        f'<div class="time"><span class="top" title="most in one step">{most}</span>'
        f'<svg viewBox="0 0 {len(steps) * _STEP} {_HIGH}" preserveAspectRatio="none" role="img" '
        f'aria-label="Runs over time: {counted}">{drawn}</svg>'
        f'<div class="axis"><span>{first}</span><span>{last}</span></div></div>'
        f"<details><summary>The numbers</summary>{_table(rows, report.period.width_ms)}</details>"
    )


def step_words(counts: Mapping[str, int]) -> str:
    """The counts of one step: `3 success, 1 failure`."""
    found = [f"{counts[word]} {word}" for word in GROUPS if counts.get(word)]
    return ", ".join(found) or "none"


def _step_words(step: Step, width_ms: int) -> str:
    """Hours where steps are hours, else days; in UTC, in which the steps begin."""
    text = str(step.start)
    return text[:10] if width_ms >= _DAY_MS else f"{text[:10]} {text[11:16]}Z"


def _column(at: int, step: Step, most: int, width_ms: int) -> str:
    if not step.total:
        return ""
    below, drawn = _HIGH, []
    for word in GROUPS:
        height = round(step.counts.get(word, 0) * _HIGH / most)
        if height:
            below -= height
            drawn.append(
                f'<rect class="{css_class(word)}" x="{at * _STEP + _GAP // 2}" y="{below}" '
                f'width="{_STEP - _GAP}" height="{height}"/>'
            )
    title = f"{_step_words(step, width_ms)}: {step_words(step.counts)}"
    return f"<g><title>{title}</title>{''.join(drawn)}</g>"


def _table(steps: Sequence[Step], width_ms: int) -> str:
    if not steps:
        return '<p class="dim">No run was recorded.</p>'
    head = "".join(f'<th class="number">{word}</th>' for word in GROUPS)
    rows = "".join(
        f"<tr><td>{_step_words(each, width_ms)}</td>"
        + "".join(f'<td class="number">{each.counts.get(word, 0)}</td>' for word in GROUPS)
        + "</tr>"
        for each in steps
    )
    return f'<div class="scroll"><table><tr><th>from</th>{head}</tr>{rows}</table></div>'


def shown_span(milliseconds: int) -> str:
    """A span of time as people say it."""
    if milliseconds < 1000:  # noqa: PLR2004 - a second
        return f"{milliseconds} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds / 60:.1f} min"  # noqa: PLR2004 - readable


def name_of(text: str) -> SafeHtml:
    """A stranger's name, short enough for a row."""
    return safe_html(text, limit=64)
