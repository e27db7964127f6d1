"""`consentry tx reject`: ends a transaction without an effect: one that waits, or one that failed."""

import click

from consentry.base.codes import ExitStatus
from consentry.cli.answerplace import answers_here
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.table import Page
from consentry.cli.txplace import STATUSES, attempt_named, transaction_argument
from consentry.cli.txtext import told
from consentry.decide.identity import Role
from consentry.decide.question import Answer, Channel, Outcome
from consentry.record.transactionstates import TransactionState
from consentry.service.transactions import given_up
from consentry.service.transactionsopen import looked_at
from consentry.store.transactions import StoredTransactions

PAGE = Page(
    summary="End a transaction without an effect: one that waits for an answer, or that failed.",
    paragraphs=(
        "Of one that waits this is the no to its question, as `consentry deny` gives it.",
        "Nothing is asked; as every answer it needs a terminal.",
    ),
    arguments=(
        ("ID", "A transaction's id, or the beginning of one; `consentry tx list` lists them."),
    ),
    examples=(
        ("consentry tx reject 0198c2f4-71", "no"),
        ("consentry tx reject 0198c2f4-71 --reason 'not before the release'", "and why"),
    ),
    statuses=(
        ("0", "rejected, now or before"),
        *STATUSES,
        ("126", "it is past that, was answered meanwhile, or there is no terminal"),
    ),
)

_S = TransactionState


@click.pass_context
def _reject(ctx: click.Context, *, named: str, reason: str | None) -> ExitStatus:
    output = output_of(ctx)
    with answers_here() as place:
        desk = place.desk
        stored = StoredTransactions(desk.journal)
        attempt = looked_at(attempt_named(desk.journal, named), desk)
        who = place.prompt.who
        if attempt.state is _S.APPROVAL_PENDING:
            no = Answer(Outcome.DENIED, who, Role.OWNER, Channel.COMMAND, reason)
            place.answered(place.found(str(attempt.request_id)), no)
        elif attempt.state is not _S.REJECTED:
            given_up(desk.journal, attempt, who, Role.OWNER, reason)
        after = stored.required(attempt.tx_id)
        told(output, after, desk.journal.clock.now())
        after.require_state(_S.REJECTED)
    return ExitStatus.DONE


reject = PlainCommand(
    "reject",
    PAGE,
    _reject,
    [
        click.Option(["--reason"], type=Text(), metavar="TEXT", help="Why; recorded with the no."),
        transaction_argument(),
    ],
)
