"""The sign-off as text for a terminal: the verdict, every figure, and what stands against it."""

from collections.abc import Iterator
from typing import Final

from consentry.base.safetext import safe_line
from consentry.cli.output import Output
from consentry.record.signoff import Integrity, SignoffAnswer
from consentry.record.signoffgates import Counts, Gate, GateStatus

_MOST_EVENTS: Final = 5
_MOST_LINES: Final = 10
_STYLES: Final = {
    GateStatus.MET: "green",
    GateStatus.MISSED: "red",
    GateStatus.UNKNOWN: "yellow",
}


def signoff_text(answer: SignoffAnswer, output: Output) -> str:
    """All of it; of long lists the beginning."""
    return "\n".join(_lines(answer, output))


def _lines(answer: SignoffAnswer, output: Output) -> Iterator[str]:
    window = answer.window
    verdict = output.paint(answer.verdict, "green" if answer.is_go else "red")
    events = "1 event" if answer.events == 1 else f"{answer.events} events"
    yield f"{verdict}  from {window.since.shown()} to {window.until.shown()}, {events}"
    yield ""
    yield output.paint("Gates", "bold")
    for gate in answer.gates:
        yield from _gate(gate, output)
    yield ""
    yield output.paint("Samples", "bold")
    for floor in answer.floors:
        word = "reached" if floor.is_reached else "below"
        painted = output.paint(f"{word:<8}", "green" if floor.is_reached else "red")
        fixtures = f", {floor.fixtures} of fixtures" if floor.fixtures else ""
        yield f"  {painted} {floor.about}: {floor.found} of {floor.required}{fixtures}"
    yield from _titled(output, "Integrity", _integrity(answer))
    yield from _titled(output, "Violations", _violations(answer))
    yield from _titled(output, "Why NO-GO", iter(answer.reasons))


def _titled(output: Output, title: str, lines: Iterator[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield ""
        yield output.paint(title, "bold")
        yield from (f"  {line}" for line in found)


def _gate(gate: Gate, output: Output) -> Iterator[str]:
    painted = output.paint(f"{gate.status:<8}", _STYLES[gate.status])
    counted = f"  ({gate.counted})" if gate.counted else ""
    yield f"  {painted} {gate.id:<13} {gate.shown}{counted}, required {gate.required}"
    yield f"           {gate.formula}"
    told = [each for each in gate.events if output.verbose or each.counts is not Counts.FOR]
    most = len(told) if output.verbose else _MOST_EVENTS
    for each in told[:most]:
        yield f"           {each.counts}: {safe_line(each.about, limit=48)}: {each.why}"
        yield f"             {safe_line(each.event_id)}"
    against = sum(each.counts is not Counts.FOR for each in gate.events)
    if against > most or (output.verbose and gate.left_out):
        yield f"           and more: {len(gate.events)} are in --json, {gate.left_out} in no list"


def _integrity(answer: SignoffAnswer) -> Iterator[str]:
    for each in answer.integrity[:_MOST_LINES]:
        yield f"{each.kind}: {_place_of(each)}: {safe_line(each.why)}"
        if each.missing:
            yield f"  {', '.join(each.missing)}"
    more = answer.integrity_count - len(answer.integrity[:_MOST_LINES])
    if more:
        yield f"and {more} more: --json lists the first {len(answer.integrity)}"


def _place_of(each: Integrity) -> str:
    if each.event_id is not None:
        return safe_line(each.event_id)
    return f"event {each.seq} of {safe_line(str(each.writer))}"


def _violations(answer: SignoffAnswer) -> Iterator[str]:
    for each in answer.violations[:_MOST_LINES]:
        module = safe_line(f"{each['moduleId']} {each['moduleVersion']}", limit=48)
        when = "" if each["inWindow"] else ", before the window"
        yield f"{safe_line(str(each['at']))}  {module}: {each['type']}{when}"
        resolution = each["resolution"]
        stands = f"resolved by {safe_line(str(resolution))}" if resolution else "not resolved"
        yield f"  {safe_line(str(each['eventId']))}  {stands}"
    more = len(answer.violations) + answer.violations_left_out - _MOST_LINES
    if more > 0:
        yield f"and {more} more: --json lists the first {len(answer.violations)}"
    if any(each["resolution"] is None for each in answer.violations):
        yield "`consentry signoff resolve EVENT` records what they came of, and what was done"
