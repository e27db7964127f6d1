"""What is told when an execution of a capability is over: its result, its error, and what was decided.

The status is the code's own, but for what a person or a deadline decided: a larger set that was denied
is 126, a question that still waits 75. What was refused without a question leaves the code's own status.
"""

from collections.abc import Iterator
from typing import Final

from consentry.base.codes import Code, ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.capabilitytext import document_of as capability_document
from consentry.cli.codevalues import as_json, places_of
from consentry.cli.output import Output, write_answer, write_message
from consentry.cli.runoptions import exit_status, run_document
from consentry.cli.runtext import told_at_the_end
from consentry.cli.table import PROGRAM
from consentry.decide.escalation_handler import Escalated
from consentry.record.auditfields import ExecutionStatus
from consentry.service.capabilityruns import CapabilityRun

_ENDED_FROM_OUTSIDE: Final = (ExecutionStatus.TIMEOUT, ExecutionStatus.LIMIT)
_ANSWERS: Final = frozenset(
    {
        Code.APPROVAL_PENDING,
        Code.APPROVAL_DENIED,
        Code.APPROVAL_EXPIRED,
        Code.APPROVAL_SUPERSEDED,
    }
)


def status_of(over: CapabilityRun) -> tuple[int, bool]:
    """The status to exit with, and whether it is ours rather than the code's; 0 only with a result."""
    answer = _answer(over)
    if answer is not None:
        return answer.status, True
    last = over.last
    status, is_ours = exit_status(last.run.status, last.run.outcome)
    has_none = status == ExitStatus.DONE and last.error is not None
    return ExitStatus.FOUND if has_none else status, is_ours


def document_of(over: CapabilityRun, status: int) -> dict[str, object]:
    """The answer in JSON: the last attempt as `code` tells it, all attempts, and the one question."""
    last, error = over.last, over.error
    return {
        **run_document(last.run, status),
        "result": over.result,
        "error": None
        if error is None
        else {"type": error.type, "message": error.message, "traceback": error.traceback},
        "execution": over.execution_id,
        "attempts": [
            {"run": each.run.audit_id, "permissionSet": each.code.permission_set.value}
            for each in over.attempts
        ],
        "capability": None if over.capability is None else capability_document(over.capability),
        "escalation": None if over.escalated is None else _escalation(over.escalated),
    }


def tell_end(output: Output, over: CapabilityRun, name: str) -> None:
    """The result on standard output; everything else on the other."""
    last = over.last
    if last.error is None:
        write_answer(as_json(last.result) + "\n")
    elif last.run.status not in _ENDED_FROM_OUTSIDE:
        if output.verbose:
            write_message("\n".join(places_of(last.error.traceback)))
        write_message(f"{PROGRAM}: {safe_line(last.error.type)}: {safe_line(last.error.message)}")
    lines = [*_decided(over, name)]
    if not output.quiet:
        lines = [*told_at_the_end(last.run.entry), *lines]
    if lines:
        write_message("\n".join(lines))


def _decided(over: CapabilityRun, name: str) -> Iterator[str]:
    escalated = over.escalated
    if escalated is None:
        return
    if escalated.approved:
        yield f"{PROGRAM}: {safe_line(name)} runs in {escalated.new_set} until its code changes"
        return
    if escalated.code is None:
        return
    said = escalated.feedback or Code(escalated.code).meaning
    yield f"{PROGRAM}: error[{escalated.code}]: {safe_line(said)}"
    if _answer(over) is Code.APPROVAL_PENDING:
        again = f"{PROGRAM} capability run {safe_line(name)} --execution {over.execution_id}"
        yield f"  when it is answered: {again}"
    else:
        yield f"help: {safe_line(escalated.help_line or Code(escalated.code).remedy)}"


def _answer(over: CapabilityRun) -> Code | None:
    """The code of the answer that ended it, where it was one."""
    escalated = over.escalated
    if escalated is None or escalated.approved or escalated.code is None:
        return None
    code = Code(escalated.code)
    return code if code in _ANSWERS else None


def _escalation(escalated: Escalated) -> dict[str, object]:
    return {
        "approved": escalated.approved,
        "newSet": None if escalated.new_set is None else escalated.new_set.value,
        "code": escalated.code,
        "feedback": escalated.feedback,
        "help": escalated.help_line,
        "request": None if escalated.request is None else escalated.request.to_json(),
        "requestId": escalated.request_id,
    }
