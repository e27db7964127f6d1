"""What is held until its store can say what became of it, and who settles it (CONTRACTS §3-recovery).

Crashes at every step are proven by a model of their own; here is each single way out of `RECOVERY_PENDING`.
"""

from pathlib import Path

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.base.errors import Refused
from consentry.base.units import Duration
from consentry.decide.documentstore import BeforeWrite, Commit, CommitRecord
from consentry.service.transactionplace import TxTerms
from tests.decide.samples import NOW
from tests.service.carelessstores import Lying, LyingOfRollbacks, OwnStore
from tests.service.txground import Ground
from tests.store.conftest import Store

pytestmark = pytest.mark.timeout(120)

OTHER = {"op": "add", "path": "/notes/n2", "value": 2}
SHORT = TxTerms(recovery=Duration(60_000), lease=Duration(60_000))


class Unsure(OwnStore):
    """Loses the answer of every commit, before it or after it; and can be out of reach."""

    loses: str | None = None
    is_away = False

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Loses the answer."""
        if self.loses == "before":
            raise OSError("the connection was lost")
        record = super().commit(commit, check)
        if self.loses == "after":
            raise OSError("the connection was lost")
        return record

    def settle(self, commit: Commit) -> CommitRecord | None:
        """As the log says, where it can be read."""
        if self.is_away:
            raise OSError("the store is away")
        return super().settle(commit)


@pytest.fixture
def unsure(tmp_path: Path) -> Unsure:
    """A store whose answers can be lost."""
    return Unsure(tmp_path)


# The four ways out.


def test_a_commit_that_is_there_is_applied(store: Store, unsure: Unsure) -> None:
    """CONTRACTS §3-recovery: an apply commit in the log: `APPLIED`, once."""
    ground = Ground(store, document=unsure)
    unsure.loses = "after"
    after = ground.transactions.apply(ground.proposed().tx_id)
    assert (after.state, ground.entities) == ("APPLIED", {"/notes/n1": "hello"})
    assert ground.way(after.tx_id)[-3:] == ["APPLYING", "RECOVERY_PENDING", "APPLIED"]
    assert ground.transactions.apply(after.tx_id) == after


def test_a_commit_that_is_not_there_is_approved_again(store: Store, unsure: Unsure) -> None:
    """CONTRACTS §3-recovery: none, and the key given up: `APPROVED`, to be applied under a new one."""
    ground = Ground(store, document=unsure)
    unsure.loses = "before"
    first = ground.transactions.apply(ground.proposed().tx_id)
    assert (first.state, first.tries, ground.entities) == ("APPROVED", 1, {})
    unsure.loses = None
    second = ground.transactions.apply(first.tx_id)
    assert (second.state, second.tries) == ("APPLIED", 2)
    assert second.commit_key != first.commit_key


def test_a_late_writer_commits_nothing(store: Store, unsure: Unsure) -> None:
    """CONTRACTS §3-recovery: “none and locks clear”: what was given up is refused for good."""
    ground, slower = Ground(store, document=unsure), Ground(store, document=unsure)
    attempt = ground.proposed()
    # The process that applies it is held up beyond its time; another one looks into it and gives the key up.
    unsure.before = lambda: (slower.pass_time(61), slower.transactions.look(attempt.tx_id))
    after = ground.transactions.apply(attempt.tx_id)
    assert (after.state, ground.entities) == ("APPROVED", {})
    assert ground.way(attempt.tx_id)[-3:] == ["APPLYING", "RECOVERY_PENDING", "APPROVED"]
    unsure.before = lambda: None
    assert ground.transactions.apply(attempt.tx_id).state == "APPLIED"


def test_a_roll_back_that_is_there_is_rolled_back(store: Store, unsure: Unsure) -> None:
    """CONTRACTS §3-recovery: a roll-back commit in the log: `ROLLED_BACK`."""
    ground = Ground(store, document=unsure)
    attempt = ground.applied()
    unsure.loses = "after"
    after = ground.transactions.roll_back(attempt.tx_id)
    assert (after.state, ground.entities) == ("ROLLED_BACK", {})


def test_a_roll_back_that_is_not_there_leaves_it_applied(store: Store, unsure: Unsure) -> None:
    """CONTRACTS §3-recovery: its apply is in the log still, so it is `APPLIED`; it can be tried again."""
    ground = Ground(store, document=unsure)
    attempt = ground.applied()
    unsure.loses = "before"
    after = ground.transactions.roll_back(attempt.tx_id)
    assert (after.state, after.rollback_key) == ("APPLIED", None)
    assert after.commit_id == attempt.commit_id
    unsure.loses = None
    assert ground.transactions.roll_back(attempt.tx_id).state == "ROLLED_BACK"


# What cannot be told.


def test_what_cannot_be_told_is_held(store: Store, unsure: Unsure) -> None:
    """CONTRACTS §3-recovery: nothing is done to it; whoever looks when the store is back settles it."""
    ground = Ground(store, document=unsure, terms=SHORT)
    unsure.loses, unsure.is_away = "after", True
    held = ground.transactions.apply(ground.proposed().tx_id)
    assert held.error is not None
    assert (held.state, held.error.action) == ("RECOVERY_PENDING", "reconcile")
    for act in (ground.transactions.apply, ground.transactions.roll_back):
        with pytest.raises(Refused, match="it is not known yet"):
            act(held.tx_id)
    unsure.is_away = False
    assert [each.state for each in ground.transactions.settle_all()] == ["APPLIED"]
    assert ground.transactions.settle_all() == []


def test_past_its_limit_it_is_over_and_blocks(store: Store, unsure: Unsure) -> None:
    """CONTRACTS §3-recovery, §3-terminal-block: every apply of that document, in every process, and no other's."""
    ground = Ground(store, document=unsure, terms=SHORT)
    unsure.loses, unsure.is_away = "after", True
    held = ground.transactions.apply(ground.proposed().tx_id)
    ground.pass_time(59)
    assert ground.transactions.look(held.tx_id).state == "RECOVERY_PENDING"
    ground.pass_time(1)
    over = ground.transactions.look(held.tx_id)
    assert over.error is not None
    assert (over.state, over.error.code, over.error.action) == (
        "FAILED_TERMINAL",
        "tx-unsettled",
        "resolve",
    )
    unsure.loses, unsure.is_away = None, False
    assert ground.transactions.look(held.tx_id) == over, "nothing follows it"
    elsewhere = Ground(store, document=unsure)
    with pytest.raises(Refused, match="is blocked by"):
        elsewhere.applied(OTHER)
    assert Ground(store, document_id="another").applied(OTHER).state == "APPLIED"


