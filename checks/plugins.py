"""The plugins of this repository are what `plugins/PLUGINS.lock` says: `consentry plugins lock plugins`."""

from collections.abc import Iterator

from checks.finding import Finding
from checks.tree import Tree
from consentry.base.errors import BadDocument
from consentry.declare.pluginlock import PluginLock
from consentry.declare.pluginlockfile import read_lock
from consentry.examine.pluginintegrity import check_integrity
from consentry.examine.pluginproblems import VerificationError
from consentry.examine.plugintree import read_tree
from consentry.service.plugins import check_fence

FOLDER = "plugins/"
LOCK = "plugins/PLUGINS.lock"
_AGAIN = "review it, and run `consentry plugins lock plugins`"


def check(tree: Tree) -> Iterator[Finding]:
    """Yields each plugin that is not locked, not there, or not as it is locked."""
    names = {path.split("/")[1] for path in tree.matching(FOLDER) if path.count("/") > 1}
    if not names and LOCK not in tree.paths:
        return
    try:
        lock = PluginLock() if LOCK not in tree.paths else read_lock(tree.text(LOCK).encode(), LOCK)
    except BadDocument as problem:
        yield Finding(LOCK, problem.problems[0].where.line or 1, problem.message)
        return
    for name in sorted(names | lock.plugins.keys()):
        if name not in lock.plugins or name not in names:
            what = "has no entry" if name in names else "has an entry and no folder"
            yield Finding(LOCK, 1, f"`{name}` {what}; {_AGAIN}")
            continue
        try:
            found = read_tree(tree.root / FOLDER / name, keep_contents=True)
            check_integrity(found, lock)
            check_fence(name, found.contents or {})
        except VerificationError as problem:
            yield Finding(f"{FOLDER}{name}", 1, f"{problem.reason}: {problem.message}; {_AGAIN}")
