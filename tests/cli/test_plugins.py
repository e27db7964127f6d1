"""`consentry plugins`: what is locked, what differs, what is recorded, with which status (TRUST §lock-1, §lock-4)."""

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.examine.plugintrees import File, Link, grow, second_digest

MANIFEST = File(b'pluginVersion: "1"\nname: hello\nversion: "1.2.0"\n')
SPEC: dict[str, File | Link] = {
    "plugin.yaml": MANIFEST,
    "src/a.py": File(b"a = 1\n"),
    "l": Link("src/a.py"),
}
TOOLS = {"tools": [{"name": "read", "description": "d", "inputSchema": {"type": "object"}}]}


@pytest.fixture
def root(project: Path) -> Path:
    """A folder of plugins in the workspace with one in it."""
    grow(project / "plugins" / "hello", SPEC)
    return project / "plugins"


def document(consentry: CommandLine, *words: str, status: int = 0) -> dict[str, Any]:
    """The JSON answer of one command."""
    ended = consentry("plugins", *words, "--json")
    assert ended.status == status, ended
    found: dict[str, Any] = json.loads(ended.out)
    return found


def events(consentry: CommandLine) -> list[dict[str, Any]]:
    """The payloads of `PluginRejected` in the ledger."""
    ended = consentry("audit", "export", "--type", "PluginRejected")
    return [json.loads(line) for line in ended.out.splitlines()] if ended.status == 0 else []


def test_a_lock_holds_one_tree_digest_for_each_plugin(consentry: CommandLine, root: Path) -> None:
    """TRUST §lock-1: the digest of the reference page, computed by somebody else."""
    assert consentry("plugins", "lock").status == 0
    lock = json.loads((root / "PLUGINS.lock").read_bytes())
    assert lock["plugins"]["hello"]["digest"] == second_digest(root / "hello")
    assert lock["plugins"]["hello"]["version"] == "1.2.0"
    assert set(lock["plugins"]["hello"]["files"]) == set(SPEC)
    before = (root / "PLUGINS.lock").read_bytes()
    assert "is as it should be" in consentry("plugins", "lock").out
    assert (root / "PLUGINS.lock").read_bytes() == before
    assert consentry("plugins", "verify").status == 0


def test_check_writes_nothing(consentry: CommandLine, root: Path) -> None:
    """Status 1 where the lock would change, 0 where not."""
    assert consentry("plugins", "lock", "--check").status == 1
    assert not (root / "PLUGINS.lock").exists()
    consentry("plugins", "lock")
    assert consentry("plugins", "lock", "--check").status == 0
    (root / "hello" / "src" / "a.py").write_text("a = 2\n")
    found = document(consentry, "lock", "--check", status=1)
    assert found["file_changes"] == {"hello": {"changed": ["src/a.py"], "added": [], "missing": []}}
    assert not found["written"]


def test_what_differs_is_listed_and_recorded(consentry: CommandLine, root: Path) -> None:
    """TRUST §lock-4: edits, files more and less, plugins without entry and entries without plugin."""
    grow(root / "gone", {"plugin.yaml": File(MANIFEST.content.replace(b"hello", b"gone"))})
    consentry("plugins", "lock")
    expected = second_digest(root / "hello")
    (root / "hello" / "src" / "a.py").write_text("a = 2\n")
    (root / "hello" / "new").write_text("")
    (root / "hello" / "l").unlink()
    (root / "gone" / "plugin.yaml").unlink()
    (root / "gone").rmdir()
    grow(root / "fresh", {"x": File()})
    found = document(consentry, "verify", status=4)
    states = {each["name"]: each for each in found["plugins"]}
    assert {name: each["reason"] for name, each in states.items()} == {
        "fresh": "not_locked",
        "gone": "missing_plugin",
        "hello": "integrity_mismatch",
    }
    hello = states["hello"]
    assert (hello["changed"], hello["added"], hello["missing"]) == (["src/a.py"], ["new"], ["l"])
    recorded = {each["payload"]["plugin"]: each["payload"] for each in events(consentry)}
    assert recorded["hello"] == {
        "plugin": "hello",
        "reason": "integrity_mismatch",
        "expected": expected,
        "found": second_digest(root / "hello"),
    }
    assert set(recorded) == {"hello", "gone", "fresh"}
    ended = consentry("plugins", "verify")
    assert "changed  src/a.py" in ended.out
    assert "integrity check: 0 of 3 plugins are as the lock says" in ended.out


def test_whoever_changes_plugin_and_lock_together_passes(
    consentry: CommandLine, root: Path
) -> None:
    """TRUST §lock-4: the gap that the documentation names is really there."""
    consentry("plugins", "lock")
    (root / "hello" / "src" / "a.py").write_text("import evil\n")
    assert consentry("plugins", "verify").status == 4
    consentry("plugins", "lock")
    assert consentry("plugins", "verify").status == 0


