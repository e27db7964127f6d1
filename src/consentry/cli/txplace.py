"""Where the commands about transactions work, and what they share: finding one, and the role that looks."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, UsageProblem
from consentry.base.ids import Uuid7Ids
from consentry.cli.command import Text
from consentry.cli.moduleplace import modules_to_read
from consentry.decide.txattempt import Attempt
from consentry.service.approvals import Desk
from consentry.service.ownsettings import own_settings
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings, look_around
from consentry.service.transactions import found_transaction
from consentry.service.transactionsopen import can_change_by_looking, looked_at
from consentry.store.journal import Journal
from consentry.store.transactions import StoredTransactions, TxChoice

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

STATUSES = (
    ("2", "wrong usage, or no transaction has that id"),
    ("5", "the ledger cannot be read or written, or what it holds cannot be believed"),
)
_MOST_COMPLETED = 50


@contextmanager
def desk_here(around: Surroundings | None = None) -> Iterator[Desk]:
    """The ledger to change, under the session of this terminal; sessions that are over are ended."""
    around = around or look_around(os.environ)
    settings = own_settings(around).approvals
    clock = SystemClock()
    journal = journal_here(around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        yield Desk(journal, settings)


@contextmanager
def journal_looked_at(named: str, attempt_no: int | None) -> Iterator[tuple[Journal, Attempt]]:
    """The ledger for looking, with the attempt that is meant; settled first where looking can settle it."""
    with modules_to_read() as journal:
        if journal is None:
            raise UsageProblem(Code.TX_UNKNOWN, f"no transaction has the id `{named}`")
        attempt = attempt_named(journal, named, attempt_no)
        if not can_change_by_looking(attempt):
            yield journal, attempt
            return
    with desk_here() as desk:
        yield desk.journal, looked_at(attempt, desk)


def attempt_named(journal: Journal, named: str, attempt_no: int | None = None) -> Attempt:
    """The attempt that is meant by an id or the beginning of one; the latest unless a number is given."""
    stored = StoredTransactions(journal)
    tx_id = found_transaction(stored, named)
    found = stored.find(tx_id, attempt_no)
    if found is None:
        last = stored.required(tx_id).attempt_no
        message = f"`{tx_id}` has no attempt {attempt_no}"
        help_line = f"its attempts are 1 to {last}" if last > 1 else "it has had one attempt"
        raise UsageProblem(Code.TX_UNKNOWN, message, help_line=help_line)
    return found


def transaction_argument() -> click.Argument:
    """The transaction that is meant."""
    return click.Argument(["named"], type=Text(), metavar="ID", shell_complete=complete_transaction)


def complete_transaction(
    ctx: click.Context,  # noqa: ARG001 - click's interface
    param: click.Parameter,  # noqa: ARG001 - click's interface
    incomplete: str,
) -> "list[CompletionItem]":
    """The latest ids that begin so, for shells; nothing where they cannot be read."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only shells ask

    try:
        with modules_to_read() as journal:
            if journal is None:
                return []
            found = StoredTransactions(journal).listed(TxChoice(), _MOST_COMPLETED)
    except ConsentryError:
        return []
    return [
        CompletionItem(each.tx_id, help=each.state.value)
        for each in found
        if each.tx_id.startswith(incomplete)
    ]
