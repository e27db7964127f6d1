"""Questions in a real store for the executor, and a runner that is told how its attempts end."""

import pytest

from consentry.base.clock import Clock, SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.record.envelope import Context
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from tests.decide.samples import OWNER
from tests.flow.fakes import FakeRunner, KeptQuestions
from tests.record.samples import WRITER
from tests.store.conftest import Store, postgres_server, postgres_url, store

__all__ = ["postgres_server", "postgres_url", "store"]  # fixtures that tests here ask for by name


def journal_on(store: Store, clock: Clock) -> Journal:
    """One process's way to the store."""
    return Journal(Ledger(store.open(), WRITER), Uuid7Ids(clock), clock, Context(OWNER, WRITER))


@pytest.fixture
def questions(store: Store) -> KeptQuestions:
    """Questions in a database of each kind, five minutes each."""
    return KeptQuestions(journal_on(store, SystemClock()))


@pytest.fixture
def elsewhere(store: Store) -> KeptQuestions:
    """The same questions, as another process sees them."""
    return KeptQuestions(journal_on(store, SystemClock()))


@pytest.fixture
def late(questions: KeptQuestions) -> KeptQuestions:
    """Questions whose deadline comes at once."""
    return replace(questions, within=Duration(1))


@pytest.fixture
def runner() -> FakeRunner:
    """A runner whose attempts are denied until the set is large enough."""
    return FakeRunner()
