"""Runs under a consent are known while they last, and end when they are told to."""

import fcntl
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.service.leader import this_process
from consentry.service.runningruns import FOLDER, RunningRuns, RunNote

CONSENT = "consent-00000000-0000-7000-8000-000000000001"
OTHER = "consent-00000000-0000-7000-8000-000000000002"

_HOLDER = f"""
import sys, time
from pathlib import Path
from consentry.service.runningruns import RunNote, RunningRuns
note = RunNote("{CONSENT}", "api", "/place", "/place/below")
with RunningRuns(Path(sys.argv[1])).noted("run-held", note):
    print("ready", flush=True)
    time.sleep(600)
"""


def note(consent: str | None) -> RunNote:
    """A note of a run under that consent."""
    return RunNote(consent, "user_command", "/place", "/place")


def test_a_run_is_known_while_it_lasts(tmp_path: Path) -> None:
    """With its consent and its process; afterwards nothing is left."""
    runs = RunningRuns(tmp_path)
    assert runs.going_on() == []
    with runs.noted("run-a", note(CONSENT)) as is_told, runs.noted("run-b", note(OTHER)):
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
    with runs.noted("run-b", note(OTHER)) as other:
        with runs.noted("run-a", note(CONSENT)) as is_told:
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
    left = RunNote(CONSENT, "api", "/place", "/place/below")
    assert list(runs.cut_off()) == [("run-held", left)]
    assert list(runs.cut_off()) == []
    assert list((tmp_path / FOLDER).iterdir()) == []


def test_a_run_that_goes_on_was_not_cut_off(tmp_path: Path) -> None:
    """Nor was one without a consent, which is noted all the same."""
    runs = RunningRuns(tmp_path)
    with runs.noted("run-a", note(None)):
        assert list(runs.cut_off()) == []
        assert [each.consent_id for each in runs.going_on()] == [None]


def test_a_run_that_the_ledger_could_not_take_is_left_for_the_next_start(tmp_path: Path) -> None:
    """Any other end of the block takes its note away."""
    runs = RunningRuns(tmp_path)
    with pytest.raises(LedgerProblem), runs.noted("run-a", note(None)):
        raise LedgerProblem(Code.RUN_UNRECORDED, "the disk is full")
    with pytest.raises(KeyboardInterrupt), runs.noted("run-b", note(None)):
        raise KeyboardInterrupt
    assert [name for name, _ in runs.cut_off()] == ["run-a"]


@pytest.mark.parametrize("content", [b"", b"{", b'{"consentId": 1, "process": null}'])
def test_a_note_that_cannot_be_read_is_passed_over(tmp_path: Path, content: bytes) -> None:
    """Just begun, or not ours; nobody is ended for it."""
    runs = RunningRuns(tmp_path)
    with runs.noted("run-a", note(CONSENT)):
        odd = tmp_path / FOLDER / "run-odd.json"
        odd.write_bytes(content)
        with odd.open("rb") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            assert [each.name for each in runs.going_on()] == ["run-a"]
    assert [each.name for each in (tmp_path / FOLDER).iterdir()] == ["run-odd.json"]
    assert runs.going_on() == []
    assert list(runs.cut_off()) == [("run-odd", None)]
    assert list((tmp_path / FOLDER).iterdir()) == []
