"""What the store could know of a module, for tests to take one thing away at a time."""

from collections.abc import Iterable
from typing import Any, Final

from consentry.decide.capabilitycheck import (
    CheckResult,
    HeldGrant,
    ModuleIdentity,
    Rejection,
    Standing,
    check,
)
from consentry.decide.modulemode import ModuleMode
from consentry.surface.catalog import capability_catalog
from tests.decide.samples import DIGEST, SESSION, sample_id

CATALOG: Final = capability_catalog()
ALL: Final = tuple(sorted(each.capability_id for each in CATALOG.entries))
IDENTITY: Final = ModuleIdentity("note-board", "word-count", "1.2.3", DIGEST)


def held(*capabilities: str) -> dict[str, HeldGrant]:
    """A grant for each."""
    return {
        each: HeldGrant(sample_id("grant", number), CATALOG.version)
        for number, each in enumerate(capabilities, 1)
    }


def standing(
    granted: Iterable[str] = ALL,
    *,
    requested: Iterable[str] = ALL,
    stale: Iterable[str] = (),
    mode: ModuleMode = ModuleMode.NORMAL,
    blocked: dict[str, Rejection] | None = None,
    **changes: Any,
) -> Standing:
    """A module that asks for everything and was granted everything, but for the changes."""
    return Standing(
        identity=IDENTITY,
        revision=1,
        requested=frozenset(requested),
        granted=held(*granted),
        stale=frozenset(stale),
        mode=mode,
        session_id=SESSION,
        blocked=blocked or {},
        **changes,
    )


def checked(
    found: Standing, *needed: str, action_id: str | None = "count", acts: bool = True
) -> CheckResult:
    """What the shipped catalog says to an action that needs these."""
    return check(found, needed, CATALOG, action_id, acts=acts)
