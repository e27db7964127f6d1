"""The loader of plugins: what passes is loaded, from the bytes that were hashed (TRUST §lock-2, §lock-3, §lock-6)."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import consentry
from consentry.base.errors import ConsentryError
from consentry.base.result import Err, Ok
from consentry.decide.acceptance import AsIfAccepted, NothingAccepted
from consentry.examine import plugintree
from consentry.examine.pluginproblems import PluginRejected, Rejection
from consentry.service import pluginmodules, pluginroots, plugins
from consentry.service.configuration import load_configuration
from consentry.service.ledgers import ledger_for_reading
from consentry.service.places import find_workspace
from consentry.service.pluginrules import rules_here
from consentry.service.plugins import verify_plugin
from consentry.service.surroundings import Surroundings
from tests.service.configuring import load, tool_text
from tests.service.conftest import MakeAround
from tests.service.pluginplants import files_of, lock, own_root, plant, relock
from tests.service.weakenedplugins import without_fence, without_integrity_check


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """What the plugin's rule writes when it is loaded."""
    return tmp_path / "marker"


@pytest.fixture
def root(home: Path, marker: Path) -> Path:
    """The user's own root, with one plugin, locked."""
    root = own_root(home)
    plant(root, "notes", files_of("notes", marker))
    lock(root)
    return root


@pytest.fixture
def here(around: MakeAround) -> Surroundings:
    """Where commands are started."""
    return around()


def hosts(here: Surroundings, text: str = "write to mailto:x") -> set[str]:
    """The hosts that the rules of plugins see in a text."""
    found = rules_here(here).extraction("a.md", text.encode()).found
    return {each.atom.target for each in found}


def rejections(here: Surroundings) -> list[dict[str, Any]]:
    """What the ledger says of plugins."""
    history = ledger_for_reading(here)
    if history is None:
        return []
    try:
        documents = [json.loads(row.body) for row in history.events()]
    finally:
        history.database.close()
    return [each["payload"] for each in documents if each["type"] == "PluginRejected"]


def tamper(root: Path) -> None:
    """Has the rule look for something else."""
    (root / "notes/rules/words.py").write_text('WORD = "http"\n')


# ---- in threes


def test_a_tampered_plugin_is_not_loaded(here: Surroundings, root: Path, marker: Path) -> None:
    """TRUST §lock-3: rejected, and nothing of it ran or is a tool."""
    tamper(root)
    with pytest.raises(PluginRejected) as caught:
        rules_here(here)
    assert caught.value.reason is Rejection.INTEGRITY_MISMATCH
    assert "plugins verify --own" in caught.value.help_line
    assert caught.value.exit_status == 4
    with pytest.raises(PluginRejected):
        load(here)
    assert not marker.exists()


def test_the_same_plugin_locked_is_loaded(here: Surroundings, root: Path, marker: Path) -> None:
    """With what was changed, once somebody has locked that."""
    tamper(root)
    lock(root)
    assert hosts(here, "see http://a.test") == {"rule.test:25"}
    assert marker.exists()
    assert list(load(here).tools) == ["count-notes"]


def test_without_the_integrity_check_the_tampered_one_is_loaded(
    here: Surroundings, root: Path, marker: Path
) -> None:
    """The control taken away: nothing else stands between the disk and this process."""
    tamper(root)
    with without_integrity_check():
        assert hosts(here, "see http://a.test") == {"rule.test:25"}
        assert list(load(here).tools) == ["count-notes"]
    assert marker.exists()


def test_a_plugin_that_the_fence_reports_is_not_loaded(
    here: Surroundings, root: Path, marker: Path
) -> None:
    """In threes: a token made in a rule is refused; without the token, or the fence, it is loaded."""
    rule = root / "notes/rules/notes.py"
    sound = rule.read_text()
    rule.write_text(f"{sound}\n\ndef make():\n    return FsReadWriteCapability(jail='/')\n")
    relock(root / "notes")
    with pytest.raises(PluginRejected) as caught:
        rules_here(here)
    assert caught.value.reason is Rejection.FENCE
    assert str(caught.value.where).startswith("notes/rules/notes.py:")
    assert not marker.exists()
    with without_fence():
        assert hosts(here) == {"rule.test:25"}
    rule.write_text(sound)
    relock(root / "notes")
    assert hosts(here) == {"rule.test:25"}


# ---- the bytes that were hashed


