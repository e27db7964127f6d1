"""The protected roots as they hold here: for these homes, and for our own places.

The table knows the usual places of homes. What is bound here besides is the home folder of whoever
asks, homes in unusual places that a path could have to do with, and the state directory and the
configuration where they were moved.
"""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, UsageProblem
from consentry.service.statedir import find_state
from consentry.service.surroundings import (
    Surroundings,
    configuration_base,
    own_home,
    resolved,
)
from consentry.surface.protected import ProtectedRoots, protected_roots


def protected_here(around: Surroundings, *paths: Path) -> ProtectedRoots:
    """The table, bound to the own homes and to those that one of the paths lies in or above."""
    homes = (*own_homes(around), *_homes_near(around, paths))
    try:
        return _bound(tuple(dict.fromkeys(homes)), own_places(around))
    except BadInput as problem:
        message = "your home folder or the state directory has a path too long to be judged"
        help_line = "set HOME, XDG_STATE_HOME and CONSENTRY_STATE to shorter paths"
        raise UsageProblem(Code.SETTING_VALUE, message, help_line=help_line) from problem


@lru_cache(maxsize=8)
def _bound(homes: tuple[str, ...], places: tuple[str, ...]) -> ProtectedRoots:
    """Remembered, because a program that runs many others asks for the same table each time."""
    return protected_roots().bound_to(homes, also=places)


def own_homes(around: Surroundings) -> tuple[str, ...]:
    """The home folder of whoever asks, as it is spelled and where it leads."""
    own = own_home(around).path
    return () if own is None else tuple(dict.fromkeys((str(own), str(resolved(own)))))


def own_places(around: Surroundings) -> tuple[str, ...]:
    """The state directory and the configuration folder, as they are spelled and where they lead."""
    places: list[Path] = []
    try:
        state = find_state(around, None)
        places += [state.path, state.real]
    except ConsentryError:
        pass
    base = configuration_base(around).path
    if base is not None:
        places += [base / "consentry", resolved(base / "consentry")]
    return tuple(dict.fromkeys(map(str, places)))


def _homes_near(around: Surroundings, paths: Iterable[Path]) -> list[str]:
    """Of all homes only those that a row could matter in: an account list may be long."""
    named = list(paths)
    return [
        str(home.path)
        for home in around.homes
        if any(
            path.is_relative_to(home.path) or home.path.is_relative_to(path)
            for path in named
            if path != Path("/")
        )
    ]
