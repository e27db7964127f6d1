"""What a tool is confined to: the meet of what it asks for and what its profile opens (CONTRACTS §7).

Files and hosts: only what the manifest lists, its `allowedPaths` leave and the profile opens. What a
profile opens for reading outside of the workspace is added: those are the system's files that programs
of its kind need, and they are shown as such. Limits: the smaller one of each. Without a profile the
manifest alone decides.

The network is held to the hosts that a manifest lists. `networkAccess: true` asks for every host, and
opens none while `restrictNetwork` holds, which only a trusted manifest can take back.
"""

from collections.abc import Callable

from consentry.base.values import replace
from consentry.declare.manifestsurface import manifest_surface
from consentry.declare.pathentries import PathEntry
from consentry.declare.profile import DeclaredLimits, Profile
from consentry.declare.profilesurface import profile_surface
from consentry.declare.tool import Requirements, ToolManifest
from consentry.enforce.confinement import Limits
from consentry.surface.access import Access
from consentry.surface.dimensions import Level
from consentry.surface.hosts import HostScope
from consentry.surface.lattice import Surface, host_access
from consentry.surface.pattern import Anchor, Pattern
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import ProtectedRoots

_SECOND_MS = 1000


def tool_surface(
    manifest: ToolManifest,
    requirements: Requirements,
    profile: Profile | None,
    protected: ProtectedRoots,
    bind: Callable[[PathEntry], Pattern],
) -> Surface:
    """The powers that a run of the tool has.

    Args:
        manifest: what it asks for.
        requirements: those of its wishes that count.
        profile: the one it names, where it names one.
        protected: what no grant opens here.
        bind: says what an entry means on the real tree.
    """
    asked = manifest_surface(manifest, bind=bind)
    network = _restricted(asked.net_access) if requirements.restrict_network else asked.net_access
    if profile is None:
        return replace(asked, net_access=network)
    opened = profile_surface(profile, roots=protected)
    system = PatternScope.of(
        asked.fs_read_roots.vocabulary, [(entry.root,) for entry in system_entries(profile)]
    )
    return replace(
        asked,
        fs_read_roots=(asked.fs_read_roots & opened.fs_read_roots)
        | (system & opened.fs_read_roots),
        fs_write_roots=asked.fs_write_roots & opened.fs_write_roots,
        net_access=_reached(network & opened.net_access),
    )


def system_entries(profile: Profile) -> tuple[PathEntry, ...]:
    """What the profile opens for reading outside of the workspace."""
    return tuple(
        entry
        for entry in profile.filesystem.read_only
        if entry.pattern.anchor is not Anchor.WORKSPACE
    )


def tool_limits(requirements: Requirements, profile: Profile | None) -> Limits:
    """The smaller one of each; what neither limits is left to the engine."""
    said = DeclaredLimits() if profile is None else profile.limits
    none = Limits()
    cpu = [each.milliseconds for each in (requirements.cpu, said.cpu) if each is not None]
    memory = [each.count for each in (requirements.memory, said.memory) if each is not None]
    return Limits(
        cpu_seconds=max(1, -(-min(cpu) // _SECOND_MS)) if cpu else None,
        memory_bytes=min(memory) if memory else None,
        processes=said.processes,
        file_bytes=None if said.file_size is None else said.file_size.count,
        written_bytes=none.written_bytes if said.written is None else said.written.count,
        wall_seconds=None if said.timeout is None else said.timeout.milliseconds / _SECOND_MS,
    )


def _restricted(asked: Access[HostScope]) -> Access[HostScope]:
    return host_access(Level.NONE) if asked.level is Level.ANY else asked


def _reached(met: Access[HostScope]) -> Access[HostScope]:
    """A list with nothing left in it is no way out."""
    is_empty = met.level is Level.ALLOWLIST and not met.targets
    return host_access(Level.NONE) if is_empty else met
