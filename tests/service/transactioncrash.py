"""Programs of a host in processes of their own, for the proofs of transactions.

python -m tests.service.transactioncrash WAY PLACE WRITER …    where WAY is one of these

    kill EFFECT WHEN ACT [TX]    does ACT, and is killed at that effect of it
    stop EFFECT WHEN ACT [TX]    the same, but is stopped there, and goes on when it is continued
    race ACT TX KEY              does ACT when a line comes on standard input

ACT is `propose`, `yes`, `apply`, `back`, `again` or `look`. WHEN is a step of an append, or of a commit or
settling `before`, `middle` or `after`. What comes of it is said on standard output, in one line.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from consentry.base.clock import SystemClock
from consentry.base.errors import ConsentryError
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.documentstore import BeforeWrite, Commit
from consentry.store.steps import Step
from tests.service.transactionboard import TERMS
from tests.service.transactionprograms import Program
from tests.service.transactionstrokes import Stroke
from tests.store.keepers import open_place

HASTE: Final = replace(TERMS, ttl_seconds=3600, lease=Duration(400))
"""A worker is believed for so short a time that a test can wait until that is over."""
VALUE: Final = "what the process wrote"


def say(*words: object) -> None:
    """One line, in one system call, so that it is whole or absent."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


class At(Stroke):
    """Acts once, at one effect."""

    def __init__(self, effect: int, when: str, act: Callable[[], None]) -> None:
        self._left = effect
        self._when = when
        self._act = act

    def at_step(self, step: Step) -> None:
        """At that step of an append."""
        self._left -= step is Step.QUEUED
        if self._left == -1 and step.name == self._when and not self.fell:
            self._fall()

    def at_document(
        self, commit: Commit, run: Callable[[BeforeWrite], Any], check: BeforeWrite | None
    ) -> Any:
        """Before a commit or settling, when the last write was made, or behind it."""
        self._left -= 1
        if self._left != -1 or self.fell:
            return run(check or _nothing)
        if self._when == "before":
            self._fall()
        asked = 0

        def middle() -> None:
            nonlocal asked
            asked += 1
            (check or _nothing)()
            if self._when == "middle" and asked == len(commit.writes) + 1:
                self._fall()

        done = run(middle)
        if self._when == "after":
            self._fall()
        return done

    def _fall(self) -> None:
        self.fell = True
        self._act()


def _nothing() -> None:
    """Nothing stands against it."""


@contextmanager
def program(place: str, writer: str) -> Iterator[Program]:
    """A program of the host, with its document beside the ledger."""
    database = open_place(place)
    try:
        yield Program(database, database, writer, SystemClock(), terms=HASTE)
    finally:
        database.close()


def put(program: Program, name: str) -> dict[str, Any]:
    """Makes the entity so, whatever it is."""
    found = program.transactions.place.document.read().entities
    op = "replace" if ("notes", name) in found else "add"
    return {"op": op, "path": f"/notes/{name}", "value": VALUE}


def acted(program: Program, act: str, *given: str) -> str:
    """What comes of it."""
    transactions = program.transactions
    ways: dict[str, Callable[..., Any]] = {
        "propose": lambda: program.propose(None, False, [put(program, "a"), put(program, "b")]),
        "yes": lambda tx: transactions.look(tx) if program.answer(tx, True) else None,
        "apply": transactions.apply,
        "back": transactions.roll_back,
        "again": transactions.preview_again,
        "look": transactions.look,
    }
    try:
        attempt = ways[act](*given)
    except ConsentryError as refused:
        return f"refused {refused.code}"
    return f"attempt {attempt.attempt_no} {attempt.state}"


def main(way: str, place: str, writer: str, *given: str) -> None:
    """One act of one process."""
    with program(place, writer) as host:
        if way == "race":
            say("ready")
            sys.stdin.readline()
            say(acted(host, *given))
            return
        effect, when, *act = given
        ends = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}[way]

        def fall() -> None:
            say("fell")
            os.kill(os.getpid(), ends)

        host.stroke = At(int(effect), when, fall)
        say(acted(host, *act))


if __name__ == "__main__":
    main(*sys.argv[1:])
