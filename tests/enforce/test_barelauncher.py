"""The launcher of runs without namespaces, where the host is short of what it needs."""

import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.native import calls
from consentry.enforce.native.nonamespaces import NoNamespaces
from consentry.surface.protected import protected_roots
from tests.enforce.bareruns import ground, wanted_by

pytestmark = pytest.mark.skipif(calls.landlock_abi() < 6, reason="needs Landlock's scopes")


@pytest.fixture
def workspace() -> Iterator[Path]:
    """One that every user may enter."""
    with ground(os.getuid()) as place:
        yield place / "ws"


@pytest.fixture
def engine() -> Iterator[NativeEngine]:
    """One that was refused namespaces."""
    made = NativeEngine(None, protected_roots())
    made._has_looked = True
    made._settle_on(NoNamespaces("clone: refused", ""))
    yield made
    made.close()


def _printed(engine: NativeEngine, workspace: Path) -> bytes:
    wanted = wanted_by({"workspace": str(workspace), "argv": ["echo", "ran"]})
    return engine._held_run(engine.compile(wanted), (), Io(keeps=True)).stdout


def _opened_by(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def _comes_back_to(most: int, launcher: int) -> bool:
    """Whether it has no more than that when it has buried every keeper."""
    until = time.monotonic() + 60
    while _opened_by(launcher) > most and time.monotonic() < until:
        time.sleep(0.01)
    return _opened_by(launcher) <= most


def test_short_of_descriptors_it_refuses_and_goes_on(engine: NativeEngine, workspace: Path) -> None:
    """With however few: nothing runs, nothing stays open, and with enough the next one runs."""
    assert _printed(engine, workspace) == b"ran\n"
    launcher = engine._launcher()._process.pid
    before = _opened_by(launcher)
    try:
        usual = resource.prlimit(launcher, resource.RLIMIT_NOFILE)
    except PermissionError:
        pytest.skip("the launcher is another user, whose limits this root may not change")
    for most in range(before, before + 12):
        resource.prlimit(launcher, resource.RLIMIT_NOFILE, (most, usual[1]))
        try:
            assert _printed(engine, workspace) == b"ran\n"
        except Refused:
            continue
    resource.prlimit(launcher, resource.RLIMIT_NOFILE, usual)
    assert _printed(engine, workspace) == b"ran\n"
    assert _comes_back_to(before, launcher)


def test_many_runs_leave_nothing_behind(engine: NativeEngine, workspace: Path) -> None:
    """No descriptor of ours or the launcher's."""
    assert _printed(engine, workspace) == b"ran\n"
    launcher = engine._launcher()._process.pid
    before = _opened_by(launcher), _opened_by(os.getpid())
    for _ in range(20):
        assert _printed(engine, workspace) == b"ran\n"
    assert _comes_back_to(before[0], launcher)
    assert _opened_by(os.getpid()) == before[1]


@pytest.mark.skipif(os.getuid() != 0, reason="a program of an ordinary user's own needs a copy")
def test_a_file_that_is_no_program_is_told(engine: NativeEngine, workspace: Path) -> None:
    """Only the kernel knows when it is to be started, and then nothing else is open to say it."""
    workspace.parent.chmod(0o755)
    broken = workspace / "broken"
    broken.write_bytes(b"\x7fELF, and nothing else")
    broken.chmod(0o755)
    os.chown(broken, 0, 0)
    wanted = wanted_by({"workspace": str(workspace), "argv": [str(broken)], "read": ["./"]})
    with pytest.raises(Refused) as raised:
        engine._held_run(engine.compile(wanted), (), Io(keeps=True))
    assert raised.value.code is Code.PROGRAM_UNSTARTABLE
