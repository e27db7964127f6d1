"""`consentry tx rollback`: takes back what a transaction changed, from its journal."""

import os

import click

from consentry.base.codes import Code, ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.capabilitysetting import require_passphrase
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.confirming import TypedYes, require_typed_yes
from consentry.cli.table import Page
from consentry.cli.txapply import check_key, key_option
from consentry.cli.txdiff import diff_lines
from consentry.cli.txplace import STATUSES, attempt_named, desk_here, transaction_argument
from consentry.cli.txtext import told, who_wants
from consentry.decide.previewdiff import diff_of_writes
from consentry.decide.txattempt import Attempt
from consentry.record.transactionstates import TransactionState
from consentry.service.surroundings import look_around
from consentry.service.transactionsopen import looked_at, transactions_for
from consentry.store.journal import Journal
from consentry.store.transactions import StoredTransactions

PAGE = Page(
    summary="Take back what a transaction changed: all of it, or nothing where it was changed since.",
    paragraphs=(
        (
            "What comes back is shown first, from the journal of the attempt, and a yes is typed at "
            "this terminal."
        ),
    ),
    arguments=(
        (
            "ID",
            "A transaction's id, or the beginning of one; `consentry tx list --all` lists them.",
        ),
    ),
    examples=(
        ("consentry tx rollback 0198c2f4-71", "see what comes back, and say yes"),
        ("consentry tx rollback 0198c2f4-71 --yes", "for a script"),
    ),
    statuses=(
        ("0", "taken back, now or before with this key"),
        *STATUSES,
        ("75", "it is not known yet what became of it"),
        (
            "126",
            "not taken back: changed since, not applied, you said no, no terminal, or its host has to",
        ),
    ),
    read_on=("docs/how-to/decide-about-changes.md.",),
)

_YES = TypedYes(
    "rollback",
    "taking a change back",
    Code.APPROVAL_DENIED,
    "say --yes where no person is to be asked",
)


@click.pass_context
def _rollback(ctx: click.Context, *, named: str, key: str | None, yes: bool) -> ExitStatus:
    output = output_of(ctx)
    check_key(key)
    around = look_around(os.environ)
    with desk_here(around) as desk:
        journal = desk.journal
        attempt = looked_at(attempt_named(journal, named), desk)
        transactions = transactions_for(attempt, desk)
        if attempt.state is TransactionState.APPLIED:
            if yes:
                require_passphrase(around, journal, "taking a change back")
            else:
                require_typed_yes(_lines(journal, attempt), _YES, around, journal.clock)
        after = transactions.roll_back(attempt.tx_id, key)
        return told(output, after, journal.clock.now(), TransactionState.ROLLED_BACK)


def _lines(journal: Journal, attempt: Attempt) -> list[str]:
    undone = [each.undone for each in StoredTransactions(journal).journal(attempt)]
    return [
        f"take back {attempt.tx_id} in {safe_line(attempt.document_id)}?",
        f"it was for {who_wants(attempt)}",
        "",
        "what comes back:",
        *(line.plain() for line in diff_lines(diff_of_writes(undone))),
    ]


rollback = PlainCommand(
    "rollback",
    PAGE,
    _rollback,
    [
        key_option(),
        click.Option(
            ["--yes"],
            is_flag=True,
            help="Show and ask nothing, but for the passphrase where one is set.",
        ),
        transaction_argument(),
    ],
)
