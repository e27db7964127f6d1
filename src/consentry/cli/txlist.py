"""`consentry tx list`: the transactions that wait for something, and those that block a document."""

from collections.abc import Iterator, Sequence

import click

from consentry.base.clock import Instant
from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass
from consentry.cli.command import OneOf, PlainCommand, Text, output_of
from consentry.cli.moduleplace import READING, complete_module, modules_to_read
from consentry.cli.output import Output
from consentry.cli.table import PROGRAM, Page
from consentry.cli.txtext import list_lines
from consentry.record.transactionstates import TransactionState
from consentry.service.transactionview import ListedTx, listed_tx
from consentry.service.transactionwords import OVER
from consentry.store.journal import Journal
from consentry.store.transactionholds import Block
from consentry.store.transactions import StoredTransactions, TxChoice

PAGE = Page(
    summary="List the transactions that wait for something, the newest first.",
    paragraphs=(
        (
            "With --all also those that are over: applied, taken back, rejected, or failed for good. "
            "Documents that take no change until somebody resolves what blocks them come first."
        ),
        "Looking changes nothing here; `consentry tx show` settles what can be settled.",
    ),
    examples=(
        ("consentry tx list", "what waits, and for whom"),
        ("consentry tx list --all --module word-count", "all that one ever asked for"),
        ("consentry tx list --state APPLIED", "what is applied, and can be taken back"),
        ("consentry tx list --quiet", "the bare ids, one on a line"),
    ),
    statuses=(("0", "listed; an empty list is an answer, too"), ("2", "wrong usage"), *READING),
)

_USUAL = 50
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class _Found:
    """What is listed: transactions, what blocks documents, and whether there are more."""

    listed: Sequence[ListedTx] = ()
    blocks: Sequence[Block] = ()
    has_more: bool = False


@click.pass_context
def _list(
    ctx: click.Context,
    *,
    over_too: bool,
    host: str | None,
    module_id: str | None,
    document: str | None,
    states: tuple[str, ...],
    last: int,
) -> ExitStatus:
    output = output_of(ctx)
    wanted = tuple(map(TransactionState, states))
    if not wanted and not over_too:
        wanted = tuple(each for each in TransactionState if each not in OVER)
    choice = TxChoice(host, document, module_id, wanted)
    with modules_to_read() as journal:
        found = _Found() if journal is None else _found(journal, choice, last)
        now = None if journal is None else journal.clock.now()
    if output.json:
        output.document("tx-list", _document(found))
    elif output.quiet:
        if found.listed:
            output.text("\n".join(each.attempt.tx_id for each in found.listed))
    else:
        lines = [] if now is None else list(_lines(output, found, now))
        output.text(
            "\n".join(lines) or "no transaction waits" + (" or ever was" if over_too else "")
        )
    return ExitStatus.DONE


def _found(journal: Journal, choice: TxChoice, last: int) -> _Found:
    stored = StoredTransactions(journal)
    attempts = stored.listed(choice, last + 1)
    blocks = [each for each in stored.all_blocks() if _is_meant(stored, each, choice)]
    listed = [listed_tx(journal, each) for each in attempts[:last]]
    return _Found(listed, blocks, len(attempts) > last)


def _is_meant(stored: StoredTransactions, block: Block, choice: TxChoice) -> bool:
    """Whether a block belongs to what is asked for; its state is no reason to hide it."""
    if choice.document_id not in (None, block.document_id):
        return False
    if choice.host_id is None and choice.module_id is None:
        return True
    origin = stored.required(block.tx_id, block.attempt_no).origin
    module_id = None if origin.module is None else origin.module.module_id
    return choice.host_id in (None, origin.host_id) and choice.module_id in (None, module_id)


def _document(found: _Found) -> dict[str, object]:
    return {
        "transactions": [each.to_json() for each in found.listed],
        "blocks": [
            {
                "documentId": each.document_id,
                "txId": each.tx_id,
                "attemptNo": each.attempt_no,
                "since": str(each.since),
            }
            for each in found.blocks
        ],
        "more": found.has_more,
    }


def _lines(output: Output, found: _Found, now: Instant) -> Iterator[str]:
    for each in found.blocks:
        named = output.paint(str(safe_line(each.document_id)), "bold")
        yield f"{output.paint('blocked', 'red')}: {named} takes no change since {each.since.shown()}"
        yield f"  {PROGRAM} tx show {each.tx_id}, then {PROGRAM} tx resolve {each.tx_id}"
    if found.blocks and found.listed:
        yield ""
    for listed in found.listed:
        yield from list_lines(output, listed, now)
    if found.has_more:
        yield f"there are more: --last N lists more than {len(found.listed)}"


list_ = PlainCommand(
    "list",
    PAGE,
    _list,
    [
        click.Option(["--all", "over_too"], is_flag=True, help="Also those that are over."),
        click.Option(
            ["--host"], type=Text(), metavar="NAME", help="Only those of this application."
        ),
        click.Option(
            ["--module", "module_id"],
            type=Text(),
            metavar="ID",
            shell_complete=complete_module,
            help="Only those of this module.",
        ),
        click.Option(
            ["--document"], type=Text(), metavar="ID", help="Only those of this document."
        ),
        click.Option(
            ["--state", "states"],
            type=OneOf(tuple(TransactionState)),
            multiple=True,
            metavar="STATE",
            help="Only those in this state, also where it is over; can be repeated.",
        ),
        click.Option(
            ["--last"],
            type=click.IntRange(1, _MOST),
            default=_USUAL,
            metavar="N",
            help=f"At most so many; {_USUAL} unless given.",
        ),
    ],
)
