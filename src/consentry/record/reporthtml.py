"""The report as one page that stands for itself: no script, nothing loaded from elsewhere.

Its policy forbids both, and every style that is not the one in its head. Whatever the ledger holds was
written by others and goes through `safe_html`. Pieces come one by one, so that a page of many thousand
entries is never held whole.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

from consentry.base.safetext import safe_html
from consentry.record.chain import ChainHead
from consentry.record.report import Decisions, Report
from consentry.record.reportcharts import bar, bars, legend, name_of, over_time, shown_span
from consentry.record.reportentries import entry_html, mark
from consentry.record.reportpowers import ToolPowers

_PARTS: Final = (
    ("time", "Runs over time"),
    ("decisions", "Decisions"),
    ("violations", "Refused while running"),
    ("powers", "Granted and used"),
    ("slowest", "Slowest tools"),
    ("look", "Worth a look"),
    ("entries", "Entries"),
)
_MOST_UNUSED: Final = 12
_NOTHING: Final = '<p class="dim">{}</p>'


def report_page(
    report: Report, heads: Sequence[ChainHead], entries: Iterable[Mapping[str, Any]]
) -> Iterator[str]:
    """The pieces of the page."""
    yield _head(report)
    yield _summary(report, heads)
    yield _section("time", over_time(report))
    yield _decisions(report)
    yield _section("violations", _violations(report))
    yield _section("powers", _powers(report.powers))
    yield _section("slowest", _slowest(report))
    yield _section("look", _notable(report))
    yield f'<section id="entries"><h2>Entries</h2><p class="dim">{_entries_said(report)}</p>\n'
    for each in entries:
        yield entry_html(each)
    yield "</section></main></body></html>\n"


@cache
def style() -> str:
    """The only style of the page."""
    return files("consentry.record").joinpath("report.css").read_text(encoding="utf-8")


def policy() -> str:
    """What the page may do: be drawn with that style, and nothing else."""
    digest = b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _head(report: Report) -> str:
    links = "".join(f'<a href="#{name}">{title}</a>' for name, title in _PARTS)
    period = report.period
    narrowed = "" if period.tool is None else f" of <b>{name_of(period.tool)}</b>"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>Audit report, {str(period.until)[:10]}</title><style>{style()}</style></head>\n"
        f"<body><header><h1>Audit report</h1><p>Runs{narrowed} recorded from "
        f"{_minute(period.since)} to {_minute(period.until)} (UTC).</p>"
        f"<nav>{links}</nav></header><main>\n"
    )


def _minute(moment: object) -> str:
    return str(moment)[:16].replace("T", " ")


def _summary(report: Report, heads: Sequence[ChainHead]) -> str:
    given = sum(each.given for each in report.methods)
    cards = (
        (report.runs, "runs and refusals"),
        (given, "with consent"),
        (report.runs - given, "without consent"),
        (report.statuses.get("success", 0), "ended well"),
        (report.runs_with_violations, "tried what they may not"),
        (report.statuses.get("discarded", 0), "discarded"),
    )
    shown = "".join(f'<div class="card"><b>{count}</b>{name}</div>' for count, name in cards)
    chains = "".join(
        f"<li><code>{safe_html(h.writer)}</code>: {h.seq} events, ends <code>{h.hash}</code></li>"
        for h in heads
    )
    ledger = (
        f"<details><summary>The ledger verified when this was made</summary>"
        f'<ul class="files">{chains}</ul></details>'
        if heads
        else _NOTHING.format("Nothing was recorded here yet.")
    )
    left_out = (
        f'<p class="dim">{_counted(report.past_retention, "entry", "entries")} left out: older than '
        "the retainLogs of its tool.</p>"
        if report.past_retention
        else ""
    )
    return f'<div class="cards">{shown}</div><div class="card">{ledger}{left_out}</div>\n'


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _section(name: str, body: str) -> str:
    return f'<section id="{name}"><h2>{dict(_PARTS)[name]}</h2>{body}</section>\n'


def _decisions(report: Report) -> str:
    parts = (("By level", report.levels), ("By method", report.methods))
    shown = "".join(f"<div><h3>{title}</h3>{_given_bars(rows)}</div>" for title, rows in parts)
    return _section("decisions", f'{legend(("given", "refused"))}<div class="pair">{shown}</div>')


def _given_bars(rows: Sequence[Decisions]) -> str:
    most = max((each.total for each in rows), default=0)
    return (
        bars(
            [
                bar(
                    safe_html(each.word),
                    {"given": each.given, "refused": each.refused},
                    most,
                    f"{each.given} given, {each.refused} refused",
                )
                for each in rows
            ]
        )
        if rows
        else _NOTHING.format("Nothing was decided.")
    )


def _violations(report: Report) -> str:
    most = max((each.times for each in report.violations), default=0)
    rows = [
        bar(
            safe_html(each.operation),
            {"refused": each.times},
            most,
            f"{each.times} refused in {_counted(each.runs, 'run', 'runs')}",
        )
        for each in report.violations
    ]
    shown = bars(rows) if rows else _NOTHING.format("Nothing was refused.")
    incomplete = (
        f'<p class="dim">In {_counted(report.runs_incomplete, "run", "runs")} not everything that was '
        "refused is known.</p>"
        if report.runs_incomplete
        else ""
    )
    runs = _counted(report.runs_with_violations, "run", "runs")
    return f'<p class="dim">Attempts by kind, in {runs}.</p>{shown}{incomplete}'


def _powers(powers: Sequence[ToolPowers]) -> str:
    if not powers:
        return _NOTHING.format("No tool with a manifest was run.")
    return legend(("used", "unused")) + "".join(map(_powers_of, powers))


def _powers_of(each: ToolPowers) -> str:
    if not each.judged:
        told = "no run of it was watched closely enough to say what it used"
        return f"<h3>{name_of(each.tool)}</h3>{_NOTHING.format(told)}"
    rows = [
        bar(
            use.power.value,
            {"used": use.used, "unused": len(use.unused)},
            max(len(other.granted) for other in each.uses),
            f"{len(use.granted)} granted, {use.used} used",
            f"{use.used} of {len(use.granted)}",
        )
        for use in each.uses
    ]
    unused = [f"<code>{name_of(name)}</code>" for use in each.uses for name in use.unused]
    more = f" and {len(unused) - _MOST_UNUSED} more" if len(unused) > _MOST_UNUSED else ""
    told = f"<p>Not used: {', '.join(unused[:_MOST_UNUSED])}{more}</p>" if unused else ""
    skipped = f", {each.not_judged} could not be judged" if each.not_judged else ""
    judged = f'<span class="dim">({_counted(each.judged, "run", "runs")}{skipped})</span>'
    return f"<h3>{name_of(each.tool)} {judged}</h3>{bars(rows)}{told}"


def _slowest(report: Report) -> str:
    if not report.slowest:
        return _NOTHING.format("Nothing ran.")
    most = max(each.median_ms for each in report.slowest)
    rows = "".join(
        f'<tr><td>{name_of(each.tool)}</td><td class="number">{each.runs}</td>'
        f'<td class="number">{shown_span(each.median_ms)}</td>'
        f'<td class="number">{shown_span(each.ninth_ms)}</td>'
        f'<td class="number">{shown_span(each.slowest_ms)}</td></tr>'
        for each in report.slowest
    )
    drawn = [
        bar(
            name_of(each.tool),
            {"plain": each.median_ms},
            most,
            f"median {each.median_ms} ms",
            shown_span(each.median_ms),
        )
        for each in report.slowest
    ]
    head = "".join(f'<th class="number">{each}</th>' for each in ("runs", "p50", "p90", "longest"))
    table = f'<div class="scroll"><table><tr><th>tool</th>{head}</tr>{rows}</table></div>'
    return (
        f'<p class="dim">By the median of how long they ran.</p>{bars(drawn)}'
        f"<details><summary>The numbers</summary>{table}</details>"
    )


def _notable(report: Report) -> str:
    if not report.notable:
        return _NOTHING.format("Every run ended well, and none tried what it may not.")
    rows = "".join(
        f"<tr><td>{_minute(each.at)}</td><td>{_link(each.entry_id, each.tool, each.is_listed)}</td>"
        f'<td>{mark(each.status)}</td><td class="number">{each.violations}</td></tr>'
        for each in report.notable
    )
    return (
        '<p class="dim">Runs that did not end well or tried what they may not, the latest first.</p>'
        '<div class="scroll"><table><tr><th>recorded</th><th>what</th><th>ended</th>'
        f'<th class="number">refused</th></tr>{rows}</table></div>'
    )


def _link(entry_id: str, tool: str, is_listed: bool) -> str:  # noqa: FBT001 - one row, said beside it
    if not is_listed:
        return f"{name_of(tool)}"
    return f'<a href="#{safe_html(entry_id)}">{name_of(tool)}</a>'


def _entries_said(report: Report) -> str:
    listed = _counted(report.listed, "entry", "entries")
    rest = (
        f" {_counted(report.unlisted, 'run counts', 'runs count')} above without being listed: own command "
        "lines, and tools that say includeInReport: false."
        if report.unlisted
        else ""
    )
    return f"{listed} of tools that want them in reports, the oldest first.{rest}"
