"""What the states of a transaction mean, and what helps next: one table for pages, commands and `explain`."""

from collections.abc import Mapping
from typing import Final

from consentry.record.transactionstates import TransactionState

_S = TransactionState
APPLYING_WORDS: Final = "another process is at it; wait, and look again"

STATES: Final[Mapping[TransactionState, tuple[str, str]]] = {
    _S.RECEIVED: ("it was asked for, and nobody has worked out yet what it does", "wait"),
    _S.PREVIEWING: ("what it does is being worked out", "wait"),
    _S.PREVIEW_READY: ("its preview is there, and nobody was asked yet", "wait"),
    _S.APPROVAL_PENDING: (
        "its preview waits for a person's yes or no; nothing is written",
        "consentry tx approve ID, or tx reject",
    ),
    _S.APPROVED: (
        "its preview was approved; nothing is written yet",
        "consentry tx apply ID, before the approval expires",
    ),
    _S.APPLYING: ("a process is carrying it out", APPLYING_WORDS),
    _S.APPLIED: ("its change is in the document", "consentry tx rollback ID takes it back"),
    _S.ROLLBACK_PENDING: ("a process is taking it back", APPLYING_WORDS),
    _S.FAILED_PRE_APPLY: (
        "it came to nothing, before anything was written",
        "the application can preview it again; consentry tx reject ID ends it",
    ),
    _S.RECOVERY_PENDING: (
        "it is not known yet whether its commit took effect",
        "see that the document store can be reached; looking again settles it",
    ),
    _S.ROLLED_BACK: ("it was taken back for good", "nothing: it is over"),
    _S.REJECTED: ("it ended without an effect", "nothing: it is over"),
    _S.FAILED_TERMINAL: (
        "it could not be settled, and nobody can tell from here what is in the document",
        "look at the document, then consentry tx resolve ID --reason TEXT lets it take changes again",
    ),
}
"""For every state what it means, and what helps."""

OVER: Final = frozenset({_S.APPLIED, _S.ROLLED_BACK, _S.REJECTED, _S.FAILED_TERMINAL})
"""The states in which nobody waits for anything; what was applied can still be taken back."""
