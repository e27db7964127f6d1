"""`PLUGINS.lock`: what each plugin consisted of when somebody made the lock.

    {
      "lockVersion": 1,
      "plugins": {
        "hello": {
          "version": "1.0.0",
          "digest": "sha256:…",
          "files": {
            "plugin.yaml": "file sha256:…",
            "run.sh": "executable sha256:…",
            "latest": "link sha256:…"
          }
        }
      },
      "tools": {
        "count-words": "sha256:…"
      },
      "mcpTools": {
        "files": {
          "read": "sha256:…"
        }
      }
    }

Every entry has a line of its own and all of them are sorted, so that a merge shows what it does. What the
writer writes is ASCII. `digest` must be the one that `files` amount to (`base.treedigest`): a merge that
took one without the other is seen when the lock is read. The three sections are there also when empty.

The lock is an integrity check: it says what was meant, and whoever can commit both a plugin and its lock
passes.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from json.encoder import encode_basestring_ascii as _quoted
from types import MappingProxyType
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.treedigest import TreeEntry, rows_digest
from consentry.base.values import dataclass, field

LOCK_VERSION: Final = 1
LOCK_NAME: Final = "PLUGINS.lock"
MOST_LOCK: Final = 32 << 20

PLUGIN_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}", re.ASCII)
VERSION_FORM: Final = re.compile(
    r"(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})"
    r"(-(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?"
    r"(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)
"""SemVer 2.0.0, with numbers that can be compared as numbers."""
DIGEST_FORM: Final = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)


class FileKind(StrEnum):
    """What a file of a plugin is, as its line says."""

    FILE = "file"
    EXECUTABLE = "executable"
    LINK = "link"


_LETTERS: Final = {FileKind.FILE: b"f", FileKind.EXECUTABLE: b"x", FileKind.LINK: b"l"}
_KINDS: Final = {letter: kind for kind, letter in _LETTERS.items()}


@dataclass(frozen=True, slots=True)
class LockedFile:
    """What the lock says of one file or link."""

    kind: FileKind
    digest: Digest

    def __str__(self) -> str:
        return f"{self.kind} {self.digest}"


@dataclass(frozen=True, slots=True)
class LockedPlugin:
    """One plugin: the version its manifest gave, the digest of its tree, and its files by path."""

    version: str
    digest: Digest
    files: Mapping[str, LockedFile]


@dataclass(frozen=True, slots=True)
class PluginLock:
    """A whole lock; every mapping is sorted by its keys."""

    plugins: Mapping[str, LockedPlugin] = field(default_factory=lambda: MappingProxyType({}))
    tools: Mapping[str, Digest] = field(default_factory=lambda: MappingProxyType({}))
    mcp_tools: Mapping[str, Mapping[str, Digest]] = field(
        default_factory=lambda: MappingProxyType({})
    )


def locked_file(entry: TreeEntry) -> LockedFile:
    """What the lock says of an entry of a tree."""
    return LockedFile(_KINDS[entry.letter], entry.digest)


def locked_digest(files: Mapping[str, LockedFile]) -> Digest:
    """The digest of the tree that consists of these files."""
    return rows_digest((path, _LETTERS[each.kind], each.digest) for path, each in files.items())


def lock_text(lock: PluginLock) -> bytes:
    """The document, as the writer writes it: the same lock is always the same bytes."""
    plugins = {name: _plugin_lines(each) for name, each in lock.plugins.items()}
    tools = {name: [_quoted(digest)] for name, digest in lock.tools.items()}
    servers = {
        server: _mapping({name: [_quoted(digest)] for name, digest in tools.items()})
        for server, tools in lock.mcp_tools.items()
    }
    lines = [
        "{",
        f'  "lockVersion": {LOCK_VERSION},',
        *_indented("plugins", _mapping(plugins), ","),
        *_indented("tools", _mapping(tools), ","),
        *_indented("mcpTools", _mapping(servers), ""),
        "}",
        "",
    ]
    return "\n".join(lines).encode("ascii")


def _plugin_lines(plugin: LockedPlugin) -> list[str]:
    files = {path: [f'"{each.kind} {each.digest}"'] for path, each in plugin.files.items()}
    return [
        "{",
        f'  "version": {_quoted(plugin.version)},',
        f'  "digest": {_quoted(plugin.digest)},',
        *_indented("files", _mapping(files), ""),
        "}",
    ]


def _mapping(entries: Mapping[str, list[str]]) -> list[str]:
    """The lines of a mapping, sorted, each value given as its lines."""
    if not entries:
        return ["{}"]
    ordered = sorted(entries.items())
    last = len(ordered) - 1
    lines = ["{"]
    for index, (key, value) in enumerate(ordered):
        lines += _indented(key, value, "" if index == last else ",")
    lines.append("}")
    return lines


def _indented(key: str, value: list[str], end: str) -> list[str]:
    first, *rest = (f"  {line}" for line in [f"{_quoted(key)}: {value[0]}", *value[1:]])
    lines = [first, *rest]
    lines[-1] += end
    return lines
