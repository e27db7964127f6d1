"""Compiles a tool manifest to the surface it asks for (CONSENT §manifest-5).

What the tool may write it may read back: the reference tool's `bibtex` reads the `.aux` file that its
`pdflatex` wrote, and no engine could tell the one from the other. Of the workspace only what lies in
`allowedPaths` is left; absolute patterns are not narrowed by them. Arguments are no part of a surface,
and neither are limits, which an engine takes from the manifest and the profile.
"""

from collections.abc import Callable, Iterable, Sequence

from consentry.declare.pathentries import PathEntry
from consentry.declare.tool import ToolManifest
from consentry.surface.dimensions import Level
from consentry.surface.lattice import NOTHING, Surface, pattern_access
from consentry.surface.pattern import Anchor, Pattern, Vocabulary
from consentry.surface.patterns import PatternScope


def as_written(entry: PathEntry) -> Pattern:
    """The pattern of an entry, when nothing is known about the disk."""
    return entry.pattern


def manifest_surface(
    manifest: ToolManifest, *, bind: Callable[[PathEntry], Pattern] = as_written
) -> Surface:
    """The powers that the manifest asks for, narrowed to its own `allowedPaths`.

    Args:
        manifest: What the tool asks for.
        bind: Says what an entry means on the real tree: a plain name that is a folder there means
            all below it as well.
    """
    asked = manifest.capabilities
    read = [bind(need.entry) for need in asked.file_read]
    write = [bind(need.entry) for need in asked.file_write]
    allowed = manifest.requirements.allowed_paths
    within = None if allowed is None else _scope(entry.root for entry in allowed)
    commands = [command.command for command in asked.commands]
    if manifest.entrypoint is not None:
        commands.append(manifest.entrypoint.command)
    return Surface(
        fs_read_roots=_narrowed((*read, *write), within),
        fs_write_roots=_narrowed(write, within),
        net_access=asked.network,
        proc_exec=pattern_access(commands or Level.NONE, Vocabulary.COMMAND),
        env_read=pattern_access(asked.env_read or Level.NONE, Vocabulary.NAME),
        dynamic_code_load=NOTHING.dynamic_code_load,
        crypto_primitives=NOTHING.crypto_primitives,
        tool_classes=NOTHING.tool_classes,
    )


def _narrowed(patterns: Sequence[Pattern], within: PatternScope | None) -> PatternScope:
    if within is None:
        return _scope(patterns)
    inside = _scope(each for each in patterns if each.anchor is Anchor.WORKSPACE)
    outside = _scope(each for each in patterns if each.anchor is not Anchor.WORKSPACE)
    return (inside & within) | outside


def _scope(patterns: Iterable[Pattern]) -> PatternScope:
    return PatternScope.of(Vocabulary.PATH, [(pattern,) for pattern in patterns])
