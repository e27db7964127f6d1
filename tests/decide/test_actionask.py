"""What a person is asked before a module calls a command that needs approval (CONTRACTS §12-approval-level)."""

from typing import Any

import pytest

from consentry.base.errors import BadInput, Refused
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.actionask import ActionAsk
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilitycheck import Origin
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.moduleregistration import ActionRun
from consentry.decide.question import Outcome, RequestKind
from consentry.declare.hostdescription import ApprovalLevel, ApprovalRule
from tests.decide.samples import APPROVER, DIGEST, NOW, OTHER_DIGEST, SESSION, answer, sample_id
from tests.decide.standings import IDENTITY
from tests.decide.test_capabilityask import LINES, put

RUN = ActionRun(
    sample_id("action"), IDENTITY, "shout", Origin.INTERACTIVE, ("notes.shout", "notes.keep")
)
HARD = ActionAsk(
    RUN,
    "Word count",
    ApprovalRule("it is loud", ApprovalLevel.HARD, "operator"),
    SESSION,
    "Shout",
    {"volume": 11},
)
SOFT = replace(HARD, rule=ApprovalRule("it is loud", ApprovalLevel.SOFT))
BARE = ActionAsk(replace(RUN, action_id=None, origin=Origin.AUTOMATION), "x", SOFT.rule, None)


@pytest.mark.parametrize(
    "ask", [HARD, SOFT, BARE, replace(HARD, arguments=[None, "a", {"b": 1.5}])]
)
def test_it_is_read_back_as_it_was_asked(ask: ActionAsk) -> None:
    """CONTRACTS §2-approval: all that an approver in another process has stands in the request."""
    request = put(ask.question())
    assert ActionAsk.of(request) == ask
    assert ActionAsk.of(ApprovalRequest.from_json(request.to_json())) == ask


def test_who_asks_is_the_module() -> None:
    """MODULES AC-2: so that it cannot answer; the question names the commands."""
    question = HARD.question()
    assert (question.kind, question.subject) == (RequestKind.ACTION, "module:word-count")
    assert question.text == "may word-count in note-board call notes.shout, notes.keep now?"


@pytest.mark.parametrize("name", sorted(set(HARD.to_json()) - {"arguments", "carried"}))
def test_every_field_must_be_there_and_no_other(name: str) -> None:
    """CONTRACTS §2-approval: a request that nobody here wrote is not believed."""
    document = HARD.to_json()
    with pytest.raises(BadInput):
        ActionAsk.from_json({key: value for key, value in document.items() if key != name})
    with pytest.raises(BadInput):
        ActionAsk.from_json({**document, "more": 1})
    with pytest.raises(BadInput):
        ActionAsk.from_json({**document, name: {"another": "kind"}})


@pytest.mark.parametrize(
    "changes",
    [
        {"subject": "module:another-one"},
        {"digest": OTHER_DIGEST},
        {"session_id": None},
        {"preview": {**HARD.to_json(), "arguments": {"volume": 1}}},
        {"preview": {**HARD.to_json(), "commands": ["notes.shout"]}},
        {"preview": {**HARD.to_json(), "level": "soft"}},
        {"preview": {**HARD.to_json(), "approver": None}},
        {"preview": {**HARD.to_json(), "actionRunId": sample_id("action", 2)}},
        {"preview": {**HARD.to_json(), "packageDigest": OTHER_DIGEST}},
        {"preview": {**HARD.to_json(), "askVersion": 2}},
        {"preview": None},
    ],
    ids=str,
)
def test_a_request_about_something_else_is_not_this_question(changes: dict[str, Any]) -> None:
    """CONTRACTS §12-approval-level: run, arguments, commands, rule and subject are bound together."""
    with pytest.raises(BadInput):
        ActionAsk.of(put(replace(HARD.question(), **changes)))
    with pytest.raises(Refused):
        ActionAsk.of(put(replace(HARD.question(), kind=RequestKind.CAPABILITY)))


def test_a_hard_yes_binds_to_one_run_and_its_arguments() -> None:
    """CONTRACTS §12-approval-level: the same action once more is another question."""
    assert replace(HARD, arguments={"volume": 12}).digest != HARD.digest
    again = replace(HARD, run=replace(RUN, action_run_id=sample_id("action", 2)))
    assert again.digest != HARD.digest


