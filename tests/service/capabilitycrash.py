"""Runs a saved capability in a process of its own that is killed at one moment of its escalation.

python -m tests.service.capabilitycrash PROJECT HOME NAME EXECUTION WHEN [HOST]    where WHEN is one
of these; with `as-task` the code of that capability runs as a task of its own

    before-asking     the attempt has failed, and nothing is asked yet
    while-waiting     the question is stored, and nobody has answered
    after-approval    the answer is stored, and the retry has not begun
    after-retry       the retry is over, and nobody was told
    never             it runs to its end, and prints its result
    as-task           the same
"""

import json
import os
import signal
import sys
from contextlib import closing
from pathlib import Path

from consentry.base.canonical import Digest
from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.decide.approval import ApprovalRequest
from consentry.decide.escalationask import EscalationAsk
from consentry.service.approvals import Desk
from consentry.service.capabilityruns import (
    CapabilityDesk,
    CapabilityWish,
    CodeInSet,
    TaskWish,
)
from consentry.service.escalationasking import StoredEscalations
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings
from tests.service.capabilityplaces import YES, kept
from tests.service.desks import Said


def die() -> None:
    """As by `kill -9`: nothing is tidied up."""
    os.kill(os.getpid(), signal.SIGKILL)


class Killed:
    """Asks as usual, and dies at that moment."""

    def __init__(self, desk: Desk, around: Surroundings, when: str) -> None:
        self._inner = StoredEscalations(desk, around, Said(YES, self._meanwhile))
        self._when = when

    def _meanwhile(self) -> None:
        if self._when == "while-waiting":
            die()

    def earlier(self, digest: Digest) -> ApprovalRequest | None:
        """What was asked before."""
        return self._inner.earlier(digest)

    def __call__(self, ask: EscalationAsk) -> ApprovalRequest:
        """Asks, and dies before or after it."""
        if self._when == "before-asking":
            die()
        request = self._inner(ask)
        if self._when == "after-approval":
            die()
        return request


def main(project: str, home: str, name: str, execution: str, when: str, *hosts: str) -> None:
    """One execution, or the beginning of it."""
    environ = {"HOME": home, "PATH": "/usr/bin:/bin"}
    around = Surroundings(environ, Path(project), os.geteuid(), None, (), Path(home).parent)
    clock = SystemClock()
    journal = journal_here(around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        ask = Killed(Desk(journal), around, when)
        with CapabilityDesk(journal, around, ask=ask) as desk:
            if when == "as-task":
                over = desk.run_task(_task(desk, name, execution), kept)
            else:
                over = desk.run(CapabilityWish(name, network=hosts, execution_id=execution), kept)
            if when == "after-retry":
                die()
    sys.stdout.write(json.dumps({"result": over.result, "attempts": len(over.attempts)}) + "\n")


def _task(desk: CapabilityDesk, name: str, execution: str) -> TaskWish:
    found = desk.found(name)
    code = CodeInSet(code=found.code, language=found.language, name="task-1")
    return TaskWish(task_id="task-1", code=code, execution_id=execution)


if __name__ == "__main__":
    main(*sys.argv[1:])
