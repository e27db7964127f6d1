"""Asks the person at the terminal whether a run may be committed, with its effect in sight.

The answer is read from the terminal itself, not from standard input, which a program may have filled.
"""

import os
import termios
from contextlib import suppress

from consentry.base.safetext import safe_line
from consentry.cli.effecttext import effect_lines
from consentry.cli.output import Output, encoded
from consentry.decide.approval import ApprovalRequest
from consentry.decide.identity import Role
from consentry.decide.question import Answer, Channel, Outcome
from consentry.service.commitapproval import Asker, nobody
from consentry.service.effects import EffectView
from consentry.service.identity import local_user
from consentry.service.keptruns import Place
from consentry.service.surroundings import Surroundings

_TERMINAL = "/dev/tty"
_MOST_LINES = 400
_MOST_ANSWER = 1024
_YES = ("y", "yes")


def terminal_asker(output: Output, place: Place, around: Surroundings) -> Asker:
    """Who asks here: the terminal, where there is one."""
    try:
        descriptor = os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return nobody
    os.close(descriptor)

    def asked(request: ApprovalRequest, view: EffectView) -> Answer | None:
        lines = list(effect_lines(output, view, in_short=False))
        if len(lines) > _MOST_LINES:
            lines = list(effect_lines(output, view, in_short=True))
        typed = _typed("\n".join([*lines, "", f"{safe_line(request.question.text)} [y/N] "]))
        if typed is None:
            return None
        outcome = Outcome.APPROVED if typed.strip().lower() in _YES else Outcome.DENIED
        by = local_user(around, place.journal.machine_id)
        return Answer(outcome, by, Role.OWNER, Channel.TERMINAL)

    return asked


def _typed(question: str) -> str | None:
    """What is typed on one line; None where the terminal is gone or closed without an answer."""
    try:
        descriptor = os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # What was typed before the question was read is no answer to it.
        with suppress(termios.error):
            termios.tcflush(descriptor, termios.TCIFLUSH)
        rest = encoded(question, "utf-8")
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        typed = os.read(descriptor, _MOST_ANSWER)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return typed.decode("utf-8", "replace") if typed else None
