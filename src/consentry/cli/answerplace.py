"""Where questions are answered by command: the desk of this ledger, and the person at the terminal.

A command line alone answers nothing: a program that was started in a person's terminal can type one.
The answer itself is read from the terminal, so a process without one is refused.
"""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass, replace
from consentry.cli.dialogue import Presets, Sheet
from consentry.cli.effectplace import effects_here
from consentry.cli.output import Output
from consentry.cli.prompt import (
    TerminalPrompt,
    consent_sheet,
    lines_sheet,
    terminal_prompt,
    usual_sheet,
)
from consentry.cli.terminalanswer import effect_sheet
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consentask import ConsentAsk
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Channel, Outcome, RequestKind
from consentry.declare.consent import RememberDuration
from consentry.service.answering import Answered, carried_out, effect_in_sight
from consentry.service.approvals import Desk
from consentry.service.keptruns import Place
from consentry.service.ownsettings import own_settings
from consentry.service.staleness import PolicyWatch
from consentry.service.surroundings import look_around


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """The desk, the effects beside it, and whoever is at this terminal."""

    desk: Desk
    effects: Place
    prompt: TerminalPrompt

    def found(self, named: str) -> ApprovalRequest:
        """The request of that id, which can still be answered; raises and says how it ended."""
        request = self.desk.look(self.desk.found(named).request_id)
        request.require_open(self.desk.journal.clock.now())
        return request

    def asked(
        self, request: ApprovalRequest, presets: Presets, remember: RememberDuration | None
    ) -> Answer:
        """What the person says to this one; raises where it ended meanwhile or they are gone."""

        def sheet(asked: ApprovalRequest) -> Sheet:
            return self._sheet(asked, remember)

        prompt = replace(self.prompt, presets=presets, sheet_of=sheet, channel=Channel.COMMAND)
        return self.heard(request, prompt)

    def heard(self, request: ApprovalRequest, prompt: TerminalPrompt) -> Answer:
        """The answer at that prompt."""
        answer = prompt.ask(request, lambda: self.desk.look(request.request_id))
        if answer is not None:
            return answer
        now = self.desk.look(request.request_id)
        now.require_open(self.desk.journal.clock.now())
        message = f"the terminal is gone; {now.ending}"
        raise Refused(Code.APPROVAL_PENDING, message)

    def answered(self, request: ApprovalRequest, answer: Answer) -> Answered:
        """The answer recorded and carried out; refused where another one came first."""
        return carried_out(self.effects, self.desk.answer(request.request_id, answer))

    def _sheet(self, request: ApprovalRequest, remember: RememberDuration | None) -> Sheet:
        if request.question.kind is RequestKind.CONSENT:
            return consent_sheet(request, ConsentAsk.of(request), remember)
        if request.question.kind in (RequestKind.CAPABILITY, RequestKind.ACTION):
            from consentry.cli.moduleprompt import module_sheet  # noqa: PLC0415 - few are a module's

            return module_sheet(request, remember)
        if request.question.kind is RequestKind.TRANSACTION:
            from consentry.cli.transactionprompt import transaction_sheet  # noqa: PLC0415 - as above

            return transaction_sheet(self.desk.journal, request)
        view = effect_in_sight(self.effects, request)
        return usual_sheet(request) if view is None else lines_sheet(effect_sheet(view))


@contextmanager
def answers_here() -> Iterator[AnswerPlace]:
    """The place of this terminal; raises `terminal-missing` where there is none."""
    around = look_around(os.environ)
    settings = own_settings(around).approvals
    effects = effects_here(around)
    with closing(effects.journal.ledger):
        prompt = terminal_prompt(around, effects.journal, settings)
        if prompt is None:
            raise Refused(Code.TERMINAL_MISSING, "this process has no terminal to ask a person at")
        watch = PolicyWatch(around, effects.journal)
        yield AnswerPlace(Desk(effects.journal, settings, watch), effects, prompt)


