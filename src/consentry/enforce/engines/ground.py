"""What every engine is made with."""

from dataclasses import dataclass
from pathlib import Path

from consentry.surface.protected import ProtectedRoots


@dataclass(frozen=True, slots=True)
class EngineGround:
    """What an engine must know of its caller.

    `home` is the caller's own, `path` where its programs are looked for, `state` the state directory,
    in which an engine may remember what its probe has shown, and None where nothing is remembered.
    `ahead` boxes may be built before they are needed.
    """

    home: Path | None
    protected: ProtectedRoots
    path: str = ""
    state: Path | None = None
    ahead: int = 0
