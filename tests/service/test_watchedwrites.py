"""Document stores of a host that make something else of a refusal, or ask too seldom (CONTRACTS §3-violation).

The grants are real ones that another process takes back in the middle of a commit.
"""

from pathlib import Path

import pytest

from consentry.base.errors import Refused
from consentry.base.units import Duration
from consentry.service.transactionplace import TxTerms
from tests.service.carelessstores import (
    AskingOnce,
    LyingOfRollbacks,
    OwnStore,
    Swallowing,
    Wrapping,
)
from tests.service.changing import (
    APPLIED,
    APPROVED,
    ChangingBoard,
    add,
)
from tests.service.modulehosting import MODULE, WRITE, summary

pytestmark = pytest.mark.timeout(120)

VIOLATION = "capability-policy-violation"
THREE = (add("n1"), add("n2"), add("n3"))


@pytest.mark.parametrize("at", [1, 2, 4])
def test_a_store_that_swallows_the_refusal_does_not_get_away_with_it(
    changing: ChangingBoard, home: Path, at: int
) -> None:
    """CONTRACTS §3-violation: what it committed in spite of a no is taken back by a commit of its own."""
    store = Swallowing(home)
    changing.start_with(store)
    store.acts[at] = lambda: changing.revoke(WRITE)
    outcome = changing.change("add", *THREE)
    assert summary(outcome) == ("rejected", VIOLATION, WRITE)
    assert (outcome.rollback, changing.document) == ("rolled_back", {})
    assert changing.roll_backs() == ["capability.rollback.executed"]


@pytest.mark.parametrize("at", [1, 2, 4])
def test_a_store_that_raises_something_else_for_it_is_seen_through(
    changing: ChangingBoard, home: Path, at: int
) -> None:
    """CONTRACTS §3-violation: the refusal is what happened, not the error that the store made of it."""
    store = Wrapping(home)
    changing.start_with(store)
    store.acts[at] = lambda: changing.revoke(WRITE)
    outcome = changing.change("add", *THREE)
    assert (outcome.code, outcome.rollback, changing.document) == (VIOLATION, "rolled_back", {})


def test_a_store_that_asks_too_seldom_is_asked_for(changing: ChangingBoard, home: Path) -> None:
    """CONTRACTS §3-violation: the watch is asked when the store says it is done, and what it says counts."""
    store = AskingOnce(home)
    changing.start_with(store)
    assert changing.change("add", *THREE).ok
    store.acts[2] = lambda: changing.revoke(WRITE)
    outcome = changing.change("add", add("n4"), add("n5"))
    assert (outcome.code, outcome.rollback) == (VIOLATION, "rolled_back")
    assert sorted(changing.document["notes"]) == ["n1", "n2", "n3"]


def test_a_violation_that_cannot_be_taken_back_blocks_the_document(
    changing: ChangingBoard, home: Path
) -> None:
    """MODULES §stage-rollback-failed, CONTRACTS §3-terminal-block: until somebody looked, and said so."""
    store = LyingAboutUndoing(home)
    changing.start_with(store, terms=TxTerms(recovery=Duration(0)))
    store.acts[2] = lambda: changing.revoke(WRITE)
    outcome = changing.change("add", add())
    assert summary(outcome) == ("rejected", VIOLATION, WRITE)
    assert (outcome.transaction_state, outcome.rollback) == ("FAILED_TERMINAL", "rollback_failed")
    assert changing.roll_backs() == ["capability.rollback.failed"]
    with pytest.raises(Refused, match="is blocked by"):
        changing.own(add("mine"))
    changing.grant(WRITE)
    held = changing.change("add", add("n2"))
    assert (held.status, held.transaction_state, held.code) == ("waiting", APPROVED, "tx-blocked")
    tx_id, resolve = str(outcome.transaction_id), changing.host.transactions.resolve
    with pytest.raises(Refused, match="only somebody who is `operator`"):
        resolve(tx_id, changing.host.user, "viewer", "looked at it")
    resolve(tx_id, changing.host.user, "operator", "looked at it")
    assert changing.host.transactions.blocks() == []
    assert changing.attempt(outcome).state == "FAILED_TERMINAL", "it stays what it is"
    assert changing.own(add("mine")).state is APPLIED


class LyingAboutUndoing(LyingOfRollbacks, Swallowing):
    """Goes on after a refusal, and says of the roll-back that it is done."""


def test_a_module_that_is_gone_has_no_say(changing: ChangingBoard, home: Path) -> None:
    """MODULES §stage-in-tx: removed while its change is written: taken back like any violation."""
    store = OwnStore(home)
    changing.start_with(store)
    store.acts[2] = lambda: changing.host.remove(MODULE)
    outcome = changing.change("add", *THREE)
    assert (outcome.code, outcome.rollback, changing.document) == (VIOLATION, "rolled_back", {})
