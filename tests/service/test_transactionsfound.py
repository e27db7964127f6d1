"""Which transactions a document has: found by their ids, listed by state, and none of another document."""

import pytest

from consentry.base.errors import UsageProblem
from consentry.decide.identity import Role
from tests.decide.samples import OWNER
from tests.service.txground import RULE, Ground
from tests.store.conftest import Store

pytestmark = pytest.mark.timeout(120)

OTHER = {"op": "add", "path": "/notes/n2", "value": 2}


@pytest.fixture
def ground(store: Store) -> Ground:
    """One program."""
    return Ground(store)


def test_a_transaction_of_another_document_is_none_here(ground: Ground, store: Store) -> None:
    """CONTRACTS §3-apply: nothing of it is applied, taken back or settled against the wrong document."""
    other = Ground(store, document_id="another")
    attempt = ground.proposed()
    here = other.transactions
    for act in (here.apply, here.roll_back, here.look, here.preview_again):
        with pytest.raises(UsageProblem, match="is about `note-board`"):
            act(attempt.tx_id)
    with pytest.raises(UsageProblem):
        here.resolve(attempt.tx_id, OWNER, Role.OWNER, "r")
    assert (other.entities, here.listed()) == ({}, [])
    assert ground.transactions.apply(attempt.tx_id).state == "APPLIED"


def test_one_is_found_by_the_beginning_of_its_id(ground: Ground) -> None:
    """CONTRACTS §3-attempt: by eight letters or more, and by no fewer."""
    attempt = ground.proposed()
    found = ground.transactions.found
    bare = attempt.tx_id.removeprefix("tx-")
    assert found(attempt.tx_id) == found(attempt.tx_id[:20]) == found(bare[:20]) == attempt.tx_id
    for named in ("", "tx-", bare[:7], "tx-ffffffff-", "%", "tx-'"):
        with pytest.raises(UsageProblem):
            found(named)
    ground.proposed(OTHER)
    with pytest.raises(UsageProblem, match="2 transactions have an id like"):
        found(bare[:8])


def test_they_are_listed_by_state_the_newest_first(ground: Ground) -> None:
    """CONTRACTS §3-states: those of this document, of each the latest attempt."""
    applied, waits = ground.applied(), ground.proposed(OTHER, rule=RULE)
    listed = ground.transactions.listed
    assert [each.tx_id for each in listed()] == [waits.tx_id, applied.tx_id]
    assert [each.tx_id for each in listed([applied.state])] == [applied.tx_id]
    assert [each.tx_id for each in listed(most=1)] == [waits.tx_id]
