"""A wish as values: what a change is for, and which powers it may bring (GUARD §in-wish, §wish-1).

The scope and the non-goals are for people; only `allowed` is decided by. No block at all is something
else than an empty one, and a field that was not said something else than `NONE`.
"""

from typing import Final, TypeAlias

from consentry.base.values import dataclass
from consentry.declare.surfaceblock import SurfaceBlock

WISH_VERSION: Final = "1"

AllowedCapabilities: TypeAlias = SurfaceBlock
"""The block `allowed_capabilities`; a root in the workspace allows all below it."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The whole document."""

    id: str
    scope: tuple[str, ...] = ()
    non_goals: tuple[str, ...] = ()
    allowed: AllowedCapabilities | None = None
