"""What is told when an execution of a capability is over: its result, its error, and what was decided.

The status is the code's own, but for what a person or a deadline decided: a larger set that was denied
is 126, a question that still waits 75. What was refused without a question leaves the code's own status.
"""

import shlex
from collections.abc import Iterator, Sequence
from typing import Final

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import Refused
from consentry.base.safetext import safe_line
from consentry.cli.capabilitytext import document_of as capability_document
from consentry.cli.codevalues import as_json, places_of
from consentry.cli.output import Output, write_answer, write_message
from consentry.cli.runoptions import exit_status, run_document
from consentry.cli.runtext import MOST_SHOWN, Entry, told_at_the_end
from consentry.cli.table import PROGRAM
from consentry.decide.escalation_handler import Escalated
from consentry.enforce.engine import Ending
from consentry.record.auditfields import ExecutionStatus
from consentry.service.approvals import Desk, require_approved
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

_ENDINGS: Final = {
    Code.APPROVAL_DENIED: "it was rejected",
    Code.APPROVAL_EXPIRED: "nobody answered in time",
    Code.APPROVAL_SUPERSEDED: "the question was about something else by then",
}


def status_of(over: CapabilityRun, desk: Desk) -> tuple[int, bool]:
    """The status to exit with, and whether it is ours rather than the code's; 0 only with a result."""
    answer = _answer(over, desk)
    if answer is not None:
        return answer.status, True
    last = over.last
    # Where it could write, what it wrote was discarded because there is no result: that is no denial.
    ended_well = last.run.outcome.ending is Ending.SUCCESS
    if ended_well and last.error is not None:
        return ExitStatus.FOUND, False
    return exit_status(last.run.status, last.run.outcome)


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
        "escalations": [each.to_json() for each in over.escalations],
    }


def tell_end(output: Output, over: CapabilityRun, name: str, again: Sequence[str]) -> None:
    """The result on standard output; everything else on the other. `again` are the words it was run with."""
    last = over.last
    if last.error is None:
        write_answer(as_json(last.result) + "\n")
    elif last.run.status not in _ENDED_FROM_OUTSIDE:
        if output.verbose:
            write_message("\n".join(places_of(last.error.traceback)))
        write_message(f"{PROGRAM}: {safe_line(last.error.type)}: {safe_line(last.error.message)}")
    lines = [] if output.quiet else list(_ended(over))
    for escalated in over.escalations:
        lines += _decided(over, escalated, name, again)
    if lines:
        write_message("\n".join(lines))


def _ended(over: CapabilityRun) -> Iterator[str]:
    """How it ended, if not by itself; and what was stopped, unless a question has told that."""
    entry: Entry = over.last.run.entry
    sandbox = entry["sandbox"]
    # What `exec` offers to allow something are options of its own: here a set decides.
    yield from told_at_the_end({**entry, "sandbox": {**sandbox, "violations": ()}})
    stopped = () if over.is_success or over.escalations else sandbox["violations"]
    if stopped:
        yield f"{PROGRAM}: stopped, because {over.last.code.permission_set} does not open it"
    for each in stopped[:MOST_SHOWN]:
        yield f"  {each['operation']} {safe_line(each['resource'])}: {safe_line(each['rule'])}"
    if len(stopped) > MOST_SHOWN:
        yield f"  … and {len(stopped) - MOST_SHOWN} more: {PROGRAM} why {over.last.run.audit_id}"


def _decided(
    over: CapabilityRun, escalated: Escalated, name: str, again: Sequence[str]
) -> Iterator[str]:
    called = safe_line(name)
    if escalated.approved:
        yield f"{PROGRAM}: {called} runs in {escalated.new_set} until its code changes"
        return
    if escalated.code is None:
        return
    code, wanted = Code(escalated.code), escalated.request
    said = safe_line(escalated.feedback or code.meaning)
    if code is Code.APPROVAL_PENDING and wanted is not None:
        yield f"{PROGRAM}: {called} asks to go from {wanted.current_set} to {wanted.requested_set}"
        yield f"  {said}"
        yield f"  {PROGRAM} approve {escalated.request_id}"
        yield f"  {safe_line(shlex.join([*again, '--execution', over.execution_id]))}"
        return
    if code in _ENDINGS and wanted is not None:
        why = f": {safe_line(escalated.feedback)}" if escalated.feedback else ""
        yield f"{PROGRAM}: {code}: {wanted.requested_set} was not given, {_ENDINGS[code]}{why}"
        return
    yield f"{PROGRAM}: {code}: {said}"
    yield f"  {safe_line(escalated.help_line or code.remedy)}"


def _answer(over: CapabilityRun, desk: Desk) -> Code | None:
    """The code of the answer that ended it, where it was one; also one that it got before."""
    escalated = over.escalated
    if escalated is None or escalated.approved or escalated.code is None:
        return None
    code = Code(escalated.code)
    if code is Code.ESCALATION_SPENT and escalated.request_id is not None:
        try:
            require_approved(desk.look(escalated.request_id))
        except Refused as no:
            return no.code
    return code if code in _ANSWERS else None
