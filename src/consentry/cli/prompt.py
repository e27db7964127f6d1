"""Asks the person at this terminal: the one prompt, whatever the question is about.

It shows what the answer binds to, reads the answer from the terminal itself, and goes on looking at
the store meanwhile. Ctrl-C and the end of input deny; a terminal that is gone answers nothing, and
the question stays open to other channels until its deadline. Without a terminal there is no prompt.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

from consentry.base.clock import Clock
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass
from consentry.cli.boxdrawing import glyphs_for
from consentry.cli.dialogue import Choice, Dialogue, Guard, Presets, Sheet
from consentry.cli.escalationprompt import escalation_sheet, hold_sheet
from consentry.cli.previewbox import prompt_text
from consentry.cli.promptpages import PromptPages, plain_pages
from consentry.cli.terminal import (
    Cancelled,
    EndedMeanwhile,
    TerminalGone,
    has_terminal,
    open_terminal,
)
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consentask import ConsentAsk
from consentry.decide.identity import Identity, Role
from consentry.decide.question import CANCELLED, Answer, Channel, Outcome, RequestKind
from consentry.declare.consent import RememberDuration
from consentry.declare.preferences import ApprovalSettings
from consentry.service.approvals import Look
from consentry.service.consenting import lasting
from consentry.service.identity import local_user
from consentry.service.ledgers import ledger_place
from consentry.service.passphrase import Passphrase
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal

NO_PRESETS: Final = Presets()
_LASTING: Final = (RequestKind.CONSENT, RequestKind.CAPABILITY, RequestKind.ACTION)
"""The questions whose yes says for how long it is."""

SheetOf: TypeAlias = Callable[[ApprovalRequest], Sheet]


@dataclass(frozen=True, slots=True)
class TerminalPrompt:
    """An asker at the terminal of this process; `who` answers there."""

    who: Identity
    clock: Clock
    guard: Guard | None = None
    sheet_of: SheetOf | None = None
    presets: Presets = NO_PRESETS
    channel: Channel = Channel.TERMINAL
    comes_after_run: bool = False
    """Whether a program had this terminal just now, which may have left it in any state."""

    def ask(self, request: ApprovalRequest, look: Look) -> Answer | None:
        """The person's answer; None where the terminal is gone or it ended meanwhile."""
        sheet = (self.sheet_of or usual_sheet)(request)
        try:
            with open_terminal() as terminal:
                if terminal is None:
                    return None
                if self.comes_after_run:
                    terminal.settle(os.environ.get("TERM", ""))
                dialogue = Dialogue(
                    terminal,
                    sheet,
                    lambda: not look().is_pending,
                    presets=self.presets,
                    guard=self.guard,
                    is_sudden=self.comes_after_run,
                )
                try:
                    return self._answer(request, dialogue.choice())
                except EndedMeanwhile:
                    terminal.write("\n")
                    terminal.forget_typed()
                    return None
        except (Cancelled, KeyboardInterrupt):
            return self._no(CANCELLED)
        except TerminalGone:
            return None

    def tell(self, request: ApprovalRequest) -> None:
        """Says how it ended."""
        with suppress(TerminalGone, Cancelled), open_terminal() as terminal:
            if terminal is not None:
                terminal.write(f"{safe_line(request.ending)}\n")

    def _answer(self, request: ApprovalRequest, choice: Choice) -> Answer:
        if not choice.is_yes:
            return self._no(None)
        if request.question.kind not in _LASTING:
            return Answer(Outcome.APPROVED, self.who, Role.OWNER, self.channel, choice.reason)
        lasts, until = lasting(choice.remember, self.clock.now())
        return Answer(
            Outcome.APPROVED, self.who, Role.OWNER, self.channel, choice.reason, lasts, until
        )

    def _no(self, reason: str | None) -> Answer:
        return Answer(Outcome.DENIED, self.who, Role.OWNER, self.channel, reason)


def terminal_prompt(
    around: Surroundings, journal: Journal, settings: ApprovalSettings
) -> TerminalPrompt | None:
    """The prompt of this terminal; None where there is none."""
    if not has_terminal():
        return None
    who = local_user(around, journal.machine_id)
    return TerminalPrompt(who, journal.clock, guard_of(around, journal.clock, settings))


def guard_of(around: Surroundings, clock: Clock, settings: ApprovalSettings) -> Guard | None:
    """What checks the passphrase, where the settings ask for one or one was set."""
    passphrase = Passphrase(ledger_place(around).folder, clock)
    return passphrase.check if settings.passphrase or passphrase.is_set else None


def usual_sheet(request: ApprovalRequest) -> Sheet:
    """How a request is shown, from what it carries alone."""
    match request.question.kind:
        case RequestKind.CONSENT:
            return consent_sheet(request, ConsentAsk.of(request))
        case RequestKind.ESCALATION:
            return escalation_sheet(request)
        case RequestKind.HOLD:
            return hold_sheet(request)
        case RequestKind.CAPABILITY | RequestKind.ACTION:
            from consentry.cli.moduleprompt import module_sheet  # noqa: PLC0415 - few are a module's

            return module_sheet(request)
        case RequestKind.TRANSACTION:
            from consentry.cli.transactionprompt import unseen_sheet  # noqa: PLC0415 - as above

            return unseen_sheet(request)
        case _:
            return Sheet(lambda width, height, _: plain_pages(request, width, height))


def consent_sheet(
    request: ApprovalRequest, ask: ConsentAsk, remember: RememberDuration | None = None
) -> Sheet:
    """How a tool that wants to run is shown; `remember` instead of the usual time."""
    hidden = ask.hidden
    is_refused = bool(hidden) and ask.is_strict
    glyphs = glyphs_for(os.environ)
    about = {
        "Request": request.request_id,
        "Answer by": request.deadline.shown(),
        "Workspace": ask.workspace,
    }
    return Sheet(
        lambda width, height, options: prompt_text(
            ask.preview, width, height, options, glyphs, about
        ),
        has_details=True,
        remember=None if ask.rules.remember is None else remember or ask.rules.remember,
        word=ask.tool if ask.is_strict else None,
        needs_reason=ask.rules.needs_reason,
        refusal="at level strict nothing is approved that hides characters" if is_refused else None,
        warnings=tuple(f"! hidden characters: {each}" for each in hidden),
    )


def lines_sheet(lines: Sequence[str]) -> Sheet:
    """Lines of safe text, and a yes or a no to them."""
    return Sheet(lambda width, height, _: PromptPages.of_lines(lines, width, height))