def tell_answered(output: Output, done: list[Answered]) -> None:
    """What was answered, and what came of it."""
    if output.json:
        output.document("answers", {"answers": [_document(each) for each in done]})
    elif not output.quiet:
        output.text("\n".join(line for each in done for line in _lines(each)))


def _document(done: Answered) -> dict[str, object]:
    settled, consent = done.settled, done.consent
    return {
        "request": done.request.to_json(),
        "consent": None if consent is None else consent.to_json(),
        "grants": [each.to_json() for each in done.grants],
        "transaction": None if done.transaction is None else done.transaction.to_json(),
        "effect": None
        if settled is None
        else {"run": settled.run_id, "result": settled.result.value, "files": settled.files},
    }


def _lines(done: Answered) -> list[str]:
    question, consent = done.request.question, done.consent
    said = f"{done.request.status}: {safe_line(question.text)}  {done.request.request_id}"
    if consent is not None:
        terms = consent.terms
        end = f" until {terms.expires_at.shown()}" if terms.expires_at is not None else ""
        return [said, f"  {consent.consent_id}  {terms.lasts.value}{end}  {terms.digest}"]
    if done.settled is not None:
        return [said, f"  {done.settled.result.value}: {safe_line(done.settled.run_id)}"]
    if question.kind in (RequestKind.CAPABILITY, RequestKind.ACTION):
        return [said, *_came_of_module(done)]
    if question.kind is RequestKind.TRANSACTION:
        return [said, *_came_of_transaction(done)]
    return [said, *_became(done.request)]


def _came_of_module(done: Answered) -> Iterator[str]:
    """What an answer means for the module that asked."""
    request = done.request
    is_yes = request.status == Outcome.APPROVED
    if request.status == Outcome.SUPERSEDED:
        yield f"  no answer counts any more: {safe_line(request.ending)}"
    elif request.question.kind is RequestKind.CAPABILITY:
        for grant in done.grants:
            what = f"{grant.terms.capability_id}  {grant.terms.scope}"
            yield f"  granted: {safe_line(what)}  {grant.grant_id}"
        if not is_yes:
            yield "  nothing is granted; what it wanted to do is rejected"
    else:
        lasts = None if request.answer is None else request.answer.lasts
        span = "for the session that asked" if lasts is Lasts.SESSION else "this once"
        yield f"  the host may call it, {span}" if is_yes else "  the host does not call it"


def _came_of_transaction(done: Answered) -> Iterator[str]:
    """What an answer means for the change that was asked about."""
    attempt = done.transaction
    if done.request.status == Outcome.SUPERSEDED:
        yield f"  no answer counts any more: {safe_line(done.request.ending)}"
    elif attempt is not None:
        from consentry.service.transactionview import helps_next  # noqa: PLC0415 - few are changes

        approval = attempt.approval
        until = "" if approval is None else f" until {approval.expires_at.shown()}"
        yield f"  {attempt.state}{until}: {attempt.tx_id}"
        yield f"  next: {safe_line(helps_next(attempt, attempt.changed_at))}"


def _became(request: ApprovalRequest) -> Iterator[str]:
    """What an answer to running code means for it."""
    if request.status == Outcome.SUPERSEDED:
        yield f"  no answer counts any more: {safe_line(request.ending)}"
    elif request.question.kind is RequestKind.ESCALATION:
        try:
            ask = EscalationAsk.of(request)
        except ConsentryError:
            return  # only a no is taken for what cannot be read, and that is recorded
        called = safe_line(ask.name or ask.request.capability_id)
        if request.status != Outcome.APPROVED:
            yield f"  {called} stays in {ask.request.current_set}; its run ends with its own error"
        elif ask.ephemeral:
            yield f"  {called} runs once more, in {ask.request.requested_set}; nothing is kept"
        else:
            yield f"  {called} runs in {ask.request.requested_set} until its code changes"
    elif request.question.kind is RequestKind.HOLD:
        is_yes = request.status == Outcome.APPROVED
        yield "  opened to that run alone" if is_yes else "  it goes on without"
