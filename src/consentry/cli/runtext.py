"""How a run is told of: what was stopped, by what, and what to type to allow it.

Works on the recorded entry, so that the end of `exec` and `why` say the same. Every word that comes
from the run is a stranger's and made safe here.
"""

import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from consentry.base.clock import Instant
from consentry.base.safetext import safe_line
from consentry.cli.layout import laid_out
from consentry.cli.output import page_width
from consentry.cli.table import PROGRAM

Entry: TypeAlias = Mapping[str, Any]

MOST_SHOWN = 10

NOT_WATCHED = "not watched by this engine"
_MARGIN = 2
_NOTHING_ALLOWS = "nothing allows it"
_CACHES = "__pycache__"
_WORDS_OF_LIMITS = {
    "output": "output",
    "output_bytes": "output",
    "cpu_seconds": "processor time",
    "memory_bytes": "memory",
    "processes": "processes",
    "file_bytes": "the size of a file",
    "written_bytes": "what may be written",
}


def told_at_the_end(entry: Entry) -> list[str]:
    """What a person should know when a run is over; nothing when all went as it was allowed."""
    lines = list(_ending(entry))
    stopped = _worth_telling(entry)
    if stopped:
        count = len(stopped)
        what = "1 thing was" if count == 1 else f"{count} things were"
        lines.append(f"{PROGRAM}: {what} stopped")
        lines += [_row(each) for each in stopped[:MOST_SHOWN]]
        if count > MOST_SHOWN:
            more = count - MOST_SHOWN
            lines.append(f"{' ' * _MARGIN}… and {more} more: {PROGRAM} why {entry['id']}")
    if not is_watched(entry):
        engine = safe_line(entry["sandbox"]["engine"])
        lines.append(f"{PROGRAM}: what it read and what was stopped is {NOT_WATCHED} ({engine})")
    elif not entry["sandbox"]["violationsComplete"] and entry["execution"]["startTime"] is not None:
        lines.append(f"{PROGRAM}: not all that was stopped could be noted")
    return lines


def rehearsed_at_the_end(entry: Entry) -> list[str]:
    """What a rehearsal would change, in short, and what to type next."""
    rehearsal = entry["impact"]["rehearsal"]
    if rehearsal is None:
        if entry["impact"]["discarded"] is not None:
            return []
        return [
            f"{PROGRAM}: a rehearsal, and nothing is kept of it: it could write nothing, or was cut short"
        ]
    until = Instant.parse(rehearsal["keptUntil"]).shown()
    what = counted(rehearsal["changes"]) or "no changes"
    dropped = rehearsal["dropped"]
    more = f"; {dropped} more may not be written" if dropped else ""
    return [
        f"{PROGRAM}: rehearsed, nothing was changed yet: {what}{more}",
        f"{' ' * _MARGIN}kept until {until}; `{PROGRAM} effect` shows it",
        f"{' ' * _MARGIN}{PROGRAM} commit {entry['id']}",
        f"{' ' * _MARGIN}{PROGRAM} discard {entry['id']}",
    ]


def counted(changes: Mapping[str, int]) -> str:
    """How many changes of each kind, those of which there are any."""
    words = {"created": "added", "modified": "changed", "replaced": "of another type"}
    found = [f"{count} {words.get(kind, kind)}" for kind, count in changes.items() if count]
    return ", ".join(found)


def is_watched(entry: Entry) -> bool:
    """Whether anything saw what a run that was carried out read, and what was refused to it."""
    execution = entry["execution"]
    is_over = execution["startTime"] is not None and execution.get("problem") is None
    return not is_over or bool(entry["impact"].get("filesReadSeen", True))


def _worth_telling(entry: Entry) -> Sequence[Entry]:
    """Without the caches that an interpreter tries to write beside every file it reads."""
    return [
        each
        for each in entry["sandbox"]["violations"]
        if each["operation"] != "write" or _CACHES not in each["resource"].split("/")
    ]


def stopped_rows(violations: Iterable[Entry]) -> list[str]:
    """One row for each, in the form that `exec` prints."""
    return [_row(each) for each in violations]


def _row(violation: Entry) -> str:
    times = violation["times"]
    often = f" ({times} times)" if times > 1 else ""
    resource = safe_line(violation["resource"])
    allow = violation["allow"]
    remedy = _NOTHING_ALLOWS if allow is None else f"allow it with {safe_line(allow)}"
    said = f"{violation['operation']} {resource}{often}: {safe_line(violation['rule'])}; {remedy}"
    return " " * _MARGIN + _rows(said)


def _rows(said: str) -> str:
    """One line for a file or a pipe; on a terminal, rows of which each begins as ours."""
    if sys.stderr is None or not sys.stderr.isatty():
        return said
    width = page_width(sys.stderr.fileno()) - 1
    return "\n".join(laid_out(said, width=width, start=_MARGIN, margin=_MARGIN))


def _ending(entry: Entry) -> Iterable[str]:
    execution, impact = entry["execution"], entry["impact"]
    match execution["status"]:
        case "timeout":
            yield f"{PROGRAM}: stopped by the time limit"
        case "limit":
            limit = str(execution["limit"])
            yield f"{PROGRAM}: stopped by the limit on {_WORDS_OF_LIMITS.get(limit, limit)}"
        case _:
            pass
    if impact["discarded"] is not None:
        yield f"{PROGRAM}: nothing was taken over: {safe_line(impact['discarded'])}"


def ending_in_words(entry: Entry) -> str:
    """How it ended, as part of a sentence."""
    execution = entry["execution"]
    status = str(execution["status"])
    if execution["signal"] is not None:
        return f"{status}, by {_signal_name(execution['signal'])}"
    if execution["exitCode"] is not None:
        return f"{status}, exit status {execution['exitCode']}"
    return status.replace("_", " ")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
