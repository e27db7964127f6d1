"""The clauses of GUARD on what extraction must see, and on what every verdict carries."""

import json
import re
from typing import Any

import pytest

import consentry
from consentry.base.canonical import digest_json
from consentry.base.values import replace
from consentry.declare.wish import Wish
from consentry.examine.guard import Examined, Flags, _Problems, _verified
from consentry.examine.sides import Side
from consentry.examine.verdict import Status, Verdict
from consentry.surface.protected import protected_roots
from tests.service.patches import adding, bundle_of, wish_of

NET = ("requests", "httpx", "urllib", "socket", "aiohttp")
DYNAMIC = (
    "eval(text)",
    "exec(text)",
    "import pickle\npickle.loads(text)",
    "import marshal",
    "import marshal\nmarshal.loads(text)",
    "import importlib\nimportlib.import_module(text)",
    "import importlib.util\nimportlib.util.spec_from_file_location('x', text)",
)
ALL_KINDS: dict[str, dict[str, Any]] = {
    "nothing gained": adding("total = 1"),
    "gained": adding("import requests"),
    "protected": adding("open('/etc/passwd')"),
    "loading": adding("eval(input())"),
    "not known": adding("import a_module_that_nobody_knows"),
    "incomplete": {},
}


def surface_after(bundle: dict[str, Any]) -> dict[str, Any]:
    """The surface after a change."""
    found: Any = consentry.check_patch(bundle)["surface_after"]
    return dict(found)


@pytest.mark.parametrize("library", NET)
def test_network_libraries(library: str) -> None:
    """GUARD §extract-net, §extract-allowlist: the five, imported in whichever way: ALLOWLIST."""
    for line in (f"import {library}", f"import {library} as x", f"from {library} import *"):
        assert surface_after(adding(line))["net_access"] == "ALLOWLIST"


@pytest.mark.parametrize(
    "line", ["import subprocess", "import os\nos.system('ls')", "import pty", "import shlex"]
)
def test_process_names(line: str) -> None:
    """GUARD §extract-proc: the four; a bare import is ALLOWLIST, and so is a constant command."""
    assert surface_after(adding(line))["proc_exec"] == "ALLOWLIST"


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("import requests\nimport sys\nrequests.get(sys.argv[1])", "net_access"),
        ("import socket\ndef go(where):\n    socket.create_connection(where)", "net_access"),
        ("import subprocess\nimport sys\nsubprocess.run(sys.argv[1:])", "proc_exec"),
        ("import os\ndef go(line):\n    os.system(line)", "proc_exec"),
    ],
)
def test_a_target_that_is_computed_is_any(line: str, field: str) -> None:
    """GUARD §extract-allowlist, CONTRACTS §7-allowlist."""
    assert surface_after(adding(line))[field] == "ANY"


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("open('/srv/data')", "fs_read_roots"),
        ("open('/srv/data', 'w')", "fs_write_roots"),
        ("from pathlib import Path\nPath('/srv/data').read_text()", "fs_read_roots"),
        ("from pathlib import Path\nPath('/srv/data').write_text('')", "fs_write_roots"),
    ],
)
def test_absolute_literals(line: str, field: str) -> None:
    """GUARD §extract-absolute: the mark and the path itself; allowed only by that very path."""
    found = consentry.check_patch(adding(line))
    assert {"ABSOLUTE_PATH", "/srv/data"} <= set(surface_after(adding(line))[field])
    assert found["status"] == "BLOCKED"
    classes = ["python", "filesystem"]
    named = wish_of(**{field: ["/srv/data"], "tool_classes": classes})
    parent = wish_of(**{field: ["/srv", "/srv/**"], "tool_classes": classes})
    assert consentry.check_patch(adding(line), named)["status"] == "PASS"
    assert consentry.check_patch(adding(line), parent)["status"] == "BLOCKED"


