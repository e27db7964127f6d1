"""A rehearsal's commit, or an undoing, that is killed anywhere is finished or taken back, never half."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.enforce.layers import another_device, made_layer
from tests.enforce.test_commitcrashes import (
    REPOSITORY,
    SCRIPT,
    host_before,
    opened_up,
    require_whole,
)

SMALL = 3
"""Every third step in `make test`; each one in `make prove`."""


def _every() -> int:
    return 1 if os.environ.get("CONSENTRY_PROOF") == "full" else SMALL


def _crashes(place: Path, way: str, state: Path, every: int) -> list[dict[str, Any]]:
    template = host_before(place / "template")
    (template / "shut").chmod(0o555)
    layer = made_layer(place, template, SCRIPT).folder
    words = [sys.executable, "-m", "tests.enforce.effectcrashes", str(place), way, str(state)]
    words.append(str(layer))
    done = subprocess.run(
        [*words, str(every)], cwd=REPOSITORY, capture_output=True, check=False, timeout=110
    )
    opened_up(place)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return [json.loads(line) for line in done.stdout.splitlines()]


def _trees(crashes: list[dict[str, Any]]) -> Counter[str]:
    found = require_whole(crashes)
    assert crashes[-1].get("end") is True
    return found


@pytest.mark.timeout(120)
@pytest.mark.parametrize("way", ["rehearsed", "undo", "undo-two-renames"])
def test_a_crash_at_any_step_leaves_the_old_or_the_new_tree(way: str, tmp_path: Path) -> None:
    """Before the journal it is the old one, from the journal on the new one."""
    trees = _trees(_crashes(tmp_path, way, tmp_path / "state", _every()))
    assert set(trees) == {"old", "new"}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("way", ["rehearsed", "undo"])
def test_the_same_where_the_state_lies_on_another_file_system(way: str, tmp_path: Path) -> None:
    """What was replaced goes to the state directory as a copy, and comes back as one."""
    state = another_device(tmp_path)
    if state is None:
        pytest.skip("this host has no second file system to write to")
    try:
        crashes = _crashes(tmp_path, way, state, _every())
    finally:
        shutil.rmtree(state)
    assert set(_trees(crashes)) == {"old", "new"}


@pytest.mark.timeout(120)
def test_a_file_that_is_made_meanwhile_stops_an_undoing_as_a_whole(tmp_path: Path) -> None:
    """Killed at whatever step: the files of the run stay, all of them, or all are taken back."""
    crashes = _crashes(tmp_path, "undo-meddled", tmp_path / "state", _every())
    assert set(require_whole(crashes)) <= {"old", "new"}
    assert "old" in {crash["tree"] for crash in crashes}


@pytest.mark.prove
@pytest.mark.timeout(900)
@pytest.mark.parametrize("way", ["rehearsed", "undo", "undo-two-renames"])
def test_a_crash_at_each_single_step(way: str, tmp_path: Path) -> None:
    """The full size."""
    assert set(_trees(_crashes(tmp_path, way, tmp_path / "state", 1))) == {"old", "new"}