def test_what_is_swapped_after_hashing_is_not_loaded(
    here: Surroundings, root: Path, marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The very moment after the tree was read, every file is another; what was hashed is loaded."""
    real = plugintree.read_tree

    def read_and_swap(folder: Path, *, keep_contents: bool) -> plugintree.PluginTree:
        tree = real(folder, keep_contents=keep_contents)
        tamper(root)
        (folder / "rules/notes.py").write_text(f"open({str(marker)!r}, 'w').write('swapped')\n")
        (folder / "tools/count-notes.yaml").write_text(tool_text("count-notes", description="evil"))
        (folder / "plugin.yaml").unlink()
        return tree

    monkeypatch.setattr(plugins, "read_tree", read_and_swap)
    rules = rules_here(here)
    assert {each.atom.target for each in rules.extraction("a", b"mailto:").found} == {
        "rule.test:25"
    }
    assert marker.read_text() == "loaded"
    plant(root, "notes", files_of("notes", marker))
    tool = load(here).tool("count-notes")
    assert tool.manifest.description == "Counts the lines of notes."


def test_a_lock_is_read_once(
    here: Surroundings, project: Path, marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is compared with the acceptance is what the trees are held against."""
    root = project / "plugins"
    plant(root, "notes", files_of("notes", marker))
    lock(root)
    reads: list[Path] = []
    real = pluginroots.lock_bytes

    def counted(folder: Path) -> bytes | None:
        reads.append(folder)
        return real(folder)

    monkeypatch.setattr(plugins, "lock_bytes", counted)
    load_configuration(here, find_workspace(here), None, AsIfAccepted())
    assert reads == [root]


def test_another_tree_is_another_module(here: Surroundings, root: Path) -> None:
    """A program that goes on sees the plugin as it is locked now."""
    assert hosts(here) == {"rule.test:25"}
    tamper(root)
    lock(root)
    assert hosts(here) == set()
    assert hosts(here, "http") == {"rule.test:25"}


# ---- modules


def test_a_rule_reaches_its_plugin_and_nothing_on_the_disk(
    here: Surroundings, root: Path, marker: Path
) -> None:
    """Relative imports find verified bytes; there is no file, no cache, no search path."""
    assert hosts(here) == {"rule.test:25"}
    name = next(each for each in sys.modules if each.endswith(".rules.notes"))
    module = sys.modules[name]
    assert getattr(module, "__file__", None) is None
    assert not [each for each in sys.path if str(root) in each]
    assert sys.meta_path.count(pluginmodules._IMPORTER) == 1
    (root / "notes/rules/other.py").write_text("X = 1\n")
    with pytest.raises(ImportError):
        __import__(f"{name.removesuffix('.notes')}.other")
    assert marker.exists()


@pytest.mark.parametrize(
    "source",
    [
        "raise SystemExit(0)",
        "def examine(path, text:",
        "import no_such_module_anywhere",
        "from ..other import x",
        "examine = None",
        "",
        "def examine(path, text):\n    return 1 / 0",
        "\udcff",
    ],
)
def test_a_rule_that_cannot_be_loaded_leaves_every_file_unknown(
    here: Surroundings, root: Path, source: str
) -> None:
    """Never an exception, and never fewer powers."""
    rule = root / "notes/rules/notes.py"
    rule.write_bytes(source.encode("utf-8", "surrogateescape"))
    relock(root / "notes")
    with without_fence():  # which reports source that cannot be read by itself
        extraction = rules_here(here).extraction("a.md", b"mailto:")
    (doubt,) = extraction.unclassified
    assert "rule notes/rules/notes.py did not answer" in doubt.reason


def test_python_that_cannot_be_read_is_rejected_by_the_fence(
    here: Surroundings, root: Path
) -> None:
    """What nobody can look at is not loaded."""
    (root / "notes/rules/notes.py").write_text("def examine(path, text:\n")
    relock(root / "notes")
    with pytest.raises(PluginRejected) as caught:
        rules_here(here)
    assert caught.value.reason is Rejection.FENCE


def test_only_what_can_be_loaded_is_kept(here: Surroundings, root: Path) -> None:
    """All of a plugin is hashed; of many large ones, the rest does not lie in memory side by side."""
    (root / "notes/blob").write_bytes(bytes(1 << 20))
    lock(root)
    content = (root / "PLUGINS.lock").read_bytes()
    (plugin,) = plugins.loaded_root(plugins.FoundRoot(root, True, content), here, None)
    assert set(plugin.contents) == {
        "rules/notes.py",
        "rules/notes.toml",
        "rules/words.py",
        "tools/count-notes.yaml",
    }
    (root / "notes/blob").write_bytes(bytes(2 << 20))
    with pytest.raises(PluginRejected):
        plugins.loaded_root(plugins.FoundRoot(root, True, content), here, None)


# ---- the seam


def test_the_seam_says_ok_or_why_not(here: Surroundings, root: Path) -> None:
    """TRUST §lock-6: `verify_plugin(plugin_dir) -> Result[None, VerificationError]`."""
    plugin = root / "notes"
    assert verify_plugin(plugin, here) == Ok(None)
    assert verify_plugin(str(plugin), here) == Ok(None)
    tamper(root)
    found = verify_plugin(plugin, here)
    assert isinstance(found, Err)
    assert found.problem.reason is Rejection.INTEGRITY_MISMATCH
    assert found.problem.changes is not None
    assert found.problem.changes.changed == ("rules/words.py",)
    assert rejections(here) == []  # who asks is told; what is rejected is recorded by who loads


def test_the_seam_is_public(root: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the environment of whoever calls."""
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    assert consentry.verify_plugin(root / "notes") == Ok(None)
    assert isinstance(consentry.verify_plugin(root / "nothing"), Err)
    tamper(root)
    found = consentry.verify_plugin(root / "notes")
    assert isinstance(found, Err)
    assert isinstance(found.problem, consentry.VerificationError)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nothing", Rejection.NOT_LOCKED),
        ("Not-A-Name", Rejection.PLUGIN_NAME),
    ],
)
def test_the_seam_knows_what_is_not_there(
    here: Surroundings, root: Path, name: str, reason: Rejection
) -> None:
    """A typed answer, never an exception."""
    found = verify_plugin(root / name, here)
    assert isinstance(found, Err)
    assert found.problem.reason is reason


def test_the_seam_asks_what_the_policy_asks(here: Surroundings, root: Path, home: Path) -> None:
    """A policy takes nothing but evidence; the same plugin passes without one."""
    policy = home / ".config/consentry/plugin-policy.yaml"
    policy.write_text("nonsense: [")
    found = verify_plugin(root / "notes", here)
    assert isinstance(found, Err)
    assert found.problem.reason is Rejection.POLICY_UNREADABLE
    with pytest.raises(PluginRejected) as caught:
        load(here)
    assert caught.value.exit_status == 3
    policy.unlink()
    assert verify_plugin(root / "notes", here) == Ok(None)


# ---- what is recorded


def test_a_rejection_is_on_record_before_it_is_raised(here: Surroundings, root: Path) -> None:
    """One event for each plugin, with both digests; and again with the next start."""
    plant(root, "more", {"plugin.yaml": 'pluginVersion: "1"\nname: more\nversion: "1.0.0"\n'})
    tamper(root)
    with pytest.raises(PluginRejected) as caught:
        load(here)
    assert {(each["plugin"], each["reason"]) for each in rejections(here)} == {
        ("more", "not_locked"),
        ("notes", "integrity_mismatch"),
    }
    assert caught.value.plugin == "more"
    with pytest.raises(PluginRejected):
        load(here)
    assert len(rejections(here)) == 4


def test_a_ledger_that_cannot_be_written_hides_no_reason(
    around: MakeAround, root: Path, tmp_path: Path
) -> None:
    """Nothing is loaded either way, so the reason is told."""
    (tmp_path / "file").write_text("")
    tamper(root)
    with pytest.raises(ConsentryError) as caught:
        load(around(environ={"CONSENTRY_STATE": str(tmp_path / "file/state")}))
    assert not isinstance(caught.value, AssertionError)
    assert caught.value.exit_status != 0


# ---- killed on the way


@pytest.mark.parametrize("where", ["read_tree", "check_fence", "_check_manifest"])
def test_killed_on_the_way_nothing_is_left_behind(
    here: Surroundings, root: Path, marker: Path, where: str
) -> None:
    """The next start verifies anew, and finds the tree as it was."""
    before = {each: each.read_bytes() for each in root.rglob("*") if each.is_file()}
    script = (
        "import os, signal\nfrom pathlib import Path\n"
        "from consentry.service import plugins\n"
        "from consentry.service.pluginrules import rules_here\n"
        "from consentry.service.surroundings import look_around\n"
        f"plugins.{where} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "rules_here(look_around(os.environ)).extraction('a', b'mailto:')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **here.environ},
        cwd=here.cwd,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert not marker.exists()
    assert {each: each.read_bytes() for each in root.rglob("*") if each.is_file()} == before
    assert hosts(here) == {"rule.test:25"}
    assert load(here, NothingAccepted()).plugins[0].name == "notes"
