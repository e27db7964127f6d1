"""How a larger permission set, and an operation that is held, are put to a person.

The escalation has the words of ESCALATION, then what we know besides. A yes to it is stored for good, so
it is taken only when the last page was seen; it cannot be remembered for a time. A yes to a held operation
opens that one object to that one run. What programs said was made safe where it was put into the lines.
"""

from collections.abc import Sequence

from consentry.base.safetext import safe_line
from consentry.cli.dialogue import Sheet
from consentry.cli.promptpages import PromptPages
from consentry.decide.approval import ApprovalRequest
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.heldask import HeldAsk

REJECTS = ("r", "reject")


def escalation_sheet(request: ApprovalRequest) -> Sheet:
    """Code that wants a larger set; raises where the request is not one."""
    ask = EscalationAsk.of(request)
    lines = [*ask.lines(), "", *_about(request, ask)]
    return Sheet(
        lambda width, height, _: PromptPages.of_lines(lines, width, height),
        is_kept=not ask.ephemeral,
        denies=REJECTS,
    )


def _about(request: ApprovalRequest, ask: EscalationAsk) -> Sequence[str]:
    called = ask.name or ask.request.capability_id
    version = "" if ask.version is None else f", version {ask.version}"
    rows = {
        "Name": f"{called}{version}",
        "Workspace": ask.workspace,
        "Engine": ask.engine,
        "Execution": ask.execution_id,
        "Request": request.request_id,
        "Answer by": request.deadline.shown(),
    }
    return [f"{label}: {safe_line(text)}" for label, text in rows.items() if text is not None]


def hold_sheet(request: ApprovalRequest) -> Sheet:
    """An operation of a run that waits for the answer; raises where the request is none."""
    lines = [
        *HeldAsk.of(request).lines(),
        f"Request: {request.request_id}",
        f"Answer by: {request.deadline.shown()}",
    ]
    return Sheet(
        lambda width, height, _: PromptPages.of_lines(lines, width, height),
        # A program chooses how long a name is, and what is written at once is said behind it.
        is_seen_whole=True,
    )
