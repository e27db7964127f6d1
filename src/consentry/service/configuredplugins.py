"""The plugins that join a configuration: the user's own, and a workspace's as far as it was accepted.

A workspace's plugins are a stranger's. Their lock is one of the files that an acceptance covers, so any
change of it takes the acceptance away. Only when the lock that lies there is the one that was accepted
are they verified at all; whether they count is decided with everything else in the workspace.
"""

from collections.abc import Mapping

from consentry.base.canonical import Digest
from consentry.base.values import dataclass
from consentry.decide.acceptance import Accepted
from consentry.decide.trust import Ignored
from consentry.service.places import Configuration, Workspace
from consentry.service.pluginplaces import find_roots, not_accepted, strays
from consentry.service.plugins import FoundRoot, VerifiedPlugin, loaded_root
from consentry.service.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class FoundPlugins:
    """What there is; `strangers` are verified, and do not count before the workspace is accepted.

    `locks` are the digests of the workspace's locks, by what they are called in it.
    """

    own: tuple[VerifiedPlugin, ...]
    strangers: tuple[VerifiedPlugin, ...]
    locks: Mapping[str, Digest]
    roots: tuple[FoundRoot, ...]

    def counting(self, *, is_accepted: bool) -> tuple[VerifiedPlugin, ...]:
        """Those that count."""
        return (*self.own, *self.strangers) if is_accepted else self.own

    def ignored(self, *, is_accepted: bool) -> tuple[Ignored, ...]:
        """What does not count, in words."""
        found: list[Ignored] = []
        for root in self.roots:
            if root.is_own or (is_accepted and root.lock is not None):
                plugins = self.own if root.is_own else self.strangers
                found += strays(root, [each.name for each in plugins])
            else:
                found.append(not_accepted(root))
        return tuple(found)


def find_plugins(
    around: Surroundings,
    folders: Configuration,
    workspace: Workspace,
    named: str | None,
    accepted: Accepted,
) -> FoundPlugins:
    """Verifies what is to be verified; raises `PluginRejected` for a root that does not pass."""
    roots = find_roots(around, folders, workspace, named)
    place = str(workspace.path)
    # Who shows what an acceptance would change has accepted nothing.
    is_real = accepted.standing(place) is not None
    own: list[VerifiedPlugin] = []
    strangers: list[VerifiedPlugin] = []
    locks: dict[str, Digest] = {}
    for root in roots:
        if root.is_own:
            own += loaded_root(root, around, workspace)
        elif root.digest is not None:
            name = root.name_in(workspace.path)
            locks[name] = root.digest
            if accepted.covers(place, name, root.digest):
                strangers += loaded_root(root, around, workspace, remembers=is_real)
    return FoundPlugins(tuple(own), tuple(strangers), locks, roots)
