"""What a step to a larger permission set adds, in words that a person can decide on.

The words are made from what the one surface has beyond the other, so nothing that is added can be
missing from them. What a set means on the engine narrows them: the network is the public one, or the
list where one is given, and `/tmp` is the run's own.

A list is of one run. Where the set is stored, later runs have all of it: so all of it is told, and the
list besides.
"""

from collections.abc import Sequence
from typing import Final

from consentry.base.values import replace
from consentry.decide.escalationhosts import narrowed
from consentry.surface.dimensions import Dimension, Level
from consentry.surface.lattice import Gain, Surface
from consentry.surface.permission_sets import PermissionSet, definition
from consentry.surface.sentence import gain_in_words

_PUBLIC: Final = (
    "may connect to any public host, and to none of this machine or its private networks"
)
_OWN_TMP: Final = "`/tmp` is the run's own and begins empty; it is never this machine's"
_LISTED: Final = (
    "this run was given a list: it may {words}, and nowhere else; a run without one has all of that"
)
_NO_HOST: Final = "this run was given a list that names no host; a run without one has all of that"
_FILES: Final = (Dimension.FS_READ_ROOTS, Dimension.FS_WRITE_ROOTS)
_TMP: Final = "/tmp/"  # noqa: S108 - the run's own


def added_in_words(
    current: PermissionSet,
    requested: PermissionSet,
    allowlist: Sequence[str] = (),
    *,
    is_stored: bool = False,
) -> tuple[str, ...]:
    """One line for each power that the requested set has beyond the current one.

    With `is_stored` a list narrows this run only, and what is told is what is stored.
    """
    gains = _gains(current, requested, () if is_stored else allowlist)
    lines = [_line(gain) for gain in gains]
    if any(gain.dimension in _FILES and _TMP in gain.added for gain in gains):
        lines.append(_OWN_TMP)
    if is_stored and any(gain.dimension is Dimension.NET_ACCESS for gain in gains):
        lines += _of_this_run(current, requested, allowlist)
    return tuple(lines)


def _of_this_run(
    current: PermissionSet, requested: PermissionSet, allowlist: Sequence[str]
) -> list[str]:
    """What the list makes of the network, where it makes something else of it."""
    if narrowed(allowlist).level is Level.ANY:
        return []
    gains = _gains(current, requested, allowlist)
    words = [gain_in_words(gain) for gain in gains if gain.dimension is Dimension.NET_ACCESS]
    return [_LISTED.format(words=each) for each in words] or [_NO_HOST]


def _gains(
    current: PermissionSet, requested: PermissionSet, allowlist: Sequence[str]
) -> tuple[Gain, ...]:
    before = _narrowed(definition(current).surface, allowlist)
    return tuple(_narrowed(definition(requested).surface, allowlist).gains_over(before))


def _narrowed(surface: Surface, allowlist: Sequence[str]) -> Surface:
    if surface.net_access.level is not Level.ANY:
        return surface
    return replace(surface, net_access=narrowed(allowlist))


def _line(gain: Gain) -> str:
    if gain.dimension is Dimension.NET_ACCESS and gain.after == Level.ANY:
        return _PUBLIC
    return f"may {gain_in_words(gain)}"