def test_a_soft_yes_binds_to_the_action_in_its_session() -> None:
    """CONTRACTS §12-approval-level: whichever run and arguments; not another action, content, rule or origin."""
    again = replace(
        SOFT, run=replace(RUN, action_run_id=sample_id("action", 2)), arguments=None, label="other"
    )
    assert again.digest == SOFT.digest
    for other in (
        HARD,
        replace(SOFT, session_id=None),
        replace(SOFT, rule=replace(SOFT.rule, approver="owner")),
        replace(SOFT, run=replace(RUN, action_id="whisper")),
        replace(SOFT, run=replace(RUN, commands=("notes.shout",))),
        replace(SOFT, run=replace(RUN, origin=Origin.AUTOMATION)),
        replace(SOFT, run=replace(RUN, module=replace(IDENTITY, package_digest=OTHER_DIGEST))),
        replace(SOFT, run=replace(RUN, module=replace(IDENTITY, host_id="other-board"))),
    ):
        assert other.digest != SOFT.digest


@pytest.mark.parametrize(
    ("ask", "spans"),
    [(HARD, {None, Lasts.ONCE}), (SOFT, {None, Lasts.ONCE, Lasts.SESSION})],
    ids=["hard", "soft"],
)
def test_which_spans_are_taken(ask: ActionAsk, spans: set[Lasts | None]) -> None:
    """CONTRACTS §12-approval-level: soft may be remembered for the session, hard is asked every time."""
    for lasts in (None, *Lasts):
        end = NOW.plus(Duration(1)) if lasts is Lasts.UNTIL else None
        said = answer(lasts=lasts, lasts_until=end)
        if lasts in spans:
            ask.require_takes(said)
            continue
        with pytest.raises(Refused) as refused:
            ask.require_takes(said)
        assert refused.value.code == "answer-refused"
    ask.require_takes(answer(Outcome.DENIED))


@pytest.mark.parametrize("role", [each for each in Role if each is not Role.SYSTEM])
def test_a_yes_is_from_who_the_rule_names_or_the_owner(role: Role) -> None:
    """CONTRACTS §1-handlers: anybody may say no, and where nobody is named any approver says yes."""
    said = answer(by=APPROVER, role=role)
    if role in (Role.OPERATOR, Role.OWNER):
        HARD.require_takes(said)
    else:
        with pytest.raises(Refused, match="only somebody who is `operator`"):
            HARD.require_takes(said)
    SOFT.require_takes(said)
    HARD.require_takes(answer(Outcome.DENIED, by=APPROVER, role=role))


def test_the_prompt_says_what_is_called_why_and_with_what() -> None:
    """CONTRACTS §2-approval: our facts first, the module's own words quoted."""
    lines = HARD.lines()
    assert lines[0] == "The module word-count 1.2.3 in note-board is about to call:"
    assert lines[2:4] == ("notes.shout", "notes.keep")
    assert "The reason given: “it is loud” (asked every time)" in lines
    assert 'With: {"volume":11}' in lines
    assert "For its action: shout (“Shout”)" in lines
    assert lines[-1] == f"Package: {DIGEST}"
    assert "The reason given: “it is loud” (may be remembered for the session)" in SOFT.lines()
    assert "Called from automation: nobody clicked." in BARE.lines()


@pytest.mark.parametrize("letters", LINES)
def test_hostile_words_make_no_line_of_their_own(letters: str) -> None:
    """MODULES AC-2: in labels, reasons and arguments alike."""
    evil = f"nice{letters}Package: trusted"
    hostile = replace(
        HARD,
        label=evil,
        arguments={evil: evil},
        rule=replace(HARD.rule, reason=evil),
        run=replace(RUN, action_id=evil, commands=(evil, evil)),
    )
    if letters != "\0":
        hostile = replace(hostile, display_name=evil)
    lines = hostile.lines()
    assert len(lines) == len(HARD.lines())
    assert all(line.isprintable() for line in lines)
    assert [line for line in lines if line.startswith("Package:")] == [f"Package: {DIGEST}"]


def test_words_of_megabytes_are_cut_where_they_are_shown() -> None:
    """MODULES AC-2: a prompt is read by a person."""
    assert max(map(len, replace(HARD, label="y" * 2_000_000).lines())) < 2000


@pytest.mark.parametrize("field", ["arguments", "carried"])
def test_what_a_call_carries_is_shown_whole_or_not_asked_about(field: str) -> None:
    """CONTRACTS §12-approval-level: nothing of what a yes is for is left out of the middle."""
    long = {"text": f"{'a' * 7_000}needle{'b' * 7_000}"}
    assert any("needle" in line for line in replace(HARD, **{field: long}).lines())
    with pytest.raises(BadInput, match="too many to be read"):
        replace(HARD, **{field: "z" * 16_001})


def test_what_the_module_itself_puts_beside_the_arguments_is_shown_and_bound() -> None:
    """CONTRACTS §12-approval-level: a payload of the package is part of what is said yes to."""
    carried = [{"commandId": "notes.shout", "payload": {"to": "everybody"}, "context": None}]
    ask = replace(HARD, carried=carried)
    assert "everybody" in "\n".join(ask.lines())
    assert ask.digest != HARD.digest
    assert ActionAsk.from_json(ask.to_json()) == ask
