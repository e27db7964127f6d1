"""The powers of an import or of a dependency: effects that speak of no call, and so of no arguments.

An effect that takes its target from an argument is here the step to a list without a target.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from consentry.examine.atoms import (
    ANYTHING,
    NAMELESS,
    SOMEWHERE,
    Atom,
    calling,
    connecting,
    encrypting,
    loading,
    reading,
    seeing,
    starting,
    writing,
)
from consentry.examine.constanttargets import (
    algorithm_atom,
    host_atom,
    path_atoms,
    program_atom,
    variable_atom,
)
from consentry.examine.knowledge.effects import Effect, Power
from consentry.surface.dimensions import LoadLevel

_LISTED: Final[dict[Power, tuple[Callable[[str], Atom], Callable[[str], Atom]]]] = {
    Power.NET: (connecting, host_atom),
    Power.PROC: (starting, program_atom),
    Power.ENV: (seeing, variable_atom),
    Power.CRYPTO: (encrypting, algorithm_atom),
}
_FILES: Final[dict[Power, tuple[Callable[[str], Atom], ...]]] = {
    Power.READ: (reading,),
    Power.WRITE: (writing,),
    Power.OPEN: (reading, writing),
}


def bare_atoms(effects: Iterable[Effect]) -> Iterator[Atom]:
    """What the effects give where nothing is called."""
    for effect in effects:
        if effect.power in _LISTED:
            make, named = _LISTED[effect.power]
            if effect.constant is not None:
                yield named(effect.constant)
            else:
                yield make(ANYTHING if effect.is_any else NAMELESS)
        elif effect.power in _FILES:
            for maker in _FILES[effect.power]:
                if effect.constant is None:
                    yield maker(SOMEWHERE)
                else:
                    yield from path_atoms(maker, effect.constant)
        elif effect.power is Power.LOAD:
            yield loading(LoadLevel((effect.constant or "limited").upper()))
        elif effect.power is Power.TOOL:
            yield calling(effect.constant or "")
