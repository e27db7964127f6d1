"""How a run is told of: what was stopped, by what, and what to type to allow it.

Works on the recorded entry, so that the end of `exec` and `why` say the same. Every word that comes
from the run is a stranger's and made safe here.
"""

import signal
import sys
from collections import Counter
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
_ANSWERS = {
    "granted": "granted",
    "refused": "refused",
    "expired": "not answered in time",
    "gone": "given up before an answer",
}
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
    lines = [*_ending(entry), *_held_in_short(entry)]
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


def _held_in_short(entry: Entry) -> Iterable[str]:
    """How many operations waited for an answer, and what of it is on the host already."""
    held = held_in(entry)
    if not held:
        return
    counts = Counter(str(each["answer"]) for each in held)
    said = ", ".join(f"{counts[word]} {_ANSWERS[word]}" for word in _ANSWERS if counts[word])
    yield f"{PROGRAM}: asked for while it ran: {said}"
    at_once = [each for each in held if each["direct"] and each["error"] is None]
    if at_once:
        yield f"{PROGRAM}: written to the host at once, by your answer:"
        yield from (" " * _MARGIN + safe_line(each["resource"]) for each in at_once[:MOST_SHOWN])
        if len(at_once) > MOST_SHOWN:
            more = len(at_once) - MOST_SHOWN
            yield f"{' ' * _MARGIN}… and {more} more: {PROGRAM} why {entry['id']}"


def held_in(entry: Entry) -> Sequence[Entry]:
    """What waited for an answer in that run; nothing in records from before there was such a thing."""
    return list(entry["impact"].get("held", ()))


def held_rows(entry: Entry) -> list[str]:
    """One row for each: how it was answered, what it was, and by which request."""
    return [_held_row(each) for each in held_in(entry)]


def _held_row(each: Entry) -> str:
    answer = _ANSWERS.get(str(each["answer"]), str(each["answer"]))
    said = f"{safe_line(answer)}: {each['operation']} {safe_line(each['resource'])}"
    if each["times"] > 1:
        said += f" ({each['times']} times)"
    if each["direct"] and each["error"] is None:
        said += "; written to the host at once"
    elif each["throughLayer"] and each["answer"] == "granted":
        said += "; through the layer"
    if each["error"] is not None:
        said += f"; not done: {safe_line(each['error'])}"
    if each["requestId"] is not None:
        said += f"; {safe_line(each['requestId'])}"
    return " " * _MARGIN + said


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
