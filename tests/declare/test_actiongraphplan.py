"""What planners are given: everything a call takes, worked out, in an order that does not change."""

from dataclasses import replace
from typing import Any, cast

import pytest

from consentry.base.canonical import canonical_json
from consentry.base.errors import BadDocument
from consentry.declare.actiongraph import KEYS_OF_ACTION, ActionGraph
from consentry.declare.actiongraphplan import planner_document
from tests.declare.actiongraphs import HARD, HOST, MODULE, PACKAGE, SOFT, action

ADD = replace(action("notes.add", mutates=("/notes",), undo_command="notes.remove"), id="add")
SHARE = replace(action("view.zoom", "notes.share", "view.zoom", requires_approval=True), id="b")


def planned(*actions: Any) -> dict[str, Any]:
    """The document of these actions."""
    return cast(dict[str, Any], planner_document(ActionGraph(MODULE, actions), PACKAGE, HOST))


def test_the_document() -> None:
    """CONTRACTS §2-derive: it says whose graph it is, at which version, and what each action takes."""
    document = planned(ADD)
    (told,) = document.pop("actions")
    assert document == {
        "plannerVersion": "1",
        "hostId": "board",
        "appVersion": "2.1.0",
        "moduleId": MODULE,
        "moduleVersion": "1.2.3",
        "packageDigest": PACKAGE.digest,
    }
    command = HOST.command("notes.add")
    assert command is not None
    assert told == {
        **ADD.to_json(),
        "requiredCapabilities": ["state.read", "state.write.tx"],
        "requiredCapabilitiesFromAutomation": [
            "automation.invoke",
            "state.read",
            "state.write.tx",
        ],
        "approval": None,
        "commands": [command.to_json()],
    }
    assert set(KEYS_OF_ACTION) <= set(told)


def test_the_approval_is_the_one_that_will_be_asked() -> None:
    """CONTRACTS §2-approval: as written, and beside it the strictest of it and the commands'."""
    told = planned(action("board.clear", requires_approval=replace(HARD, approver=None)))["actions"]
    assert told[0]["requiresApproval"]["approver"] is None
    assert told[0]["approval"] == HARD.to_json()


def test_commands_stand_once_in_the_order_of_calls() -> None:
    """CONTRACTS §2-calls: calls keep their repeats, commands are described once."""
    (told,) = planned(SHARE)["actions"]
    assert told["calls"] == ["view.zoom", "notes.share", "view.zoom"]
    assert [each["commandId"] for each in told["commands"]] == ["view.zoom", "notes.share"]
    assert told["commands"][1]["requiresApproval"] == SOFT.to_json()


def test_the_order_of_the_graph_does_not_matter() -> None:
    """CONTRACTS §2-derive: the same actions give the same bytes."""
    assert canonical_json(planned(ADD, SHARE)) == canonical_json(planned(SHARE, ADD))
    assert [each["id"] for each in planned(SHARE, ADD)["actions"]] == ["add", "b"]


def test_a_graph_that_claims_too_much_is_not_exported() -> None:
    """CONTRACTS §2-calls: planners see only what passed the check."""
    with pytest.raises(BadDocument, match="has no binding"):
        planned(ADD, action("account.delete"))
