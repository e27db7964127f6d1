"""Verifies plugins and hands on what was verified: the seam that everything goes through that loads one.

`verify_plugin` is the seam (TRUST §lock-6): whatever else is asked of plugins one day, it is asked behind
this call. The order is fixed, and the first failure is the answer:

    1  integrity   the tree is read and hashed now, from its bytes, and is what the lock says
    2  manifest    `plugin.yaml`, from those bytes; of the version that the lock has
    3  fence       no Python file of it makes a token, pushes, or leaves a race unhandled
    4  policy      evidence that the user's `plugin-policy.yaml` asks for, where there is one

Only then there is a `VerifiedPlugin`, and it has the very bytes that were hashed: nobody opens a file of
a plugin by its name again. A root is loaded whole or not at all. Every rejection is in the ledger before
it is raised, as far as the ledger can be written.

The lock is an integrity check. Whoever can write both a plugin and its lock passes it.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final

from consentry.base.canonical import Digest, digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import BadDocument, ConsentryError, Where
from consentry.base.result import Err, Ok, Result
from consentry.base.values import dataclass, field
from consentry.declare.pluginlock import LOCK_NAME, PluginLock
from consentry.declare.pluginlockfile import read_lock
from consentry.declare.pluginmanifest import MANIFEST_NAME, PluginManifest
from consentry.examine.pluginintegrity import check_integrity, locked_plugin
from consentry.examine.pluginproblems import PluginRejected, Rejection, VerificationError
from consentry.examine.plugintree import PluginTree, read_tree
from consentry.service.places import Workspace
from consentry.service.pluginevidence import EvidenceDesk
from consentry.service.pluginlocking import check_plugin_name, manifest_of
from consentry.service.pluginroots import lock_bytes, plugin_folders
from consentry.service.surroundings import Surroundings

_PYTHON: Final = (".py", ".pyw", ".pyi")
_MODULE: Final = ".py"
_MOST_FIRST_LINE: Final = 256
_OWN_REMEDY: Final = (
    "see what changed with `consentry plugins verify --own`; if it is meant, review it and run "
    "`consentry plugins lock --own`"
)


@dataclass(frozen=True, slots=True)
class VerifiedPlugin:
    """A plugin that passed every check, with the bytes that did; made by this module alone.

    Of these it has what can be loaded, and not the rest, so that large plugins do not lie in memory
    side by side.
    """

    folder: Path
    manifest: PluginManifest
    digest: Digest
    contents: Mapping[str, bytes] = field(repr=False)
    is_own: bool = True
    """The user's own, and not found in a workspace."""

    @property
    def name(self) -> str:
        """Its name."""
        return self.manifest.name

    def content(self, file: str) -> bytes:
        """The bytes of a file that its manifest names."""
        return self.contents[file]


@dataclass(frozen=True, slots=True)
class FoundRoot:
    """A root, and its lock as it was when it was read; None where it has none."""

    path: Path
    is_own: bool
    lock: bytes | None = field(repr=False)

    @property
    def digest(self) -> Digest | None:
        """The digest of the lock."""
        return None if self.lock is None else digest_bytes(self.lock)

    def name_in(self, workspace: Path) -> str:
        """What the lock is called among the files of a workspace."""
        file = self.path / LOCK_NAME
        return str(file.relative_to(workspace) if file.is_relative_to(workspace) else file)


def verify_plugin(
    plugin_dir: "str | os.PathLike[str]", around: Surroundings
) -> Result[None, VerificationError]:
    """Whether a plugin passes every check, held against the lock beside its folder.

    Args:
        plugin_dir: The plugin's own folder.
        around: Where to look for the user's policy.
    """
    folder = Path(os.path.abspath(plugin_dir))  # noqa: PTH100 - a link at its end is not resolved
    try:
        with EvidenceDesk(around, None, remembers=False) as desk:
            checked_plugin(folder, read_lock_of(folder.parent), desk)
    except VerificationError as problem:
        return Err(problem)
    return Ok(None)


def loaded_root(
    found: FoundRoot, around: Surroundings, workspace: Workspace | None, *, remembers: bool = True
) -> tuple[VerifiedPlugin, ...]:
    """Every plugin of a root by name; raises `PluginRejected` where any of them does not pass.

    What does not pass is recorded first, each in an event of its own.

    Args:
        found: The root, with its lock as it was read.
        around: Where to look for the user's policy and the ledger.
        workspace: What must not hold any of these.
        remembers: Whether evidence that passes is remembered; not where one only shows.
    """
    root = found.path
    try:
        lock = _parsed_lock(root, found.lock)
        folders = _folders_in(root)
    except VerificationError as problem:
        raise rejected((problem,), around) from problem
    verified: list[VerifiedPlugin] = []
    problems: list[VerificationError] = []
    with EvidenceDesk(around, workspace, remembers=remembers) as desk:
        for name in sorted({*folders, *lock.plugins}):
            try:
                if name not in folders:
                    raise _is_missing(name, lock)
                verified.append(checked_plugin(root / name, lock, desk, is_own=found.is_own))
            except VerificationError as problem:
                problems.append(problem)
    if problems:
        if found.is_own:
            _name_own_root(problems)
        raise rejected(problems, around) from problems[0]
    return tuple(verified)


def read_lock_of(root: Path) -> PluginLock:
    """The lock of a root; one that is not there locks nothing, and one that cannot be read raises."""
    return _parsed_lock(root, lock_content(root))


