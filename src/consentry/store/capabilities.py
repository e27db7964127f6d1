"""Saved capabilities in the store."""

from collections.abc import Sequence

from consentry.decide.capabilities import Capability
from consentry.decide.identity import Identity
from consentry.examine.inference.inferred import Inferred, Language
from consentry.store.journal import Journal
from consentry.surface.permission_sets import PermissionSet


class CapabilityStore:
    """The saved capabilities of one store."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def save(
        self,
        name: str,
        language: Language,
        code: str,
        inferred: Inferred,
        *,
        by: Identity,
        set_by_hand: PermissionSet | None = None,
    ) -> Capability:
        """Saves the code under the name; the same code stays as it is, other code is a new version."""
        raise NotImplementedError

    def find(self, capability_id: str) -> Capability | None:
        """The capability with this id, as it is now."""
        raise NotImplementedError

    def named(self, name: str) -> Capability | None:
        """The capability of this name, as it is now."""
        raise NotImplementedError

    def list(self) -> Sequence[Capability]:
        """All of them as they are now, by name."""
        raise NotImplementedError

    def history(self, capability_id: str) -> Sequence[Capability]:
        """Every version and every set that it had, oldest first."""
        raise NotImplementedError

    def update_permission_set(
        self,
        capability_id: str,
        new_set: PermissionSet,
        *,
        approved_by: Identity,
        reason: str | None = None,
        detected_operation: str | None = None,
        by_hand: bool = False,
    ) -> Capability:
        """Moves it to another set and logs who did, in one step; raises `permission-step`."""
        raise NotImplementedError
