"""Puts the approval that a command itself needs to a person, or finds the one that was given.

A soft yes for the session is remembered for the same action of the same content; a hard one is put every
time, and carries out the one call it was put for. What runs by itself joins the question that waits about
the same call, so that it piles none up, and takes a person's no for the rest of the session.
"""

from typing import Final

from consentry.decide.actionask import ActionAsk
from consentry.decide.approval import ApprovalRequest
from consentry.decide.lasting import Lasts
from consentry.decide.question import BY_SYSTEM, Outcome
from consentry.declare.hostdescription import ApprovalRule
from consentry.service.actionoutcome import ActionWish
from consentry.service.approvals import Desk, Waits
from consentry.service.modulegate import Wanted

_MOST_LOOKED_AT: Final = 64


class ActionQuestions:
    """The questions of one host about the commands its modules call."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def about(self, wish: ActionWish, rule: ApprovalRule, wanted: Wanted) -> ApprovalRequest | None:
        """The question about this call as it stands: resumed, remembered, waiting, or put now."""
        if wish.resumes is not None:
            return self._desk.look(wish.resumes.request_id)
        session_id = self._desk.journal.context.session_id
        ask = ActionAsk(
            wanted.run,
            wanted.display_name,
            rule,
            session_id,
            wanted.label,
            wish.arguments,
            wanted.carried,
        )
        request = self._remembered(ask)
        if request is None and wish.origin.is_automation:
            earlier = self._asked_already(ask)
            if earlier is not None:
                return earlier
        if request is None:
            if not wish.asks:
                return None
            request = self._desk.ask(ask.question(), Waits.PROMPT)
        if request.is_pending and (wish.waits or wish.asker is not None):
            request = self._desk.wait(request, wish.asker)
        return request

    def _remembered(self, ask: ActionAsk) -> ApprovalRequest | None:
        """Of a soft rule, the yes for the session if that was the last word, or the same call that waits.

        A call with other arguments is another question: who answers sees what they say yes to.
        """
        if not ask.is_rememberable:
            return None
        alike = self._desk.requests.latest_about(ask.digest, _MOST_LOOKED_AT)
        # Which was answered last, not which was asked last: several may wait at once.
        last = max(filter(_is_said, alike), key=_when_answered, default=None)
        if last is not None and last.answer is not None and last.answer.lasts is Lasts.SESSION:
            return last
        for each in alike:
            if each.is_pending and ActionAsk.of(each).arguments == ask.arguments:
                now = self._desk.look(each.request_id)
                return now if now.is_pending else None
        return None

    def _asked_already(self, ask: ActionAsk) -> ApprovalRequest | None:
        """The last question about the same call in this session, if it waits or a person said no to it."""
        subject, most = ask.question().subject, _MOST_LOOKED_AT
        for each in self._desk.requests.latest_actions(str(ask.session_id), subject, most):
            other = ActionAsk.of(each)
            same = other.run.is_like(ask.run)
            if same and other.arguments == ask.arguments:
                earlier = self._desk.look(each.request_id)
                is_no = earlier.status == Outcome.DENIED
                return earlier if earlier.is_pending or is_no else None
        return None


def _is_said(request: ApprovalRequest) -> bool:
    """Whether a person answered it."""
    return request.answer is not None and request.answer.outcome not in BY_SYSTEM


def _when_answered(request: ApprovalRequest) -> tuple[str, str]:
    return str(request.answered_at), request.request_id
