"""What was accepted stands for its digest and nothing else (the rule of trust; CONTRACTS §9)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from consentry.base.canonical import Digest
from consentry.base.errors import BadInput
from consentry.decide.acceptance import digest_of_files
from consentry.store.ledger import Ledger
from tests.decide.samples import APPROVER, DIGEST, OTHER_DIGEST, OTHER_MACHINE, OWNER
from tests.store.keepers import Keepers, all_rows, events, types

PLACE = "/place/paper"
FILES = {".consentry/consent-config.yaml": DIGEST, ".consentry/tools/lint.yaml": DIGEST}
CHANGED = {**FILES, ".consentry/tools/lint.yaml": OTHER_DIGEST}


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """The keepers of one machine on a fresh store."""
    return Keepers(ledger)


def is_accepted(keepers: Keepers, files: dict[str, Digest], place: str = PLACE) -> bool:
    """Whether the store has these files as accepted."""
    return keepers.acceptances.is_accepted(place, digest_of_files(files))


def test_what_was_accepted_counts_at_its_digest_alone(keepers: Keepers) -> None:
    """Before: no. After: these files, in this workspace, on this machine, and no others."""
    assert not is_accepted(keepers, FILES)
    accepted = keepers.acceptances.accept(PLACE, FILES, OWNER)
    assert is_accepted(keepers, FILES)
    assert keepers.acceptances.standing(PLACE) == accepted
    assert not is_accepted(keepers, CHANGED)
    assert not is_accepted(keepers, {**FILES, ".consentry/policy.yaml": DIGEST})
    assert not is_accepted(keepers, FILES, "/place/other")
    assert not is_accepted(keepers, {})


def test_another_machine_has_accepted_nothing(keepers: Keepers) -> None:
    """Machines that share a store do not share their workspaces."""
    keepers.acceptances.accept(PLACE, FILES, OWNER)
    there = keepers.elsewhere(OTHER_MACHINE, keepers.ledger.database)
    assert not is_accepted(there, FILES)
    assert there.acceptances.standing(PLACE) is None


def test_accepting_something_else_replaces_what_stood(keepers: Keepers) -> None:
    """One at a time: the older digest does not count any more, and both are on record."""
    keepers.acceptances.accept(PLACE, FILES, OWNER)
    keepers.acceptances.accept(PLACE, CHANGED, OWNER)
    assert (is_accepted(keepers, FILES), is_accepted(keepers, CHANGED)) == (False, True)
    assert types(keepers.ledger) == [
        "workspace.accepted",
        "workspace.withdrawn",
        "workspace.accepted",
    ]


def test_accepting_the_same_twice_changes_nothing(keepers: Keepers) -> None:
    """The one that stands is given back, and no second event is recorded."""
    first = keepers.acceptances.accept(PLACE, FILES, OWNER)
    assert keepers.acceptances.accept(PLACE, FILES, APPROVER) == first
    assert types(keepers.ledger) == ["workspace.accepted"]


def test_what_was_withdrawn_does_not_count(keepers: Keepers) -> None:
    """And withdrawing where nothing stands does nothing."""
    keepers.acceptances.accept(PLACE, FILES, OWNER)
    [withdrawn] = keepers.acceptances.withdraw(PLACE, APPROVER)
    assert (withdrawn.withdrawn_by, is_accepted(keepers, FILES)) == (APPROVER, False)
    assert keepers.acceptances.withdraw(PLACE, APPROVER) == ()
    [accepted, gone] = events(keepers.ledger)
    assert (accepted["subject"], accepted["actor"]) == (f"workspace:{PLACE}", OWNER)
    assert gone["payload"]["acceptanceId"] == accepted["payload"]["acceptanceId"]
    keepers.acceptances.accept(PLACE, FILES, OWNER)
    assert is_accepted(keepers, FILES)


def test_of_many_that_accept_at_once_one_stands(keepers: Keepers) -> None:
    """Whoever comes second replaces or finds the same; never do two stand."""
    choices = [FILES, CHANGED] * 8
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda files: keepers.acceptances.accept(PLACE, files, OWNER), choices))
    rows = all_rows(keepers.ledger.database, "acceptance")["acceptance"]
    assert sum(row[-1] is None for row in rows) == 1
    assert is_accepted(keepers, FILES) != is_accepted(keepers, CHANGED)


def test_a_place_that_is_no_text_was_never_accepted(keepers: Keepers) -> None:
    """A path with a byte that is not UTF-8 cannot be written down, so it is not accepted either."""
    place = b"/place/\xff".decode(errors="surrogateescape")
    assert not is_accepted(keepers, FILES, place)
    assert keepers.acceptances.standing(place) is None
    with pytest.raises(BadInput):
        keepers.acceptances.accept(place, FILES, OWNER)
