"""What a refusal makes of a change that wrote nothing: failed, and in the mode `block-rejected` over for good."""

import pytest

from consentry.base.errors import Refused
from consentry.decide.modulemode import ModuleMode
from tests.service.changing import (
    APPLIED,
    FAILED,
    REJECTED,
    ChangingBoard,
    add,
)
from tests.service.modulehosting import WRITE, summary

pytestmark = pytest.mark.timeout(120)


def test_a_rejected_change_is_over_in_block_rejected(changing: ChangingBoard) -> None:
    """MODULES §mode-block-rejected: “hard block”: in the same step, and no other mode brings it back."""
    changing.ready(WRITE)
    outcome = changing.change("edit", add())
    changing.host.answer(str(outcome.request_id), "approve_once")
    changing.revoke(WRITE)
    changing.set_mode(ModuleMode.BLOCK_REJECTED)
    after = changing.host.resume(str(outcome.request_id))
    assert summary(after) == ("rejected", "capability-not-granted", WRITE)
    tx_id = str(outcome.transaction_id)
    assert changing.steps(tx_id)[-3:] == ["APPLYING", "FAILED_PRE_APPLY", "REJECTED"]
    kept = changing.attempt(outcome)
    assert kept.error is not None
    assert (kept.state, kept.error.safe_to_retry, kept.error.action) == (REJECTED, False, "none")
    changing.set_mode(ModuleMode.NORMAL)
    changing.grant(WRITE)
    for act in (changing.host.transactions.preview_again, changing.host.transactions.apply):
        with pytest.raises(Refused, match="is `REJECTED`"):
            act(tx_id)
    assert changing.document == {}


def test_a_change_that_is_not_even_previewed_is_over_in_block_rejected(
    changing: ChangingBoard,
) -> None:
    """MODULES §mode-block-rejected: a second preview that is refused ends it, too; others go on."""
    changing.own(add())
    changing.ready(WRITE)
    failed = changing.change("add", add())
    assert failed.transaction_state == FAILED
    changing.revoke(WRITE)
    changing.set_mode(ModuleMode.BLOCK_REJECTED)
    again = changing.host.transactions.preview_again(str(failed.transaction_id))
    assert (again.state, again.attempt_no) == (REJECTED, 2)
    assert changing.own(add("n2")).state is APPLIED, "the person's own changes are not a module's"


def test_a_conflict_is_not_over_in_block_rejected(changing: ChangingBoard) -> None:
    """MODULES §mode-block-rejected: only what the capability policy rejected."""
    changing.ready(WRITE)
    changing.set_mode(ModuleMode.BLOCK_REJECTED)
    changing.own(add())
    failed = changing.change("add", add())
    assert (failed.transaction_state, failed.code) == (FAILED, "tx-operation")


def test_in_another_mode_it_comes_again(changing: ChangingBoard) -> None:
    """MODULES §mode-block-rejected: what the mode holds off: in `normal` the same change is previewed again."""
    changing.ready(WRITE)
    outcome = changing.change("edit", add())
    changing.host.answer(str(outcome.request_id), "approve_once")
    changing.revoke(WRITE)
    changing.host.resume(str(outcome.request_id))
    changing.grant(WRITE)
    again = changing.host.transactions.preview_again(str(outcome.transaction_id))
    assert (again.state, again.attempt_no, again.approval) == ("APPROVAL_PENDING", 2, None)
