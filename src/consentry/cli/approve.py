"""`consentry approve`: says yes to a question that waits, at this terminal."""

import click

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import ConsentryError, Refused
from consentry.base.safetext import safe_line
from consentry.base.values import replace
from consentry.cli.answerplace import AnswerPlace, answers_here, tell_answered
from consentry.cli.command import OneOf, PlainCommand, Text, output_of, usage_problem
from consentry.cli.dialogue import Presets
from consentry.cli.output import Output, write_message
from consentry.cli.prompt import lines_sheet
from consentry.cli.table import PROGRAM, Page
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consentask import ConsentAsk
from consentry.decide.identity import Role
from consentry.decide.question import Answer, Channel, Outcome, RequestKind
from consentry.declare.consent import RememberDuration
from consentry.service.answering import Answered
from consentry.service.consenting import lasting
from consentry.surface.sentence import in_words

PAGE = Page(
    summary="Say yes to a question that waits: it is shown here, and your answer is read here.",
    paragraphs=(
        (
            "The question is shown as it was asked, and the yes is typed at this terminal; what comes "
            "through a pipe is no answer. At level strict you also say why and type the tool's name."
        ),
        (
            "Several ids are approved together where `allowBatchApproval` is on: every one is listed "
            "with its digest first. Level strict is answered by itself."
        ),
        "Approving the effect of a strict run commits it.",
        (
            "A larger permission set is kept for that code; an operation that is held is opened for "
            "its run alone. Neither is remembered for a time."
        ),
        (
            "What a module asks for is approved with --session or --permanent, which lasts until the "
            "module changes; a command of its host that needs approval, once."
        ),
        (
            "A change of a document is shown as a diff, and the yes is for that preview alone; "
            "`consentry tx apply` applies it then."
        ),
    ),
    arguments=(("ID", "A request's id, or the beginning of one; `consentry inbox` lists them."),),
    examples=(
        ("consentry approve request-0198c2f4-…", "look at it, and answer"),
        ("consentry approve 0198c2f4-71 --for 1hour", "remembered for an hour"),
        ("consentry approve 0198c2f4-71 --session", "a module's question: for its session"),
        (
            "consentry approve 0198c2f4-71 --reason 'release 1.2'",
            "with the reason that is recorded",
        ),
    ),
    statuses=(
        ("0", "approved"),
        ("2", "wrong usage, or no request has that id"),
        ("5", "the ledger cannot be read or written"),
        ("75", "the terminal is gone; it still waits"),
        (
            "126",
            "no: denied here, answered before, too late, superseded, no terminal, or not taken",
        ),
    ),
    read_on=("docs/how-to/answer-requests.md.",),
)

_TIMES = (RememberDuration.HOUR.value, RememberDuration.DAY.value)


@click.pass_context
def _approve(
    ctx: click.Context,
    *,
    ids: tuple[str, ...],
    once: bool,
    session: bool,
    permanent: bool,
    span: str | None,
    reason: str | None,
) -> ExitStatus:
    output = output_of(ctx)
    remember = _remember(once, session, permanent, span)
    presets = Presets(reason, is_remembered=remember is not None)
    with answers_here() as place:
        requests = {found.request_id: found for found in map(place.found, ids)}
        if len(requests) > 1:
            return _together(output, place, list(requests.values()), remember, reason)
        (request,) = requests.values()
        _require_remembers(request, remember)
        done = place.answered(request, place.asked(request, presets, remember))
    tell_answered(output, [done])
    return _status(done)


def _status(done: Answered) -> ExitStatus:
    is_yes = done.request.status == Outcome.APPROVED
    return ExitStatus.DONE if is_yes else Code.APPROVAL_DENIED.status


