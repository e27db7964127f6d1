"""What a person is asked about a transaction, and which answers it takes (CONTRACTS §3-approval)."""

from typing import Any

import pytest

from consentry.base.errors import BadInput, ConsentryError, Refused
from consentry.base.values import replace
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilitycheck import Origin
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.question import Outcome, RequestKind
from consentry.decide.statechange import Op, read_operations, worked_out
from consentry.decide.transactionask import TransactionAsk
from consentry.decide.txpreview import PreviewTerms, preview_of
from tests.decide.samples import DIGEST, MACHINE, MINUTE, NOW, OTHER_DIGEST, answer, sample_id
from tests.decide.txsamples import BASE, CANDIDATE, MODULE, RULE, S, attempt_at, origin

HOSTILE = "evil\x1b[2J\u202etxet \n\r<b>" + "x" * 5000


def ask(**changes: Any) -> TransactionAsk:
    """A question about two additions and a removal."""
    fields: dict[str, Any] = {
        "tx_id": sample_id("tx"),
        "attempt_no": 1,
        "document_id": "note-board",
        "preview_hash": DIGEST,
        "base_revision": BASE,
        "ttl_seconds": 600,
        "origin": origin(),
        "summary": (("add", 2), ("remove", 1), ("replace", 0), ("move", 0)),
    }
    return TransactionAsk(**{**fields, **changes})


def request(asked: TransactionAsk, **changes: Any) -> ApprovalRequest:
    """The request that puts it."""
    question = replace(asked.question(), **changes)
    return ApprovalRequest(sample_id("request"), question, MACHINE, NOW, NOW.plus(MINUTE))


def test_it_is_about_one_preview() -> None:
    """CONTRACTS §3-approval: what a yes binds to is in the digest, and changes with each of the four."""
    digests = {
        ask().digest,
        ask(tx_id=sample_id("tx", 2)).digest,
        ask(attempt_no=2).digest,
        ask(preview_hash=OTHER_DIGEST).digest,
        ask(base_revision=CANDIDATE).digest,
    }
    assert len(digests) == 5
    assert ask(ttl_seconds=1).digest == ask().digest
    question = ask().question()
    assert (question.kind, question.digest) == (RequestKind.TRANSACTION, ask().digest)
    assert question.subject == "module:word-count", "who asks is never who clicked"


def test_it_is_read_back_as_it_was_put() -> None:
    """CONTRACTS §3-approval: from the request, and nothing else."""
    for one in (ask(), ask(origin=origin(rule=None)), ask(origin=origin(module=None, rule=None))):
        assert TransactionAsk.of(request(one)) == one
        assert TransactionAsk.from_json(one.to_json()) == one


def test_a_question_that_was_changed_is_not_read() -> None:
    """CONTRACTS §3-approval: what is shown and what is bound are the same, or it is no question."""
    good = ask()
    for changes in (
        {"digest": OTHER_DIGEST},
        {"subject": "host:note-board"},
        {"preview": {**good.to_json(), "previewHash": OTHER_DIGEST}},
        {"preview": {**good.to_json(), "baseRevision": "other"}},
        {"preview": {**good.to_json(), "askVersion": 2}},
        {"preview": {**good.to_json(), "summary": {"add": 1}}},
        {"preview": {key: value for key, value in good.to_json().items() if key != "origin"}},
        {"preview": {}},
        {"kind": RequestKind.ACTION},
    ):
        with pytest.raises(ConsentryError):
            TransactionAsk.of(request(good, **changes))


def test_it_is_made_from_an_attempt_with_its_preview() -> None:
    """CONTRACTS §3-preview: how much of each kind, as the preview counts it."""
    operations = read_operations(
        [{"op": "add", "path": f"/notes/n{n}", "value": n} for n in range(3)]
        + [{"op": "remove", "path": "/notes/n0"}]
    )
    terms = PreviewTerms("tx-1", 1, "heavy", BASE, NOW)
    preview = preview_of(terms, worked_out({}, operations))
    made = TransactionAsk.about(attempt_at(S.PREVIEW_READY), preview)
    assert made.summary == (("add", 3), ("remove", 1), ("replace", 0), ("move", 0))
    assert made.counted == "3 to add, 1 to remove"
    assert [op for op, _ in made.summary] == [each.value for each in Op]
    with pytest.raises(BadInput):
        TransactionAsk.about(attempt_at(S.PREVIEWING), preview)


def test_it_tells_whose_change_of_what_for_how_long() -> None:
    """CONTRACTS §3-approval: facts of ours first; the words of a module are quoted."""
    lines = ask().lines()
    assert lines == (
        "The module word-count 1.2.3 in note-board wants to change note-board:",
        "For its action: add (“Add a note”)",
        "In all: 2 to add, 1 to remove",
        "The reason given: “changes what people wrote” (asked every time)",
        f"A yes holds for 600 seconds, for this preview alone: {DIGEST}",
        f"Transaction {sample_id('tx')}, attempt 1, of revision {BASE}",
    )
    own = ask(origin=origin(module=None, rule=None)).lines()
    assert own[0] == "The application note-board wants to change note-board:"
    assert not any("For its action" in each for each in own)
    automatic = ask(origin=origin(origin=Origin.AUTOMATION)).lines()
    assert "Called from automation: nobody clicked." in automatic


@pytest.mark.parametrize(
    "changes",
    [
        {"tx_id": HOSTILE},
        {"document_id": HOSTILE},
        {"base_revision": HOSTILE},
        {"origin": origin(label=HOSTILE)},
        {"origin": origin(host_id=HOSTILE)},
        {"origin": origin(action_id=HOSTILE)},
        {"origin": origin(rule=replace(RULE, reason=HOSTILE))},
        {"origin": origin(module=replace(MODULE, module_id=HOSTILE))},
        {"origin": origin(module=replace(MODULE, module_version=HOSTILE))},
    ],
)
def test_every_line_is_safe_text(changes: dict[str, Any]) -> None:
    """CONTRACTS §3-approval: no control, no direction mark, no line of its own, and an end."""
    for line in ask(**changes).lines():
        assert line.isprintable()
        assert len(line) < 2_500


@pytest.mark.parametrize("lasts", [Lasts.SESSION, Lasts.PERMANENT])
def test_a_yes_is_for_once(lasts: Lasts) -> None:
    """CONTRACTS §3-approval: “A new preview voids it”: so nothing is remembered."""
    with pytest.raises(Refused, match="for this preview alone"):
        ask(origin=origin(rule=None)).require_takes(answer(lasts=lasts))
    for other in (Lasts.ONCE, None):
        ask().require_takes(answer(lasts=other))


@pytest.mark.parametrize(
    ("role", "may"),
    [(Role.OWNER, True), (Role.OPERATOR, True), (Role.APPROVER, False)],
)
def test_the_named_role_says_yes(role: Role, *, may: bool) -> None:
    """CONTRACTS §3-apply: “authority”: and whoever has every role."""
    if may:
        ask().require_takes(answer(role=role))
    else:
        with pytest.raises(Refused, match="only somebody who is `operator`"):
            ask().require_takes(answer(role=role))
    ask(origin=origin(rule=replace(RULE, approver=None))).require_takes(answer(role=role))


def test_a_no_is_taken_from_anybody() -> None:
    """CONTRACTS §3-approval: it opens nothing."""
    for role in (Role.OWNER, Role.APPROVER, Role.OPERATOR):
        ask().require_takes(answer(Outcome.DENIED, role=role))
