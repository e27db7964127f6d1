"""`consentry tx approve`: says yes to the preview of a change, at this terminal."""

import click

from consentry.base.codes import Code, ExitStatus
from consentry.cli.answerplace import answers_here, tell_answered
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.dialogue import Presets
from consentry.cli.table import Page
from consentry.cli.txplace import STATUSES, attempt_named, transaction_argument
from consentry.cli.txtext import told
from consentry.decide.question import Outcome
from consentry.record.transactionstates import TransactionState
from consentry.service.transactionsopen import looked_at, require_within_reach, transactions_for

PAGE = Page(
    summary="Say yes to the preview of a change: it is shown here, and your answer is read here.",
    paragraphs=(
        (
            "The same as `consentry approve` with the id of its question: what comes through a pipe is "
            "no answer, and where a passphrase is set the yes needs it. A yes is for this preview alone, "
            "for the time that is shown; `d` says no."
        ),
    ),
    arguments=(
        ("ID", "A transaction's id, or the beginning of one; `consentry tx list` lists them."),
    ),
    examples=(
        ("consentry tx approve 0198c2f4-71", "look at it, and answer"),
        ("consentry tx approve 0198c2f4-71 --apply", "and have it applied after a yes"),
    ),
    statuses=(
        ("0", "approved; with --apply also applied"),
        *STATUSES,
        ("75", "the terminal is gone, and it still waits; or it is not known yet what came of it"),
        ("126", "no: denied here, answered before, too late, no terminal, or it was not applied"),
    ),
    read_on=("docs/how-to/decide-about-changes.md.",),
)


@click.pass_context
def _approve(ctx: click.Context, *, named: str, reason: str | None, apply: bool) -> ExitStatus:
    output = output_of(ctx)
    with answers_here() as place:
        desk = place.desk
        attempt = looked_at(attempt_named(desk.journal, named), desk)
        attempt.require_state(TransactionState.APPROVAL_PENDING)
        if apply:
            require_within_reach(attempt)
        request = place.found(str(attempt.request_id))
        done = place.answered(request, place.asked(request, Presets(reason), None))
        is_yes = done.request.status == Outcome.APPROVED
        if not (apply and is_yes):
            tell_answered(output, [done])
            return ExitStatus.DONE if is_yes else Code.APPROVAL_DENIED.status
        applied = transactions_for(attempt, desk).apply(attempt.tx_id)
        return told(output, applied, desk.journal.clock.now())


approve = PlainCommand(
    "approve",
    PAGE,
    _approve,
    [
        click.Option(
            ["--reason"], type=Text(), metavar="TEXT", help="Why; recorded with the answer."
        ),
        click.Option(["--apply"], is_flag=True, help="Apply it after a yes."),
        transaction_argument(),
    ],
)
