"""Reads `PLUGINS.lock`, strictly: what is wrong with it is told with its line, all of it at once.

A lock that is exactly what the writer writes is read by a short way, because every start of a command
that loads plugins reads it; it ends in comparing the bytes, so that it accepts nothing that the long way
would not. Anything else goes the long way, which accepts the same document in another layout and refuses
keys that are unknown or there twice, missing fields, another version, forms that cannot be, what a merge
left behind, and a digest that is not that of its files.
"""

import json
import re
from collections.abc import Mapping
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.treedigest import MOST_PATH
from consentry.declare.documentids import identifier
from consentry.declare.jsonnodes import json_nodes
from consentry.declare.nodes import Mark, Node, clipped
from consentry.declare.pluginlock import (
    DIGEST_FORM,
    LOCK_NAME,
    LOCK_VERSION,
    MOST_LOCK,
    PLUGIN_NAME,
    VERSION_FORM,
    FileKind,
    LockedFile,
    LockedPlugin,
    PluginLock,
    lock_text,
    locked_digest,
)
from consentry.declare.problems import Problems
from consentry.declare.reader import read_document
from consentry.declare.sound import is_possible
from consentry.declare.source import Lines, checked_text
from consentry.declare.values import Entry, Value

KEYS: Final = ("lockVersion", "plugins", "tools", "mcpTools")
KEYS_OF_PLUGIN: Final = ("version", "digest", "files")
MOST_VALUES: Final = 500_000
_AGAIN: Final = "make it anew with `consentry plugins lock --anew`, after a look at the plugins"
_MERGE_MARK: Final = re.compile(r"^(?:<{7}|\|{7}|={7}|>{7})(?: |\r?$)", re.MULTILINE)
_FILE_LINE: Final = re.compile(r"(file|executable|link) (sha256:[0-9a-f]{64})", re.ASCII)
_MOST_VERSION: Final = 10**17


def read_lock(content: bytes, name: str = LOCK_NAME) -> PluginLock:
    """The lock, or raises `document-invalid` with all that is wrong with it.

    Args:
        content: The bytes of the document, which is JSON whatever it is called.
        name: How errors call it.
    """
    return _as_written(content) or read_document(content, name, _document, _parsed)


def is_path(path: str) -> bool:
    """Whether it can be the path of a file below a folder: relative, without `.` and `..`."""
    framed = f"/{path}/"
    return (
        bool(path)
        and len(path) <= MOST_PATH
        and is_possible(path)
        and not any(part in framed for part in ("//", "/./", "/../"))
    )


# The short way.


def _as_written(content: bytes) -> PluginLock | None:
    """The lock, if the bytes are exactly those that the writer writes for it."""
    if len(content) > MOST_LOCK:
        return None
    try:
        document = json.loads(content)
        lock = PluginLock(
            {name: _plain_plugin(each) for name, each in document["plugins"].items()},
            document["tools"],
            document["mcpTools"],
        )
        is_whole = _is_well_formed(lock) and lock_text(lock) == content
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return lock if is_whole else None


def _plain_plugin(document: Mapping[str, object]) -> LockedPlugin:
    version, digest, files = (document[key] for key in KEYS_OF_PLUGIN)
    if not (isinstance(version, str) and isinstance(digest, str) and isinstance(files, dict)):
        raise TypeError("not the fields of a plugin")
    read = {}
    for path, line in files.items():
        found = _FILE_LINE.fullmatch(line)
        if found is None or not is_path(path):
            raise ValueError("not a file of a plugin")
        read[path] = LockedFile(FileKind(found[1]), Digest(found[2]))
    return LockedPlugin(version, Digest(digest), read)


def _is_well_formed(lock: PluginLock) -> bool:
    names = [*lock.tools, *lock.mcp_tools, *(each for of in lock.mcp_tools.values() for each in of)]
    digests = [
        *lock.tools.values(),
        *(each for of in lock.mcp_tools.values() for each in of.values()),
    ]
    return (
        all(map(PLUGIN_NAME.fullmatch, lock.plugins))
        and all(_is_name(each) for each in names)
        and all(map(DIGEST_FORM.fullmatch, digests))
        and all(
            VERSION_FORM.fullmatch(each.version)
            and each.files
            and each.digest == locked_digest(each.files)
            for each in lock.plugins.values()
        )
    )


