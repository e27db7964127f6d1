"""What a wish allows of what was gained: nothing that it does not say, and some things never.

A protected root and an absolute path are allowed only where the wish names that very path, no parent of
it and no wildcard. Loading code is allowed only as `LIMITED`, and only where no more was found. A list
of targets in the wish must cover every target; without a list the word `ALLOWLIST` allows the step to a
list and never `ANY`.
"""

from functools import partial
from typing import Final

from consentry.declare.wish import AllowedCapabilities
from consentry.examine.atoms import ANYTHING, NAMELESS, OPERATIONS, Atom
from consentry.examine.delta import Delta, Step
from consentry.examine.extracted import surface_of
from consentry.surface.dimensions import Dimension, Level, LoadLevel
from consentry.surface.lattice import Surface
from consentry.surface.pattern import ABSOLUTE_PATH_MARK, Anchor, Pattern
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import ProtectedRoots, protected_roots

FILES: Final = (Dimension.FS_READ_ROOTS, Dimension.FS_WRITE_ROOTS)
_DEVICES: Final = "/dev/"


def protected_steps(delta: Delta, allowed: AllowedCapabilities | None) -> tuple[Step, ...]:
    """The steps that reach into a protected root which the wish does not name."""
    table = protected_roots()
    return tuple(
        step
        for step in delta.gained
        if step.atom.dimension in FILES
        and _is_protected(table, step.atom)
        and not names_path(allowed, step.atom)
    )


def loading_steps(delta: Delta, allowed: AllowedCapabilities | None) -> tuple[Step, ...]:
    """The steps of loading code that the wish does not allow, or could not."""
    limited = allowed is not None and allowed.dynamic_code_load is LoadLevel.LIMITED
    return tuple(
        step
        for step in delta.gained
        if step.atom.dimension is Dimension.DYNAMIC_CODE_LOAD
        and not (limited and step.atom.target == LoadLevel.LIMITED.value)
    )


def refused_steps(delta: Delta, allowed: AllowedCapabilities) -> tuple[Step, ...]:
    """Every step that the wish does not allow."""
    is_allowed = partial(_is_allowed, delta=delta, allowed=allowed)
    return tuple(step for step in delta.gained if not is_allowed(step))


def names_path(allowed: AllowedCapabilities | None, atom: Atom) -> bool:
    """Whether the wish names this very path."""
    return allowed is not None and atom.target in _written(allowed, atom.dimension)


def field_of(dimension: Dimension) -> str:
    """The field of a wish that speaks of a dimension."""
    return f"allowed_capabilities.{dimension.key}"


def _is_protected(table: ProtectedRoots, atom: Atom) -> bool:
    pattern = Pattern.parse(atom.target)
    if pattern.anchor not in (Anchor.ABSOLUTE, Anchor.HOME):
        return False
    if table.exception_for(pattern) is not None:
        # What an engine provides to every program, for reading; of devices also for writing.
        is_device = atom.target.startswith(_DEVICES)
        if is_device or atom.dimension is Dimension.FS_READ_ROOTS:
            return False
    return table.over(pattern) is not None or bool(pattern.is_tree and table.within(pattern))


def _is_allowed(step: Step, delta: Delta, allowed: AllowedCapabilities) -> bool:
    atom = step.atom
    if atom.dimension in FILES:
        return _is_path_allowed(atom, delta, allowed)
    if atom.dimension is Dimension.TOOL_CLASSES:
        return atom.target in allowed.tool_classes
    if atom.dimension is Dimension.DYNAMIC_CODE_LOAD:
        return not loading_steps(_only(delta, step), allowed)
    return _is_target_allowed(atom, allowed)


def _only(delta: Delta, step: Step) -> Delta:
    return Delta(delta.before, delta.after, (step,), (), ())


def _is_path_allowed(atom: Atom, delta: Delta, allowed: AllowedCapabilities) -> bool:
    if atom.target == ABSOLUTE_PATH_MARK:
        # The mark goes with the paths that it was found with; alone it must be named itself.
        paths = [
            step.atom
            for step in delta.gained
            if step.atom.dimension is atom.dimension
            and Pattern.parse(step.atom.target).anchor in (Anchor.ABSOLUTE, Anchor.HOME)
        ]
        named = all(names_path(allowed, path) for path in paths)
        return named if paths else names_path(allowed, atom)
    pattern = Pattern.parse(atom.target)
    if pattern.anchor in (Anchor.ABSOLUTE, Anchor.HOME):
        return names_path(allowed, atom)
    granted = allowed.surface[atom.dimension]
    return isinstance(granted, PatternScope) and PatternScope.parse([atom.target]) <= granted


def _written(allowed: AllowedCapabilities, dimension: Dimension) -> tuple[str, ...]:
    is_read = dimension is Dimension.FS_READ_ROOTS
    entries = allowed.fs_read_roots if is_read else allowed.fs_write_roots
    return tuple(entry.pattern.text for entry in entries)


def _is_target_allowed(atom: Atom, allowed: AllowedCapabilities) -> bool:
    level: Level = getattr(allowed, atom.dimension.key)
    if level is Level.ANY:
        return True
    if level is Level.NONE or atom.target == ANYTHING:
        return False
    listed = allowed.allowlists.get(atom.dimension.key)
    if atom.target == NAMELESS or listed is None:
        return True
    return surface_of([atom]) <= _granted(atom.dimension, listed)


def _granted(dimension: Dimension, listed: tuple[str, ...]) -> Surface:
    operation = OPERATIONS[dimension]
    return surface_of(Atom(dimension, operation, target) for target in (NAMELESS, *listed))
