"""`consentry.check_patch`: every form of a bundle and of a document, and what is raised."""

import json
from pathlib import Path
from typing import Any

import pytest

import consentry
from consentry.base.errors import BadInput, ConsentryError, UsageProblem
from consentry.declare.patchbundlefile import read_bundle_json
from consentry.declare.recipefile import read_recipe
from consentry.declare.toolregistryfile import read_tool_registry
from consentry.declare.wishfile import read_wish
from consentry.examine.verdict import Status, Verdict
from tests.service.patches import adding, wish_of

BUNDLE = adding("import requests")
WISH = wish_of(net_access="ALLOWLIST", tool_classes=["python", "web"])
RECIPE = {"recipe_version": "1", "nodes": [{"id": "a", "tool": "fetch"}]}
REGISTRY = {"registry_version": "1", "tools": [{"id": "fetch", "class": "web", "capabilities": {}}]}


def encoded(document: Any) -> bytes:
    """The bytes of a JSON document."""
    return json.dumps(document).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The bundle as a folder."""
    folder = tmp_path / "bundle"
    for side in ("base", "after"):
        (folder / side).mkdir(parents=True)
        (folder / side / "app.py").write_text(BUNDLE[side]["app.py"])
    (folder / "patch.diff").write_text(BUNDLE["patch.diff"])
    (folder / "touched_paths").write_text("app.py\n")
    return folder


def test_a_verdict_is_asked_both_ways() -> None:
    """By its attributes, and by the fields of its document."""
    verdict = consentry.check_patch(BUNDLE)
    assert isinstance(verdict, Verdict)
    assert isinstance(verdict, consentry.Verdict)
    assert verdict.status is Status.BLOCKED
    assert verdict["status"] == "BLOCKED"
    assert verdict["delta_dimensions"] == ["NET_ACCESS", "TOOL_CLASSES"]
    assert list(verdict) == list(verdict.to_json())
    assert "status" in verdict
    with pytest.raises(KeyError):
        verdict["stature"]


def test_a_bundle_has_many_forms(folder: Path, tmp_path: Path) -> None:
    """GUARD §in-patch: a folder, a JSON file, by text or path; a dict, bytes, a value."""
    file = tmp_path / "bundle.json"
    file.write_bytes(encoded(BUNDLE))
    expected = consentry.check_patch(BUNDLE).to_json()
    forms = (
        folder,
        str(folder),
        file,
        str(file),
        encoded(BUNDLE),
        read_bundle_json(encoded(BUNDLE)),
    )
    for form in forms:
        assert consentry.check_patch(form).to_json() == expected


def test_documents_have_many_forms(tmp_path: Path) -> None:
    """GUARD §in-wish, §in-registry: the name of a file, a dict, bytes, a value."""
    for name, document in (("w.json", WISH), ("t.json", REGISTRY), ("r.recipe.json", RECIPE)):
        (tmp_path / name).write_bytes(encoded(document))
    (tmp_path / "w.yaml").write_text(
        "wish_ir_version: '1'\nid: w\nscope: []\nnon_goals: []\n"
        "allowed_capabilities: {net_access: ALLOWLIST, tool_classes: [python, web]}\n"
    )
    wishes = (
        WISH,
        encoded(WISH),
        tmp_path / "w.json",
        str(tmp_path / "w.yaml"),
        (tmp_path / "w.yaml").read_bytes(),
        read_wish(encoded(WISH), "w.json"),
    )
    registries = (
        REGISTRY,
        encoded(REGISTRY),
        tmp_path / "t.json",
        read_tool_registry(encoded(REGISTRY), "t.json"),
    )
    recipes = (
        RECIPE,
        encoded(RECIPE),
        tmp_path / "r.recipe.json",
        read_recipe(encoded(RECIPE), "r"),
    )
    for wish in wishes:
        assert consentry.check_patch(BUNDLE, wish)["status"] == "PASS"
    for registry in registries:
        for recipe in recipes:
            found = consentry.check_patch(BUNDLE, WISH, registry=registry, recipes=[recipe])
            assert found["status"] == "PASS"
    assert consentry.check_patch(BUNDLE, WISH, recipes=[RECIPE])["status"] == "BLOCKED"


def test_an_earlier_verdict_has_many_forms(tmp_path: Path) -> None:
    """A verdict, its document, its bytes, its file."""
    earlier = consentry.check_patch(BUNDLE)
    file = tmp_path / "CAPABILITY_VERDICT.json"
    file.write_bytes(encoded(earlier.to_json()))
    for replay in (earlier, earlier.to_json(), encoded(earlier.to_json()), file, str(file)):
        assert consentry.check_patch(BUNDLE, replay=replay)["status"] == "BLOCKED"
        assert consentry.check_patch(BUNDLE, offline=True, replay=replay)["status"] == "UNKNOWN"


def test_flags() -> None:
    """GUARD §in-flags: strict unless it is said otherwise, and not offline."""
    assert consentry.check_patch(BUNDLE)["status"] == "BLOCKED"
    assert consentry.check_patch(BUNDLE, strict=False)["status"] == "UNKNOWN"
    assert consentry.check_patch(BUNDLE, WISH)["status"] == "PASS"
    assert consentry.check_patch(BUNDLE, WISH, offline=True)["status"] == "BLOCKED"


@pytest.mark.parametrize(
    "bundle",
    [
        {},
        {"patch.diff": None, "touched_paths": []},
        {"patch.diff": "", "touched_paths": ["a"]},
        {"patch.diff": object(), "touched_paths": []},
        {"patch.diff": "\ud800", "touched_paths": []},
        {1: 2},
        b"",
        b"{",
        b"\xff",
        b"[]",
        b'{"patch.diff": NaN}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_bundle_is_unknown(bundle: Any) -> None:
    """GUARD T5, §extract-closed: it never raises, and it never passes."""
    verdict = consentry.check_patch(bundle, WISH, strict=False)
    assert verdict.status is Status.UNKNOWN
    assert {reason.tag for reason in verdict.reasons} == {"insufficient_patch_data"}


def test_a_name_that_leads_nowhere_raises(tmp_path: Path) -> None:
    """It is a mistake of whoever wrote it."""
    missing = tmp_path / "missing"
    with pytest.raises(UsageProblem):
        consentry.check_patch(missing)
    for name in ("wish", "registry", "replay"):
        with pytest.raises(ConsentryError):
            consentry.check_patch(BUNDLE, **{name: missing})


@pytest.mark.parametrize("document", [b"{", b"[]", {"a": 1}, {"a": object()}, {1: "\ud800"}])
@pytest.mark.parametrize("name", ["wish", "registry", "recipes", "replay"])
def test_a_malformed_document_raises(name: str, document: Any) -> None:
    """Nobody could tell what it was to allow."""
    given = [document] if name == "recipes" else document
    with pytest.raises(BadInput) as caught:
        consentry.check_patch(BUNDLE, **{name: given})
    assert caught.value.exit_status == 3


def test_a_verdict_that_is_nested_without_end_is_none() -> None:
    """A replay costs no stack."""
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    with pytest.raises(BadInput):
        consentry.check_patch(BUNDLE, replay={"schema_version": 1, "status": "PASS", "delta": deep})


def test_a_wish_in_the_bundle_itself_does_not_count(folder: Path) -> None:
    """Its own folder `after/` is the change: what is touched there counts as it was before."""
    diff = BUNDLE["patch.diff"] + (
        f"--- /dev/null\n+++ b/wish.json\n@@ -0,0 +1 @@\n+{json.dumps(WISH)}\n"
    )
    (folder / "patch.diff").write_text(diff)
    (folder / "touched_paths").write_text("app.py\nwish.json\n")
    (folder / "after/wish.json").write_text(json.dumps(WISH) + "\n")
    assert consentry.check_patch(folder, folder / "after/wish.json")["status"] == "BLOCKED"
    (folder / "wish.json").write_text(json.dumps(WISH))
    assert consentry.check_patch(folder, folder / "wish.json")["status"] == "PASS"


def test_nothing_of_a_bundle_raises_for_its_names() -> None:
    """A name or a target that is not UTF-8 has a place in the document all the same."""
    name = "a\udcff.py"
    bundle = {
        "patch.diff": '--- /dev/null\n+++ "b/a\\377.py"\n@@ -0,0 +1 @@\n+open("/x\\ud800")\n',
        "touched_paths": [name],
        "after": {name: 'open("/x\\ud800")\n'},
    }
    verdict = consentry.check_patch(bundle)
    assert verdict["status"] == "BLOCKED"
    text = json.dumps(verdict.to_json(), ensure_ascii=False)
    text.encode("utf-8")  # no half of a pair is left
    assert "a\\\\xff.py" in text
