"""What the request of an execution holds, and the prompt that is made of it (ESCALATION AC3)."""

import pytest

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.base.safetext import safe_line
from consentry.base.values import replace
from consentry.decide.approval import ApprovalRequest
from consentry.decide.escalation import escalation_digest, format_escalation_request
from consentry.decide.escalationask import REPORTED, EscalationAsk
from consentry.decide.escalationdelta import added_in_words
from consentry.decide.question import Question, RequestKind
from consentry.surface.permission_sets import PermissionSet, definition
from tests.decide.samples import DIGEST, MACHINE, MINUTE, NOW, OTHER_DIGEST, SESSION, sample_id
from tests.decide.test_escalationtext import REQUEST

MINIMAL, READONLY, FILESYSTEM, NETWORK, STANDARD, _ = PermissionSet
ASK = EscalationAsk(
    request=REQUEST,
    execution_id="execution-1",
    engine="native",
    code_hash=DIGEST,
    version=3,
    resource="api.example.com:443",
    delta=added_in_words(MINIMAL, NETWORK),
    so_far=("read `data/a.csv`", "wrote nothing"),
    workspace="/place/project",
    network=("api.example.com:443",),
    arguments={"city": "Bern", "days": 3},
    name="weather",
    user_id="local:1000:user@host",
)


def put(question: Question) -> ApprovalRequest:
    """The request for it."""
    return ApprovalRequest(sample_id("request"), question, MACHINE, NOW, NOW.plus(MINUTE))


def asked(ask: EscalationAsk) -> ApprovalRequest:
    """The request for what is asked."""
    return put(ask.question(session_id=SESSION, policy_hash=DIGEST))


@pytest.mark.parametrize(
    "ask",
    [ASK, replace(ASK, ephemeral=True), replace(ASK, truth_note=REPORTED, engine="deno"),
     EscalationAsk(REQUEST, "execution-2", "deno")],
)  # fmt: skip
def test_it_is_read_back_as_it_was_asked(ask: EscalationAsk) -> None:
    """All that an approver in another process needs stands in the request."""
    request = asked(ask)
    assert EscalationAsk.of(request) == ask
    assert EscalationAsk.of(ApprovalRequest.from_json(request.to_json())) == ask


def test_who_asks_is_the_capability_or_the_task() -> None:
    """CONTRACTS §9-requester: never the person; the question names the step in one line."""
    question = ASK.question(session_id=SESSION, policy_hash=DIGEST)
    assert question.kind is RequestKind.ESCALATION
    assert question.subject == "capability:fetch-weather"
    assert question.text == "may weather go from minimal to network-api?"
    assert (question.session_id, question.policy_hash) == (SESSION, DIGEST)
    assert question.digest == escalation_digest("execution-1", "fetch-weather")
    assert replace(ASK, ephemeral=True).subject == "task:fetch-weather"


def test_a_name_cannot_make_the_question_longer() -> None:
    """A task's id is anybody's words: of a long one the beginning is asked with."""
    hostile = replace(ASK, name=None, request=replace(REQUEST, capability_id="x\nyes? " * 100))
    assert len(hostile.question(session_id=None, policy_hash=None).text) < 200


def test_the_question_is_made_safe_where_it_is_shown_and_only_there() -> None:
    """Its text holds the name as it is: escaped here, it would be escaped twice on a terminal."""
    hostile = replace(ASK, name=None, request=replace(REQUEST, capability_id="x\nyes?"))
    text = hostile.question(session_id=None, policy_hash=None).text
    assert safe_line(text) == "may x\\u{a}yes? go from minimal to network-api?"


@pytest.mark.parametrize(
    ("name", "value"),
    [("askVersion", 2), ("version", "3"), ("codeHash", "x"), ("ephemeral", 1), ("delta", [1]),
     ("executionId", ""), ("engine", None), ("soFar", "x"), ("truthNote", "")],
)  # fmt: skip
def test_what_is_read_back_is_checked(name: str, value: object) -> None:
    """A request that nobody here wrote is refused."""
    with pytest.raises(BadInput):
        EscalationAsk.from_json({**ASK.to_json(), name: value})


def test_another_kind_of_request_is_none() -> None:
    """A consent is not an escalation."""
    question = replace(asked(ASK).question, kind=RequestKind.CONSENT)
    with pytest.raises(Refused) as refusal:
        EscalationAsk.of(put(question))
    assert refusal.value.code is Code.ANSWER_REFUSED


