"""What a person does with transactions: approve, reject, apply, roll back, preview again, and recover.

Everything is the host's (`consentry.modules`); this file carries a click to it and says what came of it. A yes is
for the question that was on the page, which is about one preview of one attempt: where that is another one by
now, the host refuses the answer. Only transactions of this board's document are listed and touched.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from consentry.modules import (
    ApprovalRequest,
    Attempt,
    ModuleHost,
    RequestKind,
    TransactionAsk,
    TransactionState,
)
from examples.noteboard.notes import BoardProblem
from examples.noteboard.told import Told

_S = TransactionState
WAITING = (_S.APPROVAL_PENDING, _S.APPROVED, _S.FAILED_PRE_APPLY)
UNSETTLED = (_S.APPLYING, _S.ROLLBACK_PENDING, _S.RECOVERY_PENDING)
MOST_WAITING = 10
MOST_UNSETTLED = 20
SAYS: Mapping[TransactionState, str] = {
    _S.APPROVAL_PENDING: "waits for you",
    _S.APPROVED: "approved, and not applied",
    _S.APPLYING: "was being applied",
    _S.APPLIED: "applied",
    _S.ROLLBACK_PENDING: "was being rolled back",
    _S.ROLLED_BACK: "rolled back",
    _S.FAILED_PRE_APPLY: "failed before anything was written",
    _S.RECOVERY_PENDING: "not known yet whether it took effect",
    _S.FAILED_TERMINAL: "could not be settled",
    _S.REJECTED: "rejected",
}
CONFLICT = "tx-conflict"
_CAME_OUT: Mapping[TransactionState, str] = {
    _S.APPLIED: "it had taken effect, and is applied",
    _S.APPROVED: "nothing of it had taken effect, and nothing will by itself; it can be applied again",
    _S.ROLLED_BACK: "it is taken back",
    _S.RECOVERY_PENDING: "it is still not known whether it took effect",
    _S.FAILED_TERMINAL: "it could not be settled, and blocks every change of the notes",
    _S.APPLYING: "another program is applying it",
    _S.ROLLBACK_PENDING: "another program is rolling it back",
}


@dataclass(frozen=True, slots=True)
class Change:
    """A transaction as the page has it: the attempt, its preview, and the question if one waits."""

    attempt: Attempt
    preview: Mapping[str, object] | None
    request: ApprovalRequest | None = None
    is_outdated: bool = False


class Changes:
    """The transactions of one board, for the person at it."""

    def __init__(self, host: ModuleHost) -> None:
        self._host = host
        self._transactions = host.transactions

    def waiting(self) -> list[Change]:
        """What waits for the person: to be decided, to be applied, to be previewed again."""
        asked = {each.request_id: each for each in self._host.pending()}
        revision = self._host.document.read(()).revision
        return [
            Change(
                each,
                self._preview(each),
                asked.get(str(each.request_id)),
                each.base_revision not in (None, revision),
            )
            for each in self._transactions.listed(WAITING, MOST_WAITING)
            if each.state is not _S.APPROVAL_PENDING or each.request_id in asked
        ]

    def unsettled(self) -> list[Attempt]:
        """What somebody began and, as far as is on record, did not end."""
        return list(self._transactions.listed(UNSETTLED, MOST_UNSETTLED))

    def blocking(self) -> list[Attempt]:
        """What could not be settled, and blocks every change until somebody resolves it."""
        found = {each.tx_id for each in self._transactions.blocks()}
        latest = self._transactions.listed([_S.FAILED_TERMINAL], MOST_UNSETTLED)
        return [each for each in latest if each.tx_id in found]

    def latest(self, most: int) -> list[Change]:
        """The latest transactions, the newest first."""
        return [Change(each, self._preview(each)) for each in self._transactions.listed((), most)]

    def is_about_one(self, request_id: str) -> bool:
        """Whether that question is about a transaction; raises where it is one of another board."""
        found = [each for each in self._host.pending() if each.request_id == request_id]
        if not found or found[0].question.kind is not RequestKind.TRANSACTION:
            return False
        if TransactionAsk.of(found[0]).document_id != self._host.document.document_id:
            raise BoardProblem("that change is about the notes of another board")
        return True

    def answer(self, request_id: str, *, is_yes: bool) -> Told:
        """Records what the person said to a preview; after a yes it is applied at once."""
        decision = "approve_once" if is_yes else "deny"
        request = self._host.answer(request_id, decision)
        tx_id = TransactionAsk.of(request).tx_id
        return self.apply(tx_id) if is_yes else _told(self._transactions.look(tx_id))

    def apply(self, tx_id: str) -> Told:
        """Applies what was approved."""
        return _told(self._transactions.apply(tx_id))

    def roll_back(self, tx_id: str) -> Told:
        """Takes back what was applied; refused where somebody changed the same since."""
        return _told(self._transactions.roll_back(tx_id))

    def preview_again(self, tx_id: str) -> Told:
        """Works out what a failed one would do to the notes as they are now."""
        return _told(self._transactions.preview_again(tx_id))

    def give_up(self, tx_id: str) -> Told:
        """Ends a failed one."""
        return _told(self._transactions.reject(tx_id, self._host.user, "owner", "given up"))

    def recover(self) -> Told:
        """Looks into everything that nobody works on any more, and says what became of each."""
        looked = self._transactions.settle_all()
        lines = tuple(f"{named(each)}: {_CAME_OUT[each.state]}" for each in looked)
        if not lines:
            return Told("done", "Nothing was left to look into")
        is_open = any(each.state in (*UNSETTLED, _S.FAILED_TERMINAL) for each in looked)
        return Told("waiting" if is_open else "done", "Looked into", results=lines)

    def _preview(self, attempt: Attempt) -> Mapping[str, object] | None:
        return self._transactions.drawn(attempt).preview


def named(attempt: Attempt) -> str:
    """Whose transaction it is, and what for."""
    origin = attempt.origin
    if origin.module is None:
        return origin.label
    return f"{origin.module.module_id}: {origin.action_id}"


def why_not(attempt: Attempt) -> str | None:
    """What stands against it, in a sentence; the store's own words for a conflict are two long hashes."""
    error = attempt.error
    if error is None:
        return None
    if error.code == CONFLICT:
        return "the notes were changed since its preview was made"
    return error.why


def _told(attempt: Attempt) -> Told:
    """What came of a click: the state, and what stands against it."""
    error = attempt.error
    looks = {_S.APPLIED: "done", _S.ROLLED_BACK: "done"}
    waits = attempt.state in (_S.APPROVAL_PENDING, _S.APPROVED, *UNSETTLED)
    code = why = None
    if error is not None and attempt.state is not _S.ROLLED_BACK:
        code, why = error.code, why_not(attempt)
    return Told(
        looks.get(attempt.state, "waiting" if waits else "rejected"),
        f"{named(attempt)}: {SAYS.get(attempt.state, attempt.state.value)}",
        code,
        why,
    )
