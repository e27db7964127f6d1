"""Commands that load plugins: what is locked is loaded, what is not stops them all (TRUST §lock-2, §lock-3)."""

import ast
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code, ExitStatus
from tests.cli.conftest import CommandLine
from tests.cli.terminals import at_terminal
from tests.service.pluginplants import files_of, lock, own_root, plant, relock

SOURCE = Path(__file__).parents[2] / "src/consentry"
LOADING = {
    "doctor": ("doctor",),
    "guard": ("guard", "--bundle", "patch.json"),
    "run": ("run", "count-notes", "--no-wait"),
    "status": ("status",),
    "surface diff": ("surface", "diff", "code", "code"),
    "surface show": ("surface", "code"),
    "tool list": ("tool", "list"),
    "tool narrow": ("tool", "narrow", "count-notes"),
    "tool show": ("tool", "show", "count-notes"),
    "trust": ("trust",),
    "trust --show": ("trust", "--show"),
    "wish init": ("wish", "init", "code"),
}
"""Every command that loads plugins, with words that bring it to its end where they are sound."""

DOORS = {
    "configuration_here",
    "examined_code",
    "ready_tool",
    "rules_if_any",
    "take_status",
    "diagnose",
    "view_trust",
    "ToolRunner",
}
"""What loads plugins for a command."""


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """What the plugin's rule writes when it is loaded."""
    return tmp_path / "loaded-by-a-rule"


@pytest.fixture
def root(consentry: CommandLine, home: Path, marker: Path) -> Path:
    """The user's own root with one plugin, locked; and something to examine."""
    root = own_root(home)
    plant(root, "notes", files_of("notes", marker))
    lock(root)
    _something_to_examine(consentry.cwd)
    return root


def _something_to_examine(folder: Path) -> None:
    (folder / "code").mkdir(exist_ok=True)
    (folder / "code/a.py").write_text("import math\nmath.floor(1)\n")
    (folder / "code/b.md").write_text("\nwrite to mailto:x\n")
    (folder / "patch.json").write_text(
        json.dumps(
            {
                "diff": "--- /dev/null\n+++ b/b.md\n@@ -0,0 +1 @@\n+mailto:x\n",
                "touched_paths": ["b.md"],
                "after": {"b.md": "mailto:x\n"},
            }
        )
    )


