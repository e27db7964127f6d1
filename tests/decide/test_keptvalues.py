"""What every kept value has in common: one JSON form, read strictly, with the bad field named."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from consentry.base.canonical import canonical_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consent import Consent
from consentry.decide.grant import Grant, GrantScope
from consentry.decide.lasting import Lasts
from consentry.decide.machine import Machine
from consentry.decide.permit import Permit
from consentry.decide.question import Outcome
from consentry.decide.session import EndedWhy, Session, SessionKind
from tests.decide import samples
from tests.decide.samples import APPROVER, DIGEST, MINUTE, NOW, OWNER

LATER = NOW.plus(MINUTE)

VALUES = {
    "request-pending": samples.request(),
    "request-approved": samples.request().answered(
        samples.answer(reason="", lasts=Lasts.UNTIL, lasts_until=LATER), LATER
    ),
    "request-denied": samples.request().answered(samples.answer(Outcome.DENIED), LATER),
    "request-expired": samples.request().expired(LATER),
    "request-superseded": samples.request().superseded(LATER),
    **{f"consent-{lasts}": samples.consent(lasts) for lasts in Lasts},
    "consent-used": samples.consent(Lasts.ONCE).used(LATER),
    "consent-revoked": samples.consent().revoked(APPROVER, LATER),
    **{f"grant-{scope}": samples.grant(scope) for scope in GrantScope},
    "grant-revoked": samples.grant().revoked(OWNER, LATER),
    "acceptance": samples.acceptance(),
    "acceptance-withdrawn": samples.acceptance().withdrawn(APPROVER, LATER),
    "permit-made": samples.permit(),
    "permit-spent": samples.permit().spent("run", samples.MACHINE, LATER),
    **{f"session-{kind}": samples.session(kind) for kind in SessionKind},
    "session-ended": samples.session().ended(LATER, EndedWhy.AGE),
    "machine": samples.machine("build", "fleet-2"),
}
BY_NAME = pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())


def through_text(value: Any) -> Any:
    """The JSON of a value as it comes back from a file."""
    return json.loads(canonical_json(value.to_json()))


@BY_NAME
def test_what_was_written_is_read_back_the_same(value: Any) -> None:
    """Equal values, equal bytes."""
    read = type(value).from_json(through_text(value))
    assert read == value
    assert canonical_json(read.to_json()) == canonical_json(value.to_json())


@BY_NAME
def test_a_missing_field_is_refused_by_name(value: Any) -> None:
    """Each field in turn."""
    for name in value.to_json():
        document = through_text(value)
        del document[name]
        with pytest.raises(BadInput) as caught:
            type(value).from_json(document)
        assert caught.value.code is Code.DECISION_FIELD
        assert caught.value.where is not None
        assert caught.value.where.field == name


@BY_NAME
def test_an_unknown_field_is_refused_by_name(value: Any) -> None:
    """Nobody's addition is ignored."""
    with pytest.raises(BadInput, match="stranger"):
        type(value).from_json({**through_text(value), "stranger": 1})


@BY_NAME
def test_a_field_of_another_type_is_refused_and_never_crashes(value: Any) -> None:
    """Each field in turn, with things it never is; a preview may be anything."""
    for name in value.to_json().keys() - {"preview"}:
        for wrong in (7, True, {"a": 1}, [1], "\0", "\ud800"):
            with pytest.raises(BadInput):
                type(value).from_json({**through_text(value), name: wrong})


