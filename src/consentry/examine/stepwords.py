"""A step of a delta in words, for terminals and pages; targets are made safe and set in backticks."""

from typing import Final

from consentry.examine.atoms import ANYTHING, NAMELESS, SOMEWHERE
from consentry.examine.delta import Step
from consentry.surface.dimensions import Dimension, Level
from consentry.surface.lattice import Gain
from consentry.surface.pattern import ABSOLUTE_PATH_MARK
from consentry.surface.sentence import gain_in_words

_VERBS: Final = {Dimension.FS_READ_ROOTS: "read", Dimension.FS_WRITE_ROOTS: "write"}


def step_in_words(step: Step) -> str:
    """What the power of a step is: `connect to `api.example.org:443``."""
    atom = step.atom
    verb = _VERBS.get(atom.dimension)
    if verb is not None and atom.target == SOMEWHERE:
        return f"{verb} anywhere in the workspace"
    if verb is not None and atom.target == ABSOLUTE_PATH_MARK:
        return f"{verb} by an absolute path"
    stands: str | tuple[str, ...] = Level.ALLOWLIST.value
    targets: tuple[str, ...] = (atom.target,)
    if atom.dimension is Dimension.DYNAMIC_CODE_LOAD:
        stands, targets = atom.target, ()
    elif atom.target == ANYTHING:
        stands, targets = Level.ANY.value, ()
    elif atom.target == NAMELESS:
        targets = ()
    return gain_in_words(Gain(atom.dimension, "", stands, targets, ""))
