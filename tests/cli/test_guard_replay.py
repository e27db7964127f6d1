"""The same input gives the same bytes, and an earlier verdict can be asked for again (GUARD §in-flags)."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.guards import CommandDoor, Door, library_door, tags
from tests.service.patches import adding, bundle_of, wish_of
from tests.service.repositories import Repo

LINES = "import os\nimport requests\nimport subprocess\nopen('/etc/hosts')\nos.environ['A']"


@pytest.fixture(params=["command", "library"])
def judged(request: pytest.FixtureRequest) -> Door:
    """Either door."""
    if request.param == "library":
        return library_door
    return CommandDoor(request.getfixturevalue("consentry"))


def test_both_doors_give_the_same_document(consentry: CommandLine) -> None:
    """GUARD §deterministic: the command and the library are the same guard."""
    wish = wish_of(net_access="ALLOWLIST")
    for bundle in (adding(LINES), adding("import a_module_that_nobody_knows"), {"base": {}}):
        assert CommandDoor(_fresh(consentry))(bundle, wish) == library_door(bundle, wish)


def _fresh(consentry: CommandLine) -> CommandLine:
    shutil.rmtree(consentry.cwd.parent / "given", ignore_errors=True)
    return consentry


@pytest.mark.parametrize("form", ["--json", "--sarif", "--html"])
def test_same_bytes_from_anywhere_with_any_hash_seed(
    consentry: CommandLine, tmp_path: Path, form: str
) -> None:
    """GUARD §deterministic: twice, from another folder, in another locale and time zone, any seed."""
    files = {f"pkg/m{n}.py": f"import os\nos.environ['V{n}']\nopen('f{n}')\n" for n in range(12)}
    bundle = bundle_of({}, {**files, "app.py": LINES + "\n"}, new_deps=["httpx", "boto3"])
    first = tmp_path / "bundle.json"
    first.write_text(json.dumps(bundle))
    second = tmp_path / "other" / "name.json"
    second.parent.mkdir()
    second.write_text(json.dumps({key: bundle[key] for key in reversed(bundle)}))
    expected = consentry("guard", "--bundle", str(first), form).out
    assert len(expected) > 2000
    for seed in ("0", "1", "4711"):
        assert consentry("guard", "--bundle", str(first), form, PYTHONHASHSEED=seed).out == expected
    consentry.cwd = second.parent
    consentry.environ |= {"TZ": "Asia/Tokyo", "LC_ALL": "C", "LANG": "tr_TR.UTF-8"}
    assert consentry("guard", "--bundle", "name.json", form).out == expected


def test_git_and_a_bundle_agree(consentry: CommandLine, tmp_path: Path) -> None:
    """The same change read from a repository and handed in as a bundle has the same verdict."""
    body = "def double(number):\n    return number * 2\n"
    repo = Repo(tmp_path / "repo")
    repo.commit({"app.py": body})
    repo.commit({"app.py": f"{LINES}\n\n\n{body}"})
    from_git = consentry("guard", "HEAD", "--repository", str(repo.path), "--json")
    bundle = tmp_path / "bundle.json"
    bundle.write_text(json.dumps(adding(LINES)))
    assert consentry("guard", str(bundle), "--json").out == from_git.out


def test_a_replay_of_the_same_is_the_same(judged: Door) -> None:
    """Whatever the answer was."""
    for bundle in (adding("total = 1"), adding(LINES), {"touched_paths": []}):
        earlier = judged(bundle)
        assert judged(bundle, replay=earlier) == earlier


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("status", "PASS", '`status` was "PASS" and is "BLOCKED"'),
        ("risk_band", "GREEN", '`risk_band` was "GREEN" and is "RED"'),
        ("delta_dimensions", [], "`delta_dimensions` had 0 entries and has 2"),
        ("added", 1, "`added` is on one side only"),
    ],
)
def test_a_replay_that_differs_is_unknown(judged: Door, field: str, value: Any, said: str) -> None:
    """With the first field that differs, in the order of the document."""
    bundle = adding("import requests")
    verdict = judged(bundle, replay={**judged(bundle), field: value})
    assert (verdict["status"], verdict["risk_band"]) == ("UNKNOWN", "YELLOW")
    assert tags(verdict)[0] == "insufficient_patch_data"
    assert verdict["reasons"][0]["detail"] == f"replay: {said}"


def test_a_replay_of_another_change_is_unknown(judged: Door) -> None:
    """A PASS for something else is no PASS for this."""
    verdict = judged(adding("import requests"), replay=judged(adding("total = 1")))
    assert verdict["status"] == "UNKNOWN"


def test_the_text_says_what_differs(consentry: CommandLine) -> None:
    """And the file that `--out` wrote is what a replay takes."""
    (consentry.cwd / "b.json").write_text(json.dumps(adding("import requests")))
    assert consentry("guard", "b.json", "--out", "v.json").status == 1
    assert consentry("guard", "b.json", "--replay", "v.json").status == 1
    kept = json.loads((consentry.cwd / "v.json").read_text())
    (consentry.cwd / "w.json").write_text(json.dumps({**kept, "risk_band": "GREEN"}))
    ended = consentry("guard", "b.json", "--replay", "w.json")
    assert ended.status == 2
    assert 'why: replay: `risk_band` was "GREEN" and is "RED"\n' in ended.out