@pytest.mark.parametrize(
    "path", ["/etc/x", "~/.ssh/id", "/proc/1/environ", "/var/lib/x", "/dev/sda"]
)
def test_references_to_protected_roots(path: str) -> None:
    """GUARD §extract-protected, §decide-protected: the five are a hard block, read and written."""
    for line in (
        f"open({path!r})",
        f"open({path!r}, 'w')",
        f"from pathlib import Path\np = Path({path!r})",
    ):
        found = consentry.check_patch(adding(line), strict=False)
        assert found["status"] == "BLOCKED", line
        assert found.reasons[0].tag == "protected_root_access"


@pytest.mark.parametrize("lines", DYNAMIC)
def test_dynamic_loading(lines: str) -> None:
    """GUARD §extract-dynamic: each of the names makes it other than NONE."""
    body = f"text = input()\n{lines}"
    assert surface_after(adding(body))["dynamic_code_load"] != "NONE"
    assert consentry.check_patch(adding(body))["status"] == "BLOCKED"


def test_before_and_after_come_from_code_recipes_and_dependencies() -> None:
    """GUARD §extract-1: hunks, tool nodes and dependency files, and `new_deps` of the bundle itself."""
    before = {"app.py": "x = 1\n", "pyproject.toml": "[project]\nname = 'x'\ndependencies = []\n"}
    after = {
        "app.py": "import subprocess\n\nx = 1\n",
        "pyproject.toml": "[project]\nname = 'x'\ndependencies = ['requests']\n",
        "a.recipe.json": '{"recipe_version": "1", "nodes": [{"id": "n", "tool": "draw"}]}\n',
    }
    registry = {
        "registry_version": "1",
        "tools": [{"id": "draw", "class": "browser", "capabilities": {"env_read": "ANY"}}],
    }
    bundle = bundle_of(before, after, new_deps=["cryptography"])
    found = consentry.check_patch(bundle, registry=registry)
    reasons = {(step.file, step.reason) for step in found.delta.gained}
    assert ("app.py", "import subprocess") in reasons
    assert ("pyproject.toml", "dependency requests") in reasons
    assert ("a.recipe.json", "node n uses the tool draw: browser") in reasons
    assert ("new_deps", "dependency cryptography") in reasons
    nothing = surface_after(adding("total = 1"))
    assert found["surface_before"] == nothing


def test_nothing_is_inferred() -> None:
    """GUARD §decide-implicit: an allowance for one thing is none for another that goes with it."""
    bundle = adding("import requests")
    for allowed in (
        {"net_access": "ANY"},
        {"tool_classes": ["python", "web"]},
        {"net_access": "NONE", "tool_classes": ["python", "web"]},
        {"proc_exec": "ANY", "fs_read_roots": ["./"], "env_read": "ANY"},
    ):
        assert consentry.check_patch(bundle, wish_of(**allowed))["status"] == "BLOCKED"


def test_a_gain_is_an_escalation_in_every_dimension() -> None:
    """GUARD §vector-2: each of the eight blocks by itself, with the tag of its dimension."""
    lines = {
        "FS_READ_ROOTS": "open('data/x')",
        "FS_WRITE_ROOTS": "open('data/x', 'w')",
        "NET_ACCESS": "import requests",
        "PROC_EXEC": "import subprocess",
        "ENV_READ": "import os\nos.environ['A']",
        "DYNAMIC_CODE_LOAD": "eval(input())",
        "CRYPTO_PRIMITIVES": "import hashlib\nhashlib.md5(b'')",
        "TOOL_CLASSES": "import requests",
    }
    for dimension, line in lines.items():
        found = consentry.check_patch(adding(line))
        assert found["status"] == "BLOCKED"
        assert dimension in found.delta.dimensions
        assert f"capability_escalation:{dimension}" in {each.tag for each in found.reasons}


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_every_verdict_has_its_witnesses(kind: str) -> None:
    """GUARD §witness-extract, -delta, -roots, -form: four addresses, each with its real digest."""
    found = consentry.check_patch(ALL_KINDS[kind])
    document: dict[str, Any] = json.loads(json.dumps(found.to_json()))
    named = dict(each.split("#", 1) for each in document["witnesses"])
    assert list(named) == [
        "compute://cap_surface/extract_v1",
        "trace://cap_surface/delta_report",
        "canon://policy/protected_roots_v1",
        "canon://cap_surface/knowledge_v1",
    ]
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", each) for each in named.values())
    assert named["trace://cap_surface/delta_report"] == digest_json(document["delta"])
    assert named["canon://policy/protected_roots_v1"] == protected_roots().digest
    other = consentry.check_patch(adding("import subprocess\nimport os\nos.environ['B']"))
    assert other.witnesses[0] != found.witnesses[0]
    assert other.witnesses[2:] == found.witnesses[2:]


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_every_verdict_stands_on_three_rungs(kind: str) -> None:
    """GUARD §rung-641, -274177, -65537: two checks each; only what was not extracted lacks the first."""
    rungs: Any = consentry.check_patch(ALL_KINDS[kind])["rungs"]
    assert {
        number: [each["name"] for each in rung["checks"]] for number, rung in rungs.items()
    } == {
        "641": ["surface_extracted", "delta_deterministic"],
        "274177": ["mode_flags_enforced", "protected_roots_enforced"],
        "65537": ["pass_only_if_allowed", "no_implicit_allowance"],
    }
    assert [rung["ok"] for rung in rungs.values()] == [kind != "incomplete", True, True]


