"""A commit or an undoing that is killed leaves files and ledger in agreement after the next start."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
SMALL = 4
"""Every fourth step in `make test`; each one in `make prove`."""


@pytest.mark.timeout(600)
def test_files_and_ledger_agree_after_a_crash_at_any_step(tmp_path: Path) -> None:
    """Done and recorded once, or not done, not recorded as done, and still there to be done."""
    every = 1 if os.environ.get("CONSENTRY_PROOF") == "full" else SMALL
    words = [sys.executable, "-m", "tests.service.effectcrashes", str(tmp_path), str(every)]
    done = subprocess.run(words, cwd=REPOSITORY, capture_output=True, check=False, timeout=590)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    crashes: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert {crash["deed"] for crash in crashes} == {"commit", "undo"}
    for crash in crashes:
        is_new = crash["tree"] == "new"
        assert crash["whole"] is is_new, crash
        assert crash["left"] == [], crash
        if crash["deed"] == "commit":
            assert crash["outcomes"].count("committed") == is_new, crash
            assert crash["waiting"] is not is_new, crash
            assert crash["undoable"] is is_new, crash
        else:
            assert crash["outcomes"].count("undone") == (not is_new), crash
            assert crash["undoable"] is is_new, crash
    for deed in ("commit", "undo"):
        assert {each["tree"] for each in crashes if each["deed"] == deed} == {"old", "new"}