def _together(
    output: Output,
    place: AnswerPlace,
    requests: list[ApprovalRequest],
    remember: RememberDuration | None,
    reason: str | None,
) -> ExitStatus:
    """One yes or no to all; each is listed, checked and answered by its own id."""
    lasts, until = lasting(remember, place.desk.journal.clock.now())
    who = place.prompt.who
    yes = Answer(Outcome.APPROVED, who, Role.OWNER, Channel.BATCH, reason, lasts, until)
    for request in requests:
        _require_together(request)
        ConsentAsk.of(request).require_takes(yes)
    sheet = replace(lines_sheet(_listed(requests)), word="approve")
    prompt = replace(place.prompt, sheet_of=lambda _: sheet, channel=Channel.BATCH)
    answer = place.heard(requests[0], prompt)
    done, status = [], ExitStatus.DONE
    for request in requests:
        given = yes if answer.outcome is Outcome.APPROVED else answer
        try:
            done.append(place.answered(request, given))
            status = _status(done[-1]) if status is ExitStatus.DONE else status
        except ConsentryError as problem:
            # The others are answered all the same: each is a decision of its own.
            write_message(f"{PROGRAM}: error[{problem.code}]: {safe_line(problem.message)}")
            status = problem.exit_status
    tell_answered(output, done)
    return status


def _require_together(request: ApprovalRequest) -> None:
    """Only tools are approved together: of anything else the whole question has to be seen."""
    kind = request.question.kind
    if kind is not RequestKind.CONSENT:
        message = f"`{request.request_id}` ({kind}) is answered by itself"
        raise Refused(
            Code.ANSWER_REFUSED, message, help_line=f"{PROGRAM} approve {request.request_id}"
        )


def _listed(requests: list[ApprovalRequest]) -> list[str]:
    lines = [f"{len(requests)} tools want to run; one yes is for all of them", ""]
    for request in requests:
        ask = ConsentAsk.of(request)
        words = " ".join(map(safe_line, ask.arguments)) or "none"
        lines += [
            request.request_id,
            f"  {safe_line(ask.tool)} {safe_line(ask.version)} in {safe_line(ask.workspace)}",
            f"  risk {ask.preview.risk.value}, level {ask.level.value}",
            f"  {ask.digest}",
            f"  arguments: {words}",
            f"  {in_words(ask.surface)}",
            *(f"  ! hidden characters: {safe_line(each)}" for each in ask.hidden),
            "",
        ]
    return lines


def _remember(
    once: bool,  # noqa: FBT001 - as click hands them over
    session: bool,  # noqa: FBT001 - as above
    permanent: bool,  # noqa: FBT001 - as above
    span: str | None,
) -> RememberDuration | None:
    """For how long the yes is to be remembered; None for once."""
    if sum((once, session, permanent, span is not None)) > 1:
        raise usage_problem(
            "`--once`, `--session`, `--for` and `--permanent` exclude each other",
            "leave one of them",
        )
    if session:
        return RememberDuration.SESSION
    if permanent:
        return RememberDuration.PERMANENT
    return None if span is None else RememberDuration(span)


def _require_remembers(request: ApprovalRequest, remember: RememberDuration | None) -> None:
    """Said before the question, not after it was answered."""
    if request.question.kind in (RequestKind.CAPABILITY, RequestKind.ACTION):
        from consentry.cli.moduleprompt import require_span  # noqa: PLC0415 - few are a module's

        require_span(request, remember)
        return
    if remember is None:
        return
    if request.question.kind is RequestKind.TRANSACTION:
        message = (
            f"`{request.request_id}` cannot be remembered: it is about one preview of a change"
        )
        raise Refused(Code.ANSWER_REFUSED, message, help_line="answer it without a duration")
    if request.question.kind is not RequestKind.CONSENT:
        message = f"`{request.request_id}` cannot be remembered: it asks for no tool to run"
        raise Refused(Code.ANSWER_REFUSED, message, help_line="answer it without a duration")
    if ConsentAsk.of(request).rules.remember is None:
        message = f"`{request.request_id}` cannot be remembered: `rememberChoices` is false"
        raise Refused(Code.ANSWER_REFUSED, message, help_line="answer it with --once")


OPTIONS: tuple[click.Parameter, ...] = (
    click.Option(
        ["--once"], is_flag=True, help="For this run alone; what is meant without a word."
    ),
    click.Option(["--session"], is_flag=True, help="Until the session that asked is over."),
    click.Option(
        ["--for", "span"], type=OneOf(_TIMES), metavar="TIME", help="For that time: 1hour or 1day."
    ),
    click.Option(
        ["--permanent"], is_flag=True, help="Until the tool or module, or its powers, change."
    ),
    click.Option(["--reason"], type=Text(), metavar="TEXT", help="Why; recorded with the answer."),
    click.Argument(["ids"], nargs=-1, required=True, type=Text(), metavar="ID..."),
)

approve = PlainCommand("approve", PAGE, _approve, OPTIONS)