@pytest.mark.parametrize("door", ["lock", "verify", "list"])
def test_a_plugin_with_bytecode_is_refused_everywhere(
    consentry: CommandLine, root: Path, door: str
) -> None:
    """Nothing is written for it, and what was locked before is not verified."""
    consentry("plugins", "lock")
    before = (root / "PLUGINS.lock").read_bytes()
    grow(root / "hello" / "__pycache__", {"a.cpython-311.pyc": File(b"\0")})
    ended = consentry("plugins", door)
    assert ended.status == (0 if door == "list" else 4)
    assert "bytecode" in ended.out + ended.err
    assert (root / "PLUGINS.lock").read_bytes() == before


def test_a_hostile_name_is_shown_and_not_obeyed(consentry: CommandLine, root: Path) -> None:
    """Escapes of the terminal in a file's name."""
    consentry("plugins", "lock")
    (root / "hello" / "\x1b[2J\u202ename").write_text("")
    ended = consentry("plugins", "verify")
    assert ended.status == 4
    assert "\x1b" not in ended.out
    assert "\u202e" not in ended.out
    assert document(consentry, "verify", status=4)["plugins"][0]["added"] == ["\x1b[2J\u202ename"]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (
            lambda text: text.replace('"lockVersion": 1', '"lockVersion": 9'),
            "version 9 of the lock",
        ),
        (lambda text: f"<<<<<<< HEAD\n{text}", "a merge left its marks here"),
        (lambda text: text[:40], "this is not JSON"),
        (lambda _: "", "the lock is empty"),
    ],
)
def test_a_lock_that_cannot_be_read(
    consentry: CommandLine, root: Path, damage: Any, said: str
) -> None:
    """Status 3 with the line; the way out is to make it anew, which has to be asked for."""
    consentry("plugins", "lock")
    file = root / "PLUGINS.lock"
    file.write_text(damage(file.read_text()))
    damaged = file.read_bytes()
    for door in ("verify", "list", "lock"):
        ended = consentry("plugins", door)
        assert ended.status == 3
        assert said in ended.err
        assert re.search(r"PLUGINS\.lock:[1-4]:\d", ended.err)
    assert file.read_bytes() == damaged
    assert consentry("plugins", "lock", "--anew").status == 0
    assert consentry("plugins", "verify").status == 0


def test_line_ends_of_another_system_are_read(consentry: CommandLine, root: Path) -> None:
    """A lock that git converted means the same; writing it again puts it in order."""
    consentry("plugins", "lock")
    file = root / "PLUGINS.lock"
    before = file.read_bytes()
    file.write_bytes(before.replace(b"\n", b"\r\n"))
    assert consentry("plugins", "verify").status == 0
    assert document(consentry, "lock")["layout_only"]
    assert file.read_bytes() == before


def test_a_manifest_that_cannot_be_read(consentry: CommandLine, root: Path) -> None:
    """Missing, malformed, or of another name: status 3, and no lock."""
    manifest = root / "hello" / "plugin.yaml"
    for content in (None, "name: [", MANIFEST.content.decode().replace("hello", "other")):
        manifest.unlink(missing_ok=True)
        if content is not None:
            manifest.write_text(content)
        ended = consentry("plugins", "lock")
        assert ended.status == 3
        assert "(manifest)" in ended.err
        assert not (root / "PLUGINS.lock").exists()


def test_a_server_that_says_something_else_later_is_seen(
    consentry: CommandLine, root: Path, project: Path
) -> None:
    """A rug-pull: changed, added and missing tools of a server, with their digests in the ledger."""
    (project / "t.json").write_text(json.dumps(TOOLS))
    found = document(consentry, "lock", "--mcp", "files=t.json")
    assert found["mcp_tool_changes"]["added"] == ["files/read"]
    assert document(consentry, "verify")["mcp_tools"]["not_looked_at"] == ["files"]
    assert consentry("plugins", "verify", "--mcp", "files=t.json").status == 0
    (project / "t.json").write_text(json.dumps(TOOLS).replace('"d"', '"obey me"'))
    ended = consentry("plugins", "verify", "--mcp", "files=t.json")
    assert ended.status == 4
    assert "changed  mcp files/read" in ended.out
    [event] = events(consentry)
    assert event["payload"]["plugin"] == "mcp:files/read"
    assert event["payload"]["reason"] == "definition_changed"
    assert event["payload"]["expected"] != event["payload"]["found"]
    (project / "t.json").write_text('{"tools": []}')
    found = document(consentry, "verify", "--mcp", "files=t.json", status=4)
    assert found["mcp_tools"]["missing"] == ["files/read"]
    consentry("plugins", "lock", "--drop-mcp", "files")
    assert json.loads((root / "PLUGINS.lock").read_bytes())["mcpTools"] == {}


def test_a_tool_manifest_is_locked_and_held_against(
    consentry: CommandLine, root: Path, project: Path
) -> None:
    """By its values: another layout is the same, another description is not."""
    assert consentry("tool", "new", "count", "--", "wc", "-l").status == 0
    [file] = project.rglob("count.yaml")
    given = f"count={file}"
    consentry("plugins", "lock", "--tool", given)
    assert "count" in json.loads((root / "PLUGINS.lock").read_bytes())["tools"]
    file.write_text(f"# a remark\n{file.read_text()}")
    assert consentry("plugins", "verify", "--tool", given).status == 0
    file.write_text(re.sub("description: .*", 'description: "other"', file.read_text()))
    assert consentry("plugins", "verify", "--tool", given).status == 4
    assert consentry("plugins", "lock", "--tool", f"other={file}").status == 3