def test_no_late_writer_commits_after_a_block_was_lifted(store: Store, unsure: Unsure) -> None:
    """CONTRACTS §3-terminal-block: the store has to say what became of the commit before changes go on."""
    ground, others = (Ground(store, document=unsure, terms=SHORT) for _ in range(2))
    attempt = ground.proposed()
    by = attempt.origin.proposed_by

    def meanwhile() -> None:
        unsure.before = lambda: None
        unsure.is_away = True
        for seconds in (61, 61):
            others.pass_time(seconds)
            others.transactions.look(attempt.tx_id)
        with pytest.raises(Refused, match="cannot say what became of it"):
            others.transactions.resolve(attempt.tx_id, by, "owner", "looked at it")
        unsure.is_away = False
        others.transactions.resolve(attempt.tx_id, by, "owner", "looked at it")

    unsure.before = meanwhile
    after = ground.transactions.apply(attempt.tx_id)
    assert (after.state, ground.entities) == ("FAILED_TERMINAL", {})
    assert ground.applied(OTHER).state == "APPLIED"


def test_a_block_is_lifted_once_and_on_record(store: Store, unsure: Unsure) -> None:
    """CONTRACTS §3-terminal-block: the attempt stays terminal; who did it and why is an event."""
    ground = Ground(store, document=unsure, terms=TxTerms(recovery=Duration(0)))
    unsure.loses, unsure.is_away = "after", True
    over = ground.transactions.apply(ground.proposed().tx_id)
    assert over.state == "FAILED_TERMINAL"
    unsure.loses, unsure.is_away = None, False
    by = over.origin.proposed_by
    assert ground.transactions.resolve(over.tx_id, by, "owner", "restored") == over
    with pytest.raises(Refused, match="blocks nothing"):
        ground.transactions.resolve(over.tx_id, by, "owner", "again")
    assert ground.kept(over).state == "FAILED_TERMINAL"
    assert ground.applied(OTHER).state == "APPLIED"


