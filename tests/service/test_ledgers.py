"""The ledger's place: made so that it stays, and refused where something else is in it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.service.ledgers import ledger_for_reading, ledger_for_writing
from consentry.service.surroundings import Surroundings
from tests.service.conftest import MakeAround


def test_every_folder_that_is_made_is_made_durable(
    around: MakeAround, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to the one that was there before; what is synced in a folder that is lost is lost as well."""
    synced: set[tuple[int, int]] = set()
    fsync = os.fsync

    def noted(opened: int) -> None:
        found = os.fstat(opened)
        synced.add((found.st_dev, found.st_ino))
        fsync(opened)

    monkeypatch.setattr(os, "fsync", noted)
    ledger_for_writing(around()).close()
    for name in ("", ".local", ".local/state", ".local/state/consentry"):
        found = (home / name).stat()
        assert (found.st_dev, found.st_ino) in synced, name


@pytest.mark.parametrize("opens", [ledger_for_reading, ledger_for_writing])
def test_a_pipe_in_its_place_is_refused_and_not_waited_for(
    around: MakeAround, home: Path, opens: Callable[[Surroundings], object]
) -> None:
    """By a code that says what it is."""
    state = home / ".local/state/consentry"
    state.mkdir(parents=True, mode=0o700)
    os.mkfifo(state / "ledger.db", 0o600)
    with pytest.raises(LedgerProblem, match="is not a file: a pipe") as caught:
        opens(around())
    assert caught.value.code is Code.LEDGER_CORRUPT
