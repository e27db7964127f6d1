"""However many runs there were, none leaves a process, mount, descriptor, group or file behind."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.service import leftovers
from tests.store.sizes import IS_FULL

RUNS = 10_000 if IS_FULL else 60
# A box that is built ahead may not have been counted before; it has fewer than this of anything.
AHEAD = 12
# The launcher, the first process of the box, and the program.
LIVING = 3


def counted(kind: str, project: Path, state: Path) -> dict[str, Any]:
    """What a process of its own has counted, which made so many runs."""
    done = subprocess.run(
        [sys.executable, leftovers.__file__, kind, str(RUNS), str(project), str(state)],
        env={**os.environ, "CONSENTRY_STATE": str(state)},
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    said: dict[str, Any] = json.loads(done.stdout)
    return said


@pytest.mark.timeout(3600 if IS_FULL else 300)
@pytest.mark.parametrize("kind", ["exec", "code"])
def test_runs_in_a_row_leave_nothing_behind(kind: str, project: Path, tmp_path: Path) -> None:
    """Not while the library is open, but for what it keeps for the next run; and nothing after it.

    While a program runs the same counts see it: its process, its descriptors, its mounts.
    """
    said = counted(kind, project, tmp_path / "state")
    before, after = said["before"], said["after"]
    during, then = said["during"], said["then"]
    assert during["processes"] >= LIVING
    assert during["mounts"] >= 1
    assert during["descriptors"] > then["descriptors"]
    assert after == {name: min(after[name], before[name] + AHEAD) for name in before}
    for name in ("mounts", "box folders"):
        assert after[name] <= before[name], name
    assert said["files after"] == said["files before"]
    assert "ledger.db" in said["files after"]
    assert said["closed"] == said["start"]
    assert said["launchers"] >= 1
    assert said["living"] == []
    assert said["folders"] >= 1
    assert said["left"] == []
