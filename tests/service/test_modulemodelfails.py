"""The proof of imported modules can fail: each of these faults, put into the product, is found by it.

A test that nothing can break proves nothing. The faults are the ones that the design is there to prevent:
a grant that outlives its content, a use that is not looked at again in its transaction, a yes without its
grant, a snapshot that nobody refreshes, a session that ends for nobody, a yes to what is not there any more.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.decide.capabilitycheck import Standing
from consentry.decide.grant import GrantTerms
from consentry.store import capabilityescalations, modules
from consentry.store.database import Dialect, Transaction
from consentry.store.grants import GrantChange, StoredGrants
from consentry.store.modulechecks import Freshness, ModuleChecks
from tests.service.modulemachine import machine_on
from tests.service.moduleprograms import planted
from tests.store.conftest import Store
from tests.store.sizes import IS_FULL


def _nothing(_: Transaction) -> None:
    """Changes nothing."""


class NeverVoids(StoredGrants):
    """Another content of the module comes, and the grants of the one before stay."""

    def voiding(
        self, host_id: str, module_id: str, content: tuple[str, Digest], now: Instant
    ) -> GrantChange:
        """Ends none."""
        del host_id, module_id, content, now
        return GrantChange((), (), _nothing)


class GivesNothing(StoredGrants):
    """A yes is recorded, and the grant that it is about is not."""

    def giving(self, wanted: Sequence[GrantTerms], now: Instant) -> GrantChange:
        """Gives none."""
        del wanted, now
        return GrantChange((), (), _nothing)


class LooksOnce(ModuleChecks):
    """What held when it was looked at is used, whatever happened before the transaction."""

    def _hold(self, transaction: Transaction, standing: Standing) -> None:
        """Believes it."""


class NeverRefreshes(ModuleChecks):
    """What was loaded once is the truth for ever."""

    def standing(self, module_id: str) -> Standing | None:
        """As it was loaded."""
        return self._loaded.get(module_id) or super().standing(module_id)


class OutlivesItsSession(ModuleChecks):
    """A session that was ended goes on."""

    def _fresh(self, view: Transaction, module_id: str) -> Freshness | None:
        fresh = super()._fresh(view, module_id)
        return None if fresh is None else fresh._replace(has_session=True)


CHECKS: dict[str, type[ModuleChecks]] = {
    "a use is not looked at again in its transaction": LooksOnce,
    "what was loaded is never refreshed": NeverRefreshes,
    "a session that was ended goes on": OutlivesItsSession,
}
FAULTS: dict[str, Mapping[tuple[object, str], Any]] = {
    "other content does not void": {(modules, "StoredGrants"): NeverVoids},
    "a yes writes no grant": {(capabilityescalations, "StoredGrants"): GivesNothing},
    "a yes to what is not registered any more counts": {
        (capabilityescalations, "_STILL"): (
            "SELECT 1 WHERE ? <> '' AND ? <> '' AND ? <> '' AND ? <> ''"
        )
    },
}


@pytest.mark.timeout(300)
# In a file examples cost a tenth of what they do on a server.
@pytest.mark.parametrize("store", list(Dialect) if IS_FULL else [Dialect.SQLITE], indirect=True)
@pytest.mark.parametrize("fault", [*CHECKS, *FAULTS])
def test_the_proof_finds(store: Store, fault: str) -> None:
    """The machine ends with an assertion that does not hold, within a bounded number of examples."""
    machine = machine_on(store, CHECKS.get(fault, ModuleChecks))
    # The same examples each time, and none made smaller: that it is found is all that counts.
    few = settings(
        max_examples=400,
        stateful_step_count=30,
        derandomize=True,
        database=None,
        phases=(Phase.generate,),
        deadline=None,
        report_multiple_bugs=False,
    )
    with planted(FAULTS.get(fault, {})), pytest.raises(AssertionError):
        run_state_machine_as_test(machine, settings=few)