def test_a_roll_back_is_not_believed_unseen(store: Store, tmp_path: Path) -> None:
    """CONTRACTS §3-recovery: a store that says it took everything back, and did not, is held."""
    ground = Ground(store, document=LyingOfRollbacks(tmp_path))
    attempt = ground.applied()
    after = ground.transactions.roll_back(attempt.tx_id)
    assert (after.state, ground.entities) == ("RECOVERY_PENDING", {"/notes/n1": "hello"})


def test_an_apply_is_not_believed_unseen(store: Store, tmp_path: Path) -> None:
    """CONTRACTS §3-recovery: also not when it says it a second time."""
    ground = Ground(store, document=Lying(tmp_path), terms=SHORT)
    held = ground.transactions.apply(ground.proposed().tx_id)
    ground.pass_time(60)
    assert ground.transactions.look(held.tx_id).state == "FAILED_TERMINAL"


# Who settles it.


def test_an_attempt_whose_process_works_is_left_alone(store: Store, unsure: Unsure) -> None:
    """CONTRACTS §3-recovery: who comes meanwhile is told that it is under way."""
    ground, other = Ground(store, document=unsure), Ground(store, document=unsure)
    attempt = ground.proposed()
    seen: list[str] = []

    def meanwhile() -> None:
        seen.append(other.transactions.look(attempt.tx_id).state)
        seen.extend(each.state for each in other.transactions.settle_all())
        with pytest.raises(Refused, match="by another process"):
            other.transactions.apply(attempt.tx_id)

    unsure.before = meanwhile
    assert ground.transactions.apply(attempt.tx_id).state == "APPLIED"
    assert seen == ["APPLYING", "APPLYING"]


def test_an_interrupt_leaves_it_to_be_settled(store: Store, unsure: Unsure) -> None:
    """CONTRACTS §3-recovery: Ctrl-C while it writes reaches the caller; what became of it is looked up."""
    ground = Ground(store, document=unsure)
    attempt = ground.proposed()

    def interrupt() -> None:
        raise KeyboardInterrupt

    unsure.acts[2] = interrupt
    with pytest.raises(KeyboardInterrupt):
        ground.transactions.apply(attempt.tx_id)
    held = ground.kept(attempt)
    assert held.error is not None
    assert (held.state, held.error.kind) == ("RECOVERY_PENDING", "interrupted")
    assert ground.transactions.look(attempt.tx_id).state == "APPROVED"
    assert ground.entities == {}


def test_a_clock_that_goes_back_settles_all_the_same(store: Store, unsure: Unsure) -> None:
    """CONTRACTS §3-recovery, §9-time-2: no step is recorded before the one that it follows."""
    ground = Ground(store, document=unsure, terms=SHORT)
    unsure.loses, unsure.is_away = "after", True
    held = ground.transactions.apply(ground.proposed().tx_id)
    unsure.is_away = False
    earlier = Ground(store, document=unsure, clock=ManualClock(Instant(NOW.unix_ms - 3_600_000)))
    after = earlier.transactions.look(held.tx_id)
    assert after.state == "APPLIED"
    assert after.changed_at >= held.changed_at
    [applied] = [each for each in earlier.steps(held.tx_id) if each["nextState"] == "APPLIED"]
    assert applied["durationMs"] == 0
