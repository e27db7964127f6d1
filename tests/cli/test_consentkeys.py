"""Every key of a consent configuration changes what `consentry run` does (CONSENT §config-2)."""

from typing import Any

import pytest

from consentry.base.codes import Code, ExitStatus
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.toolhomes import entries_of, requests_of, write_consent, write_tool

LISTED = {"allowedTools": ["greet"]}


def run(line: CommandLine, levels: Any, **rest: Any) -> dict[str, Any]:
    """Runs the tool without a terminal, and tells what came of it and what was asked."""
    write_tool(line, "greet")
    write_consent(line, levels, **rest)
    before = len(requests_of(line))
    ended = line("run", "--no-wait", "greet")
    asked = requests_of(line)[before:]
    question = asked[0]["preview"] if asked else {}
    shown = question.get("preview", {})
    return {
        "status": ended.status,
        "announced": "running greet" in ended.err,
        "asked": bool(asked),
        "recordReason": question.get("recordReason"),
        "remember": question.get("remember"),
        "batch": question.get("batch"),
        "showPreview": shown.get("showPreview"),
        "impact": shown.get("impact") is not None,
        "level": shown.get("level"),
        "reasons": shown.get("levelReasons", []),
    }


@pytest.mark.parametrize(
    ("level", "key", "what", "before", "after"),
    [
        ("none", "notification", "announced", False, True),
        ("none", "confirmationRequired", "asked", False, True),
        ("implicit", "notification", "announced", True, False),
        ("implicit", "confirmationRequired", "asked", False, True),
        ("explicit", "confirmationRequired", "asked", True, False),
        ("explicit", "showPreview", "showPreview", True, False),
        ("explicit", "showImpactAnalysis", "impact", False, True),
        ("explicit", "recordReason", "recordReason", False, True),
        ("strict", "confirmationRequired", "asked", True, False),
        ("strict", "showPreview", "showPreview", True, False),
        ("strict", "showImpactAnalysis", "impact", True, False),
        ("strict", "recordReason", "recordReason", True, False),
    ],
)
def test_turning_a_flag_of_a_level_changes_the_run(
    *, consentry: CommandLine, level: str, key: str, what: str, before: bool, after: bool
) -> None:
    """Each flag at the levels where it means something; nothing else is changed in the document."""
    usual = run(consentry, {level: LISTED})
    turned = run(consentry, {level: {**LISTED, key: not _is_usual(level, key)}})
    assert (usual[what], turned[what]) == (before, after)


def _is_usual(level: str, key: str) -> bool:
    """What the level does by its name."""
    by_name = {
        "none": set(),
        "implicit": {"notification"},
        "explicit": {"confirmationRequired", "showPreview"},
        "strict": {"confirmationRequired", "showPreview", "showImpactAnalysis", "recordReason"},
    }
    return key in by_name[level]


def test_without_confirmation_a_run_is_recorded_as_announced(consentry: CommandLine) -> None:
    """`confirmationRequired: false` at explicit: told, not asked, `implicit_notification`."""
    found = run(consentry, {"explicit": {**LISTED, "confirmationRequired": False}})
    assert (found["status"], found["announced"], found["asked"]) == (0, True, False)
    [entry] = entries_of(consentry)
    assert entry["user"]["consentMethod"] == "implicit_notification"


def test_the_lists_decide_the_level(consentry: CommandLine) -> None:
    """`allowedTools`: the same tool in each of the four lists."""
    found = {level: run(consentry, {level: LISTED}) for level in ("none", "implicit", "explicit")}
    assert [each["asked"] for each in found.values()] == [False, False, True]
    assert run(consentry, {"strict": LISTED})["level"] == "strict"


def test_the_description_of_a_level_is_read_by_people(consentry: CommandLine) -> None:
    """`description` stands with the reasons for the level."""
    found = run(consentry, {"explicit": {**LISTED, "description": "asks each time"}})
    assert found["reasons"][-1] == "explicit is: asks each time"


@pytest.mark.parametrize(
    ("key", "value", "what", "before", "after"),
    [
        ("rememberChoices", False, "remember", "session", None),
        ("rememberDuration", "1hour", "remember", "session", "1hour"),
        ("rememberDuration", "1day", "remember", "session", "1day"),
        ("rememberDuration", "permanent", "remember", "session", "permanent"),
        ("allowBatchApproval", True, "batch", False, True),
    ],
)
def test_a_preference_changes_what_is_offered(
    *, consentry: CommandLine, key: str, value: Any, what: str, before: Any, after: Any
) -> None:
    """CONSENT §remember-1, §remember-3, §remember-4: each key of `userPreferences`."""
    assert run(consentry, {})[what] == before
    assert run(consentry, {}, userPreferences={key: value})[what] == after


def test_the_default_policy_decides_for_tools_that_no_level_names(consentry: CommandLine) -> None:
    """CONSENT §config-3: explicit, strict, and denied without a question."""
    assert run(consentry, {}, defaultPolicy="require_explicit")["level"] == "explicit"
    assert run(consentry, {}, defaultPolicy="require_strict")["level"] == "strict"
    write_consent(consentry, {}, defaultPolicy="deny")
    ended = consentry("run", "--no-wait", "greet")
    assert_error(ended, Code.TOOL_DENIED)
    assert ended.status == ExitStatus.DENIED
