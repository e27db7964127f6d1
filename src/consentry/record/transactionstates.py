"""The states of a transaction and the steps between them (CONTRACTS §3).

An attempt is a transaction and a number; a new preview after a failure is a new attempt. Where a
state has no step left, the attempt is over for good.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class TransactionState(StrEnum):
    """Where an attempt stands; the values are what events hold."""

    RECEIVED = "RECEIVED"
    PREVIEWING = "PREVIEWING"
    PREVIEW_READY = "PREVIEW_READY"
    APPROVAL_PENDING = "APPROVAL_PENDING"
    APPROVED = "APPROVED"
    APPLYING = "APPLYING"
    APPLIED = "APPLIED"
    ROLLBACK_PENDING = "ROLLBACK_PENDING"
    FAILED_PRE_APPLY = "FAILED_PRE_APPLY"
    RECOVERY_PENDING = "RECOVERY_PENDING"
    ROLLED_BACK = "ROLLED_BACK"
    REJECTED = "REJECTED"
    FAILED_TERMINAL = "FAILED_TERMINAL"


_S = TransactionState

STEPS: Final[Mapping[TransactionState, frozenset[TransactionState]]] = MappingProxyType(
    {
        _S.RECEIVED: frozenset({_S.PREVIEWING}),
        _S.PREVIEWING: frozenset({_S.PREVIEW_READY, _S.FAILED_PRE_APPLY}),
        _S.PREVIEW_READY: frozenset({_S.APPROVAL_PENDING}),
        _S.APPROVAL_PENDING: frozenset({_S.APPROVED, _S.REJECTED, _S.FAILED_PRE_APPLY}),
        _S.APPROVED: frozenset({_S.APPLYING}),
        _S.APPLYING: frozenset({_S.APPLIED, _S.FAILED_PRE_APPLY, _S.RECOVERY_PENDING}),
        _S.APPLIED: frozenset({_S.ROLLBACK_PENDING}),
        _S.ROLLBACK_PENDING: frozenset({_S.ROLLED_BACK, _S.RECOVERY_PENDING, _S.FAILED_TERMINAL}),
        _S.FAILED_PRE_APPLY: frozenset({_S.PREVIEWING, _S.REJECTED}),
        _S.RECOVERY_PENDING: frozenset(
            {_S.APPLIED, _S.ROLLED_BACK, _S.APPROVED, _S.FAILED_TERMINAL}
        ),
        _S.ROLLED_BACK: frozenset(),
        _S.REJECTED: frozenset(),
        _S.FAILED_TERMINAL: frozenset(),
    }
)
"""For every state the states that may follow it."""

TERMINAL: Final = frozenset(state for state, following in STEPS.items() if not following)
"""The states that nothing follows."""

KEYED: Final = frozenset({_S.APPLYING, _S.ROLLBACK_PENDING})
"""The states whose work is done once however often it is asked for: entering one takes a key."""


def is_legal(previous: TransactionState, following: TransactionState) -> bool:
    """Whether `following` may come right after `previous`."""
    return following in STEPS[previous]


def is_new_attempt(previous: TransactionState, following: TransactionState) -> bool:
    """Whether the step starts the next attempt: a preview made anew after a failure."""
    return previous is _S.FAILED_PRE_APPLY and following is _S.PREVIEWING


def attempt_after(previous: TransactionState, following: TransactionState, attempt: int) -> int:
    """The number of the attempt that `following` belongs to, when `previous` was of `attempt`."""
    return attempt + 1 if is_new_attempt(previous, following) else attempt
