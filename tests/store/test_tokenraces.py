"""Processes and threads that use a budget at the same moment get what it has, and not one more."""

import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from consentry.base.clock import SystemClock
from consentry.decide.budgets import Budget
from consentry.store.database import Dialect
from consentry.store.ledger import Ledger
from consentry.store.tokens import budget_of
from tests.record.samples import WRITER
from tests.store.conftest import Store
from tests.store.keepers import Keepers, types
from tests.store.sizes import IS_FULL
from tests.store.test_races import PROCESSES, heard, processes, told
from tests.store.test_tokens import token_of

TRIES = 1000 if IS_FULL else 30
THREADS = 8


def _race(children: list[subprocess.Popen[str]], text: str, times: int) -> list[str]:
    """Every process tries so often, all at once."""
    for _ in range(times):
        for child in children:
            told(child, text)
    return [heard(child) for child in children for _ in range(times)]


@pytest.mark.timeout(900)
def test_processes_do_not_overshoot_a_budget(store: Store) -> None:
    """TRUST §token-6: of all that try, as many as the budget has; 1,000 rounds at full size."""
    keepers = Keepers(Ledger(store.open(), WRITER), SystemClock())
    # On SQLite the processes of one machine share its chain; else each would be another machine.
    with processes(store, "use-token") as children:
        for number in range(TRIES):
            most = 1 + number % (PROCESSES + 1)
            workflow = f"race-{number}"
            token = token_of(keepers, workflow=workflow, budget=Budget.of({"fs_write": most}))
            said = _race(children, token.text, 2)
            won = said.count("won")
            assert (won, said.count("budget-exhausted")) == (most, len(said) - most)
            [line] = budget_of(keepers.ledger.database, workflow)
            assert (line.uses, line.left) == (most, 0)
    assert types(keepers.ledger).count("CapabilityMinted") == TRIES


def test_threads_of_one_process_do_not_overshoot(store: Store) -> None:
    """They share commits; the last use is had once."""
    keepers = Keepers(Ledger(store.open(), WRITER), SystemClock())
    token = token_of(keepers, budget=Budget.of({"fs_write": 5}))
    with ThreadPoolExecutor(THREADS) as pool:
        said = list(pool.map(lambda _: keepers.tried("use-token", token.text), range(4 * THREADS)))
    assert said.count("won") == 5
    assert said.count("budget-exhausted") == len(said) - 5
    assert keepers.ledger.database.dialect in Dialect
