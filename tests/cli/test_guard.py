"""GUARD T1 to T5 through both doors: the command and `consentry.check_patch`; and what is not flagged."""

from typing import Any

import pytest

from tests.cli.guards import CommandDoor, Door, library_door, tags
from tests.service.patches import adding, bundle_of, wish_of

NET = "capability_escalation:NET_ACCESS"
ANYTHING_ELSE = wish_of(
    fs_read_roots=["./"],
    fs_write_roots=["./"],
    proc_exec="ANY",
    env_read="ANY",
    tool_classes=["python", "web", "filesystem", "shell"],
)
"""A wish that allows a lot and says nothing of the network or of loading code."""


@pytest.fixture(params=["command", "library"])
def judged(request: pytest.FixtureRequest) -> Door:
    """Either door."""
    if request.param == "library":
        return library_door
    return CommandDoor(request.getfixturevalue("consentry"))


def requirements(*lines: str) -> dict[str, Any]:
    """A bundle that adds lines to a list of dependencies."""
    before = "click==8.1.7\n"
    after = before + "".join(f"{line}\n" for line in lines)
    return bundle_of({"requirements.txt": before}, {"requirements.txt": after})


def test_t1_a_refactoring_passes(judged: Door) -> None:
    """GUARD T1: a pure function is rewritten, without new imports: PASS, and no dimension."""
    before = {"app.py": "def double(number):\n    return number * 2\n"}
    after = {"app.py": "def double(value):\n    total = value + value\n    return total\n"}
    verdict = judged(bundle_of(before, after))
    assert (verdict["status"], verdict["risk_band"]) == ("PASS", "GREEN")
    assert verdict["delta_dimensions"] == []
    assert verdict["delta"] == verdict["reasons"] == verdict["required_wish_fields_missing"] == []


@pytest.mark.parametrize(
    "wish", [None, ANYTHING_ELSE], ids=["no wish", "a wish without net_access"]
)
@pytest.mark.parametrize("library", ["requests", "httpx"])
def test_t2_an_import_that_reaches_the_network(
    judged: Door, library: str, wish: dict[str, Any] | None
) -> None:
    """GUARD T2: the import of requests or httpx without `net_access` is BLOCKED, by its tag."""
    verdict = judged(adding(f"import {library}"), wish)
    assert (verdict["status"], verdict["risk_band"]) == ("BLOCKED", "RED")
    assert NET in tags(verdict)
    assert verdict["surface_before"]["net_access"] == "NONE"
    assert verdict["surface_after"]["net_access"] == "ALLOWLIST"
    step = {"dimension": "NET_ACCESS", "before": "NONE", "after": "ALLOWLIST"}
    place = {"reason": f"import {library}", "file": "app.py", "line": 1}
    assert {**step, **place} in verdict["delta"]
    assert "allowed_capabilities.net_access" in verdict["required_wish_fields_missing"]


@pytest.mark.parametrize(
    "wish", [None, ANYTHING_ELSE], ids=["no wish", "a wish without net_access"]
)
@pytest.mark.parametrize("library", ["requests", "httpx"])
def test_t2_a_dependency_that_reaches_the_network(
    judged: Door, library: str, wish: dict[str, Any] | None
) -> None:
    """GUARD T2: the same two as lines of requirements.txt, without a line of code."""
    verdict = judged(requirements(f"{library}==1.0"), wish)
    assert verdict["status"] == "BLOCKED"
    assert NET in tags(verdict)
    assert any(
        (each["file"], each["line"], each["reason"])
        == ("requirements.txt", 2, f"dependency {library}")
        for each in verdict["delta"]
    )


@pytest.mark.parametrize("library", ["requests", "httpx"])
def test_t2_granted(judged: Door, library: str) -> None:
    """GUARD T2 with `net_access` in the wish: PASS, YELLOW, and the delta is told all the same."""
    wish = wish_of(net_access="ALLOWLIST", tool_classes=["python", "web"])
    for bundle in (adding(f"import {library}"), requirements(f"{library}==1.0")):
        verdict = judged(bundle, wish)
        assert (verdict["status"], verdict["risk_band"]) == ("PASS", "YELLOW")
        assert verdict["delta_dimensions"] == ["NET_ACCESS", "TOOL_CLASSES"]
        assert verdict["reasons"] == []


READS = "text = open('/etc/passwd').read()"
WRITES = "open('/var/tmp/out', 'w').write('x')"
WRITES_ITSELF = "from pathlib import Path\nPath('/var/tmp').write_text('x')"


@pytest.mark.parametrize(
    ("line", "field", "path"),
    [
        (READS, "fs_read_roots", "/etc/passwd"),
        (WRITES, "fs_write_roots", "/var/tmp/out"),
        (WRITES_ITSELF, "fs_write_roots", "/var/tmp"),
    ],
)
def test_t3_a_protected_root(judged: Door, line: str, field: str, path: str) -> None:
    """GUARD T3: reading /etc/passwd and writing /var/tmp are BLOCKED, strict or not."""
    for strict in (True, False):
        verdict = judged(adding(line), strict=strict)
        assert verdict["status"] == "BLOCKED"
        assert tags(verdict)[0] == "protected_root_access"
        assert {path, "ABSOLUTE_PATH"} <= set(verdict["surface_after"][field])


