"""The check of our own plugins: a forgotten lock is found, and a lock that holds is not."""

from pathlib import Path

import pytest

from checks.plugins import check
from checks.tree import Tree
from consentry.base.result import Ok
from consentry.service.pluginmodules import load_module
from consentry.service.plugins import FoundRoot, loaded_root, verify_plugin
from consentry.service.surroundings import Surroundings
from tests.service.pluginplants import files_of, lock, plant

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A repository with one plugin, locked."""
    plant(tmp_path / "plugins", "notes", files_of("notes", tmp_path / "marker"))
    lock(tmp_path / "plugins")
    return tmp_path


def found(root: Path) -> list[str]:
    """What the check says of a repository."""
    return [each.message for each in check(Tree(root))]


def test_a_lock_that_holds_is_no_fault(planted: Path) -> None:
    """And neither is a repository without plugins."""
    assert found(planted) == []
    assert found(planted / "plugins/notes/tools") == []


def test_an_edit_without_a_new_lock_is_found(planted: Path) -> None:
    """With the file, and what to do; the new lock settles it."""
    (planted / "plugins/notes/rules/words.py").write_text("WORD = 'x'\n")
    (said,) = found(planted)
    assert "rules/words.py" in said
    assert "consentry plugins lock plugins" in said
    lock(planted / "plugins")
    assert found(planted) == []


def test_what_is_not_locked_or_not_there_is_found(planted: Path) -> None:
    """A plugin without an entry, an entry without a plugin, no lock at all, one that cannot be read."""
    plant(planted / "plugins", "other", files_of("other", planted / "marker"))
    assert "`other` has no entry" in found(planted)[0]
    (planted / "plugins/other").rename(planted / "away")
    (planted / "plugins/notes").rename(planted / "plugins/moved")
    assert {each.split(";")[0] for each in found(planted)} == {
        "`moved` has no entry",
        "`notes` has an entry and no folder",
    }
    (planted / "plugins/PLUGINS.lock").unlink()
    assert len(found(planted)) == 1
    (planted / "plugins/PLUGINS.lock").write_text("{")
    assert len(found(planted)) == 1


def test_a_token_in_a_plugin_is_found(planted: Path) -> None:
    """The fence runs over every plugin root, ours included (TRUST §fence-1)."""
    (planted / "plugins/notes/rules/words.py").write_text("x = GitLocalOpsCapability(repo='.')\n")
    lock(planted / "plugins")
    (said,) = found(planted)
    assert said.startswith("fence: ")


def test_our_own_lock_holds(tmp_path: Path) -> None:
    """The example in this repository passes the seam, and its rule answers."""
    around = Surroundings({"HOME": str(tmp_path)}, tmp_path, 0)
    root = REPOSITORY / "plugins"
    assert verify_plugin(root / "example-notes", around) == Ok(None)
    lock_bytes = (root / "PLUGINS.lock").read_bytes()
    (plugin,) = loaded_root(FoundRoot(root, False, lock_bytes), around, None)
    module = load_module(plugin, "rules/askednotes.py")
    assert list(module.examine("a.md", "x\n!run make all\n")) == [("PROC_EXEC", "make", 2)]
    assert list(module.examine("a.py", "!run make all\n")) == []
