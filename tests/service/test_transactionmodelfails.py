"""The proof of transactions can fail: each of these faults, put into the product, is found by it.

A test that nothing can break proves nothing. The faults are the ones that the design is there to prevent: a yes
that outlives its time or has no step, a key that belongs to anybody, a step that looks at no version, a writer
that comes late and gets through, a store that is taken at its word, a violation that is forgotten.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from consentry.base.clock import Instant
from consentry.decide.documentstore import Commit, CommitKind, CommitRecord
from consentry.decide.txattempt import Attempt
from consentry.service import transactionapply, transactionrecovery, watchedwrites
from consentry.service.transactionapply import Applying
from consentry.service.transactionplace import NOTHING
from consentry.service.transactionwatch import ModuleWatch
from consentry.service.watchedwrites import WatchedWrites
from consentry.store import documents, transactionanswers, transactions
from consentry.store.database import Dialect
from consentry.store.documents import StoredDocument
from consentry.store.transactions import StoredTransactions
from tests.service.moduleprograms import planted
from tests.service.transactionmachine import machine_on
from tests.store.conftest import Store
from tests.store.sizes import IS_FULL, sampled

_recovering = Attempt.recovering


def _never_lapses(_: Attempt, now: Instant) -> None:
    """An approval counts for ever."""
    del now


def _without_violation(self: Attempt, *given: Any) -> Attempt:
    """Why it recovers is forgotten."""
    return _recovering(self, *given[:3])


def only_looks(self: StoredDocument, commit: Commit) -> CommitRecord | None:
    """What the log says; a key that is not there may still come."""
    with self._database.reading() as view:
        for kind, commit_id, revision in view.rows(documents._KEY, (commit.key,)):
            return CommitRecord(commit.key, CommitKind(str(kind)), str(commit_id), str(revision))
    return None


class AsksFirst(WatchedWrites):
    """Once its writes have begun, nobody is asked any more."""

    def __call__(self) -> None:
        """The first time only."""
        if self._calls:
            self._calls += 1
        else:
            super().__call__()


def _true(*_: Any) -> bool:
    return True


def _nothing(*_: Any, **__: Any) -> None:
    """Nothing at all."""


_UNCOMPARED = transactions._UPDATE.replace("AND version = ?", "AND ? IS NOT NULL")
_FROM_ANYWHERE = documents._MOVE.replace("AND revision = ?", "AND ? IS NOT NULL")
_A_KEY_FOR_ALL_TRIES = property(
    lambda self: (
        f"{self.tx_id}:{self.attempt_no}:{self.uncertain_kind}:1:"
        f"{self.rollback_key or self.apply_key}"
    )
)

FAULTS: dict[str, Mapping[tuple[object, str], Any]] = {
    "an approval counts for ever": {(Attempt, "lapsed"): _never_lapses},
    "a key that is settled may still commit": {(StoredDocument, "settle"): only_looks},
    "a store is believed when it says yes": {
        (transactionapply, "has_taken_effect"): _true,
        (transactionrecovery, "has_taken_effect"): _true,
    },
    "a store is believed when it says no": {(Applying, "_may_be_there"): lambda *_: False},
    "a violation is forgotten while it is held": {(Attempt, "recovering"): _without_violation},
    "nobody is asked once writes have begun": {(transactionapply, "WatchedWrites"): AsksFirst},
    "a step looks at no version": {(transactions, "_UPDATE"): _UNCOMPARED},
    "a key belongs to anybody": {(transactions, "take_key"): _nothing},
    "a block holds nobody up": {(StoredTransactions, "_require_free"): _nothing},
    "a yes takes no step": {(transactionanswers, "consequence_of"): lambda *_: ((), None)},
    "all tries have one key": {(Attempt, "commit_key"): _A_KEY_FOR_ALL_TRIES},
    "a commit looks at no revision": {(documents, "_MOVE"): _FROM_ANYWHERE},
    "a roll-back takes back what others wrote": {(transactionapply, "_require_as_left"): _nothing},
    "what a violation ended is told by nobody": {(ModuleWatch, "undone"): lambda *_, **__: NOTHING},
}


@pytest.mark.timeout(600)
# In a file examples cost a tenth of what they do on a server.
@pytest.mark.parametrize("store", list(Dialect) if IS_FULL else [Dialect.SQLITE], indirect=True)
@pytest.mark.parametrize("fault", sampled(list(FAULTS), 6))
def test_the_proof_finds(store: Store, fault: str) -> None:
    """The machine ends with an assertion that does not hold, within a bounded number of examples."""
    assert watchedwrites.WatchedWrites is WatchedWrites
    # The same examples each time, and none made smaller: that it is found is all that counts.
    few = settings(
        max_examples=500,
        stateful_step_count=40,
        derandomize=True,
        database=None,
        phases=(Phase.generate,),
        deadline=None,
        report_multiple_bugs=False,
    )
    with planted(FAULTS[fault]), pytest.raises(AssertionError):
        run_state_machine_as_test(machine_on(store), settings=few)
