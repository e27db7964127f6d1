"""A process that is killed while it settles an escalation: all of it is there, or none.

Answer, row of the log and stored set are one transaction; what a crash leaves is asked from outside,
in a fresh opening of the store, and the answer can be given again where it was not taken.
"""

import json

from consentry.decide.capabilities import Capability
from consentry.store.database import Dialect
from consentry.store.ledger import Ledger
from consentry.store.rebuild import rebuild
from consentry.store.steps import Step
from tests.decide.samples import OWNER
from tests.record.samples import WRITER
from tests.store.conftest import Store
from tests.store.escalating import MINIMAL, NET, ask_of, asked, killed_at, now_of, saved
from tests.store.keepers import Keepers, all_rows
from tests.store.sizes import sampled

RECORDED_FROM = Step.COMMITTED
TABLES = ("permission_audit_log", "workflow_pattern")


def steps(store: Store) -> list[Step]:
    """Every one on a file; a server takes its time, and gets a sample in the small size."""
    return sampled(list(Step), len(Step) if store.dialect is Dialect.SQLITE else 4)


def fresh(store: Store) -> Keepers:
    """As a process that starts after the crash."""
    return Keepers(Ledger(store.open(), WRITER))


def is_opened(keepers: Keepers, capability: Capability) -> bool:
    """Whether the set was updated; that row, event and log agree is asserted."""
    found = now_of(keepers, capability)
    log = keepers.audit.get_audit_log(capability.capability_id)
    told = [
        payload["permissionSet"]
        for payload in (json.loads(row.body)["payload"] for row in keepers.ledger.history.events())
        if payload.get("id") == capability.capability_id
    ]
    if found.permission_set is MINIMAL:
        assert (list(log), told) == ([], ["minimal"])
        return False
    [entry] = log
    assert (entry.approved, entry.to_set, entry.approved_by) == (True, NET, OWNER)
    assert (found.permission_set, told) == (NET, ["minimal", "network-api"])
    return True


def test_an_answer_killed_at_any_step_is_whole_or_absent(store: Store) -> None:
    """ESCALATION AC4, AC7: with the yes come update and row; without it nothing, and it can be given."""
    for number, step in enumerate(steps(store)):
        before = fresh(store)
        capability = saved(before, f"fetch-{number}", f"print({number})\n")
        request = asked(before, ask_of(capability))
        assert killed_at(store.url_or_path, "answer", request.request_id, step), step
        after = fresh(store)
        found = after.requests.find(request.request_id)
        assert found is not None
        is_recorded = step.value >= RECORDED_FROM.value
        assert (found.status == "approved") == is_opened(after, capability) == is_recorded, step
        expected = "request-settled" if is_recorded else "won"
        assert after.tried("answer", request.request_id) == expected
        assert is_opened(after, capability)
    assert isinstance(fresh(store).ledger.history.verify(), list)


def test_an_update_killed_at_any_step_is_whole_or_absent(store: Store) -> None:
    """ESCALATION AC4: the same where the set is moved by a call."""
    for number, step in enumerate(sampled(steps(store), 4)):
        capability = saved(fresh(store), f"fetch-{number}", f"print({number})\n")
        assert killed_at(store.url_or_path, "update", capability.capability_id, step), step
        after = fresh(store)
        assert is_opened(after, capability) == (step.value >= RECORDED_FROM.value), step
    before = all_rows(fresh(store).ledger.database, *TABLES)
    rebuild(fresh(store).ledger.database)
    assert all_rows(fresh(store).ledger.database, *TABLES) == before
