"""One run from decision to record, with a real ledger and a real box."""

import fcntl
import hashlib
import os
import signal
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from consentry.base.canonical import Json
from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused
from consentry.base.ids import Uuid7Ids
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.native import calls
from consentry.record.auditfields import ExecutionStatus, Trigger
from consentry.service.audit import whole_event
from consentry.service.commandline import RunWish, bind_wish
from consentry.service.execution import carry_out
from consentry.service.ledgers import ledger_for_reading, ledger_place
from consentry.service.runledger import Run
from consentry.service.runs import Runner
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal
from tests.service.conftest import MakeAround

PATH = {"PATH": "/usr/bin:/bin"}
_MS_SHARED = 1 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where the tests run things."""

    around: Surroundings
    project: Path

    def run(self, *words: str, **wish: Any) -> Run:
        """A run of its own, with its output kept."""
        return carry_out(RunWish(words, **wish), self.around, Io(keeps=True))

    def events(self) -> list[dict[str, Any]]:
        """Everything on record, in its order."""
        history = ledger_for_reading(self.around)
        assert history is not None
        with closing(history.database):
            return [dict(whole_event(row)) for row in history.events()]


@pytest.fixture
def place(around: MakeAround, project: Path) -> Place:
    """The project, with programs to be found."""
    return Place(around(environ=PATH), project)


def test_decision_permit_and_record_follow_each_other(place: Place) -> None:
    """Decided, permitted, spent, run, recorded; each names the one before."""
    run = place.run("echo", "hello")
    assert (run.outcome.stdout, run.status) == (b"hello\n", ExecutionStatus.SUCCESS)
    events = {each["type"]: each for each in place.events()}
    order = [each["type"] for each in place.events()][-4:]
    assert order == ["run.decided", "permit.made", "permit.spent", "tool.audit"]
    decided, made = events["run.decided"], events["permit.made"]["payload"]
    entry = events["tool.audit"]["payload"]
    assert made["decisionEventId"] == decided["eventId"]
    assert decided["payload"]["consentMethod"] == "command_line"
    assert entry == run.entry
    assert entry["permitId"] == made["permitId"]
    assert entry["tool"]["version"] == made["digests"]["/usr/bin/echo"]
    assert entry["context"]["triggeredBy"] == "user_command"


def test_command_line_stores_no_consent(place: Place) -> None:
    """What a line decides holds for that line alone."""
    place.run("true")
    types = {each["type"] for each in place.events()}
    assert not {each for each in types if each.startswith(("consent.", "grant.", "approval."))}


def test_bytes_that_were_decided_are_run(place: Place) -> None:
    """A script that is rewritten after its permit was spent runs as it was when it was hashed."""
    script = place.project / "tool"
    script.write_text("#!/bin/sh\nwhile ! test -e go; do :; done\necho first\n")
    script.chmod(0o755)
    digest = f"sha256:{hashlib.sha256(script.read_bytes()).hexdigest()}"

    def rewrite() -> None:
        while [each["type"] for each in place.events()].count("permit.spent") < 2:
            time.sleep(0.01)
        script.write_text("#!/bin/sh\necho second\n")
        (place.project / "go").touch()

    place.run("true")  # so that there is a ledger to look into
    with ThreadPoolExecutor() as pool:
        done = pool.submit(rewrite)
        run = place.run("./tool")
        done.result()
    assert run.outcome.stdout == b"first\n"
    assert _tool(run)["version"] == digest


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_umask_of_the_caller_is_no_part_of_the_box(place: Place, umask: int) -> None:
    """A caller who closes new files to others can start things all the same."""
    before = os.umask(umask)
    try:
        run = place.run("sh", "-c", "umask; pwd")
    finally:
        os.umask(before)
    assert run.outcome.stdout.decode().split() == ["0022", str(place.project)]


def _tool(run: Run) -> Mapping[str, Json]:
    tool = run.entry["tool"]
    assert isinstance(tool, Mapping)
    return tool


@pytest.fixture
def journal(place: Place) -> Iterator[Journal]:
    """The ledger of the place, opened for writing."""
    clock = SystemClock()
    journal = journal_here(place.around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        yield journal


def test_refusal_after_the_permit_is_recorded(place: Place, journal: Journal) -> None:
    """The folder was replaced after it was looked at: nothing started, and the record says so."""
    bound = bind_wish(RunWish(("true",)), place.project, place.around)
    with closing(NativeEngine(None, bound.protected)) as engine:
        plan = engine.compile(bound.confinement)
        place.project.rename(place.project.with_name("moved"))
        place.project.mkdir()
        runner = Runner(engine, journal, ledger_place(place.around).folder, None)
        with pytest.raises(Refused) as raised:
            runner.run(bound, plan, Io(keeps=True))
    assert raised.value.code is Code.FILESYSTEM_RACE
    entry = place.events()[-1]["payload"]
    assert entry["execution"]["status"] == "not_started"
    assert entry["execution"]["problem"]["code"] == "filesystem-race"
    assert entry["execution"]["startTime"] is None
    assert entry["sandbox"]["resourceUsage"] == {"cpuTime": None, "memoryPeak": None}


def _end_the_launcher_when_told(engine: NativeEngine, told: int) -> None:
    os.read(told, 1)
    assert engine._parent is not None
    os.kill(engine._parent._process.pid, signal.SIGKILL)


def test_a_run_that_was_lost_sight_of_is_not_said_to_have_never_begun(
    place: Place, journal: Journal
) -> None:
    """The launcher died while the program ran: what it did is not known, and the next one runs."""
    wish = RunWish(("sh", "-c", "echo begun; read forever"), execute=("any",))
    bound = bind_wish(wish, place.project, place.around)
    stays, open_end = os.pipe()
    told, tells = os.pipe()
    with closing(NativeEngine(None, bound.protected)) as engine, ThreadPoolExecutor(1) as threads:
        runner = Runner(engine, journal, ledger_place(place.around).folder, None)
        ended = threads.submit(_end_the_launcher_when_told, engine, told)
        with pytest.raises(Refused, match="not known"):
            runner.run(bound, engine.compile(bound.confinement), Io(stdin=stays, stdout=tells))
        ended.result()
        for descriptor in (stays, open_end, told, tells):
            os.close(descriptor)
        entry = place.events()[-1]["payload"]
        assert entry["execution"]["status"] == "killed"
        assert entry["execution"]["startTime"] is not None
        assert entry["execution"]["problem"]["code"] == "engine-failed"
        bound = bind_wish(RunWish(("true",)), place.project, place.around)
        run = runner.run(bound, engine.compile(bound.confinement), Io(keeps=True))
        assert run.status is ExecutionStatus.SUCCESS


def test_state_in_the_workspace_is_refused(around: MakeAround, project: Path) -> None:
    """Confined code must not reach what records it; nothing is made there."""
    here = around(environ={**PATH, "CONSENTRY_STATE": str(project / "state")})
    with pytest.raises(ConsentryError) as raised:
        carry_out(RunWish(("true",)), here, Io(keeps=True))
    assert raised.value.code is Code.STATE_REFUSED
    assert list(project.iterdir()) == []


def test_library_is_told_apart_from_a_person(place: Place) -> None:
    """The record says what set a run off."""
    wish = RunWish(("true",))
    run = carry_out(wish, place.around, Io(keeps=True), trigger=Trigger.API)
    context = run.entry["context"]
    assert isinstance(context, Mapping)
    assert context["triggeredBy"] == "api"


@pytest.fixture
def descriptors() -> Iterator[None]:
    """Fails where a test leaves descriptors open."""
    before = len(list(Path("/proc/self/fd").iterdir()))
    yield
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


@pytest.mark.usefixtures("descriptors")
def test_runs_leave_nothing_open(place: Place) -> None:
    """Neither descriptors nor folders nor mounts, whether it writes or not."""
    temporary = _unused_folders()
    with ThreadPoolExecutor(1, initializer=_have_mounts_of_our_own) as thread:
        before, after = thread.submit(_mounts_around_runs, place).result()
    assert after == before
    deadline = time.monotonic() + 30
    while not _unused_folders() <= temporary:  # somebody may be just about to use one
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _mounts_around_runs(place: Place) -> tuple[str, str]:
    before = Path("/proc/thread-self/mounts").read_text()
    for _ in range(3):
        place.run("sh", "-c", "echo x > made", write=(".",))
    return before, Path("/proc/thread-self/mounts").read_text()


def _have_mounts_of_our_own() -> None:
    """What others mount meanwhile is not seen by this thread; what its own runs let out is."""
    if os.geteuid() == 0:  # nobody else may
        calls.unshare(calls.CLONE_NEWNS)
        calls.mount("none", "/", "", calls.MS_REC | calls.MS_PRIVATE)
        calls.mount("none", "/", "", calls.MS_REC | _MS_SHARED)


def _unused_folders() -> set[Path]:
    """Folders of ours that no living process has; others run boxes at the same time."""
    found = set()
    for path in Path("/tmp").glob("consentry-box-*"):
        try:
            folder = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        try:
            fcntl.flock(folder, fcntl.LOCK_SH | fcntl.LOCK_NB)
            found.add(path)
        except BlockingIOError:
            continue
        finally:
            os.close(folder)
    return {path for path in found if path.exists()}
