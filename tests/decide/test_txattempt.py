"""The steps of an attempt: those of the table and no other, and what each of them rests on (CONTRACTS §3)."""

import json
from typing import Any

import pytest

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.base.errors import BadInput, ConsentryError, Refused
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.documentstore import CommitKind
from consentry.decide.identity import SYSTEM, Role
from consentry.decide.txattempt import Attempt
from consentry.decide.txparts import Decision
from consentry.record.transactionstates import STEPS, TERMINAL, is_legal
from tests.decide.samples import NOW, OTHER_DIGEST
from tests.decide.txsamples import (
    BASE,
    CANDIDATE,
    LIMIT,
    RULE,
    VIOLATION,
    WORKER,
    WRONG,
    S,
    approval,
    attempt_at,
    fresh,
    step_to,
)

LATER = NOW.plus(Duration(1000))


# The table.


@pytest.mark.parametrize("state", list(S))
@pytest.mark.parametrize("following", [each for each in S if each is not S.RECEIVED])
def test_every_step_of_the_table_and_no_other(state: S, following: S) -> None:
    """CONTRACTS §3-states: each method from each state: the next state, or `tx-state` and nothing."""
    attempt = attempt_at(state)
    if following in STEPS[state]:
        after = step_to(attempt, following, LATER)
        assert (after.state, after.changed_at) == (following, LATER)
    else:
        with pytest.raises(Refused) as refused:
            step_to(attempt, following, LATER)
        assert refused.value.code == "tx-state"


def test_nothing_enters_the_beginning_and_nothing_leaves_an_end() -> None:
    """CONTRACTS §3-states: three ends are terminal."""
    assert not any(S.RECEIVED in following for following in STEPS.values())
    assert {S.ROLLED_BACK, S.REJECTED, S.FAILED_TERMINAL} == TERMINAL
    for each in TERMINAL:
        assert not any(is_legal(each, other) for other in S)


def test_no_step_is_earlier_than_the_one_before_it() -> None:
    """CONTRACTS §9-time-2: a clock that went back leaves the time of the step before."""
    attempt = step_to(fresh(), S.PREVIEWING, LATER)
    assert step_to(attempt, S.PREVIEW_READY, NOW).changed_at == LATER


# Attempts and their numbers.


def test_a_preview_after_a_failure_is_the_next_attempt() -> None:
    """CONTRACTS §3-attempt: and nothing of the one before carries over."""
    failed = attempt_at(S.APPLYING).failed(WRONG, NOW)
    second = failed.previewing(LATER)
    assert (second.tx_id, second.attempt_no, second.state) == (failed.tx_id, 2, S.PREVIEWING)
    assert (second.approval, second.preview_hash, second.apply_key, second.error) == (None,) * 4
    assert (second.tries, second.version, second.created_at) == (0, 0, LATER)
    assert (second.origin, second.document_id) == (failed.origin, failed.document_id)
    third = second.failed(WRONG, LATER).previewing(LATER)
    assert third.attempt_no == 3
    names = {each.commit_name for each in (failed, second, third)}
    assert len(names) == 3


# What an approval binds.


@pytest.mark.parametrize(
    "other",
    [
        {"tx_id": "tx-00000000-0000-7000-8000-000000000002"},
        {"attempt_no": 2},
        {"preview_hash": OTHER_DIGEST},
        {"base_revision": CANDIDATE},
        {"decision": Decision.REJECTED},
    ],
)
def test_an_approval_is_for_one_preview_of_one_attempt(other: dict[str, Any]) -> None:
    """CONTRACTS §3-approval: “txId + attemptNo + previewHash + baseRevision”, and a yes: on the way in, and on."""
    pending = attempt_at(S.APPROVAL_PENDING)
    with pytest.raises(Refused) as refused:
        pending.approved(approval(**other), NOW)
    assert refused.value.code == "tx-approval"
    forged = replace(attempt_at(S.APPROVED), approval=approval(**other))
    with pytest.raises(Refused):
        forged.applying("key", WORKER, NOW)


def test_nothing_is_applied_without_an_approval() -> None:
    """CONTRACTS §3-apply: also where a state says that it is approved."""
    forged = replace(attempt_at(S.APPROVED), approval=None)
    with pytest.raises(Refused, match="nobody approved"):
        forged.applying("key", WORKER, NOW)
    assert forged.lapsed(NOW) is not None


@pytest.mark.parametrize(
    "rule", [None, replace(RULE, approver=None), RULE, replace(RULE, approver="owner")]
)
@pytest.mark.parametrize("role", list(Role))
def test_authority_is_the_rules(rule: Any, role: Role) -> None:
    """CONTRACTS §3-apply: “authority”: who is named, and the owner; where nobody is, anybody who may answer."""
    attempt = fresh(rule=rule)
    named = None if rule is None else rule.approver
    may = rule is None or (
        role not in (Role.VIEWER, Role.SYSTEM) and (named is None or role in (named, Role.OWNER))
    )
    try:
        attempt.require_authority(role)
    except Refused as refused:
        code: str | None = refused.code.value
    else:
        code = None
    assert code == (None if may else "tx-approval")


def test_the_system_approves_only_what_needs_nobody() -> None:
    """CONTRACTS §3-approval: without a rule what was granted is enough; with one it is a person's."""
    own = approval(approver_id=SYSTEM, approver_role=Role.SYSTEM, request_id=None)
    assert attempt_at(S.APPROVAL_PENDING, rule=None).approved(own, NOW).state is S.APPROVED
    with pytest.raises(Refused):
        attempt_at(S.APPROVAL_PENDING).approved(own, NOW)