def test_what_is_no_object_is_refused() -> None:
    """For all kinds."""
    for kind in (ApprovalRequest, Consent, Grant, Permit, Session, Machine):
        for document in (None, [], "x", 3):
            with pytest.raises(BadInput):
                kind.from_json(document)


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: samples.question(subject=""), "subject"),
        (lambda: samples.question(text="a\0b"), "question"),
        (lambda: samples.question(digest="md5:1"), "digest"),
        (lambda: samples.question(policy_hash="x"), "policyHash"),
        (lambda: samples.question(session_id="session-1"), "sessionId"),
        (lambda: samples.question(preview={"a": float("nan")}), "preview"),
        (lambda: samples.answer(by="root"), "answeredBy"),
        (lambda: samples.answer(role=samples.Role.SYSTEM), "answeredRole"),
        (lambda: samples.answer(Outcome.EXPIRED), "answeredBy"),
        (lambda: samples.answer(Outcome.DENIED, lasts=Lasts.ONCE), "lasts"),
        (lambda: samples.answer(lasts=Lasts.UNTIL), "lastsUntil"),
        (lambda: samples.answer(lasts=Lasts.PERMANENT, lasts_until=NOW), "lastsUntil"),
        (lambda: replace(samples.request(), machine_id="host"), "machineId"),
        (lambda: replace(samples.request(), deadline=samples.Instant(0)), "deadline"),
        (lambda: replace(samples.request(), answered_at=LATER), "answeredBy"),
        (lambda: samples.terms(tool=""), "tool"),
        (lambda: samples.terms(version=""), "version"),
        (lambda: samples.terms(digest="sha256:1"), "digest"),
        (lambda: samples.terms(machine_scope="host"), "machineScope"),
        (lambda: samples.terms(machine_scope="label:Big Farm"), "machineScope"),
        (lambda: samples.terms(given_by="system"), "givenBy"),
        (lambda: samples.terms(given_by="policy:" + "0" * 64), "givenBy"),
        (lambda: samples.terms(arguments=("x",)), "arguments"),
        (lambda: samples.terms(Lasts.ONCE, arguments=None), "arguments"),
        (lambda: samples.terms(Lasts.ONCE, arguments=("a", "\ud800")), "arguments[1]"),
        (lambda: samples.terms(Lasts.SESSION, session_id=None), "sessionId"),
        (lambda: samples.terms(Lasts.UNTIL, expires_at=None), "expiresAt"),
        (lambda: samples.terms(expires_at=LATER), "expiresAt"),
        (lambda: samples.terms(request_id="1"), "requestId"),
        *(
            (lambda word=word: samples.terms(method=samples.ConsentMethod(word)), "method")
            for word in ("none", "implicit_notification", "remembered", "policy", "command_line")
        ),
        (lambda: samples.consent(Lasts.UNTIL, expires_at=samples.Instant(0)), "expiresAt"),
        (lambda: samples.consent().used(LATER), "usedAt"),
        (lambda: replace(samples.consent(), revoked_by=OWNER), "revokedAt"),
        (lambda: samples.consent().revoked(samples.Identity("x"), LATER), "revokedBy"),
        (lambda: samples.grant_terms(module_id="A"), "moduleId"),
        (lambda: samples.grant_terms(module_version=""), "moduleVersion"),
        (lambda: samples.grant_terms(capability_id=""), "capabilityId"),
        (lambda: samples.grant_terms(given_role=samples.Role.VIEWER), "givenRole"),
        (lambda: samples.grant_terms(given_role=samples.Role.SYSTEM), "givenRole"),
        (lambda: samples.grant_terms(session_id=samples.SESSION), "sessionId"),
        (lambda: samples.grant_terms(GrantScope.SESSION, session_id=None), "sessionId"),
        (lambda: samples.order(subject=""), "subject"),
        (lambda: samples.order(digests={}), "digests"),
        (lambda: samples.order(digests={"": DIGEST}), "digests"),
        (lambda: samples.order(digests={"tool": "x"}), "digests.tool"),
        (lambda: samples.order(arguments=("a\0",)), "arguments[0]"),
        (lambda: samples.order(decision_event_id="run-1"), "decisionEventId"),
        (lambda: samples.permit().spent("", samples.MACHINE, NOW), "spentBy"),
        (lambda: replace(samples.session(), leader=None), "leader"),
        (lambda: replace(samples.session(), user="me"), "user"),
        (lambda: replace(samples.LEADER, pid=0), "leader.pid"),
        (lambda: replace(samples.LEADER, started_at_ticks=-1), "leader.startedAtTicks"),
        (lambda: replace(samples.LEADER, boot_id=""), "leader.bootId"),
        (lambda: samples.machine("b", "a"), "labels"),
        (lambda: samples.machine("a", "a"), "labels"),
        (lambda: samples.machine("UPPER"), "labels[0]"),
        (lambda: replace(samples.machine(), host_name="a\0"), "hostName"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_the_name_of_its_field(
    make: Callable[[], object], field: str
) -> None:
    """Whether it is asked for or read back, it goes through the same checks."""
    with pytest.raises(BadInput) as caught:
        make()
    assert caught.value.code is Code.DECISION_FIELD
    assert caught.value.where is not None
    assert caught.value.where.field == field


def test_a_preview_is_kept_as_it_was_shown() -> None:
    """Changing the caller's own copy afterwards changes nothing."""
    shown = {"reads": ["a"]}
    asked = samples.question(preview=shown)
    shown["reads"].append("b")
    assert asked.preview == {"reads": ["a"]}


def test_the_digests_of_an_order_are_a_copy_that_nobody_changes() -> None:
    """Neither through the caller's mapping nor through the order's own."""
    digests = {"tool": DIGEST}
    order = samples.order(digests=digests)
    digests["more"] = DIGEST
    assert dict(order.digests) == {"tool": DIGEST}
    with pytest.raises(TypeError):
        order.digests["more"] = DIGEST  # type: ignore[index]
