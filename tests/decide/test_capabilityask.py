"""What a person is asked when a module lacks capabilities: read back strictly, shown safely (MODULES §flow-4)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import BadInput, ConsentryError, Refused
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilityask import (
    CapabilityAsk,
    CapabilityDecision,
    WantedPower,
    reason_of,
    rejection_of,
    subject_of,
)
from consentry.decide.capabilitycheck import Origin, RejectCode
from consentry.decide.lasting import Lasts
from consentry.decide.question import CANCELLED, Answer, Outcome, Question, RequestKind
from tests.decide.samples import (
    DIGEST,
    MACHINE,
    MINUTE,
    NOW,
    OTHER_DIGEST,
    SESSION,
    answer,
    sample_id,
)
from tests.decide.standings import CATALOG, IDENTITY

READ = WantedPower.of("state.read", RejectCode.NOT_GRANTED, CATALOG)
EXPORT = WantedPower.of("export.user.file", RejectCode.GRANT_STALE, CATALOG)
ASK = CapabilityAsk(
    module=IDENTITY,
    display_name="Word count",
    wanted=(EXPORT, READ),
    catalog_version="1.0.0",
    origin=Origin.INTERACTIVE,
    session_id=SESSION,
    action_id="count",
    action_label="Count the words",
    commands=("notes.count", "notes.export"),
)
BARE = CapabilityAsk(IDENTITY, "x", (READ,), "1.0.0", Origin.BACKGROUND, None)
LINES = ("\u202e", "\n", "\x1b[2J", "\u2028", "\r", "\u200b", "\x9b", "\0")


def put(question: Question) -> ApprovalRequest:
    """The request for it."""
    return ApprovalRequest(sample_id("request"), question, MACHINE, NOW, NOW.plus(MINUTE))


@pytest.mark.parametrize("ask", [ASK, BARE, replace(ASK, transaction_id="tx-1")])
def test_it_is_read_back_as_it_was_asked(ask: CapabilityAsk) -> None:
    """MODULES §flow-4: all that an approver in another process has stands in the request."""
    request = put(ask.question())
    assert CapabilityAsk.of(request) == ask
    assert CapabilityAsk.of(ApprovalRequest.from_json(request.to_json())) == ask


def test_who_asks_is_the_module() -> None:
    """MODULES AC-2: never the person who clicked; the question names module, host and capabilities."""
    question = ASK.question()
    assert question.kind is RequestKind.CAPABILITY
    assert question.subject == subject_of("word-count") == "module:word-count"
    assert question.text == ("may word-count 1.2.3 in note-board use export.user.file, state.read?")
    assert (question.session_id, question.digest) == (SESSION, ASK.digest)


@pytest.mark.parametrize("name", sorted(ASK.to_json()))
def test_every_field_must_be_there_and_no_other(name: str) -> None:
    """MODULES §order-2: a request that nobody here wrote is not believed."""
    document = ASK.to_json()
    with pytest.raises(BadInput):
        CapabilityAsk.from_json({key: value for key, value in document.items() if key != name})
    with pytest.raises(BadInput):
        CapabilityAsk.from_json({**document, "more": 1})
    with pytest.raises(BadInput):
        CapabilityAsk.from_json({**document, name: {"another": "kind"}})


@pytest.mark.parametrize(
    "changes",
    [
        {"askVersion": 2},
        {"capabilities": []},
        {"capabilities": [{**READ.to_json(), "more": 1}]},
        {"capabilities": [{**READ.to_json(), "lack": "capability-none"}]},
        {"origin": "elsewhere"},
        {"packageDigest": "sha256:short"},
        {"displayName": ""},
        {"displayName": "a\0b"},
        {"commands": ["a\0b"]},
        {"commands": [1]},
    ],
    ids=str,
)
def test_what_no_question_can_be_is_refused(changes: dict[str, Any]) -> None:
    """MODULES §order-2: with the field that is wrong."""
    with pytest.raises(BadInput):
        CapabilityAsk.from_json({**ASK.to_json(), **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"subject": "module:another-one"},
        {"digest": OTHER_DIGEST},
        {"session_id": sample_id("session", 2)},
        {"session_id": None},
        {"preview": {**ASK.to_json(), "catalogVersion": "2.0.0"}},
        {"preview": {**ASK.to_json(), "hostId": "other-board"}},
        {"preview": {**ASK.to_json(), "moduleVersion": "9.9.9"}},
        {"preview": {**ASK.to_json(), "packageDigest": OTHER_DIGEST}},
        {"preview": {**ASK.to_json(), "capabilities": [READ.to_json()]}},
        {"preview": {**ASK.to_json(), "origin": "automation"}},
        {"preview": {}},
        {"preview": None},
    ],
    ids=str,
)
def test_a_request_about_something_else_is_not_this_question(changes: dict[str, Any]) -> None:
    """MODULES §order-2: subject, session, content and capabilities are bound together."""
    with pytest.raises(BadInput):
        CapabilityAsk.of(put(replace(ASK.question(), **changes)))


def test_a_request_of_another_kind_is_refused() -> None:
    """MODULES §order-2: a consent is no capability."""
    with pytest.raises(Refused):
        CapabilityAsk.of(put(replace(ASK.question(), kind=RequestKind.CONSENT)))


def test_the_same_question_has_one_digest() -> None:
    """MODULES §flow-3: whatever action needs it and whatever the module calls itself."""
    same = replace(ASK, action_id="other", action_label=None, display_name="y", commands=())
    assert same.digest == ASK.digest
    for other in (
        replace(ASK, wanted=(READ,)),
        replace(ASK, session_id=None),
        replace(ASK, origin=Origin.AUTOMATION),
        replace(ASK, catalog_version="2.0.0"),
        replace(ASK, module=replace(IDENTITY, host_id="other-board")),
        replace(ASK, module=replace(IDENTITY, module_version="1.2.4")),
        replace(ASK, module=replace(IDENTITY, package_digest=OTHER_DIGEST)),
    ):
        assert other.digest != ASK.digest


def test_what_the_catalog_does_not_have_is_not_asked_for() -> None:
    """MODULES §catalog-2: no question is made of it."""
    with pytest.raises(BadInput):
        WantedPower.of("state.*", RejectCode.NOT_GRANTED, CATALOG)


# The answers.


def test_there_are_three_answers() -> None:
    """MODULES §flow-4: by the document's names, each with its span."""
    assert {each.value: each.lasts for each in CapabilityDecision} == {
        "approve_session": Lasts.SESSION,
        "approve_persistent": Lasts.PERMANENT,
        "deny": None,
    }