@pytest.mark.parametrize(
    ("line", "field", "path", "others"),
    [
        (READS, "fs_read_roots", "/etc/passwd", ["/etc", "/etc/**", "/etc/*", "/"]),
        (WRITES, "fs_write_roots", "/var/tmp/out", ["/var/tmp", "/var/tmp/**", "/var/**"]),
    ],
)
def test_t3_granted_by_that_very_path(
    judged: Door, line: str, field: str, path: str, others: list[str]
) -> None:
    """GUARD T3, CONTRACTS §7-explicit-path: only the path itself lifts the block, no parent of it."""
    classes = ["python", "filesystem"]
    granted = judged(adding(line), wish_of(**{field: [path], "tool_classes": classes}))
    assert granted["status"] == "PASS"
    wish = wish_of(**{field: others, "tool_classes": classes})
    refused = judged(adding(line), wish)
    assert refused["status"] == "BLOCKED"
    assert tags(refused)[0] == "protected_root_access"


@pytest.mark.parametrize(
    "lines",
    [
        "def run(text):\n    return eval(text)",
        "def run(text):\n    exec(text)",
        "import pickle\nfrom store import blob\nvalue = pickle.loads(blob)",
    ],
    ids=["eval", "exec", "pickle.loads"],
)
def test_t4_dynamic_load(judged: Door, lines: str) -> None:
    """GUARD T4: eval, exec and pickle.loads of imported bytes are BLOCKED, whatever the wish says."""
    everything = wish_of(
        fs_read_roots=["./"],
        net_access="ANY",
        proc_exec="ANY",
        env_read="ANY",
        dynamic_code_load="ANY",
        tool_classes=["python", "web", "shell", "filesystem"],
    )
    for wish in (None, everything):
        verdict = judged(adding(lines), wish, strict=False)
        assert verdict["status"] == "BLOCKED"
        assert tags(verdict)[0] == "dynamic_code_load"
        assert verdict["surface_after"]["dynamic_code_load"] == "ANY"


def test_t4_limited_is_all_that_can_be_granted(judged: Door) -> None:
    """CONTRACTS §7-dynamic: a module by a constant name passes where the wish says LIMITED, no more."""
    lines = "import importlib\nmodule = importlib.import_module('json')"
    limited = wish_of(dynamic_code_load="LIMITED", tool_classes=["python"])
    assert judged(adding(lines), limited)["status"] == "PASS"
    for level in ("NONE", "ANY"):
        wish = wish_of(dynamic_code_load=level, tool_classes=["python"])
        assert judged(adding(lines), wish)["status"] == "BLOCKED"
    computed = "import importlib\nimport sys\nmodule = importlib.import_module(sys.argv[1])"
    assert judged(adding(computed), limited)["status"] == "BLOCKED"


def test_t5_a_missing_diff(judged: Door) -> None:
    """GUARD T5: without the diff nothing is known, allowance or not."""
    bundle = adding("total = 1")
    del bundle["patch.diff"]
    verdict = judged(bundle, ANYTHING_ELSE)
    assert (verdict["status"], verdict["risk_band"]) == ("UNKNOWN", "YELLOW")
    assert tags(verdict) == ["insufficient_patch_data"]
    assert verdict["delta_dimensions"] == []
    assert verdict["rungs"]["641"]["ok"] is False


@pytest.mark.parametrize("kept", [1, 20, 60, -30, -2, -1])
def test_t5_a_truncated_diff(judged: Door, kept: int) -> None:
    """GUARD T5: a diff that was cut is UNKNOWN, wherever it was."""
    bundle = adding("total = 1\nother = 2")
    bundle["patch.diff"] = bundle["patch.diff"][:kept]
    verdict = judged(bundle)
    assert verdict["status"] == "UNKNOWN"
    assert tags(verdict) == ["insufficient_patch_data"]


@pytest.mark.parametrize(
    "name", ["README.md", "docs/guide.rst", "LICENSE", "notes.txt", "CHANGELOG.md"]
)
def test_prose_passes(judged: Door, name: str) -> None:
    """A file that nothing runs adds no power, whatever it speaks of."""
    words = "Call `subprocess.run`, then `import requests` and read /etc/passwd.\n"
    verdict = judged(bundle_of({name: "Hello.\n"}, {name: f"Hello.\n{words}"}))
    assert (verdict["status"], verdict["delta"]) == ("PASS", [])


def test_what_another_language_does_is_unknown(judged: Door) -> None:
    """GUARD §extract-closed: a file that no extractor reads is never a PASS."""
    verdict = judged(bundle_of({}, {"main.zig": "pub fn main() void {}\n"}), ANYTHING_ELSE)
    assert verdict["status"] == "UNKNOWN"
    assert tags(verdict) == ["insufficient_patch_data"]