def lock_content(root: Path) -> bytes | None:
    """The bytes of the lock; None where there is none."""
    try:
        return lock_bytes(root)
    except ConsentryError as problem:
        raise VerificationError(Rejection.LOCK_UNREADABLE, LOCK_NAME, problem.message) from problem


def _parsed_lock(root: Path, content: bytes | None) -> PluginLock:
    try:
        return PluginLock() if content is None else read_lock(content, str(root / LOCK_NAME))
    except BadDocument as problem:
        first = problem.first
        raise VerificationError(
            Rejection.LOCK_UNREADABLE,
            LOCK_NAME,
            first.message,
            where=first.where,
            help_line=first.help_line,
        ) from problem


def _folders_in(root: Path) -> list[str]:
    try:
        return plugin_folders(root)
    except ConsentryError as problem:
        raise VerificationError(Rejection.UNREADABLE, root.name, problem.message) from problem


def checked_plugin(
    folder: Path, lock: PluginLock, desk: EvidenceDesk, *, is_own: bool = True
) -> VerifiedPlugin:
    """The plugin in that folder, if it passes; raises `VerificationError` for the first that fails."""
    check_plugin_name(folder.name)
    locked_plugin(folder.name, lock)
    tree = read_tree(folder, keep_contents=True)
    contents = tree.contents or {}
    _check_integrity(tree, lock)
    manifest = manifest_of(tree)
    _check_manifest(manifest, tree, lock)
    check_fence(folder.name, contents)
    desk.check(tree, manifest.version, folder.parent)
    loadable = {
        path: content
        for path, content in contents.items()
        if path in manifest.files or path.endswith(_MODULE)
    }
    return VerifiedPlugin(folder, manifest, tree.digest, MappingProxyType(loadable), is_own)


def check_fence(plugin: str, contents: Mapping[str, bytes]) -> None:
    """Raises for the first thing that the capability fence reports in a Python file of a plugin."""
    files = {path: content for path, content in contents.items() if _is_python(path, content)}
    if not files:
        return
    from consentry.examine.fence.check import check_source  # noqa: PLC0415 - heavy, and for few
    from consentry.examine.fence.findings import STRANGERS  # noqa: PLC0415 - as above

    for path, content in sorted(files.items()):
        found = check_source(path, content, STRANGERS)
        if found:
            first = found[0]
            more = "" if len(found) == 1 else f", and {len(found) - 1} more in this file"
            raise VerificationError(
                Rejection.FENCE,
                plugin,
                f"{first.message}{more}",
                where=Where(f"{plugin}/{path}", first.line, first.column),
                help_line=first.help_line,
            )


def rejected(problems: Sequence[VerificationError], around: Surroundings) -> PluginRejected:
    """What to raise for these, once they are in the ledger; findings about a tree come first."""
    # Nothing is loaded either way: a ledger that cannot be written must not hide the reason.
    with suppress(ConsentryError, OSError):
        _record(problems, around)
    first = min(problems, key=lambda each: each.code is not Code.PLUGIN_REJECTED)
    return PluginRejected(first)


def _record(problems: Sequence[VerificationError], around: Surroundings) -> None:
    from consentry.base.clock import SystemClock  # noqa: PLC0415 - for few
    from consentry.service.pluginjournal import journal_for_plugins  # noqa: PLC0415 - as above
    from consentry.service.pluginverify import record_rejections  # noqa: PLC0415 - as above

    with journal_for_plugins(around, SystemClock()) as journal:
        record_rejections(journal, problems)


def _check_integrity(tree: PluginTree, lock: PluginLock) -> None:
    """A function of its own, so that a test can show what happens without it."""
    check_integrity(tree, lock)


def _check_manifest(manifest: PluginManifest, tree: PluginTree, lock: PluginLock) -> None:
    locked = lock.plugins[tree.name]
    if manifest.version != locked.version:
        message = (
            f"it says that it is version {manifest.version}, and the lock has {locked.version}"
        )
        raise _bad_manifest(tree, message, "run `consentry plugins lock` if that is meant")
    for file in _not_files(manifest.files, tree):
        message = f"it names `{file}`, and there is no such file in the plugin"
        raise _bad_manifest(tree, message, "write it, or take it out; a link is no file")


def _not_files(named: Iterable[str], tree: PluginTree) -> list[str]:
    return [file for file in named if file not in (tree.contents or {})]


def _bad_manifest(tree: PluginTree, message: str, help_line: str) -> VerificationError:
    where = Where(f"{tree.name}/{MANIFEST_NAME}")
    return VerificationError(
        Rejection.MANIFEST, tree.name, message, found=tree.digest, where=where, help_line=help_line
    )


def _name_own_root(problems: Iterable[VerificationError]) -> None:
    """The commands that help look into the workspace unless they are told otherwise."""
    for problem in problems:
        if problem.reason is Rejection.INTEGRITY_MISMATCH:
            problem.help_line = _OWN_REMEDY


def _is_missing(name: str, lock: PluginLock) -> VerificationError:
    return VerificationError(
        Rejection.MISSING_PLUGIN,
        name,
        "the lock has an entry for it, and it is not there",
        expected=lock.plugins[name].digest,
        help_line="bring it back, or run `consentry plugins lock` if it is meant to be gone",
    )


def _is_python(path: str, content: bytes) -> bool:
    if path.endswith(_PYTHON):
        return True
    first = content[:_MOST_FIRST_LINE].partition(b"\n")[0]
    return first.startswith(b"#!") and b"python" in first
