"""`consentry tx resolve`: frees a document that one transaction blocks, after somebody looked at it."""

import os

import click

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import Refused
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, Text, output_of, usage_problem
from consentry.cli.confirming import TypedYes, require_typed_yes
from consentry.cli.table import Page
from consentry.cli.txplace import STATUSES, attempt_named, desk_here, transaction_argument
from consentry.cli.txtext import outcome_lines, who_wants
from consentry.decide.identity import Identity, Role
from consentry.decide.txattempt import Attempt
from consentry.record.transactionstates import TransactionState
from consentry.service.surroundings import look_around
from consentry.service.transactionsopen import is_within_reach, transactions_for
from consentry.store.transactions import StoredTransactions

PAGE = Page(
    summary="Free a document that one transaction blocks, after you have looked at the document.",
    paragraphs=(
        (
            "A transaction that could not be settled stops every change of its document, because "
            "nobody can tell what is in it. This changes nothing in the document and settles nothing: "
            "the transaction stays failed, and the document takes changes again."
        ),
        (
            "The word is typed at this terminal, and the passphrase where one is set. Who resolved it, "
            "and why, is on record."
        ),
    ),
    arguments=(("ID", "A transaction's id; `consentry tx list` shows those that block first."),),
    examples=(("consentry tx resolve 0198c2f4-71 --reason 'restored from Monday'", "look first"),),
    statuses=(
        ("0", "resolved"),
        *STATUSES,
        ("126", "it blocks nothing, you said no, or there is no terminal"),
    ),
    read_on=("docs/how-to/decide-about-changes.md.",),
)

_MOST_REASON = 2_000
_YES = TypedYes("resolve", "letting a document take changes again", Code.APPROVAL_DENIED)


@click.pass_context
def _resolve(ctx: click.Context, *, named: str, reason: str) -> ExitStatus:
    output = output_of(ctx)
    if not reason.strip() or len(reason) > _MOST_REASON:
        raise usage_problem(
            "a reason has to say something", f"write 1 to {_MOST_REASON} letters: what was done"
        )
    around = look_around(os.environ)
    with desk_here(around) as desk:
        journal = desk.journal
        stored = StoredTransactions(journal)
        attempt = attempt_named(journal, named)
        attempt.require_state(TransactionState.FAILED_TERMINAL)
        _require_blocks(stored, attempt)
        require_typed_yes(_lines(attempt, reason), _YES, around, journal.clock)
        actor = Identity(journal.context.actor)
        if is_within_reach(attempt):
            transactions_for(attempt, desk).resolve(attempt.tx_id, actor, Role.OPERATOR, reason)
        else:
            stored.resolve(attempt, actor, Role.OPERATOR, reason)
        others = stored.blocks(attempt.document_id)
    if output.json:
        body = {"transaction": attempt.to_json(), "reason": reason, "stillBlocked": bool(others)}
        output.document("tx-resolve", body)
    elif not output.quiet:
        document = safe_line(attempt.document_id)
        rest = f"{len(others)} more block it" if others else "it takes changes again"
        output.text(f"resolved {attempt.tx_id}: {document}, {rest}")
    return ExitStatus.DONE


def _require_blocks(stored: StoredTransactions, attempt: Attempt) -> None:
    """Said before the question, not after it was answered."""
    mine = (attempt.tx_id, attempt.attempt_no)
    blocks = stored.blocks(attempt.document_id)
    if mine not in [(each.tx_id, each.attempt_no) for each in blocks]:
        message = f"`{attempt.tx_id}` blocks nothing any more"
        raise Refused(Code.TX_STATE, message)


def _lines(attempt: Attempt, reason: str) -> list[str]:
    return [
        f"let {safe_line(attempt.document_id)} take changes again?",
        "",
        f"{attempt.tx_id}, attempt {attempt.attempt_no}, for {who_wants(attempt)}",
        *outcome_lines(attempt),
        "nobody here can tell what is in the document: look at it first",
        f"your reason: {safe_line(reason)}",
    ]


resolve = PlainCommand(
    "resolve",
    PAGE,
    _resolve,
    [
        click.Option(
            ["--reason"],
            type=Text(),
            required=True,
            metavar="TEXT",
            help="What was found and done; recorded.",
        ),
        transaction_argument(),
    ],
)
