"""The answer of the guard for a person: what was gained and where, why that is the answer, what to do.

Every word of the change itself is hostile and made safe here. The block at the end is not laid out in
rows, so that it can be copied: what is in it cannot leave its quotes (see `examine.suggestedblock`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

from consentry.base.safetext import safe_line
from consentry.cli.layout import laid_out
from consentry.cli.output import Output, page_width
from consentry.examine.allowance import refused_steps
from consentry.examine.answeringrule import Rule, answering_rule, rule_in_words
from consentry.examine.delta import Step
from consentry.examine.sides import Doubt
from consentry.examine.stepwords import step_in_words
from consentry.examine.suggestedblock import SuggestedBlock, suggested_block
from consentry.examine.verdict import Status
from consentry.service.guardruns import Answered

Item = TypeVar("Item")

MOST_REFUSED: Final = 12
MOST_OTHERS: Final = 4
NO_REGISTRY: Final = ", which is in no registry"
"""How the reason of a node ends whose tool nobody registered; no wish allows one."""

_LONGEST: Final = 240
_ID: Final = re.compile("[0-9a-f]{40,64}")
_SHORT_ID: Final = 12
_STYLES: Final = {Status.PASS: "green", Status.BLOCKED: "red", Status.UNKNOWN: "yellow"}


def first_line(output: Output, answer: Answered) -> str:
    """The answer in one line."""
    status = answer.verdict.status
    return f"{output.paint(status.value, _STYLES[status])}: {_compared(answer)}"


def guard_text(output: Output, answer: Answered) -> str:
    """All of it, on about a page."""
    return "\n".join((first_line(output, answer), *_lines(output, answer)))


def _compared(answer: Answered) -> str:
    count = len(answer.touched)
    files = "1 file" if count == 1 else f"{count} files"
    said = _ID.sub(lambda found: found[0][:_SHORT_ID], answer.described or "a change")
    return str(safe_line(f"{said} ({files})", limit=_LONGEST))


def _lines(output: Output, answer: Answered) -> Iterator[str]:
    verdict = answer.verdict
    delta = verdict.delta
    allowed = None if answer.terms.wish is None else answer.terms.wish.allowed
    refused = delta.gained if allowed is None else refused_steps(delta, allowed)
    granted = [step for step in delta.gained if step not in refused]
    for note in answer.notes:
        yield from _rows("  note: ", note)
    yield from _part(output, "gained, and not allowed", refused, _step, MOST_REFUSED)
    yield from _part(output, "gained, as the wish allows", granted, _step, MOST_OTHERS)
    yield from _part(output, "cannot be told", delta.doubts, _doubt, MOST_OTHERS)
    yield from _part(output, "no longer there", delta.lost, _lost, MOST_OTHERS)
    yield from _why(output, answer)
    if refused:
        yield from _way_out(output, suggested_block(delta, allowed))


def _part(
    output: Output,
    title: str,
    items: Sequence[Item],
    rows_of: Callable[[Item], Iterable[str]],
    most: int,
) -> Iterator[str]:
    """A heading and what is under it; what does not fit is counted."""
    if not items:
        return
    yield ""
    yield output.paint(f"{title} ({len(items)})", "bold")
    for each in items[:most]:
        yield from rows_of(each)
    if len(items) > most:
        yield f"  and {len(items) - most} more: --json lists them"


def _step(step: Step) -> Iterator[str]:
    yield from _rows("  ", step_in_words(step), is_safe=True)
    yield from _rows("    ", f"{step.file}:{step.line}: {step.reason}")


def _lost(step: Step) -> Iterator[str]:
    place = safe_line(f"{step.file}:{step.line}", limit=_LONGEST)
    yield from _rows("  ", f"{step_in_words(step)} ({place})", is_safe=True)


def _doubt(doubt: Doubt) -> Iterator[str]:
    yield from _rows("  ", f"{doubt.file}:{doubt.about.line}: {doubt.about.reason}")


def _why(output: Output, answer: Answered) -> Iterator[str]:
    verdict, terms = answer.verdict, answer.terms
    rule = answering_rule(verdict, terms.wish, terms.flags)
    said = rule_in_words(rule, verdict)
    if answer.is_replay_different:
        said = verdict.reasons[0].detail
    elif rule is Rule.INCOMPLETE:
        said = f"{said}: {verdict.reasons[0].detail}" if verdict.reasons else said
    yield ""
    yield from _rows("why: ", said, painted=output.paint("why: ", "bold"))
    if rule is Rule.OFFLINE:
        yield "  no wish allows that; leave out --offline if the network may be reached"
    if verdict.delta.doubts:
        yield "  what cannot be told, no wish allows: look at it yourself"
    nodes = [each.detail for each in verdict.reasons if each.detail.endswith(NO_REGISTRY)]
    yield from _part(output, "tools that no registry knows", nodes, _node, MOST_OTHERS)


def _node(detail: str) -> Iterator[str]:
    yield from _rows("  ", detail)


def _way_out(output: Output, suggestion: SuggestedBlock) -> Iterator[str]:
    if suggestion.never:
        yield ""
        yield output.paint(f"no wish can allow ({len(suggestion.never)})", "bold")
        for step in suggestion.never[:MOST_OTHERS]:
            yield from _lost(step)
        if len(suggestion.never) > MOST_OTHERS:
            yield f"  and {len(suggestion.never) - MOST_OTHERS} more"
    if not suggestion.lines:
        return
    yield ""
    rest = " the rest" if suggestion.never else ""
    yield output.paint(f"this block in the wish would allow{rest or ' it'}", "bold")
    if suggestion.protected:
        names = sorted({step.atom.target for step in suggestion.protected})
        yield from _rows("  ", f"under a protected root: {', '.join(names)}")
    yield ""
    yield from suggestion.lines


def _rows(
    start: str, text: str, *, is_safe: bool = False, painted: str | None = None
) -> Iterator[str]:
    """`text` behind `start`, in rows that fit the page; those after the first are marked."""
    shown = text if is_safe else safe_line(text, limit=_LONGEST)
    first, *others = laid_out(shown, width=page_width() - 1, start=len(start), margin=len(start))
    yield f"{painted or start}{first}"
    yield from others