@pytest.mark.parametrize(("after", "lapsed"), [(0, False), (599_999, False), (600_000, True)])
def test_an_approval_expires_at_its_moment(after: int, *, lapsed: bool) -> None:
    """CONTRACTS §3-approval: “an expired token voids it”: to the millisecond."""
    found = attempt_at(S.APPROVED).lapsed(NOW.plus(Duration(after)))
    assert (found is not None) is lapsed
    if found is not None:
        assert (found.code, found.kind, found.safe_to_retry) == ("tx-approval", "expired", True)


@pytest.mark.parametrize(("before", "lapsed"), [(0, False), (599_999, False), (600_000, True)])
def test_a_clock_that_was_set_back_lets_no_approval_live_on(before: int, *, lapsed: bool) -> None:
    """CONTRACTS §9-time-2: a little earlier than it was given it still counts, much earlier not."""
    at = Instant(NOW.unix_ms - before)
    assert (attempt_at(S.APPROVED).lapsed(at) is not None) is lapsed


# Keys.


def test_each_try_has_a_key_of_its_own() -> None:
    """CONTRACTS §3-recovery: so that a late one is told apart from the one that is under way."""
    first = attempt_at(S.APPLYING)
    again = first.recovering(WRONG, NOW, LIMIT).approved_again(NOW).applying("key", WORKER, NOW)
    undone = again.applied("commit-1", NOW).rolling_back("key", WORKER, NOW)
    assert again.apply_key == first.apply_key == "key"
    assert len({each.commit_key for each in (first, again, undone)}) == 3
    assert [each.tries for each in (first, again, undone)] == [1, 2, 3]
    assert (again.uncertain_kind, undone.uncertain_kind) == (CommitKind.APPLY, CommitKind.ROLLBACK)


def test_keys_that_look_alike_are_told_apart() -> None:
    """CONTRACTS §3-apply: the caller's key comes last, so that no key imitates another attempt's."""
    one = attempt_at(S.APPROVED).applying("x", WORKER, NOW)
    for key in ("1:x", "x:1", ":x", f"{one.tx_id}:1:apply:1:x"):
        assert attempt_at(S.APPROVED).applying(key, WORKER, NOW).commit_key != one.commit_key


@pytest.mark.parametrize("key", ["", "x" * 201, "a\nb", "\0", "\u202ekey", "\ud800"])
def test_a_key_is_text_that_shows(key: str) -> None:
    """CONTRACTS §3-apply: 1 to 200 printable letters, for both kinds."""
    with pytest.raises(ConsentryError):
        attempt_at(S.APPROVED).applying(key, WORKER, NOW)
    with pytest.raises(ConsentryError):
        attempt_at(S.APPLIED).rolling_back(key, WORKER, NOW)


# Violations.


def test_a_violation_can_only_be_taken_back() -> None:
    """CONTRACTS §3-violation: it is remembered, and leads to no second apply."""
    held = attempt_at(S.APPLYING).recovering(WRONG, NOW, LIMIT, VIOLATION)
    with pytest.raises(Refused, match="cannot become `APPROVED`"):
        held.approved_again(NOW)
    undoing = held.to_be_undone("undo")
    assert (undoing.state, undoing.uncertain_kind) == (S.RECOVERY_PENDING, CommitKind.ROLLBACK)
    assert undoing.commit_key != held.commit_key
    assert undoing.rolled_back("commit-2", NOW).violation == VIOLATION
    assert held.failed_for_good(WRONG, NOW).violation == VIOLATION
    assert held.recover_by == NOW.plus(LIMIT)


def test_nobody_works_on_what_is_not_under_way() -> None:
    """CONTRACTS §3-recovery: only `APPLYING` and `ROLLBACK_PENDING` have a worker."""
    for state in S:
        assert (attempt_at(state).worker is not None) is (state in (S.APPLYING, S.ROLLBACK_PENDING))


# Kept and told.


@pytest.mark.parametrize("state", list(S))
def test_an_attempt_is_kept_as_it_is(state: S) -> None:
    """CONTRACTS §3-attempt: written as JSON and read back, in every state."""
    for attempt in (attempt_at(state), replace(attempt_at(state), violation=VIOLATION)):
        text = json.dumps(attempt.to_json())
        assert Attempt.from_json(json.loads(text)) == attempt


def test_an_attempt_that_nobody_here_wrote_is_not_read() -> None:
    """CONTRACTS §3-attempt: every field has to be there, and be what it must."""
    good = attempt_at(S.APPLYING).to_json()
    for name in good:
        with pytest.raises(BadInput):
            Attempt.from_json({key: value for key, value in good.items() if key != name})
    for changes in (
        {"state": "DONE"},
        {"attemptNo": "1"},
        {"attemptNo": True},
        {"createdAt": "yesterday"},
        {"previewHash": "sha256:x"},
        {"approval": {}},
        {"approval": {**approval().to_json(), "approverRole": "king"}},
        {"approval": {**approval().to_json(), "approvalTtlSeconds": 0}},
        {"worker": {"machineId": 1}},
        {"origin": {}},
        {"error": {"code": "x"}},
        {"extra": 1},
    ):
        with pytest.raises(BadInput):
            Attempt.from_json({**good, **changes})


def test_a_preview_is_bound_to_its_revisions() -> None:
    """CONTRACTS §3-preview: what is ready has a hash, a base and a candidate."""
    ready = attempt_at(S.PREVIEW_READY)
    assert (ready.base_revision, ready.candidate_revision) == (BASE, CANDIDATE)
    other = attempt_at(S.PREVIEWING).ready(Digest(OTHER_DIGEST), BASE, CANDIDATE, NOW)
    assert other.preview_hash != ready.preview_hash