def _is_name(name: str) -> bool:
    return bool(name) and len(name) <= 200 and name.isprintable() and name == name.strip()  # noqa: PLR2004 - see `identifier`


# The long way.


def _parsed(content: bytes, problems: Problems) -> Node:
    text = checked_text(content, problems, MOST_LOCK)
    mark = _MERGE_MARK.search(text)
    if mark is not None:
        place = Lines(text).mark(mark.start())
        problems.stop(place, "a merge left its marks here", f"finish the merge, and {_AGAIN}")
    root = json_nodes(text, problems, MOST_VALUES)
    if root is None:
        problems.stop(Mark(1, 1), "the lock is empty", _AGAIN)
    return root


def _document(root: Value) -> PluginLock:
    entries = root.entries()
    if entries is not None and "lockVersion" in entries:
        # Of a version that is not known, the rest would only be misread.
        version = entries["lockVersion"].value.whole(0, _MOST_VERSION)
        if version is not None and version != LOCK_VERSION:
            root.problems.stop(
                entries["lockVersion"].value.node.mark,
                f"version {version} of the lock is not known, only {LOCK_VERSION}",
                f"install a release that knows it, or {_AGAIN}",
            )
    fields = root.fields(KEYS)
    if fields is None:
        return PluginLock()
    fields.need("lockVersion", lambda value: value, root)
    return PluginLock(
        fields.need("plugins", _plugins, {}),
        fields.need("tools", _digests, {}),
        fields.need("mcpTools", _servers, {}),
    )


def _plugins(value: Value) -> Mapping[str, LockedPlugin] | None:
    entries = value.entries()
    if entries is None:
        return None
    found = {}
    for name, entry in sorted(entries.items()):
        if not PLUGIN_NAME.fullmatch(name):
            entry.key.refuse(
                f"`{clipped(name)}` is not the name of a plugin",
                "use lower-case letters, digits and `-`, at most 64",
            )
        plugin = _plugin(entry)
        if plugin is not None:
            found[name] = plugin
    return found


def _plugin(entry: Entry) -> LockedPlugin | None:
    fields = entry.value.fields(KEYS_OF_PLUGIN)
    if fields is None:
        return None
    version = fields.need("version", _version, "")
    digest = fields.need("digest", _digest, Digest(""))
    nothing: Mapping[str, LockedFile] = {}
    files = fields.need("files", _files, nothing)
    written = fields.find("digest")
    if digest and files and written is not None and digest != locked_digest(files):
        written.refuse("the digest is not that of the files below it", _AGAIN)
    return LockedPlugin(version, digest, files)


def _files(value: Value) -> Mapping[str, LockedFile] | None:
    entries = value.entries()
    if entries is None:
        return None
    if not entries:
        value.refuse("there is no file, and a plugin has at least one", _AGAIN)
    found = {}
    for path, entry in sorted(entries.items()):
        if not is_path(path):
            entry.key.refuse(f"`{clipped(path)}` is not the path of a file in a plugin", _AGAIN)
            continue
        line = entry.value.matching(
            _FILE_LINE, "a kind and a digest", "write `file`, `executable` or `link` and a digest"
        )
        parts = _FILE_LINE.fullmatch(line or "")
        if parts is not None:
            found[path] = LockedFile(FileKind(parts[1]), Digest(parts[2]))
    # A file that could not be read would make the digest wrong, too, and that is told already.
    return found if len(found) == len(entries) else None


def _servers(value: Value) -> Mapping[str, Mapping[str, Digest]] | None:
    entries = value.entries()
    if entries is None:
        return None
    found = {}
    for name, entry in sorted(entries.items()):
        identifier(entry.key)
        found[name] = _digests(entry.value) or {}
    return found


def _digests(value: Value) -> Mapping[str, Digest] | None:
    entries = value.entries()
    if entries is None:
        return None
    found = {}
    for name, entry in sorted(entries.items()):
        identifier(entry.key)
        found[name] = _digest(entry.value) or Digest("")
    return found


def _version(value: Value) -> str | None:
    return value.matching(VERSION_FORM, "a version", "write a version such as 1.4.0")


def _digest(value: Value) -> Digest | None:
    found = value.matching(DIGEST_FORM, "a digest", "write `sha256:` and 64 digits")
    return None if found is None else Digest(found)
