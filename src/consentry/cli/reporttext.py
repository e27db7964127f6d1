"""The report as text for a terminal: the same numbers as the page, with bars of letters."""

from collections.abc import Iterator, Sequence
from typing import Final

from consentry.base.safetext import safe_line
from consentry.cli.output import Output
from consentry.record.report import Decisions, Report
from consentry.record.reportcharts import shown_span, step_words
from consentry.record.reportpowers import ToolPowers

_BAR: Final = 24
_NAME: Final = 26
_MOST_STEPS: Final = 14
_MOST_NOTABLE: Final = 10
_MOST_UNUSED: Final = 8
_DAY_MS: Final = 86_400_000


def report_text(report: Report, output: Output) -> str:
    """All of it but the entries, which are too long for a terminal."""
    return "\n".join(_lines(report, output))


def _lines(report: Report, output: Output) -> Iterator[str]:
    period = report.period
    about = "" if period.tool is None else f" of {safe_line(period.tool)}"
    yield output.paint(f"Runs{about} from {period.since.shown()} to {period.until.shown()}", "bold")
    statuses = ", ".join(f"{count} {word}" for word, count in report.statuses.items())
    yield f"  {report.runs} runs and refusals{f': {statuses}' if statuses else ''}"
    if report.past_retention:
        yield f"  {report.past_retention} left out: older than the retainLogs of their tools"
    if not report.runs:
        return
    yield from _titled(output, "Over time (UTC)", _steps(report))
    yield from _titled(output, "Decisions by level", _decisions(report.levels))
    yield from _titled(output, "Decisions by method", _decisions(report.methods))
    yield from _titled(output, "Refused while running", _violations(report))
    yield from _titled(output, "Granted and used", _powers(report.powers))
    yield from _titled(output, "Slowest tools", _slowest(report))
    yield from _titled(output, "Worth a look", _notable(report))


def _titled(output: Output, title: str, lines: Iterator[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield ""
        yield output.paint(title, "bold")
        yield from (f"  {line}" for line in found)


def _row(name: str, count: int, most: int, said: str) -> str:
    filled = round(count * _BAR / max(1, most))
    bar = "#" * (filled or bool(count))
    return f"{safe_line(name, limit=_NAME + 6):<{_NAME}} {bar:<{_BAR}} {said}"


def _steps(report: Report) -> Iterator[str]:
    found = [each for each in report.over_time if each.total]
    most = max((each.total for each in found), default=0)
    wide = report.period.width_ms >= _DAY_MS
    for each in found[-_MOST_STEPS:]:
        text = str(each.start)
        name = text[:10] if wide else f"{text[:10]} {text[11:16]}"
        yield _row(name, each.total, most, step_words(each.counts))
    if len(found) > _MOST_STEPS:
        yield f"and {len(found) - _MOST_STEPS} earlier steps: --format json or html has them"


def _decisions(rows: Sequence[Decisions]) -> Iterator[str]:
    most = max((each.total for each in rows), default=0)
    for each in rows:
        yield _row(each.word, each.total, most, f"{each.given} given, {each.refused} refused")


def _violations(report: Report) -> Iterator[str]:
    most = max((each.times for each in report.violations), default=0)
    for each in report.violations:
        runs = "1 run" if each.runs == 1 else f"{each.runs} runs"
        yield _row(each.operation, each.times, most, f"{each.times} in {runs}")
    if report.runs_incomplete:
        yield f"in {report.runs_incomplete} runs not everything that was refused is known"


def _powers(powers: Sequence[ToolPowers]) -> Iterator[str]:
    for each in powers:
        name = safe_line(each.tool)
        if not each.judged:
            yield f"{name}: no run was watched closely enough to say what it used"
            continue
        counts = ", ".join(f"{use.used} of {len(use.granted)} {use.power}" for use in each.uses)
        yield f"{name}: {counts}"
        unused = [name for use in each.uses for name in use.unused]
        if unused:
            shown = ", ".join(safe_line(name) for name in unused[:_MOST_UNUSED])
            more = f" and {len(unused) - _MOST_UNUSED} more" if len(unused) > _MOST_UNUSED else ""
            yield f"  not used: {shown}{more}"


def _slowest(report: Report) -> Iterator[str]:
    most = max((each.median_ms for each in report.slowest), default=0)
    for each in report.slowest:
        said = f"{shown_span(each.median_ms)}, at most {shown_span(each.slowest_ms)}"
        yield _row(each.tool, each.median_ms, most, said)


def _notable(report: Report) -> Iterator[str]:
    for each in report.notable[:_MOST_NOTABLE]:
        refused = f", {each.violations} refused" if each.violations else ""
        yield f"{each.entry_id}  {safe_line(each.tool)}: {each.status}{refused}"
    if len(report.notable) > _MOST_NOTABLE:
        yield f"and {len(report.notable) - _MOST_NOTABLE} more: --format html lists them"
