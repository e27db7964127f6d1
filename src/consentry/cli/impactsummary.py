"""What a tool's run came to, in a few lines at its end: how it ended, what it read, changed and reached.

From the record and the facts it was made of, so that a run whose record keeps no lists is summed up
as well. What was stopped, and why nothing was taken over, is said elsewhere (`cli/runtext.py`). All
names come from the run and are made safe here.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from consentry.base.clock import Instant
from consentry.base.safetext import safe_line
from consentry.base.units import Duration
from consentry.cli.estimatetext import clock_text, estimate_in_words
from consentry.cli.layout import laid_out
from consentry.cli.output import page_width
from consentry.cli.previewtext import size_in_words
from consentry.cli.runtext import Entry, counted, ending_in_words
from consentry.cli.table import PROGRAM
from consentry.decide.previewparts import Estimate
from consentry.service.runledger import Run

MOST_SHOWN: Final = 5

_MARGIN: Final = "  "
_MADE: Final = {"created": "made", "modified": "changed"}

Files = Sequence[Mapping[str, Any]]


def impact_summary(run: Run, estimate: Estimate | None = None) -> list[str]:
    """The lines for a run that is over; nothing for one that never started."""
    impact = run.facts.impact
    return list(summary_of(run.entry, impact.written, impact.deleted, estimate))


def summary_of(
    entry: Entry, written: Files, deleted: Files, estimate: Estimate | None = None
) -> Iterator[str]:
    """The same from the recorded entry and the whole lists."""
    execution = entry["execution"]
    if execution["startTime"] is None or execution["endTime"] is None:
        return
    name = safe_line(str(entry["tool"]["name"]))
    yield from _rows("", f"{PROGRAM}: {name}: {ending_in_words(entry)}{_taken(entry, estimate)}")
    yield from _rows(_MARGIN, _files(entry, written, deleted))
    if entry["impact"]["committed"]:
        yield from _changes(written, deleted, str(entry["id"]))
    yield from _network(entry)
    usage = entry["sandbox"]["resourceUsage"]
    if usage["cpuTime"] is not None:
        yield f"{_MARGIN}{usage['cpuTime']} of processor time, {usage['memoryPeak']} of memory at most"
    undo = entry["impact"]["undo"]
    if undo is not None and undo["until"] is not None:
        until = Instant.parse(undo["until"]).shown()
        yield f"{_MARGIN}{PROGRAM} undo {entry['id']} takes it back until {until}"


def _taken(entry: Entry, estimate: Estimate | None) -> str:
    execution = entry["execution"]
    begun, ended = (Instant.parse(execution[name]) for name in ("startTime", "endTime"))
    spent = clock_text(Duration(max(0, ended.unix_ms - begun.unix_ms)))
    usual = "" if estimate is None else f" (usually {estimate_in_words(estimate)})"
    return f", after {spent}{usual}"


def _files(entry: Entry, written: Files, deleted: Files) -> str:
    impact = entry["impact"]
    read = len(impact["filesRead"]) + impact["filesReadUnlisted"]
    seen = f"read {_number(read)}" if impact["filesReadSeen"] else "what it read was not watched"
    if impact["rehearsal"] is not None:
        return f"{seen}; to be changed: {counted(impact['rehearsal']['changes']) or 'nothing'}"
    if not impact["committed"]:
        return f"{seen}, changed nothing"
    size = sum(int(each.get("size") or 0) for each in written)
    wrote = f"wrote {_number(len(written))}" + (f" ({size_in_words(size)})" if written else "")
    return f"{seen}, {wrote}, deleted {_number(len(deleted))}"


def _number(count: int) -> str:
    if not count:
        return "no files"
    return "1 file" if count == 1 else f"{count:,} files"


def _changes(written: Files, deleted: Files, audit_id: str) -> Iterator[str]:
    lines = [
        f"{_MADE.get(str(each.get('change')), 'wrote')} {safe_line(str(each['path']))}"
        f" ({size_in_words(int(each.get('size') or 0))})"
        for each in written[:MOST_SHOWN]
    ]
    lines += [
        f"deleted {safe_line(str(each['path']))}" for each in deleted[: MOST_SHOWN - len(lines)]
    ]
    for line in lines:
        yield from _rows(_MARGIN * 2, line)
    more = len(written) + len(deleted) - len(lines)
    if more > 0:
        yield f"{_MARGIN * 2}… and {more:,} more: {PROGRAM} audit show {audit_id}"


def _network(entry: Entry) -> Iterator[str]:
    reached = [each for each in entry["sandbox"]["network"] if each["allowed"]]
    for each in reached[:MOST_SHOWN]:
        port = "" if each["port"] is None else f":{each['port']}"
        sent, received = size_in_words(each["bytesSent"]), size_in_words(each["bytesReceived"])
        said = f"reached {safe_line(each['host'])}{port} ({sent} sent, {received} received)"
        yield from _rows(_MARGIN, said)
    if len(reached) > MOST_SHOWN:
        yield f"{_MARGIN}… and {len(reached) - MOST_SHOWN:,} more places"


def _rows(margin: str, said: str) -> list[str]:
    """One line for a file or a pipe; on a terminal, rows of which each begins as ours."""
    if sys.stderr is None or not sys.stderr.isatty():
        return [margin + said]
    width = page_width(sys.stderr.fileno()) - 1
    first, *others = laid_out(said, width=width, start=len(margin), margin=len(margin))
    return [margin + first, *others]
