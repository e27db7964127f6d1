"""The seven rules of the guard in their order, one test each (GUARD §decide-order, CONTRACTS §7-order).

Each change is made so that the rules behind the one that answers would answer otherwise, or so that a
wish allows all that a wish can.
"""

from typing import Any

import pytest

from tests.cli.guards import CommandDoor, Door, library_door, tags
from tests.service.patches import adding, bundle_of, wish_of

ALL = wish_of(
    fs_read_roots=["./"],
    fs_write_roots=["./"],
    net_access="ANY",
    proc_exec="ANY",
    env_read="ANY",
    crypto_primitives="ANY",
    dynamic_code_load="LIMITED",
    tool_classes=["python", "web", "filesystem", "shell", "browser"],
)
"""A wish that allows as much as any can without naming a path outside of the workspace."""

NOBODY_KNOWS = "import a_module_that_nobody_knows"


@pytest.fixture(params=["command", "library"])
def judged(request: pytest.FixtureRequest) -> Door:
    """Either door."""
    if request.param == "library":
        return library_door
    return CommandDoor(request.getfixturevalue("consentry"))


def test_rule_1_an_incomplete_bundle_is_unknown(judged: Door) -> None:
    """GUARD §decide-incomplete: before `offline`, and before anything that it seems to add."""
    bundle = adding("import requests\neval(input())")
    bundle["touched_paths"] = ["app.py", "other.py"]
    verdict = judged(bundle, offline=True)
    assert verdict["status"] == "UNKNOWN"
    assert tags(verdict) == ["insufficient_patch_data"]


def test_rule_2_offline_blocks_the_network(judged: Door) -> None:
    """GUARD §decide-offline: allowance or not, gained or not."""
    bundle = adding("import requests")
    assert judged(bundle, ALL)["status"] == "PASS"
    verdict = judged(bundle, ALL, offline=True)
    assert verdict["status"] == "BLOCKED"
    assert tags(verdict) == ["capability_escalation:NET_ACCESS"]
    had_it = {"app.py": "import requests\n"}
    refactored = bundle_of(had_it, {"app.py": "import requests\n\ntotal = 1\n"})
    assert judged(refactored)["status"] == "PASS"
    again = judged(refactored, offline=True)
    assert (again["status"], again["delta"]) == ("BLOCKED", [])


@pytest.mark.parametrize("lines", ["open('/etc/shadow')", "eval(input())"])
def test_rule_3_protected_roots_and_loading_block(judged: Door, lines: str) -> None:
    """GUARD §decide-protected, §decide-dynamic: not strict, where rule 4 would say UNKNOWN."""
    assert judged(adding(lines), strict=False)["status"] == "BLOCKED"
    assert judged(adding(lines), ALL, strict=False)["status"] == "BLOCKED"


def test_rule_4_without_a_block_nothing_is_allowed(judged: Door) -> None:
    """GUARD §decide-no-block: BLOCKED when strict, else UNKNOWN; no wish and no block are alike."""
    for wish in (None, wish_of()):
        strict = judged(adding("import subprocess"), wish)
        assert strict["status"] == "BLOCKED"
        assert "capability_escalation:PROC_EXEC" in tags(strict)
        lenient = judged(adding("import subprocess"), wish, strict=False)
        assert (lenient["status"], lenient["risk_band"]) == ("UNKNOWN", "YELLOW")
        assert lenient["required_wish_fields_missing"] == [
            "allowed_capabilities.proc_exec",
            "allowed_capabilities.tool_classes",
        ]
        assert lenient["reasons"] == strict["reasons"]


def test_rule_5_what_the_wish_does_not_allow_is_blocked(judged: Door) -> None:
    """GUARD §decide-proc, §decide-classes: strict or not, and before what nobody can tell."""
    bundle = adding(f"import subprocess\n{NOBODY_KNOWS}")
    wish = wish_of(proc_exec="NONE", tool_classes=["python", "shell"])
    for strict in (True, False):
        verdict = judged(bundle, wish, strict=strict)
        assert verdict["status"] == "BLOCKED"
        assert tags(verdict) == ["capability_escalation:PROC_EXEC", "insufficient_patch_data"]
        assert verdict["required_wish_fields_missing"] == []
    classes = judged(adding("import subprocess"), wish_of(proc_exec="ANY", tool_classes=["python"]))
    assert classes["status"] == "BLOCKED"
    assert tags(classes) == ["capability_escalation:TOOL_CLASSES"]


