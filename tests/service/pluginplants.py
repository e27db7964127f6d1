"""Plugins for tests: one that brings everything, planted in a root, with its lock."""

from collections.abc import Mapping
from pathlib import Path

from consentry.declare.pluginlock import LockedPlugin, PluginLock, lock_text
from consentry.examine.pluginintegrity import files_of as files_of_tree
from consentry.examine.plugintree import read_tree
from consentry.service.pluginlocking import Definitions, made_lock

TOOL = """\
tool:
  name: {name}
  description: Counts the lines of notes.
  version: "1.0.0"
  capabilities:
    fileRead: [{{pattern: "*.md", purpose: "the notes"}}]
    processExecution: [{{command: "wc", arguments: ["-l"], purpose: "counts"}}]
  riskLevel: low
"""
MANIFEST = """\
pluginVersion: "1"
name: {name}
version: "1.0.0"
tools: [tools/{tool}.yaml]
rules:
  tables: [rules/notes.toml]
  python: [rules/notes.py]
"""
TABLE = """\
[[module]]
name = "math"
[module.members]
floor = ["net=table.test:443"]
"""
RULE = """\
from pathlib import Path

from .words import WORD

Path({marker!r}).write_text("loaded")


def examine(path, text):
    for line, words in enumerate(text.splitlines(), 1):
        if WORD in words:
            yield "NET_ACCESS", "rule.test:25", line
"""
WORDS = 'WORD = "mail" + "to:"\n'


def files_of(name: str, marker: Path, tool: str = "count-notes") -> dict[str, str]:
    """The files of a plugin whose rule writes to `marker` when it is loaded."""
    return {
        "plugin.yaml": MANIFEST.format(name=name, tool=tool),
        f"tools/{tool}.yaml": TOOL.format(name=tool),
        "rules/notes.toml": TABLE,
        "rules/notes.py": RULE.format(marker=str(marker)),
        "rules/words.py": WORDS,
    }


def plant(root: Path, name: str, files: Mapping[str, str]) -> Path:
    """Writes a plugin's folder into a root; it is not locked by that."""
    folder = root / name
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for each in (root, *root.rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)
    return folder


def lock(root: Path) -> None:
    """Makes the lock of what lies in the root, as `consentry plugins lock` would."""
    file = root / "PLUGINS.lock"
    file.write_bytes(lock_text(made_lock(root, PluginLock(), Definitions())))
    file.chmod(0o644)


def relock(plugin: Path) -> None:
    """Locks what lies in a plugin's folder now, whatever its manifest says."""
    tree = read_tree(plugin, keep_contents=False)
    entry = LockedPlugin("1.0.0", tree.digest, files_of_tree(tree))
    (plugin.parent / "PLUGINS.lock").write_bytes(lock_text(PluginLock({plugin.name: entry})))


def own_root(home: Path) -> Path:
    """The root of a user with that home."""
    root = home / ".config/consentry/plugins"
    root.mkdir(parents=True, exist_ok=True)
    for each in (root, *root.parents[:2]):
        each.chmod(0o755)
    return root
