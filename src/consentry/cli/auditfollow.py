"""The `--follow` of `consentry audit log`: prints events as they are recorded, until interrupted.

Ends without a word when it is interrupted (status 130), and when the reader of the output goes away
(status 141), which is noticed also while there is nothing to print.
"""

import select
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TypeAlias

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import ConsentryError
from consentry.base.safetext import safe_line
from consentry.cli.failure import error_body, failure_of
from consentry.cli.output import Output, ReaderGone, write_answer, write_message
from consentry.cli.table import PROGRAM
from consentry.service.following import Following
from consentry.store.history import Archived

POLL_SECONDS = 0.5

Shown: TypeAlias = Callable[[Mapping[str, object]], str]
"""One event as a line of text."""


def follow(following: Following, most: int, output: Output, shown: Shown) -> ExitStatus:
    """Prints the latest events, then each new one; returns when it is interrupted."""
    write_answer("")  # a closed output is told now, not with the first event
    try:
        _write(following.begin(most), output, shown)
        while True:
            _wait()
            events = following.more()
            _tell_missed(following.missed(), output)
            _write(events, output, shown)
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except ConsentryError as problem:
        if not output.json or problem.code is Code.OUTPUT_FAILED:
            raise
        output.line("error", error_body(failure_of(problem)))
        return problem.exit_status


def _write(events: Sequence[Mapping[str, object]], output: Output, shown: Shown) -> None:
    if output.json:
        for event in events:
            output.line("audit-event", {"event": event})
    elif events:
        output.text("\n".join(map(shown, events)))


def _tell_missed(missed: Sequence[Archived], output: Output) -> None:
    for each in missed:
        if output.json:
            output.line("audit-missed", {"missed": asdict(each)})
        else:
            are = "1 event" if each.events == 1 else f"{each.events} events"
            were = "it was" if each.events == 1 else "they were"
            gone = f"{are} of {safe_line(each.writer)} went to {safe_line(each.archive_id)}"
            write_message(f"{PROGRAM}: {gone} before {were} read")


def _wait() -> None:
    """Until the next look; a reader that goes away meanwhile ends it."""
    poller = select.poll()
    # No event is asked for: the system tells of a reader that is gone all the same.
    poller.register(sys.stdout.fileno(), 0)
    for _, happened in poller.poll(POLL_SECONDS * 1000):
        if happened & (select.POLLERR | select.POLLHUP):
            raise ReaderGone
