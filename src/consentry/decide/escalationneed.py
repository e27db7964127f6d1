"""Which permission sets answer a denial, and how sure that is, by its spelling alone.

What a set opens is read from the table of the sets; that ESCALATION answers every read that no smaller
set covers with a set that reads all, and every write with one that writes at all, is decided here.
"""

from functools import lru_cache
from typing import Final

from consentry.base.errors import ConsentryError
from consentry.base.values import replace
from consentry.decide.escalationplace import Exactness, Place, is_pattern, place_of
from consentry.examine.denialtext import DeniedText
from consentry.surface.dimensions import Level
from consentry.surface.operations import Operation
from consentry.surface.pattern import Anchor, Pattern, Vocabulary
from consentry.surface.permission_sets import PermissionSet, definition
from consentry.surface.targets import Target

_CONFIDENCE: Final = {
    Exactness.EXACT: 0.95,
    Exactness.WHOLE: 0.85,
    Exactness.PATTERN: 0.75,
    Exactness.NONE: 0.60,
}
_WORKSPACE: Final = Place(Anchor.WORKSPACE, (), is_folder=True)


def would_have(permission_set: PermissionSet, denied: DeniedText, workspace: str | None) -> bool:
    """Whether that set is an answer to such a denial."""
    surface = definition(permission_set).surface
    match denied.operation:
        case Operation.READ:
            place = _place(denied, workspace)
            is_there = place is not None and place.is_in(surface.fs_read_roots)
            return is_there or _WORKSPACE.is_in(surface.fs_read_roots)
        case Operation.WRITE:
            return bool(surface.fs_write_roots)
        case Operation.NET:
            return surface.net_access.level is not Level.NONE
        case Operation.ENV:
            return surface.env_read.level is not Level.NONE
        case _:
            return False


def has_kind(current: PermissionSet, denied: DeniedText, workspace: str | None) -> bool:
    """Whether the set that it ran in answers the denial: a step would then add nothing.

    A place that can be written in a larger set has to be writable in this one.
    """
    row = definition(current)
    place = _place(denied, workspace) if denied.operation is Operation.WRITE else None
    if place is not None and any(
        place.is_in(definition(step).surface.fs_write_roots) for step in row.steps
    ):
        return place.is_in(row.surface.fs_write_roots)
    return would_have(current, denied, workspace)


def said_surely(denied: DeniedText, current: PermissionSet, workspace: str | None) -> DeniedText:
    """The denial with its operation settled where the text left open whether it read or wrote."""
    if denied.is_said:
        return denied
    is_read_already = would_have(current, replace(denied, is_said=True), workspace)
    operation = Operation.WRITE if is_read_already else Operation.READ
    return DeniedText(operation, denied.resource)


def confidence_in(denied: DeniedText, workspace: str | None) -> float:
    """How sure it is that the step is the right one: the more exactly a thing is named, the more."""
    return _CONFIDENCE[_exactness(denied, workspace)]


def _exactness(denied: DeniedText, workspace: str | None) -> Exactness:
    resource = denied.resource
    if not resource:
        return Exactness.NONE
    match denied.operation:
        case Operation.READ | Operation.WRITE:
            return _of_path(resource, workspace)
        case Operation.NET:
            return _of_target(resource)
        case _:
            return _of_name(resource)


def _of_path(resource: str, workspace: str | None) -> Exactness:
    place = place_of(resource, workspace)
    if place is None:
        return Exactness.NONE
    if is_pattern(resource):
        return Exactness.PATTERN
    is_whole = place.is_folder or not place.names or (place.anchor, place.names) in _roots()
    return Exactness.WHOLE if is_whole else Exactness.EXACT


def _of_target(resource: str) -> Exactness:
    if is_pattern(resource):
        return Exactness.PATTERN
    try:
        target = Target.parse(resource)
    except ConsentryError:
        return Exactness.NONE
    is_block = target.network is not None and target.network.num_addresses > 1
    return Exactness.WHOLE if is_block or target.port is None else Exactness.EXACT


def _of_name(resource: str) -> Exactness:
    try:
        pattern = Pattern.parse(resource, Vocabulary.NAME)
    except ConsentryError:
        return Exactness.NONE
    if any(map(str.isspace, resource)):
        return Exactness.NONE
    return Exactness.EXACT if pattern.is_literal else Exactness.PATTERN


def _place(denied: DeniedText, workspace: str | None) -> Place | None:
    return None if denied.resource is None else place_of(denied.resource, workspace)


@lru_cache(maxsize=1)
def _roots() -> frozenset[tuple[Anchor, tuple[str, ...]]]:
    """The folders that the sets are made of: they are known to be folders."""
    surfaces = [definition(each).surface for each in PermissionSet]
    return frozenset(
        (pattern.anchor, pattern.prefix)
        for surface in surfaces
        for scope in (surface.fs_read_roots, surface.fs_write_roots)
        for pattern in map(Pattern.parse, scope)
    )
