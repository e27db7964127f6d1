"""How what a module asks for is put to a person: capabilities that it lacks, and commands that need a yes.

A yes to capabilities says for how long it is, so there is one for the session and one that is kept until
the module changes, and no third (MODULES §flow-4). A command's own approval is given once; where its host
says so, for the session too. Every yes needs the last page to have been seen: a module chooses how long its
names are, and what it is called stands behind our facts. What others wrote was made safe where it was put
into the lines.
"""

from collections.abc import Sequence
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.safetext import safe_line
from consentry.cli.dialogue import Sheet, Yes
from consentry.cli.promptpages import PromptPages
from consentry.cli.table import PROGRAM
from consentry.decide.actionask import ActionAsk
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilityask import CapabilityAsk
from consentry.decide.question import RequestKind
from consentry.declare.consent import RememberDuration

_SESSION: Final = Yes("s", "session", "approve for this session", RememberDuration.SESSION)
_KEPT: Final = Yes("p", "permanent", "approve until the module changes", RememberDuration.PERMANENT)
_ONCE: Final = Yes("a", "approve", "approve once")
_MOST_LINE: Final = 160
_MOST_NAME: Final = 80


def module_sheet(request: ApprovalRequest, only: RememberDuration | None = None) -> Sheet:
    """What a module asks for; raises where it asks for nothing that can be read.

    Args:
        request: A question about capabilities or about an action.
        only: For how long the yes is, where that was said before.
    """
    yeses: tuple[Yes, ...]
    if request.question.kind is RequestKind.CAPABILITY:
        wish = CapabilityAsk.of(request)
        lines = wish.lines()
        yeses = (_KEPT,) if wish.session_id is None else (_SESSION, _KEPT)
    else:
        ask = ActionAsk.of(request)
        lines = ask.lines()
        yeses = (_ONCE, _SESSION) if ask.is_rememberable else (_ONCE,)
    if only is not None:
        yeses = tuple(each for each in yeses if each.remember is only)
    whole = [*lines, f"Request: {request.request_id}", f"Answer by: {request.deadline.shown()}"]
    return _sheet(whole, yeses)


def _sheet(lines: Sequence[str], yeses: tuple[Yes, ...]) -> Sheet:
    return Sheet(
        lambda width, height, _: PromptPages.of_lines(lines, width, height),
        is_seen_whole=True,
        yeses=yeses,
    )


def require_span(request: ApprovalRequest, remember: RememberDuration | None) -> None:
    """Raises unless the question takes a yes for so long; said before it is put, not afterwards."""
    named = f"`{request.request_id}`"
    if request.question.kind is RequestKind.CAPABILITY:
        has_session = CapabilityAsk.of(request).session_id is not None
        if remember is RememberDuration.PERMANENT or (
            has_session and remember is RememberDuration.SESSION
        ):
            return
        said = "has to say for how long" if remember is None else f"cannot be for `{remember}`"
        raise Refused(
            Code.ANSWER_REFUSED,
            f"a yes to {named} {said}: it asks for capabilities of a module",
            help_line=f"{PROGRAM} approve {request.request_id} --session, or --permanent",
        )
    ask = ActionAsk.of(request)
    takes = (None, RememberDuration.SESSION) if ask.is_rememberable else (None,)
    if remember not in takes:
        how = "is approved once or with --session" if ask.is_rememberable else "is approved once"
        message = f"{named} cannot be remembered so: a call that needs {ask.rule.level} approval"
        raise Refused(Code.ANSWER_REFUSED, f"{message} {how}", help_line="leave the duration out")


def wish_line(request: ApprovalRequest) -> str:
    """What the question leaves out, in one line of safe text: our facts first, then its own words."""
    if request.question.kind is RequestKind.CAPABILITY:
        wish = CapabilityAsk.of(request)
        what, action, label, origin = "wanted", wish.action_id, wish.action_label, wish.origin
    else:
        ask = ActionAsk.of(request)
        what = f"{ask.rule.level} approval, because: {ask.rule.reason}"
        action, label, origin = ask.run.action_id, ask.label, ask.run.origin
    unasked = f", called from {origin}: nobody clicked" if origin.is_automation else ""
    named = "" if action is None else f"; for its action “{safe_line(action, limit=_MOST_NAME)}”"
    labelled = "" if label is None else f", “{safe_line(label, limit=_MOST_NAME)}”"
    return f"{safe_line(what, limit=_MOST_LINE)}{unasked}{named}{labelled}"
