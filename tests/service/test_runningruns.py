"""Runs under a consent are known while they last, and end when they are told to."""

import fcntl
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest

from consentry.service.leader import this_process
from consentry.service.runningruns import FOLDER, RunningRuns

CONSENT = "consent-00000000-0000-7000-8000-000000000001"
OTHER = "consent-00000000-0000-7000-8000-000000000002"

_HOLDER = f"""
import sys, time
from pathlib import Path
from consentry.service.runningruns import RunningRuns
with RunningRuns(Path(sys.argv[1])).noted("run-held", "{CONSENT}"):
    print("ready", flush=True)
    time.sleep(600)
"""


def test_a_run_is_known_while_it_lasts(tmp_path: Path) -> None:
    """With its consent and its process; afterwards nothing is left."""
    runs = RunningRuns(tmp_path)
    assert runs.going_on() == []
    with runs.noted("run-a", CONSENT) as is_told, runs.noted("run-b", OTHER):
        assert [(each.name, each.consent_id) for each in runs.going_on()] == [
            ("run-a", CONSENT),
            ("run-b", OTHER),
        ]
        assert runs.going_on()[0].process == this_process()
        assert not is_told()
    assert runs.going_on() == []
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_only_runs_under_that_consent_are_told(tmp_path: Path) -> None:
    """And whoever ends them waits until they are gone."""
    runs = RunningRuns(tmp_path)
    ended: list[list[str]] = []
    with runs.noted("run-b", OTHER) as other:
        with runs.noted("run-a", CONSENT) as is_told:
            ending = Thread(target=lambda: ended.append([r.name for r in runs.end(CONSENT)]))
            ending.start()
            deadline = time.monotonic() + 30
            while not is_told():
                assert time.monotonic() < deadline
                time.sleep(0.01)
            assert ended == []
        ending.join(30)
        assert ended == [["run-a"]]
        assert not other()


def test_what_a_killed_process_left_is_no_run(tmp_path: Path) -> None:
    """Its lock is gone with it."""
    words = [sys.executable, "-c", _HOLDER, str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        runs = RunningRuns(tmp_path)
        assert [each.name for each in runs.going_on()] == ["run-held"]
        holder.send_signal(signal.SIGKILL)
        holder.wait(30)
    assert runs.end(CONSENT) == []
    assert list((tmp_path / FOLDER).iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"{", b'{"consentId": 1, "process": null}'])
def test_a_note_that_cannot_be_read_is_passed_over(tmp_path: Path, content: bytes) -> None:
    """Just begun, or not ours; nobody is ended for it."""
    runs = RunningRuns(tmp_path)
    with runs.noted("run-a", CONSENT):
        note = tmp_path / FOLDER / "run-odd.json"
        note.write_bytes(content)
        with note.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            assert [each.name for each in runs.going_on()] == ["run-a"]
    assert [each.name for each in (tmp_path / FOLDER).iterdir()] == ["run-odd.json"]
    assert runs.going_on() == []
    assert list((tmp_path / FOLDER).iterdir()) == []
