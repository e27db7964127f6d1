"""What is recorded of a step: the mandatory fields, and those of its stage (CONTRACTS §3-audit)."""

from typing import Any

import pytest

from consentry.decide.identity import Role
from consentry.decide.txstep import Caller, Stage, Step
from consentry.record.events import EventType
from consentry.record.payload import check_payload
from consentry.record.transactionstates import STEPS
from tests.decide.samples import DIGEST, NOW, OWNER
from tests.decide.txsamples import REQUEST, TX, S, approval, attempt_at, step_to

CALLER = Caller(OWNER, Role.OWNER, "call-1")
MANDATORY = (
    "timestamp",
    "txId",
    "attemptNo",
    "track",
    "stage",
    "prevState",
    "nextState",
    "actorId",
    "actorRole",
    "requestId",
    "idempotencyKey",
)
ALL_STEPS = [(state, following) for state in S for following in S if following in STEPS[state]]


def payload(state: S, following: S, stage: Stage = Stage.RECOVER, **changes: Any) -> dict[str, Any]:
    """What is recorded of that step."""
    after = step_to(attempt_at(state), following)
    return dict(Step(state, after, stage, CALLER, **changes).payload(NOW))


@pytest.mark.parametrize(("state", "following"), ALL_STEPS)
def test_every_step_says_all_that_is_asked_for(state: S, following: S) -> None:
    """CONTRACTS §3-audit: each mandatory field, in the order of the document, and a payload that is accepted."""
    told = payload(state, following)
    assert tuple(told)[: len(MANDATORY)] == MANDATORY
    assert all(told[name] is not None for name in MANDATORY if name != "idempotencyKey")
    assert (told["prevState"], told["nextState"]) == (state, following)
    assert (told["txId"], told["actorId"], told["requestId"]) == (TX, OWNER, "call-1")
    check_payload(EventType.TRANSACTION_TRANSITION, told)


@pytest.mark.parametrize(("state", "following"), ALL_STEPS)
def test_every_stage_says_what_it_needs(state: S, following: S) -> None:
    """CONTRACTS §3-audit: “what the stage needs”: hashes, commits, errors, where there are some."""
    told = payload(state, following, duration_ms=7)
    assert told["durationMs"] == 7
    assert (told["approval"] is not None) is (following in (S.APPROVED, S.APPLYING))
    assert (told["commitId"] is not None) is (following in (S.APPLIED, S.ROLLED_BACK))
    wrong = (S.FAILED_PRE_APPLY, S.RECOVERY_PENDING, S.FAILED_TERMINAL, S.REJECTED)
    assert (told["error"] is not None) is (following in wrong)
    has_preview = following is not S.PREVIEWING and state is not S.PREVIEWING
    if has_preview:
        assert told["previewHash"] == DIGEST
    if following is S.PREVIEWING:
        assert (told["previewHash"], told["baseRevision"]) == (None, None)


def test_a_step_to_apply_holds_the_approval_that_it_rests_on() -> None:
    """CONTRACTS §3-audit, §3-approval: bound to the same four, in the event itself."""
    told = payload(S.APPROVED, S.APPLYING, Stage.APPLY)
    assert told["approval"] == approval().to_json()
    assert told["approval"]["requestId"] == REQUEST
    assert told["idempotencyKey"] == "key"


def test_a_key_belongs_to_what_is_done_once() -> None:
    """CONTRACTS §3-audit: “idempotencyKey”: of applying, rolling back and recovering; else null."""
    assert payload(S.APPLIED, S.ROLLBACK_PENDING, Stage.ROLLBACK)["idempotencyKey"] == "undo"
    assert payload(S.RECOVERY_PENDING, S.APPLIED)["idempotencyKey"] == "key"
    for stage in (Stage.RECEIVE, Stage.PREVIEW, Stage.APPROVE):
        assert payload(S.RECEIVED, S.PREVIEWING, stage)["idempotencyKey"] is None


def test_nothing_of_the_content_is_recorded() -> None:
    """CONTRACTS §3-audit: neither the reason nor what was changed; it is looked up by the hash."""
    told = payload(S.APPLYING, S.FAILED_PRE_APPLY, Stage.APPLY)
    assert set(told["error"]) == {"code", "class", "safeToRetry", "recoveryAction"}
    assert "why" not in str(told).lower()


def test_that_writes_had_begun_is_recorded() -> None:
    """CONTRACTS §3-audit, MODULES §stage-in-tx: so that roll-backs after a partial apply are counted."""
    assert payload(S.APPLYING, S.RECOVERY_PENDING, after_partial_apply=True)["afterPartialApply"]
    assert not payload(S.APPLYING, S.RECOVERY_PENDING)["afterPartialApply"]


def test_a_host_of_its_own_names_no_module() -> None:
    """CONTRACTS §3-audit: the fields are there, and null."""
    after = step_to(
        attempt_at(S.RECEIVED, module=None, action_id=None, action_run_id=None), S.PREVIEWING
    )
    told = Step(S.RECEIVED, after, Stage.RECEIVE, CALLER).payload(NOW)
    assert (told["track"], told["moduleId"], told["moduleVersion"]) == ("host", None, None)
    assert (told["hostId"], told["documentId"]) == ("note-board", "note-board")
