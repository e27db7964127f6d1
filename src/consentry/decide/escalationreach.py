"""Which set would really open what was denied, held against the engine that runs the code.

`suggest_escalation` answers a denial by its kind. A person is not asked for a set that would not help:
here the denied thing itself is compared with what each set opens on the engine, and the least legal
step that covers it is what is asked for. Where none does, nobody is asked, and the refusal names what
would help.

    protected roots     refused, whichever way the path is spelled
    run, ffi            refused always
    outside             reads outside of the workspace are opened by no set that can be reached
    /tmp                is the run's own; on native the run's home goes with it
    net                 public hosts, or exactly the list where one is given; an address of this machine,
                        of its neighbours or of a metadata service only where that list names it
    env                 on deno `HOME` and `PATH`; on native nothing, for there is no denial of it

Deno runs inside the same box, so its sets reach no further. Names are compared as they are spelled: a
name that leads to another place is refused when it is opened or dialled, not here.
"""

import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, Refused
from consentry.base.ownfiles import own_bytes
from consentry.base.values import dataclass, replace
from consentry.decide.escalation import CRITICAL
from consentry.decide.escalationhosts import NearHosts, is_listed, narrowed
from consentry.decide.escalationneed import said_surely
from consentry.decide.escalationplace import Place, absolute_names, place_of
from consentry.examine.denialtext import DeniedText
from consentry.surface.access import Access
from consentry.surface.dimensions import Level
from consentry.surface.hosts import HostScope
from consentry.surface.lattice import NOTHING, Surface
from consentry.surface.operations import Operation
from consentry.surface.pattern import Anchor, Pattern
from consentry.surface.permission_sets import (
    PermissionSet,
    definition,
    governed_part,
    least_sets_covering,
)
from consentry.surface.protected import ProtectedRoot, ProtectedRoots
from consentry.surface.targets import Target

DeniedResource: TypeAlias = DeniedText
"""One thing that was denied."""

NATIVE: Final = "native"
DENO: Final = "deno"

_TABLE: Final = "escalationreach.toml"
_FILES: Final = (Operation.READ, Operation.WRITE)
_OWN_TMP: Final = "/tmp"  # noqa: S108 - the run's own


class NotOpened(Refused):
    """Nobody is asked: `denied` is what no escalation opens."""

    def __init__(
        self, code: Code, message: str, denied: DeniedResource, help_line: str | None = None
    ) -> None:
        super().__init__(code, message, help_line=help_line)
        self.denied = denied


def needed_surface(denied: DeniedResource, workspace: Path | str | None) -> Surface | None:
    """What a surface would have to cover so that this is not denied; None where that cannot be said."""
    resource = denied.resource
    if resource is None:
        return None
    try:
        match denied.operation:
            case Operation.READ:
                return Surface.of(read=[_spelled(resource, workspace)])
            case Operation.WRITE:
                return Surface.of(write=[_spelled(resource, workspace)])
            case Operation.NET:
                return Surface.of(net=[str(Target.parse(resource))])
            case Operation.ENV:
                return Surface.of(env=[resource])
            case _:
                return None
    except ConsentryError:
        return None


def least_covering(
    denied: Sequence[DeniedResource],
    current: PermissionSet,
    workspace: Path | str | None,
    engine: str,
    allowlist: Sequence[str] = (),
    *,
    protected: ProtectedRoots,
) -> PermissionSet:
    """The least legal step from `current` in which none of it is denied on that engine.

    Raises `escalation-critical`, `escalation-protected-root` or `escalation-uncovered`, the last with
    what would help.
    """
    reach = _Reach(current, _text(workspace), engine, narrowed(allowlist))
    said = [said_surely(each, current, reach.workspace) for each in denied]
    for each in said:
        require_not_critical(each)
    for each in said:
        reach.require_not_protected(each, protected)
    needed = NOTHING
    for each in said:
        needed |= reach.needed(each)
    if governed_part(needed) <= definition(current).surface:
        raise _uncovered(said[0], f"`{current}` opens it already", "already")
    steps = least_sets_covering(needed, current)
    if not steps:
        alone = [each for each in said if not least_sets_covering(reach.needed(each), current)]
        raise reach.opened_by_none((alone or said)[0])
    return steps[0]


def require_not_critical(denied: DeniedResource) -> None:
    """Raises for what no escalation opens."""
    if denied.operation in CRITICAL:
        named = "" if denied.resource is None else f" to `{denied.resource}`"
        raise NotOpened(
            Code.ESCALATION_CRITICAL,
            f"`{denied.operation}` access{named} is never opened by an escalation",
            denied,
        )


