"""Every engine that is built, by name, from the cheapest to the dearest; each is loaded when asked for."""

from collections.abc import Callable, Mapping
from typing import Final

from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.interface import Engine
from consentry.enforce.engines.othersystems import require_linux
from consentry.enforce.programs import DENO, NATIVE


def _native(ground: EngineGround) -> Engine:
    from consentry.enforce.engines.native import NativeEngine  # noqa: PLC0415 - one is needed

    return NativeEngine(ground.home, ground.protected, ahead=ground.ahead, state=ground.state)


def _deno(ground: EngineGround) -> Engine:
    from consentry.enforce.engines.deno import DenoEngine  # noqa: PLC0415 - one is needed

    return DenoEngine(
        ground.home,
        ground.protected,
        path=ground.path,
        ahead=ground.ahead,
        state=ground.state,
    )


def _bubblewrap(ground: EngineGround) -> Engine:
    from consentry.enforce.engines.bubblewrap import Bubblewrap  # noqa: PLC0415 - as above

    return Bubblewrap(ground)


def _firejail(ground: EngineGround) -> Engine:
    from consentry.enforce.engines.firejail import Firejail  # noqa: PLC0415 - as above

    return Firejail(ground)


def _nsjail(ground: EngineGround) -> Engine:
    from consentry.enforce.engines.nsjail import Nsjail  # noqa: PLC0415 - as above

    return Nsjail(ground)


def _docker(ground: EngineGround) -> Engine:
    if ground.image is not None:
        from consentry.enforce.engines.container.namedengine import (  # noqa: PLC0415 - as above
            NamedImageEngine,
        )

        return NamedImageEngine(ground, ground.image)
    from consentry.enforce.engines.docker import Docker  # noqa: PLC0415 - as above

    return Docker(ground)


def _podman(ground: EngineGround) -> Engine:
    from consentry.enforce.engines.podman import Podman  # noqa: PLC0415 - as above

    return Podman(ground)


_MAKERS: Final[Mapping[str, Callable[[EngineGround], Engine]]] = {
    NATIVE: _native,
    DENO: _deno,
    "bubblewrap": _bubblewrap,
    "nsjail": _nsjail,
    "firejail": _firejail,
    "podman": _podman,
    "docker": _docker,
}
# It runs scripts and no programs, so nobody gets it without naming it.
FROM_CHEAPEST: Final = tuple(name for name in _MAKERS if name != DENO)


def made_engine(name: str, ground: EngineGround) -> Engine:
    """The engine of that name; `KeyError` for one that is not built."""
    if ground.image is None:
        require_linux(name)
    return _MAKERS[name](ground)
