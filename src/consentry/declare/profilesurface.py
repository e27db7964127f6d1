"""Compiles a profile to the surface it opens, beside the list of what it closes.

A profile speaks of files and of the network; of programs, variables and the rest it says nothing,
so its surface has none of them, and only those three dimensions are to be compared with it. What an
engine provides by itself is part of no surface, whether or not the profile names it. Denials are
not powers: `profile.filesystem.no_access` goes to the engine as it is.
"""

from collections.abc import Iterable

from consentry.declare.pathentries import PathEntry, is_provided
from consentry.declare.profile import Profile
from consentry.surface.lattice import NOTHING, Surface
from consentry.surface.pattern import Vocabulary
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import ProtectedRoots, protected_roots


def profile_surface(profile: Profile, *, roots: ProtectedRoots | None = None) -> Surface:
    """The powers of a profile: what is writable is readable too."""
    table = protected_roots() if roots is None else roots
    files = profile.filesystem
    read_only = [entry for entry in files.read_only if not is_provided(entry, table)]
    return Surface(
        fs_read_roots=_scope((*read_only, *files.read_write)),
        fs_write_roots=_scope(files.read_write),
        net_access=profile.network,
        proc_exec=NOTHING.proc_exec,
        env_read=NOTHING.env_read,
        dynamic_code_load=NOTHING.dynamic_code_load,
        crypto_primitives=NOTHING.crypto_primitives,
        tool_classes=NOTHING.tool_classes,
    )


def _scope(entries: Iterable[PathEntry]) -> PatternScope:
    return PatternScope.of(Vocabulary.PATH, [(entry.root,) for entry in entries])
