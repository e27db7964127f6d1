"""Plugins join a configuration: tools, policies, names that clash; and what it costs where there are none."""

import subprocess
import sys
from pathlib import Path

import pytest

from consentry.base.errors import ConsentryError
from consentry.decide.acceptance import AsIfAccepted
from consentry.declare.pluginlock import LOCK_NAME
from consentry.examine.pluginproblems import PluginRejected, Rejection
from consentry.service.places import PLUGINS_LOCK
from consentry.service.pluginglance import could_have_plugins
from consentry.service.surroundings import Surroundings
from tests.service.configuring import load, tool_text, write
from tests.service.conftest import MakeAround
from tests.service.pluginplants import files_of, lock, own_root, plant


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


def tamper(root: Path) -> None:
    """Has the rule look for something else."""
    (root / "notes/rules/words.py").write_text('WORD = "http"\n')


def test_policies_of_plugins_join(here: Surroundings, root: Path) -> None:
    """And are part of the hash that decisions name."""
    before = load(here).policy_hash
    digest = "sha256:" + "ab" * 32
    entry = f"{{tool: count-notes, version: '1.0.0', digest: '{digest}'}}"
    manifest = (root / "notes/plugin.yaml").read_text()
    (root / "notes/plugin.yaml").write_text(f"{manifest}policies: [p.yaml]\n")
    (root / "notes/p.yaml").write_text(f'policyVersion: "1"\nentries: [{entry}]\n')
    lock(root)
    effective = load(here)
    assert [each.tool for each in effective.policy] == ["count-notes"]
    assert effective.policy_hash != before


def test_a_workspaces_policies_count_only_when_accepted(
    here: Surroundings, project: Path, marker: Path
) -> None:
    """As its own documents do."""
    root = project / "plugins"
    digest = "sha256:" + "ab" * 32
    plant(
        root,
        "notes",
        {
            "plugin.yaml": 'pluginVersion: "1"\nname: notes\nversion: "1.0.0"\npolicies: [p.yaml]\n',
            "p.yaml": (
                'policyVersion: "1"\nentries:\n'
                f"  - {{tool: t, version: '1.0.0', digest: '{digest}'}}\n"
            ),
        },
    )
    lock(root)
    assert load(here).policy == ()
    assert [each.tool for each in load(here, AsIfAccepted()).policy] == ["t"]
    assert not marker.exists()


def test_a_name_that_the_user_has_is_the_users(
    here: Surroundings, root: Path, project: Path
) -> None:
    """Also where a plugin of the user's has it and the workspace brings its own."""
    assert root.is_dir()
    write(project / ".consentry", count_notes=tool_text("count-notes", description="theirs"))
    effective = load(here, AsIfAccepted())
    assert effective.tool("count-notes").manifest.description == "Counts the lines of notes."
    assert any("count-notes" in each.what for each in effective.ignored)


def test_a_users_tool_and_a_users_plugin_must_not_share_a_name(
    here: Surroundings, root: Path, home: Path
) -> None:
    """An error that names both."""
    write(home / ".config/consentry", count_notes=tool_text("count-notes"))
    with pytest.raises(ConsentryError) as caught:
        load(here)
    assert str(root) in str(caught.value)
    assert str(home / ".config/consentry/tools/count-notes.yaml") in str(caught.value)
    assert caught.value.exit_status == 3


def test_a_named_configuration_has_its_own_plugins(
    here: Surroundings, root: Path, tmp_path: Path, marker: Path
) -> None:
    """`--config` replaces the user's folder and the workspace's, plugins included."""
    other = tmp_path / "other"
    plant(other / "plugins", "notes", files_of("notes", marker, "other-notes"))
    lock(other / "plugins")
    tamper(root)
    assert list(load(here, named=str(other)).tools) == ["other-notes"]


def test_files_beside_plugins_are_named(here: Surroundings, root: Path) -> None:
    """The lock and evidence are not; a note that somebody left there is, and stops nothing."""
    (root / "notes.dsse.json").write_text("{}")
    assert load(here).ignored == ()
    (root / "README.md").write_text("ours")
    (root / "other.dsse.json").write_text("{}")
    (said,) = load(here).ignored
    assert said.what == "`README.md`, `other.dsse.json`: no part of any plugin, and not loaded"
    assert not said.lowers
    assert list(load(here).tools) == ["count-notes"]


def test_an_unreadable_root_is_rejected(here: Surroundings, root: Path) -> None:
    """A file in the place of the folder, or a lock that is a folder: typed, and nothing loaded."""
    (root / LOCK_NAME).unlink()
    (root / LOCK_NAME).mkdir()
    with pytest.raises(PluginRejected) as caught:
        load(here)
    assert caught.value.reason is Rejection.LOCK_UNREADABLE
    assert caught.value.exit_status == 3
    for each in sorted(root.rglob("*"), reverse=True):
        each.rmdir() if each.is_dir() else each.unlink()
    root.rmdir()
    root.write_text("no folder")
    with pytest.raises(PluginRejected) as again:
        load(here)
    assert again.value.exit_status in (3, 4)


# ---- the glance


def test_the_glance_never_misses_a_root(
    home: Path, project: Path, here: Surroundings, marker: Path
) -> None:
    """Wherever `find_roots` would find one; and without any it says no."""
    environ = dict(here.environ)
    inner = project / "a/b"
    inner.mkdir(parents=True)
    assert not could_have_plugins(environ, str(inner))
    for place in ("plugins", ".consentry/plugins", ".paper/_cfg/plugins"):
        root = project / place
        plant(root, "notes", files_of("notes", marker))
        lock(root)
        assert could_have_plugins(environ, str(inner))
        (root / LOCK_NAME).unlink()
        for each in sorted(root.rglob("*"), reverse=True):
            each.rmdir() if each.is_dir() else each.unlink()
        root.rmdir()
    assert not could_have_plugins(environ, str(inner))
    own_root(home)
    assert could_have_plugins(environ, str(inner))
    assert could_have_plugins({}, str(inner))
    assert PLUGINS_LOCK.endswith(LOCK_NAME)


def test_where_there_are_no_plugins_nothing_of_them_is_imported(project: Path, home: Path) -> None:
    """A command that has none pays for a few looks."""
    (project / "a.py").write_text("import math\n")
    script = (
        "import sys\n"
        "from consentry.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([name for name in sys.modules if '.plugin' in name and '.schema.' not in name])\n"
    )
    for words in (["surface", "."], ["tool", "list"]):
        done = subprocess.run(
            [sys.executable, "-c", script, *words],
            cwd=project,
            env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
        names = done.stdout.splitlines()[-1]
        assert names in ("[]", "['consentry.service.pluginglance']"), done
