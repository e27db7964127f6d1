"""`consentry tx apply`: applies a transaction that was approved."""

import click

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import Refused
from consentry.cli.command import PlainCommand, Text, output_of, usage_problem
from consentry.cli.table import PROGRAM, Page
from consentry.cli.txplace import STATUSES, attempt_named, desk_here, transaction_argument
from consentry.cli.txtext import told
from consentry.decide.txattempt import MOST_KEY
from consentry.record.transactionstates import TransactionState
from consentry.service.transactionsopen import looked_at, transactions_for

PAGE = Page(
    summary="Apply a transaction that was approved: whole, or not at all.",
    paragraphs=(
        (
            "Before anything is written the approval, the preview, the revision and what a module was "
            "granted are looked at once more; what stands against it is told, and nothing is changed."
        ),
        (
            "The same key never applies twice: said again, it answers how that ended. A grant for a "
            "session counts only while the session goes on in which the change was asked for."
        ),
    ),
    arguments=(
        ("ID", "A transaction's id, or the beginning of one; `consentry tx list` lists them."),
    ),
    examples=(
        ("consentry tx apply 0198c2f4-71", "once, however often it is said"),
        ("consentry tx apply 0198c2f4-71 --key release-12", "under a key of your own"),
    ),
    statuses=(
        ("0", "applied, now or before with this key"),
        *STATUSES,
        ("75", "it waits for an answer, or it is not known yet what became of it"),
        ("126", "not applied: expired, in conflict, not granted, blocked, or its host has to"),
    ),
    read_on=("docs/how-to/decide-about-changes.md.",),
)


@click.pass_context
def _apply(ctx: click.Context, *, named: str, key: str | None) -> ExitStatus:
    output = output_of(ctx)
    check_key(key)
    with desk_here() as desk:
        attempt = looked_at(attempt_named(desk.journal, named), desk)
        if attempt.state is TransactionState.APPROVAL_PENDING:
            message = f"nobody has said yes to `{attempt.tx_id}` yet"
            help_line = f"{PROGRAM} tx approve {attempt.tx_id}"
            raise Refused(Code.APPROVAL_PENDING, message, help_line=help_line)
        after = transactions_for(attempt, desk).apply(attempt.tx_id, key)
        return told(output, after, desk.journal.clock.now(), TransactionState.APPLIED)


def check_key(key: str | None) -> None:
    """Raises where it can be no key, before anything is opened."""
    if key is not None and not (0 < len(key) <= MOST_KEY and key.isprintable() and key.strip()):
        raise usage_problem("this cannot be a key", f"a key has 1 to {MOST_KEY} printable letters")


def key_option() -> click.Option:
    """Under which key it is done once."""
    return click.Option(
        ["--key"], type=Text(), metavar="KEY", help="Done once for this key; its own unless given."
    )


apply = PlainCommand("apply", PAGE, _apply, [key_option(), transaction_argument()])
