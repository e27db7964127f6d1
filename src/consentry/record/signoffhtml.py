"""The sign-off as one page that stands for itself: no script, nothing loaded from elsewhere.

Its policy forbids both, and every style that is not the one in its head. Ids, names and texts of the
ledger were written by others and go through `safe_html`. Every bar says its numbers in words beside it.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from consentry.base.safetext import SafeHtml, safe_html
from consentry.record.signoff import Integrity, SignoffAnswer
from consentry.record.signoffgates import EventBehind, Floor, Gate

_STYLES: Final = ("report.css", "signoff.css")
_PARTS: Final = (
    ("gates", "Gates"),
    ("samples", "Samples"),
    ("violations", "Violations"),
    ("integrity", "Integrity of the evidence"),
)
_LONGEST: Final = 96
_WIDE: Final = 1000


def signoff_page(answer: SignoffAnswer) -> Iterator[str]:
    """The pieces of the page."""
    yield _head(answer)
    yield _section("gates", "".join(map(_gate, answer.gates)))
    yield _section("samples", _floors(answer.floors))
    yield _section("violations", _violations(answer))
    yield _section("integrity", _integrity(answer))
    yield "</main></body></html>\n"


@cache
def style() -> str:
    """The only style of the page."""
    return "".join(
        files("consentry.record").joinpath(name).read_text(encoding="utf-8") for name in _STYLES
    )


def policy() -> str:
    """What the page may do: be drawn with that style, and nothing else."""
    digest = b64encode(hashlib.sha256(style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _head(answer: SignoffAnswer) -> str:
    window = answer.window
    links = "".join(f'<a href="#{name}">{title}</a>' for name, title in _PARTS)
    kind = "go" if answer.is_go else "no-go"
    reasons = "".join(f"<li>{safe_html(each)}</li>" for each in answer.reasons)
    why = f'<h2>Why</h2><ul class="reasons">{reasons}</ul>' if reasons else ""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy()}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>Sign-off, {str(window.until)[:10]}: {answer.verdict}</title>"
        f"<style>{style()}</style></head>\n"
        f'<body><header><h1>Sign-off</h1><p><span class="verdict {kind}">{answer.verdict}</span></p>'
        f"<p>{_counted(answer.events, 'event', 'events')} from {_second(window.since)} to "
        f"{_second(window.until)} (UTC), the end itself not included.</p>"
        f"<nav>{links}</nav></header><main>\n" + (f'<div class="card">{why}</div>\n' if why else "")
    )


def _second(moment: object) -> SafeHtml:
    # A row that is no real event may have anything in the place of its time.
    return safe_html(str(moment)[:19].replace("T", " "))


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _section(name: str, body: str) -> str:
    return f'<section id="{name}"><h2>{dict(_PARTS)[name]}</h2>{body}</section>\n'


def _mark(word: str) -> str:
    return f'<span class="mark {word}">{word}</span>'


def _bar(status: str, part: int, whole: int, said: str) -> str:
    width = min(_WIDE, part * _WIDE // whole) if whole else 0
    drawn = f'<rect class="{status}" width="{width}" height="10"/>' if width else ""
    return (
        f'<svg viewBox="0 0 {_WIDE} 10" preserveAspectRatio="none" role="img" aria-label="{said}">'
        f"{drawn}</svg>"
    )


def _gate(gate: Gate) -> str:
    said = f"{gate.id}: {gate.shown}, required {safe_html(gate.required)}"
    bar = (
        ""
        if gate.denominator is None
        else _bar(gate.status, gate.numerator, gate.denominator, said)
    )
    return (
        f'<div class="gate"><div>{_mark(gate.status)}</div>'
        f'<div class="name"><b>{gate.id}</b><div class="dim">{safe_html(gate.formula)}</div></div>'
        f'<div class="figure"><b>{gate.shown}</b><span class="dim">{gate.counted}</span></div>'
        f'<div class="said"><span class="dim">required {safe_html(gate.required)}</span>{bar}'
        f"{_events(gate)}</div></div>"
    )


def _events(gate: Gate) -> str:
    if not gate.events:
        return ""
    shown = "".join(map(_event, gate.events))
    more = (
        f'<p class="dim">{_counted(gate.left_out, "other", "others")} not listed.</p>'
        if gate.left_out
        else ""
    )
    summary = _counted(len(gate.events), "event behind it", "events behind it")
    head = "<tr><th></th><th>what</th><th>event</th><th>why</th></tr>"
    return (
        f"<details><summary>{summary}</summary>"
        f'<div class="scroll"><table>{head}{shown}</table></div>{more}</details>'
    )


def _event(each: EventBehind) -> str:
    return (
        f"<tr><td>{_mark(each.counts)}</td><td>{_shown(each.about)}</td>"
        f'<td class="event"><code>{_shown(each.event_id)}</code></td><td>{_shown(each.why)}</td></tr>'
    )


def _shown(text: str) -> SafeHtml:
    return safe_html(text, limit=_LONGEST)


def _floors(floors: Sequence[Floor]) -> str:
    rows = "".join(map(_floor, floors))
    return (
        '<p class="dim">With fewer samples a figure says little. Fixtures count; how many of the samples '
        f"were fixtures stands beside them.</p>{rows}"
    )


def _floor(floor: Floor) -> str:
    status = "reached" if floor.is_reached else "below"
    said = f"{floor.about}: {floor.found} of {floor.required}"
    fixtures = f"{floor.fixtures} of fixtures"
    return (
        f'<div class="gate"><div>{_mark(status)}</div><div class="name">{floor.about}</div>'
        f'<div class="figure"><b>{floor.found} of {floor.required}</b>'
        f'<span class="dim">{fixtures}</span></div>'
        f'<div class="said">{_bar(status, floor.found, floor.required, said)}</div></div>'
    )


def _violations(answer: SignoffAnswer) -> str:
    if not answer.violations:
        return '<p class="dim">No module violated the capability policy in real use.</p>'
    rows = (
        (
            _mark("resolved" if each["resolution"] else "standing"),
            _second(each["at"]),
            f"{_shown(str(each['moduleId']))} {_shown(str(each['moduleVersion']))}",
            f"<code>{_shown(str(each['type']))}</code>",
            f"<code>{_shown(str(each['eventId']))}</code>",
        )
        for each in answer.violations
    )
    resolutions = "".join(
        f"<h3><code>{_shown(str(each['violationEventId']))}</code></h3><dl>"
        f"<dt>root cause</dt><dd>{safe_html(str(each['rootCause']))}</dd>"
        f"<dt>corrective action</dt><dd>{safe_html(str(each['correctiveAction']))}</dd>"
        f"<dt>resolved</dt><dd>{_second(each['resolvedAt'])} by {safe_html(str(each['resolvedBy']))}, in "
        f"<code>{_shown(str(each['eventId']))}</code></dd></dl>"
        for each in answer.resolutions
    )
    left_out = _left_out(answer.violations_left_out)
    head = ("", "when (UTC)", "module", "event", "its id")
    return f"{_table(head, rows)}{left_out}{resolutions}"


def _integrity(answer: SignoffAnswer) -> str:
    if not answer.integrity:
        return (
            '<p class="dim">Every event has its tags and can be read, and every chain verifies.</p>'
        )
    head = ("what", "event", "why", "tags")
    table = _table(head, map(_failure, answer.integrity))
    return table + _left_out(answer.integrity_count - len(answer.integrity))


def _failure(each: Integrity) -> tuple[str, ...]:
    place = (
        f"event {each.seq} of <code>{_shown(str(each.writer))}</code>"
        if each.event_id is None
        else f"<code>{_shown(each.event_id)}</code>"
    )
    kind = "" if each.event_type is None else f'<div class="dim">{_shown(each.event_type)}</div>'
    tags = ", ".join(each.missing)
    return _mark_of(each.kind), f"{place}{kind}", safe_html(each.why, limit=400), tags


def _mark_of(kind: str) -> str:
    return f'<span class="mark missed">{kind}</span>'


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = "".join(f"<th>{each}</th>" for each in head)
    lines = "".join(f"<tr>{_cells(row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{titles}</tr>{lines}</table></div>'


def _cells(row: Iterable[str]) -> str:
    return "".join(f'<td class="event">{cell}</td>' for cell in row)


def _left_out(count: int) -> str:
    return (
        f'<p class="dim">And {_counted(count, "other", "others")}, not listed.</p>' if count else ""
    )