def forced(verdict: Verdict, examined: Examined, wish: Wish | None, flags: Flags) -> Verdict:
    """A PASS that nobody earned, as it comes out of its own verification."""
    problems = _Problems(examined, verdict.delta, None if wish is None else wish.allowed, flags)
    return _verified(replace(verdict, status=Status.PASS), examined, problems)


def test_a_pass_that_does_not_hold_is_none() -> None:
    """GUARD §witness-pass, §rung-274177, §rung-65537: each check turns a PASS that it refutes."""
    clean = consentry.check_patch(ALL_KINDS["nothing gained"])
    nothing = Examined(Side(), Side())
    assert forced(clean, nothing, None, Flags()).status is Status.PASS
    bare = forced(replace(clean, witnesses=clean.witnesses[1:]), nothing, None, Flags())
    assert (bare.status, bare.rungs[2].ok) == (Status.UNKNOWN, False)
    incomplete = forced(clean, Examined(Side(), Side(), incomplete="cut"), None, Flags())
    assert (incomplete.status, incomplete.rungs[0].ok) == (Status.UNKNOWN, False)
    for kind, rung in (("gained", 2), ("protected", 1)):
        verdict = consentry.check_patch(ALL_KINDS[kind])
        found = forced(verdict, nothing, None, Flags())
        assert (found.status, found.rungs[rung].ok) == (Status.UNKNOWN, False)
        assert found.rungs[0].checks[1].ok is False  # nothing that was extracted gives this delta
    reaches = consentry.check_patch(ALL_KINDS["gained"])
    offline = forced(reaches, nothing, None, Flags(offline=True))
    assert not offline.rungs[1].ok


def test_tags_are_the_four_and_bands_the_three() -> None:
    """GUARD §verdict-tags, §verdict-band, CONTRACTS §7-verdict-keys: over every kind of change."""
    allowed = wish_of(net_access="ANY", tool_classes=["python", "web"])
    verdicts = [consentry.check_patch(each) for each in ALL_KINDS.values()]
    verdicts.append(consentry.check_patch(ALL_KINDS["gained"], allowed))
    tags = {reason.tag.partition(":")[0] for each in verdicts for reason in each.reasons}
    assert tags == {
        "capability_escalation",
        "protected_root_access",
        "dynamic_code_load",
        "insufficient_patch_data",
    }
    bands = {(str(each["status"]), bool(each.delta.gained), each["risk_band"]) for each in verdicts}
    assert bands == {
        ("PASS", False, "GREEN"),
        ("PASS", True, "YELLOW"),
        ("UNKNOWN", False, "YELLOW"),
        ("BLOCKED", True, "RED"),
    }
    for each in verdicts:
        document = each.to_json()
        assert document["delta_dimensions"] == sorted(set(each.delta.dimensions))
        surface: Any = document["surface_after"]
        assert {"crypto_primitives", "allowlists"} <= surface.keys()
