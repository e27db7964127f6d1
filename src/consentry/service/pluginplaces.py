"""Which roots of plugins could count here, and whose they are; nothing of a plugin is opened.

The user's own root counts like the user's own documents, and is looked after like them: no part of the
way to it lies in the workspace, and nobody else may write it or its lock. A workspace's root is a
stranger's; of it only the lock is read, to compare its digest with what was accepted.

`plugins` in the workspace's configuration folder comes first. `plugins` at the top of the workspace is
one only if a lock lies in it: the name alone is too common.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem, Where
from consentry.decide.evidencecase import EvidenceKind
from consentry.decide.trust import Ignored
from consentry.declare.pluginlock import LOCK_NAME
from consentry.enforce.hops import leads_through
from consentry.enforce.ownership import stranger_over_file, stranger_over_folder
from consentry.examine.pluginproblems import VerificationError
from consentry.service.places import Configuration, Trust, Workspace, reason
from consentry.service.pluginroots import PLUGINS_FOLDER
from consentry.service.plugins import FoundRoot, lock_content, rejected
from consentry.service.surroundings import Surroundings, owners_of_ours

_MOST_NAMED: Final = 5


def find_roots(
    around: Surroundings, folders: Configuration, workspace: Workspace | None, named: str | None
) -> tuple[FoundRoot, ...]:
    """The roots that are there, the user's own first; raises for one that others could write."""
    found = []
    has_strangers = False
    for folder in folders.folders:
        root = folder.path / PLUGINS_FOLDER
        if folder.exists and _is_there(root):
            is_own = folder.trust is Trust.OWN
            has_strangers = has_strangers or not is_own
            found.append(_found(around, root, workspace, is_own=is_own))
    if workspace is not None and named is None and not has_strangers:
        root = workspace.path / PLUGINS_FOLDER
        if os.path.lexists(root / LOCK_NAME):
            found.append(_found(around, root, workspace, is_own=False))
    return tuple(found)


def _is_there(root: Path) -> bool:
    try:
        os.lstat(root)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as problem:  # to pass over it would be to load less than the user has
        raise UsageProblem(Code.CONFIG_FILE, f"`{root}`: {reason(problem)}") from problem
    return True


def _found(
    around: Surroundings, root: Path, workspace: Workspace | None, *, is_own: bool
) -> FoundRoot:
    if is_own:
        _require_ours(around, root, workspace)
    try:
        return FoundRoot(root, is_own, lock_content(root))
    except VerificationError as problem:
        if is_own:
            raise rejected((problem,), around) from problem
        return FoundRoot(root, is_own, None)


def _require_ours(around: Surroundings, root: Path, workspace: Workspace | None) -> None:
    if workspace is not None and leads_through(root, workspace.path):
        message = f"`{root}` leads into the workspace, so it is not your own"
        raise Refused(Code.CONFIG_UNSAFE, message)
    owners = owners_of_ours(around)
    try:
        said = stranger_over_folder(root, *owners)
        if said is None and os.path.lexists(root / LOCK_NAME):
            said = stranger_over_file(root / LOCK_NAME, *owners)
    except OSError as problem:
        said = f"`{problem.filename}` cannot be looked at: {reason(problem)}"
    if said is not None:
        raise Refused(Code.CONFIG_UNSAFE, said)


def not_accepted(root: FoundRoot) -> Ignored:
    """What is said of a workspace's root that nobody accepted."""
    if root.lock is None:
        what = f"has no `{LOCK_NAME}` that can be read, so nothing in it can be accepted or loaded"
    else:
        what = (
            "the workspace's plugins are neither verified nor loaded until you accept it; "
            "`consentry trust --show` lists them"
        )
    return Ignored(Where(str(root.path)), what, lowers=False)


def strays(root: FoundRoot, plugins: Iterable[str]) -> tuple[Ignored, ...]:
    """What is said of files beside the plugins that are neither the lock nor evidence."""
    known = {LOCK_NAME, *(kind.file(name) for name in plugins for kind in EvidenceKind)}
    with os.scandir(root.path) as listing:
        files = [each.name for each in listing if each.is_file(follow_symlinks=False)]
    found = sorted(name for name in files if name not in known)
    if not found:
        return ()
    named = ", ".join(f"`{name}`" for name in found[:_MOST_NAMED])
    more = len(found) - _MOST_NAMED
    what = (
        f"{named}{f' and {more} more' if more > 0 else ''}: no part of any plugin, and not loaded"
    )
    return (Ignored(Where(str(root.path)), what, lowers=False),)
