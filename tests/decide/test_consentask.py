"""What a person is asked for a tool, and which answers that takes (CONSENT §level-1, §remember-1)."""

from dataclasses import replace

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consentask import AnswerRules, ConsentAsk
from consentry.decide.lasting import Lasts
from consentry.decide.previewfiles import FileUse
from consentry.decide.previewparts import CommandUse
from consentry.decide.question import Answer, Channel, Outcome
from consentry.declare.consent import RememberDuration
from consentry.declare.tool import ConsentLevel
from consentry.record.auditfields import ConsentMethod
from tests.decide.samples import (
    DIGEST,
    MACHINE,
    MINUTE,
    NOW,
    OTHER_DIGEST,
    SESSION,
    answer,
    ask,
    sample_id,
)

BATCH = AnswerRules(RememberDuration.SESSION, allows_batch=True)


def asked(what: ConsentAsk) -> ApprovalRequest:
    """The request for it."""
    put = what.question(DIGEST, SESSION)
    return ApprovalRequest(sample_id("request"), put, MACHINE, NOW, NOW.plus(MINUTE))


def refusal(what: ConsentAsk, given: Answer) -> ConsentryError:
    """Why the answer is not taken."""
    with pytest.raises(ConsentryError) as caught:
        what.require_takes(given)
    return caught.value


@pytest.mark.parametrize("level", list(ConsentLevel))
def test_the_request_says_all_that_an_approver_needs(level: ConsentLevel) -> None:
    """It is read back as it was asked, and names who asks as its subject (CONTRACTS §9-requester)."""
    what = ask(level, asked_because=("the tool has changed",))
    request = asked(what)
    assert ConsentAsk.of(request) == what
    assert ConsentAsk.of(ApprovalRequest.from_json(request.to_json())) == what
    assert request.question.subject == "tool:build"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("askVersion", 2),
        ("preview", ask(tool="other").preview.to_json()),
        ("preview", ask(digest=OTHER_DIGEST).preview.to_json()),
        ("preview", {**ask().preview.to_json(), "level": "loose"}),
        ("recordReason", "no"),
        ("batch", 0),
        ("remember", "forever"),
        ("extra", 1),
    ],
)
def test_a_request_that_nobody_here_can_have_put_is_not_believed(name: str, value: object) -> None:
    """Unknown versions, other subjects and other types are refused."""
    request = asked(ask())
    preview = {**dict(request.question.preview), name: value}  # type: ignore[arg-type]
    put = replace(request.question, preview=preview)
    with pytest.raises(ConsentryError) as caught:
        ConsentAsk.of(replace(request, question=put))
    assert caught.value.code is Code.DECISION_FIELD


def test_a_yes_says_for_how_long_and_is_remembered_only_where_that_is_on() -> None:
    """CONSENT §remember-3: `rememberChoices: false` leaves `once`."""
    assert refusal(ask(), answer()).code is Code.DECISION_FIELD
    ask().require_takes(answer(lasts=Lasts.SESSION))
    forgets = ask(rules=AnswerRules(None))
    forgets.require_takes(answer(lasts=Lasts.ONCE))
    for lasts in (Lasts.SESSION, Lasts.PERMANENT):
        assert refusal(forgets, answer(lasts=lasts)).code is Code.ANSWER_REFUSED


@pytest.mark.parametrize("reason", [None, "", "  \n"])
def test_a_yes_needs_its_reason_where_one_is_recorded(reason: str | None) -> None:
    """CONSENT §level-strict: `recordReason`; a no needs none."""
    strict = ask(ConsentLevel.STRICT)
    given = answer(lasts=Lasts.ONCE, reason=reason)
    assert refusal(strict, given).code is Code.ANSWER_REFUSED
    strict.require_takes(replace(given, reason="the release"))
    strict.require_takes(answer(Outcome.DENIED))
    without = replace(strict, rules=replace(strict.rules, needs_reason=False))
    without.require_takes(given)


def test_a_batch_is_taken_only_where_it_is_allowed_and_never_for_strict() -> None:
    """CONSENT §remember-4: `allowBatchApproval`."""
    given = answer(lasts=Lasts.ONCE, channel=Channel.BATCH, reason="all of them")
    assert refusal(ask(), given).code is Code.ANSWER_REFUSED
    allowed = ask(rules=BATCH)
    allowed.require_takes(given)
    assert allowed.method_of(given) is ConsentMethod.BATCH_APPROVAL
    assert refusal(ask(ConsentLevel.STRICT, rules=BATCH), given).code is Code.ANSWER_REFUSED


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"description": "tidy\u200bup"}, "description has 1 x zero-width"),
        ({"display_name": "Build\u2066"}, "name has 1 x bidi"),
        ({"arguments": ("\U000e0041",)}, "arguments has 1 x tag"),
        ({"commands": (CommandUse("rm", ("\x1b[8m",), None),)}, "commands has 1 x ansi"),
        ({"read": (FileUse("a\ufe0f", "b"),)}, "files has 1 x variation-selector"),
    ],
)
def test_strict_refuses_what_hides_something(change: dict[str, object], found: str) -> None:
    """Invisible Unicode is flagged at every level, and a yes to it at level strict is refused."""
    given = answer(lasts=Lasts.ONCE, reason="why not")
    hiding = ask(ConsentLevel.STRICT, **change)
    assert hiding.hidden == (found,)
    assert found in refusal(hiding, given).message
    hiding.require_takes(answer(Outcome.DENIED))
    ask(**change).require_takes(given)
    assert ask(ConsentLevel.STRICT, description="línea\n  zwei  ").hidden == ()


def test_the_method_follows_the_level() -> None:
    """CONTRACTS §12-method."""
    given = answer(lasts=Lasts.ONCE)
    assert ask().method_of(given) is ConsentMethod.EXPLICIT_APPROVAL
    assert ask(ConsentLevel.STRICT).method_of(given) is ConsentMethod.STRICT_APPROVAL
