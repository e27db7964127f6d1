"""Programs of a host in processes of their own, for the proofs of imported modules.

python -m tests.service.modulecrash WAY PLACE …    where WAY is one of these

    import APPEND STEP [OTHER]    replaces the module, and is killed at that step of that append
    answer APPEND STEP REQUEST    says yes for good, killed likewise
    use APPEND STEP               calls an action that stores something, killed likewise
    loop                          uses a capability again and again until that is refused
    churn SEED TIMES [WRITER]     imports, asks, approves, uses, revokes and removes, in some order
    try TIMES                     uses a capability so many times, whatever comes of it

What a command of the host does it says on standard output: `ran` and the id of the run.
"""

import os
import random
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from consentry.base.clock import SystemClock
from consentry.base.errors import ConsentryError
from consentry.enforce.broker import ModuleCall
from consentry.store.steps import Step
from tests.decide.samples import APPROVER, OWNER
from tests.record.samples import WRITER
from tests.service.moduleboard import CONTENTS, HANDLERS, MODULES, VERSIONS
from tests.service.moduleprograms import Program
from tests.store.keepers import open_place

MODULE, OLD, NEW = MODULES[0], VERSIONS[0], VERSIONS[2]
YES = ("approve_session", "approve_persistent")
EXPECTED = {
    "answer-refused",
    "approval-superseded",
    "module-unknown",
    "request-late",
    "request-settled",
}
"""What may come of an operation while others change the module."""


def say(*words: object) -> None:
    """One line, in one system call, so that it is whole or absent."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def _telling(call: ModuleCall) -> object:
    say("ran", call.run.action_run_id)
    return HANDLERS[call.command_id](call)


@contextmanager
def program(place: str, writer: str = WRITER) -> Iterator[Program]:
    """A program of the host, whose commands say that they run."""
    database = open_place(place)
    try:
        handlers = dict.fromkeys(HANDLERS, _telling)
        yield Program(database, writer, SystemClock(), "1.0.0", handlers=handlers)
    finally:
        database.close()


class _KilledAt:
    """Ends the process at a step of its so-manieth append, as by `kill -9`."""

    def __init__(self, append: int, step: Step) -> None:
        self._left = append
        self._step = step

    def __call__(self, step: Step) -> None:
        """Told of every step."""
        self._left -= step is Step.QUEUED
        if self._left == -1 and step is self._step:
            os.kill(os.getpid(), signal.SIGKILL)


def _act(host: Program, action: str) -> tuple[Any, ...]:
    return host.act(MODULE, action, "interactive", None, OWNER, 1)


def crash(way: str, place: str, append: str, step: str, *rest: str) -> None:
    """One operation that does not come to its end."""
    with program(place) as host:
        host.reached = _KilledAt(int(append), Step[step])
        match way:
            case "import":
                host.import_good(MODULE, NEW, CONTENTS[len(rest)])
            case "answer":
                host.decide(rest[0], "approve_persistent", OWNER)
            case "use":
                _act(host, "swap")


def loop(place: str) -> None:
    """Uses until it is refused, and says how."""
    with program(place) as host:
        say("ready")
        while (told := host.do(lambda self: _act(self, "look")))[0] == "done":
            pass
        say("ended", *told[2:])


def churn(place: str, seed: str, times: str, writer: str = WRITER) -> None:
    """Anything, in an order of its own."""
    draw = random.Random(int(seed))  # noqa: S311 - any order will do
    with program(place, writer) as host:
        say("ready")
        for _ in range(int(times)):
            told = host.do(lambda self: _anything(self, draw))
            if told[0] == "raised" and told[1] not in EXPECTED:
                say("unexpected", *told)
        say("over")


def _anything(host: Program, draw: random.Random) -> tuple[Any, ...]:
    module, given = draw.choice(MODULES), host.granted(MODULE)
    match draw.choice(("import", "revoke", "mode", "rare", *["act"] * 8)):
        case "import":
            return host.import_good(module, draw.choice(VERSIONS), draw.choice(CONTENTS))
        case "revoke" if given:
            return host.revoke(draw.choice(given))
        case "mode":
            return host.set_mode(draw.choice(("normal", "normal", "deny-all")))
        case "rare" if draw.random() < 0.2:
            is_to_drop = draw.random() < 0.5
            return host.drop(module) if is_to_drop else host.end(host.session_id)
    action, decision = draw.choice(("look", "keep", "swap")), draw.choice(YES)
    return host.act(module, action, "interactive", decision, draw.choice((OWNER, APPROVER)), 1)


def tries(place: str, times: str) -> None:
    """Uses; what cannot be recorded is said, and the next is tried all the same."""
    try:
        with program(place) as host:
            for _ in range(int(times)):
                try:
                    say(*_act(host, "swap"))
                except ConsentryError as problem:
                    say("failed", problem.code)
    except ConsentryError as problem:
        say("failed", problem.code)


if __name__ == "__main__":
    way, *given = sys.argv[1:]
    others = {"loop": loop, "churn": churn, "try": tries}
    others[way](*given) if way in others else crash(way, *given)