def tamper(root: Path) -> None:
    """One byte of one file of the plugin, its size and times as they were."""
    file = root / "notes/rules/words.py"
    before = file.stat()
    file.write_text(file.read_text().replace("mail", "nail"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def rejections(consentry: CommandLine) -> list[dict[str, Any]]:
    """The payloads of `PluginRejected` in the ledger."""
    ended = consentry("audit", "export", "--type", "PluginRejected")
    if ended.status != 0:
        return []
    return [json.loads(line)["payload"] for line in ended.out.splitlines()]


def targets(consentry: CommandLine, *words: str) -> set[str]:
    """The hosts that code can reach, as `surface` tells."""
    document = json.loads(consentry("surface", *(words or ("code",)), "--json").out)
    return {each["target"] for each in document["evidence"] if each["dimension"] == "NET_ACCESS"}


@pytest.mark.usefixtures("root")
def test_what_is_locked_is_loaded(consentry: CommandLine, marker: Path) -> None:
    """Its tool is one of the user's own, its table and its rule see more than ours alone."""
    listed = json.loads(consentry("tool", "list", "--json").out)["tools"]
    assert [(each["name"], each["origin"]) for each in listed] == [("count-notes", "own")]
    assert not marker.exists()  # who lists tools runs no rule
    assert targets(consentry) == {"table.test:443", "rule.test:25"}
    assert marker.read_text() == "loaded"
    assert consentry("tool", "show", "count-notes").status == 0


@pytest.mark.parametrize("command", LOADING)
def test_a_plugin_that_was_changed_stops_every_command(
    consentry: CommandLine, root: Path, marker: Path, command: str
) -> None:
    """TRUST §lock-3: exit status 4, the file is named, it is recorded, and nothing of it ran."""
    tamper(root)
    ended = consentry(*LOADING[command])
    assert ended.status == ExitStatus.PLUGIN_REJECTED, ended
    assert "plugin `notes` is rejected (integrity_mismatch)" in ended.out + ended.err
    assert "rules/words.py" in ended.out + ended.err
    assert not marker.exists()
    recorded = rejections(consentry)
    assert {each["plugin"] for each in recorded} == {"notes"}
    assert {each["reason"] for each in recorded} == {"integrity_mismatch"}
    assert all(each["expected"] != each["found"] for each in recorded)


@pytest.mark.parametrize("command", LOADING)
@pytest.mark.usefixtures("root")
def test_the_same_plugin_as_it_was_locked_stops_none(consentry: CommandLine, command: str) -> None:
    """Whatever a command answers, it is not that a plugin was rejected."""
    ended = consentry(*LOADING[command])
    assert ended.status != ExitStatus.PLUGIN_REJECTED, ended
    assert "rejected" not in ended.out + ended.err
    assert rejections(consentry) == []


def test_every_command_that_loads_plugins_is_in_the_table() -> None:
    """Read from the source: whichever command's module uses a door is one of those above."""
    found = set()
    for file in sorted((SOURCE / "cli").glob("*.py")):
        imported = {
            alias.name
            for node in ast.walk(ast.parse(file.read_bytes()))
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        if imported & DOORS:
            found.add(file.stem)
    words = {"".join(each.split(" --")[0].split()) for each in LOADING}
    # What reads code for others, and what shows a tool by what `tool list` loads.
    assert found - {"codereading"} | {"toolshow"} == words | {"toolshow"}


def test_whoever_loads_plugins_is_known() -> None:
    """The modules that reach the loader; another one has to be looked at for what it does with 4."""
    found = {
        str(file.relative_to(SOURCE))
        for file in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_bytes()))
        if isinstance(node, ast.ImportFrom)
        and {alias.name for alias in node.names}
        & {"load_configuration", "loaded_root", "find_plugins", "rules_here"}
    }
    assert found == {
        "service/configuration.py",
        "service/configuredplugins.py",
        "service/pluginglance.py",
        "service/pluginrules.py",
        "service/staleness.py",  # a question whose plugins changed is superseded
        "service/status.py",
        "service/toolcalls.py",
        "service/toolview.py",
        "service/trusting.py",
    }


def test_the_list_of_files_is_whole_in_json(consentry: CommandLine, root: Path) -> None:
    """Changed, added and missing, each by its path, with both digests."""
    tamper(root)
    (root / "notes/more.txt").write_text("new")
    (root / "notes/rules/notes.toml").unlink()
    ended = consentry("tool", "list", "--json")
    error = json.loads(ended.out)["error"]
    assert (ended.status, error["code"], error["exit_status"]) == (4, Code.PLUGIN_REJECTED, 4)
    plugin = error["plugin"]
    assert plugin["changed"] == ["rules/words.py"]
    assert plugin["added"] == ["more.txt"]
    assert plugin["missing"] == ["rules/notes.toml"]
    assert plugin["expected"].startswith("sha256:")
    lines = consentry("tool", "list").err.splitlines()
    assert lines[1:4] == [
        "  changed rules/words.py",
        "  added more.txt",
        "  missing rules/notes.toml",
    ]


@pytest.mark.parametrize(
    ("change", "reason", "status"),
    [
        ("unlocked", "not_locked", 4),
        ("no-lock", "not_locked", 4),
        ("gone", "missing_plugin", 4),
        ("bytecode", "bytecode", 4),
        ("link-out", "link_leaves", 4),
        ("fence", "fence", 4),
        ("bad-lock", "lock_unreadable", 3),
        ("bad-manifest", "manifest", 3),
        ("bad-table", "manifest", 3),
        ("no-such-file", "manifest", 3),
    ],
)
def test_whatever_else_is_wrong_stops_them_too(
    consentry: CommandLine, root: Path, marker: Path, change: str, reason: str, status: int
) -> None:
    """One reason each, with its status, in the ledger; nothing is loaded."""
    _wrong(root, change)
    ended = consentry("guard", "--bundle", "patch.json")
    assert (ended.status, f"({reason})" in ended.err) == (status, True), ended
    assert rejections(consentry)[0]["reason"] == reason
    assert not marker.exists()


def _wrong(root: Path, change: str) -> None:
    plugin = root / "notes"
    if change == "unlocked":
        plant(root, "other", {"plugin.yaml": 'pluginVersion: "1"\nname: other\nversion: "1.0.0"\n'})
    elif change == "no-lock":
        (root / "PLUGINS.lock").unlink()
    elif change == "gone":
        shutil.rmtree(plugin)
    elif change == "bytecode":
        (plugin / "rules/__pycache__").mkdir()
        (plugin / "rules/__pycache__/notes.cpython-311.pyc").write_bytes(b"x")
    elif change == "link-out":
        (plugin / "out").symlink_to("/etc/passwd")
    elif change == "bad-lock":
        (root / "PLUGINS.lock").write_text("{")
    else:
        manifest = (plugin / "plugin.yaml").read_text()
        file, text = {
            "fence": ("rules/notes.py", "FsReadWriteCapability(jail='/')\n"),
            "bad-manifest": ("plugin.yaml", manifest.replace("rules:", "rules: no\nmore:")),
            "bad-table": ("rules/notes.toml", "[[module]]\nname = 'a'\nsafe = ['b']\n"),
            "no-such-file": ("plugin.yaml", f"{manifest}policies: [nothing.yaml]\n"),
        }[change]
        (plugin / file).write_text(text)
        relock(plugin)


def test_two_tools_of_one_name_are_an_error_with_both_places(
    consentry: CommandLine, root: Path, marker: Path
) -> None:
    """Which of the two would run must not depend on an order."""
    plant(root, "other", files_of("other", marker))
    lock(root)
    ended = consentry("tool", "list")
    assert ended.status == ExitStatus.BAD_DOCUMENT
    assert "plugins/other/tools/count-notes.yaml" in ended.err
    assert "plugins/notes/tools/count-notes.yaml" in ended.err


def test_a_workspaces_plugins_are_not_even_verified(
    consentry: CommandLine, project: Path, marker: Path, home: Path
) -> None:
    """The rule of trust: not before they are accepted, tampered with or not; and they are told of."""
    root = project / "plugins"
    plant(root, "notes", files_of("notes", marker))
    lock(root)
    _something_to_examine(project)
    for _ in range(2):
        assert json.loads(consentry("tool", "list", "--json").out)["tools"] == []
        assert targets(consentry) == set()
        assert consentry("run", "count-notes").status == Code.TOOL_UNKNOWN.status
        notes = " ".join(json.loads(consentry("status", "--json").out)["notes"])
        assert "neither verified nor loaded" in notes
        tamper(root)
    assert not marker.exists()
    assert not list(home.rglob("PLUGINS.lock"))


def _accept(line: CommandLine) -> None:
    with at_terminal(line, "trust", size=(100, 60)) as terminal:
        terminal.answer("a approve", "a")
        terminal.answer("type trust to approve", "trust")
        assert terminal.ended() == ExitStatus.DONE, terminal.screen


@pytest.mark.parametrize("place", ["plugins", ".consentry/plugins"])
def test_an_accepted_workspaces_plugins_count_until_their_lock_changes(
    consentry: CommandLine, project: Path, marker: Path, place: str
) -> None:
    """In threes: shown and accepted, they load; tampered with, 4; locked anew, they are a stranger's again."""
    root = project / place
    plant(root, "notes", files_of("notes", marker))
    lock(root)
    _something_to_examine(project)
    shown = json.loads(consentry("trust", "--show", "--json").out)
    assert [each["path"] for each in shown["files"]] == [f"{place}/PLUGINS.lock"]
    (plugin,) = shown["plugins"]
    assert (plugin["name"], plugin["python"]) == ("notes", ["rules/notes.py"])
    assert (
        "Python rule, runs in your own process: rules/notes.py" in consentry("trust", "--show").out
    )
    assert not marker.exists()
    _accept(consentry)
    (tool,) = json.loads(consentry("tool", "list", "--json").out)["tools"]
    assert (tool["name"], tool["origin"], tool["accepted"]) == ("count-notes", "workspace", True)
    assert targets(consentry) == {"table.test:443", "rule.test:25"}
    marker.unlink()
    tamper(root)
    assert consentry("tool", "list").status == ExitStatus.PLUGIN_REJECTED
    assert consentry("surface", "code").status == ExitStatus.PLUGIN_REJECTED
    lock(root)
    assert json.loads(consentry("tool", "list", "--json").out)["tools"] == []
    assert targets(consentry) == set()
    assert not marker.exists()
    assert json.loads(consentry("trust", "--show", "--json").out)["changed"] == [
        f"{place}/PLUGINS.lock"
    ]


def test_what_a_plugins_policy_would_answer_is_shown_before_it_is_accepted(
    consentry: CommandLine, project: Path, marker: Path
) -> None:
    """An entry of it stands for a yes, also about tools that the plugin does not bring."""
    files = files_of("notes", marker)
    files["plugin.yaml"] += "policies: [policies/yes.yaml]\n"
    digest = f"sha256:{'0' * 64}"
    files["policies/yes.yaml"] = (
        'policyVersion: "1"\nentries:\n'
        f'  - {{tool: deploy, version: "1.0.0", digest: "{digest}", commit: auto}}\n'
    )
    plant(project / "plugins", "notes", files)
    lock(project / "plugins")
    (row,) = json.loads(consentry("trust", "--show", "--json").out)["lowers"]
    assert "plugins/notes/policies/yes.yaml" in json.dumps(row)
    assert "the policy entry for `deploy` 1.0.0 would stand for a yes" in json.dumps(row)
    assert "would stand for a yes" in consentry("trust", "--show").out


def test_a_tampered_plugin_of_a_workspace_cannot_be_accepted(
    consentry: CommandLine, project: Path, marker: Path
) -> None:
    """Nobody is asked about what would be rejected."""
    plant(project / "plugins", "notes", files_of("notes", marker))
    lock(project / "plugins")
    tamper(project / "plugins")
    assert consentry("trust").status == ExitStatus.PLUGIN_REJECTED
    assert not marker.exists()


def test_a_users_own_root_is_the_users_alone(
    consentry: CommandLine, root: Path, project: Path
) -> None:
    """Others may not write it, and a link into the workspace is not the user's own."""
    root.chmod(0o777)
    assert consentry("tool", "list").status == Code.CONFIG_UNSAFE.status
    root.chmod(0o755)
    assert consentry("tool", "list").status == 0
    root.rename(project / "moved")
    root.symlink_to(project / "moved")
    for words in (("tool", "list"), ("surface", "code")):
        ended = consentry(*words)
        assert ended.status == Code.CONFIG_UNSAFE.status, ended
        assert f"error[{Code.CONFIG_UNSAFE}]" in ended.err


@pytest.mark.usefixtures("root")
def test_no_bytecode_is_written_beside_a_rule(
    consentry: CommandLine, root: Path, marker: Path
) -> None:
    """The tree stays what was locked, whoever loads it how often."""
    assert "PYTHONDONTWRITEBYTECODE" not in consentry.environ
    for _ in range(2):
        assert targets(consentry)
    assert marker.exists()
    assert [each for each in root.rglob("*") if "pyc" in each.name] == []
    assert consentry("tool", "list").status == 0


def test_an_ordinary_user_loads_them_as_well(line: CommandLine) -> None:
    """What is locked is loaded, and what was changed gives 4, whoever it is."""
    home = Path(line.environ["HOME"])
    marker = home / "marker"
    root = own_root(home)
    plant(root, "notes", files_of("notes", marker))
    lock(root)
    _something_to_examine(line.cwd)
    for folder in (home, line.cwd):
        for each in (folder, *folder.rglob("*")):
            os.chown(each, folder.stat().st_uid, folder.stat().st_gid)
    assert targets(line) == {"table.test:443", "rule.test:25"}
    tamper(root)
    assert line("surface", "code").status == ExitStatus.PLUGIN_REJECTED


def test_many_plugins_are_fine(consentry: CommandLine, home: Path, marker: Path) -> None:
    """Two hundred of them; one byte of one, and none of them."""
    root = own_root(home)
    for number in range(200):
        plant(root, f"p{number}", files_of(f"p{number}", marker, f"tool-{number}"))
    lock(root)
    assert len(json.loads(consentry("tool", "list", "--json").out)["tools"]) == 200
    (root / "p150/rules/words.py").write_text("WORD = 'x'\n")
    ended = consentry("tool", "list")
    assert (ended.status, "`p150`" in ended.err) == (ExitStatus.PLUGIN_REJECTED, True)
