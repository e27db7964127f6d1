"""Makes a lock from what lies in a root, and tells how it differs from the one that is there.

Nothing of a plugin is run or loaded for it. The sections of tools and MCP tools are taken over from the
old lock, but for what is given anew: no root can say what belongs in them.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import BadDocument, UsageProblem
from consentry.base.values import dataclass, field
from consentry.declare.pluginlock import (
    LOCK_NAME,
    MOST_LOCK,
    PLUGIN_NAME,
    LockedPlugin,
    PluginLock,
    lock_text,
)
from consentry.declare.pluginmanifest import MANIFEST_NAME, PluginManifest, read_plugin_manifest
from consentry.enforce.folderlock import TRY, locked_folder
from consentry.examine.pluginintegrity import files_of, tree_changes
from consentry.examine.pluginproblems import Rejection, TreeChanges, VerificationError
from consentry.examine.plugintree import PluginTree, read_tree
from consentry.service.placedfile import place_new, replace_whole
from consentry.service.pluginroots import LockFile, lock_bytes, plugin_folders

_NONE: Final = TreeChanges()


@dataclass(frozen=True, slots=True)
class Definitions:
    """What was given for the two sections besides plugins, and what is to be taken out of them."""

    tools: Mapping[str, Digest] = field(default_factory=dict)
    mcp_tools: Mapping[str, Mapping[str, Digest]] = field(default_factory=dict)
    dropped_tools: Sequence[str] = ()
    dropped_servers: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class LockChanges:
    """How a new lock differs from the old one, each part as names.

    `files` has every plugin that is in both and whose files differ; `layout_only` says that the old
    document means the same and is written in another way.
    """

    plugins: TreeChanges
    files: Mapping[str, TreeChanges]
    tools: TreeChanges
    mcp_tools: TreeChanges
    layout_only: bool = False

    def __bool__(self) -> bool:
        return bool(self.plugins or self.tools or self.mcp_tools or self.layout_only)


def made_lock(root: Path, old: PluginLock, definitions: Definitions) -> PluginLock:
    """The lock of what lies in the root now; raises `VerificationError` for the first bad plugin."""
    plugins = {name: _locked(root / name) for name in plugin_folders(root)}
    tools = {**old.tools, **definitions.tools}
    servers = {**old.mcp_tools, **definitions.mcp_tools}
    return PluginLock(
        plugins,
        {name: each for name, each in tools.items() if name not in definitions.dropped_tools},
        {name: each for name, each in servers.items() if name not in definitions.dropped_servers},
    )


def lock_changes(old: LockFile | None, new: PluginLock) -> LockChanges:
    """What changes when the new lock takes the place of the old one."""
    before = PluginLock() if old is None else old.lock
    both = before.plugins.keys() & new.plugins.keys()
    files = {
        name: tree_changes(before.plugins[name].files, new.plugins[name].files)
        for name in sorted(both)
        if before.plugins[name] != new.plugins[name]
    }
    changes = LockChanges(
        named_changes(before.plugins, new.plugins),
        files,
        named_changes(before.tools, new.tools),
        named_changes(flat(before.mcp_tools), flat(new.mcp_tools)),
    )
    if changes or (old is not None and old.content == lock_text(new)):
        return changes
    return LockChanges(_NONE, {}, _NONE, _NONE, layout_only=True)


def write_lock(root: Path, lock: PluginLock, *, over: bytes | None) -> None:
    """Puts the lock into the root, whole or not at all, in the place of the one with these bytes.

    Raises where something else is there by now: what another command put into it would be lost.
    """
    file, content = root / LOCK_NAME, lock_text(lock)
    if len(content) > MOST_LOCK:
        raise UsageProblem(
            Code.FILE_UNUSABLE,
            f"`{file}` would have more than {MOST_LOCK:,} bytes, and could not be read again",
            help_line="use several folders of plugins",
        )
    with _alone_in(root):
        if lock_bytes(root) != over:
            raise _written_meanwhile(file)
        if over is None:
            place_new(str(file), content)
        else:
            replace_whole(file, content)


@contextmanager
def _alone_in(root: Path) -> Iterator[None]:
    """No other command writes the lock of this root meanwhile, where the file system knows locks."""
    try:
        held = locked_folder(root, TRY)
    except OSError:
        held = -1
    if held is None:
        raise _written_meanwhile(root / LOCK_NAME)
    try:
        yield
    finally:
        if held >= 0:
            os.close(held)


def _written_meanwhile(file: Path) -> UsageProblem:
    return UsageProblem(
        Code.FILE_UNUSABLE,
        f"`{file}` is being written by another command, or was since it was read",
        help_line="look at it, and run the command again",
    )


def check_plugin_name(name: str) -> None:
    """Raises for a folder that cannot be a plugin because of what it is called."""
    if not PLUGIN_NAME.fullmatch(name):
        raise VerificationError(
            Rejection.PLUGIN_NAME,
            name,
            f"`{name}` is not the name of a plugin",
            help_line="a folder of plugins has nothing but plugins in it, named with a to z, digits and `-`",
        )


def manifest_of(tree: PluginTree) -> PluginManifest:
    """What a plugin says it is, from the bytes that were hashed; raises `VerificationError`."""
    content = (tree.contents or {}).get(MANIFEST_NAME)
    if content is None:
        raise VerificationError(
            Rejection.MANIFEST,
            tree.name,
            f"there is no `{MANIFEST_NAME}` in it",
            found=tree.digest,
            help_line="write one; docs/reference/plugin.md says what is in it",
        )
    try:
        manifest = read_plugin_manifest(content, f"{tree.name}/{MANIFEST_NAME}")
    except BadDocument as problem:
        first = problem.first
        raise VerificationError(
            Rejection.MANIFEST,
            tree.name,
            first.message,
            found=tree.digest,
            where=first.where,
            help_line=first.help_line,
        ) from problem
    if manifest.name != tree.name:
        raise VerificationError(
            Rejection.MANIFEST,
            tree.name,
            f"its manifest calls it `{manifest.name}`, and its folder `{tree.name}`",
            found=tree.digest,
            help_line="give both the same name",
        )
    return manifest


def named_changes(before: Mapping[str, object], after: Mapping[str, object]) -> TreeChanges:
    """Which names have something else than before, which are new, and which are gone."""
    both = before.keys() & after.keys()
    return TreeChanges(
        changed=tuple(sorted(name for name in both if before[name] != after[name])),
        added=tuple(sorted(after.keys() - before.keys())),
        missing=tuple(sorted(before.keys() - after.keys())),
    )


def flat(servers: Mapping[str, Mapping[str, Digest]]) -> dict[str, Digest]:
    """The tools of all servers, as `server/tool`; no two of them have one name.

    Both parts may have a `/` in them, so that of a server is written otherwise: else one server could
    call a tool so that it hides behind another server's.
    """
    return {
        f"{server.replace('%', '%25').replace('/', '%2F')}/{tool}": digest
        for server, tools in servers.items()
        for tool, digest in tools.items()
    }


def _locked(folder: Path) -> LockedPlugin:
    check_plugin_name(folder.name)
    tree = read_tree(folder, keep_contents=True)
    return LockedPlugin(manifest_of(tree).version, tree.digest, files_of(tree))