def test_rule_6_what_nobody_can_tell_is_unknown(judged: Door) -> None:
    """Strict or not, whatever is allowed."""
    for strict in (True, False):
        verdict = judged(adding(NOBODY_KNOWS), ALL, strict=strict)
        assert (verdict["status"], verdict["risk_band"]) == ("UNKNOWN", "YELLOW")
        assert tags(verdict) == ["insufficient_patch_data"]


def test_rule_7_all_else_passes(judged: Door) -> None:
    """GUARD §decide-pass: nothing gained, or every dimension of it explicitly allowed."""
    assert judged(adding("total = 1"))["risk_band"] == "GREEN"
    verdict = judged(adding("import requests\nimport subprocess"), ALL)
    assert (verdict["status"], verdict["risk_band"]) == ("PASS", "YELLOW")
    assert all(rung["ok"] for rung in verdict["rungs"].values())


def test_removed_powers_never_block(judged: Door) -> None:
    """CONTRACTS §7-removed: listed with `after` below `before`, and no escalation."""
    before = {"app.py": "import requests\nimport subprocess\n\ntotal = 1\n"}
    verdict = judged(bundle_of(before, {"app.py": "total = 1\n"}))
    assert (verdict["status"], verdict["risk_band"]) == ("PASS", "GREEN")
    assert verdict["delta_dimensions"] == []
    found = {each["dimension"]: (each["before"], each["after"]) for each in verdict["delta"]}
    assert found["NET_ACCESS"] == found["PROC_EXEC"] == ("ALLOWLIST", "NONE")
    assert all(each["reason"].startswith("removed: ") for each in verdict["delta"])


def test_what_a_list_allows(judged: Door) -> None:
    """CONTRACTS §7-allowlist: a list must cover every target, and no list is ever `ANY`."""
    named = adding("import requests\nrequests.get('https://a.example.org/x')")
    computed = adding("import requests\nimport sys\nrequests.get(sys.argv[1])")

    def allows(bundle: dict[str, Any], **allowed: Any) -> str:
        wish = wish_of(tool_classes=["python", "web"], **allowed)
        return str(judged(bundle, wish)["status"])

    lists = {"net_access": ["a.example.org:443"]}
    assert allows(named, net_access="ALLOWLIST", allowlists=lists) == "PASS"
    other = {"net_access": ["b.example.org"]}
    assert allows(named, net_access="ALLOWLIST", allowlists=other) == "BLOCKED"
    assert allows(computed, net_access="ALLOWLIST") == "BLOCKED"
    assert allows(computed, net_access="ALLOWLIST", allowlists=lists) == "BLOCKED"
    assert allows(computed, net_access="ANY") == "PASS"


REGISTRY = {
    "registry_version": "1",
    "tools": [{"id": "fetch-page", "class": "web", "capabilities": {"net_access": "ANY"}}],
}


def recipe(tool: str) -> dict[str, Any]:
    """A recipe with one node."""
    return {"recipe_version": "1", "nodes": [{"id": "first", "tool": tool}]}


def test_recipes_have_the_powers_of_their_tools(judged: Door) -> None:
    """GUARD §in-registry: a node brings the powers and the class of its tool; an unknown one blocks."""
    bundle = adding("total = 1")
    verdict = judged(bundle, registry=REGISTRY, recipes=[recipe("fetch-page")])
    assert verdict["status"] == "BLOCKED"
    assert verdict["delta_dimensions"] == ["NET_ACCESS", "TOOL_CLASSES"]
    granted = judged(bundle, ALL, registry=REGISTRY, recipes=[recipe("fetch-page")])
    assert granted["status"] == "PASS"
    unknown = judged(bundle, ALL, registry=REGISTRY, recipes=[recipe("nobody")])
    assert unknown["status"] == "BLOCKED"
    assert tags(unknown) == ["capability_escalation:TOOL_CLASSES"]
    [reason] = unknown["reasons"]
    assert "node `first` uses the tool `nobody`, which is in no registry" in reason["detail"]
