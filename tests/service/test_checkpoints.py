"""Taking a checkpoint leaves a record of it, and no record of one that nobody has."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem, UsageProblem
from consentry.base.ids import Uuid7Ids
from consentry.record.checkpoint import Checkpoint, verify_checkpoint
from consentry.service.checkpoints import (
    last_taken,
    public_key,
    require_continues,
    sign_checkpoint,
    take_checkpoint,
)
from consentry.service.ledgers import ledger_for_reading, ledger_for_writing
from consentry.service.placedfile import PlacedFile, place_new
from consentry.service.surroundings import Surroundings
from consentry.store.history import History
from tests.record.samples import Drafts
from tests.service.conftest import MakeAround


@pytest.fixture
def clock() -> ManualClock:
    """A clock that stands still."""
    return ManualClock(Instant(1_790_000_000_000))


@pytest.fixture
def here(around: MakeAround, clock: ManualClock) -> Surroundings:
    """Surroundings with one event in the ledger, besides the machine's own."""
    made = around()
    ledger = ledger_for_writing(made, clock)
    ledger.append(Drafts().make())
    ledger.close()
    return made


@pytest.fixture
def history(here: Surroundings) -> Iterator[History]:
    """What was recorded."""
    found = ledger_for_reading(here)
    assert found is not None
    yield found
    found.database.close()


def events_of(history: History) -> list[dict[str, object]]:
    """All events, in the order of the chain."""
    rows = sorted(history.events(), key=lambda row: row.seq)
    return [json.loads(row.body) for row in rows]


def test_the_ledger_says_when_a_checkpoint_was_taken(
    here: Surroundings, history: History, clock: ManualClock
) -> None:
    """Behind what it covers: the event names the checkpoint, its root, key and heads."""
    assert last_taken(history) is None
    made = take_checkpoint(here, clock, Uuid7Ids(clock))
    assert last_taken(history) == clock.now()
    event = events_of(history)[-1]
    assert (event["type"], event["subject"]) == ("ledger.checkpoint", made.checkpoint_id)
    assert event["payload"] == {
        "checkpointId": made.checkpoint_id,
        "storeId": history.store_id(),
        "rootHash": made.root,
        "keyId": public_key(here).key_id,
        "heads": [{"writer": event["writer"], "size": 2}],
    }
    assert event["sessionId"] is not None
    require_continues(history, verify_checkpoint(made, public_key(here)))


def test_the_key_can_be_handed_out_before_anything_was_recorded(
    around: MakeAround, home: Path
) -> None:
    """It is made on first use, and the folder with it; the next use finds the same one."""
    made = around()
    first = public_key(made)
    assert (home / ".local/state/consentry").stat().st_mode & 0o777 == 0o700
    assert public_key(made) == first


def test_signing_alone_records_nothing(
    here: Surroundings, history: History, clock: ManualClock
) -> None:
    """The two are steps of their own."""
    sign_checkpoint(here, clock, Uuid7Ids(clock))
    assert last_taken(history) is None


def test_a_file_that_cannot_be_made_leaves_nothing_recorded(
    here: Surroundings, history: History, clock: ManualClock, tmp_path: Path
) -> None:
    """The file comes first."""

    def written(_: Checkpoint) -> PlacedFile:
        return place_new(str(tmp_path / "no/such/folder.json"), b"x")

    with pytest.raises(UsageProblem) as caught:
        take_checkpoint(here, clock, Uuid7Ids(clock), written)
    assert caught.value.code is Code.FILE_UNUSABLE
    assert len(events_of(history)) == 2


def test_a_record_that_fails_takes_the_file_back(
    here: Surroundings, history: History, clock: ManualClock, tmp_path: Path, home: Path
) -> None:
    """Somebody damages the state between the two steps: no file, no record, and it is said."""
    out = tmp_path / "checkpoint.json"

    def written(_: Checkpoint) -> PlacedFile:
        placed = place_new(str(out), b"{}")
        (home / ".local/state/consentry/machine-id").write_text("damaged")
        return placed

    with pytest.raises(LedgerProblem, match="was not recorded and is not kept") as caught:
        take_checkpoint(here, clock, Uuid7Ids(clock), written)
    assert caught.value.code is Code.LEDGER_CORRUPT
    assert not out.exists()
    assert len(events_of(history)) == 2