def test_three_answers_are_taken_and_no_other() -> None:
    """MODULES §flow-4: a yes for the session, for good, or a no."""
    for taken in (
        answer(lasts=Lasts.SESSION),
        answer(lasts=Lasts.PERMANENT),
        answer(Outcome.DENIED),
        answer(Outcome.DENIED, reason=CANCELLED),
    ):
        ASK.require_takes(taken)
    for refused in (
        answer(),
        answer(lasts=Lasts.ONCE),
        answer(lasts=Lasts.UNTIL, lasts_until=NOW.plus(Duration(3_600_000))),
    ):
        with pytest.raises(Refused) as caught:
            ASK.require_takes(refused)
        assert caught.value.code == "answer-refused"


def test_without_a_session_there_is_none_to_grant_for() -> None:
    """MODULES §decision-1: for good it can be."""
    with pytest.raises(Refused, match="no session asked"):
        BARE.require_takes(answer(lasts=Lasts.SESSION))
    BARE.require_takes(answer(lasts=Lasts.PERMANENT))


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (answer(lasts=Lasts.SESSION), "user-approved-session"),
        (answer(lasts=Lasts.PERMANENT), "user-approved-persistent"),
        (answer(Outcome.DENIED, reason="no"), "user-denied"),
        (answer(Outcome.DENIED, reason=CANCELLED), "user-cancelled"),
        (Answer.by_system(Outcome.EXPIRED, "late"), "deadline"),
        (Answer.by_system(Outcome.SUPERSEDED, "changed"), "policy"),
        (None, "policy"),
    ],
)
def test_every_ending_has_its_reason(said: Answer | None, reason: str) -> None:
    """CONTRACTS §12-reason: one word for each way a question can end."""
    assert reason_of(said) == reason


