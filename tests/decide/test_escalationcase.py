"""What a request keeps of a failed execution: bounded, and enough to know it by."""

import pytest

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.values import replace
from consentry.decide.escalationcase import MOST_SO_FAR, is_same_code, kept_arguments
from tests.decide.escalating import NET, Flow
from tests.decide.samples import DIGEST, OTHER_DIGEST
from tests.decide.test_escalationask import ASK

LONG = "x" * 100_000


def test_what_a_request_holds_is_bounded(flow: Flow) -> None:
    """Endless lists and arguments, and texts that no database takes, do not keep it from asking."""
    found = flow.handle(
        NET,
        so_far=[f"read\0 {number}\ud800" + "x" * 1000 for number in range(500)],
        arguments={"big": LONG},
    )
    assert found.approved
    [ask] = flow.person.asks
    assert LONG not in str(ask.arguments)
    assert len(ask.so_far) == MOST_SO_FAR + 1
    assert ask.so_far[-1] == "and 400 more"
    assert max(map(len, ask.so_far)) <= 400


def test_a_refusal_is_recorded_whatever_is_in_it(flow: Flow) -> None:
    """A path that no path can be leads to an event like any other."""
    error = "PermissionDenied: Requires read access to data/\0\ud800" + "x" * 9000
    assert flow.handle(error).code == Code.ESCALATION_UNCOVERED
    [refusal] = flow.refusals
    assert str(refusal["resource"]).startswith("data/\ufffd\ufffdxxx")


@pytest.mark.parametrize("arguments", [{"n": 2**80}, {"text": "\ud800"}, {"big": LONG}])
def test_arguments_that_no_request_can_hold_are_known_by_their_digest(
    flow: Flow, arguments: Json
) -> None:
    """A number beyond what JSON holds is no reason to fail, and others are not taken for it."""
    assert flow.handle(NET, arguments=arguments).approved
    kept = flow.person.asks[0].arguments
    assert kept == kept_arguments(arguments)
    assert kept != kept_arguments({"n": 2**81})


def test_a_question_is_about_its_code_arguments_and_place() -> None:
    """Under the id of an execution that asked before, anything else is other code."""
    task = replace(ASK, ephemeral=True)
    same = {
        "code_hash": ASK.code_hash,
        "engine": ASK.engine,
        "arguments": ASK.arguments,
        "workspace": ASK.workspace,
        "network": ASK.network,
    }
    assert is_same_code(task, **same)  # type: ignore[arg-type]
    assert not is_same_code(ASK, **same)  # type: ignore[arg-type]
    for name, other in (
        ("code_hash", OTHER_DIGEST),
        ("engine", "deno"),
        ("arguments", {"city": "Basel", "days": 3}),
        ("workspace", None),
        ("network", ()),
    ):
        assert not is_same_code(task, **{**same, name: other})  # type: ignore[arg-type]
    assert not is_same_code(replace(task, code_hash=None), **{**same, "code_hash": DIGEST})  # type: ignore[arg-type]
