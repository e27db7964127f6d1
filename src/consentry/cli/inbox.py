"""`consentry inbox`: the questions that wait for an answer."""

import os
import select
import sys
from collections.abc import Sequence
from contextlib import closing
from typing import NoReturn

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.errors import ConsentryError
from consentry.base.ids import Uuid7Ids
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.output import Output, ReaderGone, write_answer
from consentry.cli.table import PROGRAM, Page
from consentry.decide.approval import ApprovalRequest
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.heldask import AT_ONCE, HeldAsk
from consentry.decide.question import RequestKind
from consentry.service.approvals import Desk
from consentry.service.sessions import journal_here
from consentry.service.staleness import PolicyWatch
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="List the questions that wait for an answer, the oldest first.",
    paragraphs=(
        "Looking denies those whose deadline has passed, and ends those whose policy has changed.",
        "Reading needs no terminal; `consentry approve` and `consentry deny` do.",
    ),
    examples=(
        ("consentry inbox", "what waits"),
        ("consentry inbox --follow", "and what comes, until interrupted"),
        ("consentry inbox --quiet", "the bare ids, one on a line"),
    ),
    statuses=(
        ("0", "listed; an empty list is an answer, too"),
        ("2", "wrong usage"),
        ("5", "the ledger cannot be read or written"),
        ("126", "the state directory is not safe to use"),
        ("130", "--follow was interrupted"),
    ),
    read_on=("docs/how-to/answer-requests.md.",),
)

_POLL_MS = 500


@click.pass_context
def _inbox(ctx: click.Context, *, follow: bool) -> ExitStatus:
    output = output_of(ctx)
    around = look_around(os.environ)
    clock = SystemClock()
    journal = journal_here(around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        desk = Desk(journal, is_stale=PolicyWatch(around, journal))
        if not follow:
            _tell(output, _waiting(desk))
            return ExitStatus.DONE
        try:
            _follow(output, desk)
        except KeyboardInterrupt:
            return ExitStatus.INTERRUPTED


def _waiting(desk: Desk) -> Sequence[ApprovalRequest]:
    looked_at = [desk.look(each.request_id) for each in desk.pending()]
    return [each for each in looked_at if each.is_pending]


def _tell(output: Output, waiting: Sequence[ApprovalRequest]) -> None:
    if output.json:
        output.document("inbox", {"requests": [each.to_json() for each in waiting]})
    elif output.quiet:
        if waiting:
            output.text("\n".join(each.request_id for each in waiting))
    elif not waiting:
        output.text("nothing waits for an answer")
    else:
        rows = [line for each in waiting for line in _lines(each)]
        output.text("\n".join([*rows, "", f"{PROGRAM} approve ID, or {PROGRAM} deny ID"]))


def _lines(request: ApprovalRequest) -> list[str]:
    question = request.question
    asked, denied = request.requested_at.shown(), request.deadline.shown()
    return [
        f"{request.request_id}  {safe_line(question.text)}",
        *_about(request),
        f"  {question.kind.value} of {safe_line(question.subject)}, asked {asked}, denied by itself at {denied}",
    ]


def _about(request: ApprovalRequest) -> list[str]:
    """What the question leaves out: what was denied to code, and what is written without a way back."""
    try:
        match request.question.kind:
            case RequestKind.ESCALATION:
                return [f"  {_denied(EscalationAsk.of(request))}"]
            case RequestKind.HOLD if HeldAsk.of(request).direct:
                return [f"  {AT_ONCE}"]
            case RequestKind.CAPABILITY | RequestKind.ACTION:
                from consentry.cli.moduleprompt import wish_line  # noqa: PLC0415 - few are

                return [f"  {wish_line(request)}"]
            case RequestKind.TRANSACTION:
                from consentry.cli.transactionprompt import transaction_line  # noqa: PLC0415 - as above

                return [f"  {transaction_line(request)}"]
            case _:
                return []
    except ConsentryError:
        return []  # one that cannot be read must not hide the others; answering it says why


def _denied(ask: EscalationAsk) -> str:
    what = ask.request.detected_operation
    resource = "" if ask.resource is None else f" {ask.resource}"
    note = "" if ask.truth_note is None else f" ({ask.truth_note})"
    return safe_line(f"denied: {what}{resource}{note}")


def _follow(output: Output, desk: Desk) -> NoReturn:
    """Tells of each that comes and of each that ends; never returns by itself."""
    write_answer("")  # a closed output is told now, not with the first request
    known: dict[str, ApprovalRequest] = {}
    while True:
        waiting = {each.request_id: each for each in _waiting(desk)}
        for each in waiting.values():
            if each.request_id not in known:
                _tell_one(output, each)
        for request_id in known.keys() - waiting.keys():
            _tell_one(output, desk.look(request_id))
        known = waiting
        _wait()


def _tell_one(output: Output, request: ApprovalRequest) -> None:
    if output.json:
        output.line("request", {"request": request.to_json()})
    elif request.is_pending:
        output.text("\n".join(_lines(request)))
    else:
        output.text(safe_line(request.ending))


def _wait() -> None:
    """Until the next look; a reader that goes away meanwhile ends it."""
    poller = select.poll()
    # No event is asked for: the system tells of a reader that is gone all the same.
    poller.register(sys.stdout.fileno(), 0)
    for _, happened in poller.poll(_POLL_MS):
        if happened & (select.POLLERR | select.POLLHUP):
            raise ReaderGone


inbox = PlainCommand(
    "inbox",
    PAGE,
    _inbox,
    [
        click.Option(
            ["--follow"],
            is_flag=True,
            help="Go on: tell what comes and what ends, until interrupted.",
        )
    ],
)