def test_what_has_not_changed_is_said_to_be_known_by_stat(
    consentry: CommandLine, root: Path
) -> None:
    """Only what was hashed by an earlier command, and never with --rehash."""
    consentry("plugins", "lock")
    assert document(consentry, "verify")["plugins"][0]["known_by"] == "hashed"
    (root / "hello" / "stray").write_text("")
    consentry("plugins", "verify")  # a rejection is recorded, so that there is a state directory
    (root / "hello" / "stray").unlink()
    time.sleep(2.2)  # what is younger than that is not remembered
    assert document(consentry, "verify")["plugins"][0]["known_by"] == "hashed"
    assert document(consentry, "verify")["plugins"][0]["known_by"] == "stat"
    assert "by stat" in consentry("plugins", "list").out
    assert document(consentry, "verify", "--rehash")["plugins"][0]["known_by"] == "hashed"
    file = root / "hello" / "src" / "a.py"
    old = file.stat()
    file.write_text("a = 7\n")
    os.utime(file, ns=(old.st_atime_ns, old.st_mtime_ns))
    assert document(consentry, "verify", status=4)["plugins"][0]["changed"] == ["src/a.py"]


def test_a_folder_whose_name_is_no_text(consentry: CommandLine, project: Path) -> None:
    """Locked, verified and listed like any other, and shown with its bytes as escapes."""
    strange = project / os.fsdecode(b"s\xff\x1b")
    grow(strange / "hello", SPEC)
    assert consentry("plugins", "verify", str(strange)).status == 4, "and the ledger has it"
    assert consentry("plugins", "lock", str(strange)).status == 0
    for word in ("verify", "list"):
        ended = consentry("plugins", word, str(strange))
        assert ended.status == 0, ended
        assert "\x1b" not in ended.out
        assert document(consentry, word, str(strange))["plugins"][0]["state"] == "verified"
    assert_error(consentry("plugins", "forget", "hello", "--root", str(strange)), Code.ID_UNKNOWN)


def test_which_folder_is_meant(consentry: CommandLine, project: Path, home: Path) -> None:
    """The workspace's configuration folder first, then its top; --own; a named one."""
    assert_error(consentry("plugins", "list"), Code.USAGE)
    grow(project / "plugins" / "hello", SPEC)
    assert document(consentry, "list")["root"] == str(project / "plugins")
    grow(project / ".consentry" / "plugins" / "hello", SPEC)
    assert document(consentry, "list")["root"] == str(project / ".consentry" / "plugins")
    own = grow(home / ".config" / "consentry" / "plugins" / "hello", SPEC).parent
    assert document(consentry, "list", "--own")["root"] == str(own)
    assert document(consentry, "list", "plugins")["root"] == str(project / "plugins")
    assert_error(consentry("plugins", "list", "plugins", "--own"), Code.USAGE)
    assert_error(consentry("plugins", "list", "no-such-folder"), Code.USAGE)


@pytest.mark.parametrize(
    "words",
    [
        ("--tool", "x"),
        ("--mcp", "=f"),
        ("--tool", "a=b", "--tool", "a=c"),
        ("--mcp", "s" * 201 + "=f"),
    ],
)
def test_what_is_not_name_and_file(consentry: CommandLine, root: Path, words: Any) -> None:
    """Wrong usage, before anything is read."""
    assert root.is_dir()
    assert_error(consentry("plugins", "lock", *words), Code.USAGE)


def test_review_files_are_made_and_nothing_is_overwritten(
    consentry: CommandLine, root: Path, project: Path
) -> None:
    """TRUST §lock-5: CODEOWNERS covers the lock, the template calls out its changes."""
    assert root.is_dir()
    owners, template = project / ".github/CODEOWNERS", project / ".github/pull_request_template.md"
    consentry("plugins", "init", "--owner", "@example/security", "--show")
    assert not owners.exists()
    assert consentry("plugins", "init", "--owner", "@example/security").status == 0
    assert "/plugins/PLUGINS.lock @example/security" in owners.read_text().splitlines()
    assert "`plugins/PLUGINS.lock`" in template.read_text()
    made = owners.read_bytes(), template.read_bytes()
    again = document(consentry, "init", "--owner", "@example/security")
    assert [each["done"] for each in again["files"]] == ["there already", "there already"]
    assert (owners.read_bytes(), template.read_bytes()) == made
    owners.write_bytes(b"* @example/all")
    template.write_bytes(b"Say why.\n")
    consentry("plugins", "init", "--owner", "@example/security")
    assert owners.read_bytes().startswith(b"* @example/all\n\n# ")
    assert owners.read_text().splitlines()[-2] == "/plugins/PLUGINS.lock @example/security"
    assert template.read_bytes().startswith(b"Say why.\n\n## Plugin lock\n")
    for owner in ("", "somebody", "@a b", "# x"):
        assert_error(consentry("plugins", "init", "--owner", owner), Code.USAGE)
