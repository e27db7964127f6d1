"""Asks about what a running program waits for, on the terminal that the program has meanwhile.

The program's output is held back and no key reaches it while the question is drawn. What was typed
before is no answer, nor what is typed on in the same breath. Ctrl-C denies, and is not the program's. Where
there is no terminal, or it is another's, one message says how to answer from elsewhere.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from consentry.base.safetext import safe_line
from consentry.base.values import dataclass, replace
from consentry.cli.output import write_message
from consentry.cli.prompt import TerminalPrompt, terminal_prompt
from consentry.cli.table import PROGRAM
from consentry.cli.terminal import Cancelled, EndedMeanwhile
from consentry.decide.approval import ApprovalRequest
from consentry.decide.question import Answer
from consentry.declare.preferences import ApprovalSettings
from consentry.enforce.streams import Curtain
from consentry.service.approvals import Asker, Look
from consentry.service.holding import Holding
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal

_EVERY: Final = 0.2
_STANDARD_ERROR: Final = 2


@dataclass(frozen=True, slots=True)
class HeldPrompt:
    """The prompt of this terminal, behind the curtain of a run."""

    prompt: TerminalPrompt
    curtain: Curtain | None

    def ask(self, request: ApprovalRequest, look: Look) -> Answer | None:
        """The person's answer; None where it ended meanwhile, and with it perhaps the program."""
        with self._shut(look) as is_shut:
            return self.prompt.ask(request, self._watched(look)) if is_shut else None

    def tell(self, request: ApprovalRequest) -> None:
        """Says how it ended, also where the program has ended meanwhile."""
        with self._shut(lambda: request):
            self.prompt.tell(request)

    @contextmanager
    def _shut(self, look: Look) -> Iterator[bool]:
        curtain = self.curtain
        if curtain is None:
            yield True
            return
        try:
            while not curtain.shut(_EVERY):
                if not look().is_pending:
                    break
            yield curtain.is_shut and not curtain.is_over
        finally:
            curtain.open()

    def _watched(self, look: Look) -> Callable[[], ApprovalRequest]:
        """Looks at the question, and at what else ends it."""

        def watched() -> ApprovalRequest:
            if self.curtain is not None and self.curtain.is_over:
                raise EndedMeanwhile
            if self.curtain is not None and self.curtain.is_interrupted:
                raise Cancelled
            return look()

        return watched


def terminal_holding(around: Surroundings) -> Holding:
    """How questions are put from a command: on this terminal, else with a message."""

    def asker(
        journal: Journal, settings: ApprovalSettings, curtain: Curtain | None
    ) -> Asker | None:
        prompt = terminal_prompt(around, journal, settings)
        if prompt is None:
            return None
        return HeldPrompt(replace(prompt, comes_after_run=True), curtain)

    return Holding(asker, tell_held)


def tell_held(request: ApprovalRequest) -> None:
    """One message for a question that has to be answered elsewhere."""
    lines = [
        f"{PROGRAM}: held until {request.deadline.shown()}: {safe_line(request.question.text)}",
        f"  {PROGRAM} approve {request.request_id}",
        f"  {PROGRAM} deny {request.request_id}",
    ]
    # The program's terminal may be in the mode in which a line feed does not begin a line.
    is_raw = os.isatty(_STANDARD_ERROR)
    write_message(("\r\n" if is_raw else "\n").join(lines))