@dataclass(frozen=True, slots=True)
class _Reach:
    """What sets open for one execution."""

    current: PermissionSet
    workspace: str | None
    engine: str
    network: Access[HostScope]

    def require_not_protected(self, denied: DeniedResource, protected: ProtectedRoots) -> None:
        """Raises for a path in a protected root, and for one that cannot be compared with them."""
        if denied.operation not in _FILES or denied.resource is None:
            return
        try:
            row = _row_over(denied.resource, self.workspace, protected)
        except ConsentryError:
            # No path at all, or one that cannot be compared: nothing is opened for it.
            raise self.opened_by_none(denied) from None
        if row is not None:
            raise NotOpened(
                Code.ESCALATION_PROTECTED_ROOT,
                f"`{denied.resource}` lies in `{row.pattern.text}`, which no set opens: {row.why}",
                denied,
            )

    def needed(self, denied: DeniedResource) -> Surface:
        """What a set would have to have; raises where it is known that none has it."""
        match denied.operation:
            case Operation.READ | Operation.WRITE:
                found = self._needed_of_files(denied)
            case Operation.NET:
                found = self._needed_of_network(denied)
            case Operation.ENV if self.engine == DENO:
                found = needed_surface(denied, self.workspace)
            case _:
                found = None
        if found is None:
            raise self.opened_by_none(denied)
        return found

    def _needed_of_files(self, denied: DeniedResource) -> Surface | None:
        is_read_by_deno = self.engine == DENO and denied.operation is Operation.READ
        if denied.resource is None:
            return Surface.of(read=["./"]) if is_read_by_deno else None
        resource = _table()["places"].get(denied.resource, denied.resource)
        place = place_of(resource, self.workspace)
        if place is None:
            return None
        if self._is_under(place, _table()["own"].get(self.engine, ())):
            return needed_surface(replace(denied, resource=_OWN_TMP), self.workspace)
        if denied.operation is Operation.READ and self._is_under(
            place, _table()["runtime"]["folders"]
        ):
            if is_read_by_deno:
                return Surface.of(read=["./"])
            raise _uncovered(denied, "it is part of the runtime, which every set reads", "already")
        return needed_surface(replace(denied, resource=resource), self.workspace)

    def _is_under(self, place: Place, folders: Sequence[str]) -> bool:
        roots = [place_of(each, None) for each in folders]
        return place.anchor is Anchor.ABSOLUTE and any(
            root is not None and place.names[: len(root.names)] == root.names for root in roots
        )

    def _needed_of_network(self, denied: DeniedResource) -> Surface | None:
        table = _table()["net"]
        if denied.resource is None or denied.resource in table["unnamed"]:
            return Surface.of(net=Level.ANY) if self.network.level is Level.ANY else None
        if denied.resource in table["never"]:
            return None
        try:
            target = Target.parse(denied.resource)
        except ConsentryError:
            return None
        is_open = (
            _near().is_public(target)
            if self.network.level is Level.ANY
            else is_listed(target, self.network.targets)
        )
        return Surface.of(net=[str(target)]) if is_open else None

    def opened_by_none(self, denied: DeniedResource) -> NotOpened:
        """The refusal that names what would help."""
        match denied.operation:
            case Operation.READ | Operation.WRITE:
                key = denied.operation.value
            case Operation.NET:
                key = self._key_of_network(denied.resource)
            case Operation.ENV:
                key = "env" if self.engine == DENO else "env-native"
            case _:
                key = "other"
        why = f"no set that can be reached from `{self.current}` opens it on the engine `{self.engine}`"
        return _uncovered(denied, why, key)

    def _key_of_network(self, resource: str | None) -> str:
        try:
            target = None if resource is None else Target.parse(resource)
        except ConsentryError:
            return "net-never"
        if resource in _table()["net"]["never"]:
            return "net-never"
        is_near = target is not None and not _near().is_public(target)
        return "net-near" if is_near else "net-listed"


def _uncovered(denied: DeniedResource, why: str, key: str) -> NotOpened:
    named = "" if denied.resource is None else f" to `{denied.resource}`"
    return NotOpened(
        Code.ESCALATION_UNCOVERED,
        f"`{denied.operation}` access{named} was denied, and {why}",
        denied,
        _table()["help"][key],
    )


def _spelled(resource: str, workspace: Path | str | None) -> str:
    place = place_of(resource, _text(workspace))
    if place is None or place.anchor is Anchor.MARK:
        raise BadInput(Code.SURFACE_PATTERN, f"`{resource}` names no place that is known")
    return place.pattern.text


def _row_over(
    resource: str, workspace: str | None, protected: ProtectedRoots
) -> ProtectedRoot | None:
    found = [protected.over(each) for each in _absolute_patterns(resource, workspace)]
    return next((row for row in found if row is not None), None)


def _absolute_patterns(resource: str, workspace: str | None) -> Iterator[Pattern]:
    """The path from `/` on, and below a home where it is spelled so."""
    place = place_of(resource, workspace)
    names = None if place is None else absolute_names(place, workspace)
    if resource.startswith("~/"):
        home = place_of(resource[2:], None)
        if home is not None and home.names:
            yield Pattern.literal(Anchor.HOME, home.names)
    if names:
        yield Pattern.literal(Anchor.ABSOLUTE, names)


def _text(workspace: Path | str | None) -> str | None:
    return None if workspace is None else str(workspace)


@lru_cache(maxsize=1)
def _near() -> NearHosts:
    return NearHosts.of(**_table()["net"]["near"])


@lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    return tomllib.loads(own_bytes("consentry.decide", _TABLE).decode())
