"""How a change is put to a person: whose it is, every line of what it does, and a yes to exactly that.

The preview is looked up in the store and held against the hash that a yes binds to; where it cannot be
found or is another one, there is no question. A yes needs the last page to have been seen, and is never
remembered. Where a change has more lines than anybody reads at a prompt, its changes are listed in short and
it is said how the rest is seen; what that leaves out, the yes binds all the same.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.safetext import safe_line
from consentry.cli.dialogue import Sheet
from consentry.cli.promptpages import PromptPages
from consentry.cli.table import PROGRAM
from consentry.cli.txdiff import DiffLimits, DiffLine, diff_lines, is_cut, short_lines
from consentry.decide.approval import ApprovalRequest
from consentry.decide.identity import Role
from consentry.decide.previewdiff import DiffEntity, diff_of
from consentry.decide.transactionask import TransactionAsk
from consentry.store.journal import Journal
from consentry.store.transactions import StoredTransactions

_MOST_LINES: Final = 2_000
_WHOLE: Final = DiffLimits(columns=2_000, values=_MOST_LINES, changes=_MOST_LINES)
_MOST_NAME: Final = 120


def transaction_sheet(journal: Journal, request: ApprovalRequest) -> Sheet:
    """The question with its preview; raises where it is about nothing that can be shown."""
    ask = TransactionAsk.of(request)
    stored = StoredTransactions(journal)
    attempt = stored.find(ask.tx_id, ask.attempt_no)
    preview = None if attempt is None else stored.drawn(attempt).preview
    if attempt is None or preview is None or attempt.preview_hash != ask.preview_hash:
        message = f"`{request.request_id}` asks about a preview that is not there"
        raise Refused(Code.TX_APPROVAL, message)
    diff = diff_of(preview, Role.OWNER)
    return _sheet([*ask.lines(), "", *_changes(ask.tx_id, diff), "", *_tail(request)])


def unseen_sheet(request: ApprovalRequest) -> Sheet:
    """The same where the store is out of sight: it can be denied, and nobody says yes to what they cannot see."""
    ask = TransactionAsk.of(request)
    see = f"what it changes is shown by: {PROGRAM} approve {request.request_id}"
    lines = [*ask.lines(), "", see, *_tail(request)]
    return _sheet(lines, "a change that is not shown here is not approved here")


def transaction_line(request: ApprovalRequest) -> str:
    """What the question leaves out, in one line of safe text."""
    ask = TransactionAsk.of(request)
    origin = ask.origin
    unasked = (
        f", called from {origin.origin}: nobody clicked" if origin.origin.is_automation else ""
    )
    label = safe_line(origin.label, limit=_MOST_NAME)
    return f"{PROGRAM} tx show {safe_line(ask.tx_id)}{unasked}; for “{label}”"


def _changes(tx_id: str, diff: Sequence[DiffEntity]) -> list[str]:
    lines = _first(diff_lines(diff, _WHOLE))
    if len(lines) <= _MOST_LINES:
        see = f"what is left out of a line, a yes is for, too: {PROGRAM} tx show {tx_id} --json"
        return [*lines, see] if is_cut(diff, _WHOLE) else lines
    short = _first(short_lines(diff))
    more = sum(len(each.changes) for each in diff) - _MOST_LINES
    see = f"what they put there is too long for here: {PROGRAM} tx show {tx_id} --html FILE"
    rest = [f"… and {more} more changes, which a yes is for, too"] if more > 0 else []
    return [*short[:_MOST_LINES], *rest, see]


def _first(lines: Iterable[DiffLine]) -> list[str]:
    """As many as are shown, and one more where there are more."""
    return [each.plain() for each in islice(lines, _MOST_LINES + 1)]


def _tail(request: ApprovalRequest) -> list[str]:
    return [f"Request: {request.request_id}", f"Answer by: {request.deadline.shown()}"]


def _sheet(lines: Sequence[str], refusal: str | None = None) -> Sheet:
    return Sheet(
        lambda width, height, _: PromptPages.of_lines(lines, width, height),
        is_seen_whole=True,
        refusal=refusal,
    )