def test_every_ending_has_its_code() -> None:
    """MODULES §decision-3: only a deadline is a timeout; a yes rejects nothing."""
    assert {each: rejection_of(each) for each in Outcome} == {
        Outcome.APPROVED: None,
        Outcome.DENIED: RejectCode.ESCALATION_DENIED,
        Outcome.EXPIRED: RejectCode.ESCALATION_TIMEOUT,
        Outcome.SUPERSEDED: RejectCode.ESCALATION_DENIED,
    }


# What is shown.


def test_the_prompt_says_what_each_opens_and_never_does() -> None:
    """MODULES §flow-3, AC-1: scope and limits as the catalog has them, our facts before the module's words."""
    lines = ASK.lines()
    text = "\n".join(lines)
    assert lines[0] == "The module word-count 1.2.3 in note-board wants 2 capabilities:"
    for power in (EXPORT, READ):
        assert f"{power.capability_id}: {power.scope}" in lines
        for limit in power.limits:
            assert f"  limit: {limit}" in lines
    assert "granted before, for what the module was then" in text
    assert lines.index("It calls itself: “Word count”") > lines.index(f"state.read: {READ.scope}")
    assert "For its action: count (“Count the words”)" in lines
    assert "Which calls: notes.count, notes.export" in lines
    assert lines[-1] == f"Package: {DIGEST}"
    assert "nobody clicked" not in text


def test_the_prompt_says_that_nobody_clicked() -> None:
    """MODULES §limit-automation-channel: where it comes from automation or the background."""
    assert "Called from background: nobody clicked." in BARE.lines()
    assert "wants a capability:" in BARE.lines()[0]


@pytest.mark.parametrize("letters", LINES)
def test_hostile_words_make_no_line_of_their_own(letters: str) -> None:
    """MODULES AC-2: whatever a package says, the prompt has as many lines, each of them plain text."""
    evil = f"nice{letters}Package: trusted"
    hostile = replace(ASK, action_label=evil, action_id=evil)
    if letters != "\0":
        hostile = replace(hostile, display_name=evil, commands=(evil, evil))
    lines = hostile.lines()
    assert len(lines) == len(ASK.lines())
    assert all(line.isprintable() for line in lines)
    assert [line for line in lines if line.startswith("Package:")] == [f"Package: {DIGEST}"]


@given(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=60).filter(
        lambda text: "\0" not in text
    )
)
def test_any_words_are_shown_as_plain_text(words: str) -> None:
    """MODULES AC-2: printable, bounded, and in the place where they belong."""
    lines = replace(ASK, display_name=words, action_label=words, action_id=words).lines()
    assert len(lines) == len(ASK.lines())
    assert all(line.isprintable() for line in lines)


def test_words_of_megabytes_are_cut_where_they_are_shown() -> None:
    """MODULES AC-2: a prompt is read by a person."""
    long = replace(ASK, display_name="x" * 2_000_000, action_label="y" * 2_000_000)
    assert max(map(len, long.lines())) < 1000


def test_what_is_asked_is_a_copy() -> None:
    """MODULES §flow-4: nothing that is changed afterwards changes what was shown."""
    preview: Any = ASK.to_json()
    question = replace(ASK.question(), preview=preview)
    preview["displayName"] = "another"
    assert CapabilityAsk.of(put(question)).display_name == "Word count"


def test_a_refusal_is_one_of_ours() -> None:
    """MODULES §order-2: every way to be wrong is an error of the product, with a code."""
    with pytest.raises(ConsentryError) as caught:
        CapabilityAsk.of(put(replace(ASK.question(), preview=[1, 2])))
    assert caught.value.code == "decision-field"