@pytest.mark.parametrize("changes", [{"subject": "capability:other"}, {"digest": OTHER_DIGEST}])
def test_what_was_shown_belongs_to_who_asks(changes: dict[str, str]) -> None:
    """The preview of one capability or execution in the request of another is refused."""
    with pytest.raises(BadInput):
        EscalationAsk.of(put(replace(asked(ASK).question, **changes)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "preview",
    [None, [1], {**ASK.to_json(), "request": {**REQUEST.to_json(), "requestedSet": "trusted"}}],
)
def test_a_request_that_cannot_be_read_is_named(preview: Json) -> None:
    """Of a row that somebody has changed, who reads the error knows which one it is."""
    request = put(replace(asked(ASK).question, preview=preview))
    with pytest.raises(BadInput, match=f"`{request.request_id}` asks for cannot be read"):
        EscalationAsk.of(request)


def test_the_prompt_is_the_text_then_what_it_adds_then_what_was_done() -> None:
    """ESCALATION §ask-text, and beyond it what a person should know before saying yes."""
    assert ASK.lines() == (
        *format_escalation_request(REQUEST).split("\n"),
        "",
        "The set is kept with the capability until its code changes, and holds in every workspace.",
        "",
        "What network-api adds:",
        "- may connect to any public host, and to none of this machine or its private networks",
        "",
        "What the code did so far:",
        "- read `data/a.csv`",
        "- wrote nothing",
    )


def test_a_programs_own_word_is_headed_so() -> None:
    """What deno reports was not observed, and that stands above everything else."""
    lines = replace(ASK, truth_note=REPORTED).lines()
    assert lines[0] == "reported by the program itself, not observed"
    assert lines[2:] == ASK.lines()


def test_a_task_is_told_that_nothing_is_kept() -> None:
    """The document's text speaks of a permanent upgrade; a code task has none."""
    assert any("for this run only" in line for line in replace(ASK, ephemeral=True).lines())
    assert not any("for this run only" in line for line in ASK.lines())


def test_nothing_done_is_said_as_well() -> None:
    """An empty list would look like a missing one."""
    assert replace(ASK, so_far=()).lines()[-1] == "- nothing that was recorded"


def test_no_line_is_two() -> None:
    """What a program did is named in its words: a line feed in them begins no line of ours."""
    hostile = replace(ASK, so_far=("read `x\n[A]pprove`",), delta=("a\nb",), truth_note="c\nd")
    assert not any("\n" in line for line in hostile.lines())


@pytest.mark.parametrize(
    ("current", "requested"),
    [(each, step) for each in PermissionSet for step in definition(each).steps],
)
def test_all_that_a_step_adds_is_said(current: PermissionSet, requested: PermissionSet) -> None:
    """Every dimension in which the larger set has more has a line."""
    gains = definition(requested).surface.gains_over(definition(current).surface)
    lines = added_in_words(current, requested)
    assert sum(line.startswith("may ") for line in lines) == len(gains) >= 1


def test_a_list_narrows_what_is_said() -> None:
    """With an allowlist the network is exactly that."""
    assert added_in_words(MINIMAL, NETWORK, ["api.example.com:443"]) == (
        "may connect to `api.example.com:443`",
    )
    assert not any("connect" in line for line in added_in_words(FILESYSTEM, STANDARD, ["none"]))
    assert added_in_words(MINIMAL, NETWORK, ["any"]) == added_in_words(MINIMAL, NETWORK)


@pytest.mark.parametrize("listed", [["127.0.0.1:8080"], ["none"], ["none", "any"]])
def test_a_list_hides_nothing_of_what_is_stored(listed: list[str]) -> None:
    """What later runs have is said first and whole; the list of this run is one line more."""
    whole = added_in_words(FILESYSTEM, STANDARD)
    *said, of_this_run = added_in_words(FILESYSTEM, STANDARD, listed, is_stored=True)
    assert tuple(said) == whole
    assert of_this_run.startswith("this run was given a list")
    assert ("127.0.0.1:8080" in of_this_run) is (listed == ["127.0.0.1:8080"])


def test_without_a_list_or_a_network_there_is_nothing_to_add() -> None:
    """No line about a list that was not given, or about a network that was there before."""
    for listed in ([], ["any"]):
        assert added_in_words(MINIMAL, NETWORK, listed, is_stored=True) == added_in_words(
            MINIMAL, NETWORK
        )
    listed = ["api.example.com:443"]
    assert added_in_words(MINIMAL, READONLY, listed, is_stored=True) == added_in_words(
        MINIMAL, READONLY
    )


def test_the_runs_own_tmp_is_said_to_be_its_own() -> None:
    """Nobody shall think that the machine's is opened."""
    assert any("never this machine's" in line for line in added_in_words(READONLY, FILESYSTEM))
    assert not any("/tmp" in line for line in added_in_words(FILESYSTEM, STANDARD))
