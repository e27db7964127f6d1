"""The integrity check: is a plugin's tree the one that the lock describes?

What it detects: corruption, partial merges, damage to the file system, a plugin edited without making the
lock anew. What it does not: whoever can commit both a plugin and its lock passes.
"""

from collections.abc import Mapping

from consentry.base.canonical import Digest
from consentry.declare.pluginlock import LockedFile, LockedPlugin, PluginLock, locked_file
from consentry.examine.pluginproblems import Rejection, TreeChanges, VerificationError
from consentry.examine.plugintree import PluginTree


def check_integrity(tree: PluginTree, lock: PluginLock) -> LockedPlugin:
    """What the lock says of this plugin, when that is what was found; raises `VerificationError`."""
    locked = locked_plugin(tree.name, lock, tree.digest)
    if tree.digest != locked.digest:
        changes = tree_changes(locked.files, files_of(tree))
        raise VerificationError(
            Rejection.INTEGRITY_MISMATCH,
            tree.name,
            f"its files are not those of the lock: {changes}",
            expected=locked.digest,
            found=tree.digest,
            changes=changes,
        )
    return locked


def locked_plugin(name: str, lock: PluginLock, found: Digest | None = None) -> LockedPlugin:
    """The entry of a plugin in the lock; raises `VerificationError` where there is none."""
    locked = lock.plugins.get(name)
    if locked is None:
        raise VerificationError(
            Rejection.NOT_LOCKED,
            name,
            "the lock has no entry for it",
            found=found,
            help_line="review it, and run `consentry plugins lock`",
        )
    return locked


def files_of(tree: PluginTree) -> dict[str, LockedFile]:
    """The files of a tree as a lock has them."""
    return {entry.path: locked_file(entry) for entry in tree.entries}


def tree_changes(before: Mapping[str, LockedFile], after: Mapping[str, LockedFile]) -> TreeChanges:
    """What has to be done to one set of files to have the other, as paths."""
    return TreeChanges(
        changed=tuple(
            sorted(path for path in before if after.get(path, before[path]) != before[path])
        ),
        added=tuple(sorted(after.keys() - before.keys())),
        missing=tuple(sorted(before.keys() - after.keys())),
    )
