"""Every engine that is built, by name, from the cheapest to the dearest; each is loaded when asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from consentry.enforce.engines.interface import Engine
from consentry.enforce.programs import DENO, NATIVE
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


def _native(ground: EngineGround) -> Engine:
    from consentry.enforce.engines.native import NativeEngine  # noqa: PLC0415 - one is needed

    return NativeEngine(ground.home, ground.protected, ahead=ground.ahead)


def _deno(ground: EngineGround) -> Engine:
    from consentry.enforce.engines.deno import DenoEngine  # noqa: PLC0415 - one is needed

    return DenoEngine(ground.home, ground.protected, path=ground.path, ahead=ground.ahead)


_MAKERS: Final[Mapping[str, Callable[[EngineGround], Engine]]] = {
    NATIVE: _native,
    DENO: _deno,
}
# It runs scripts and no programs, so nobody gets it without naming it.
FROM_CHEAPEST: Final = tuple(name for name in _MAKERS if name != DENO)


def made_engine(name: str, ground: EngineGround) -> Engine:
    """The engine of that name; `KeyError` for one that is not built."""
    return _MAKERS[name](ground)
