"""Names that take long to be made hold up whoever asked for them, and nobody else."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.native import parent
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Writes
from consentry.surface.protected import protected_roots
from tests.elsewhere import folder_elsewhere
from tests.enforce.attacks.attackers import PRELUDE
from tests.enforce.boxes import ENVIRONMENT, PYTHON, program_of

# A folder that takes as long to be looked through as somebody outside likes.
HELD_UP = """
import time
from consentry.enforce.native import maker
look = maker._Bench._require_tree
def slowly(self, source, spot):
    os.close(os.open(spot.root + b"/begun", os.O_CREAT | os.O_WRONLY))
    while not os.path.exists(spot.root + b"/go"):
        time.sleep(0.01)
    look(self, source, spot)
maker._Bench._require_tree = slowly
"""
FEW = "from consentry.enforce.native import maker\nmaker._MOST_MOVED = 5\n"


@pytest.fixture
def place() -> Iterator[Path]:
    """Not below a folder that is the run's own."""
    with folder_elsewhere() as made:
        yield made


def _with(monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    first, rest = parent._PROGRAM.split("\n", 1)
    monkeypatch.setattr(parent, "_PROGRAM", f"{first}\nimport os\n{change}{rest}")


def _run(engine: NativeEngine, place: Path, code: str, writes: Writes = Writes.DIRECT) -> Outcome:
    program = program_of([PYTHON, "-I", "-S", "-c", PRELUDE + code], place)
    surface = Surface.of(read=["./"], write=["./"], run=Level.ANY)
    wanted = Confinement(surface, place, program, ENVIRONMENT, writes=writes)
    return engine._held_run(engine.compile(wanted), (), Io(keeps=True))


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_move_that_takes_long_holds_up_nobody_else(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other runs of the same launcher begin, make names and end meanwhile; then it is done, too."""
    _with(monkeypatch, HELD_UP)
    slow, quick = place / "slow", place / "quick"
    (slow / "folder").mkdir(parents=True)
    quick.mkdir()
    with (
        closing(NativeEngine(None, protected_roots())) as engine,
        ThreadPoolExecutor() as pool,
    ):
        engine._launcher()
        moving = pool.submit(_run, engine, slow, "os.rename('folder', 'moved')")
        _until((slow / "begun").exists)
        other = _run(engine, quick, "write('made'); os.mkdir('folder'); print('done')")
        assert (other.exit_code, other.stdout) == (0, b"done\n"), other.stderr
        assert not moving.done()
        assert (slow / "folder").is_dir()
        (slow / "go").touch()
        assert moving.result(timeout=60).exit_code == 0
    assert (slow / "moved").is_dir()
    assert (quick / "made").read_bytes() == b"EVIL"


def test_a_run_whose_maker_is_held_up_can_be_ended(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time is up like any other's, and the maker goes with it."""
    _with(monkeypatch, HELD_UP)
    (place / "folder").mkdir()
    with (
        closing(NativeEngine(None, protected_roots())) as engine,
        ThreadPoolExecutor() as pool,
    ):
        engine._launcher()
        io = Io(keeps=True)
        code = PRELUDE + "os.rename('folder', 'moved')"
        program = program_of([PYTHON, "-I", "-S", "-c", code], place)
        surface = Surface.of(read=["./"], write=["./"])
        wanted = Confinement(surface, place, program, ENVIRONMENT, writes=Writes.DIRECT)
        moving = pool.submit(engine._held_run, engine.compile(wanted), (), io)
        _until((place / "begun").exists)
        assert io.supervisor is not None
        io.supervisor.running.end_now()
        assert moving.result(timeout=60).signal == 9
        launcher = engine._launcher()._process.pid
        children = Path(f"/proc/{launcher}/task/{launcher}/children")
        _until(lambda: children.read_text() == "")
    assert (place / "folder").is_dir()


def test_a_folder_too_large_to_be_looked_through_is_copied(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is that of two file systems, so `mv` makes name by name what may be made."""
    _with(monkeypatch, FEW)
    (place / "large/.git").mkdir(parents=True)
    for number in range(9):
        (place / f"large/{number}").write_text(str(number))
    code = """
try:
    os.rename("large", "moved")
except OSError as problem:
    print(errno.errorcode[problem.errno], flush=True)
os.execv("/usr/bin/mv", ["mv", "large", "moved"])
"""
    with closing(NativeEngine(None, protected_roots())) as engine:
        outcome = _run(engine, place, code)
    assert outcome.stdout == b"EXDEV\n", outcome.stderr
    assert {path.name for path in (place / "moved").iterdir()} >= set(map(str, range(9)))
    assert [(place / f"moved/{number}").read_text() for number in range(9)] == list("012345678")


def test_orders_of_many_threads_are_all_carried_out(place: Path) -> None:
    """More than are sent at once; each thread has its own answer."""
    code = """
import threading
def make(number):
    for each in range(20):
        name = f"{number}-{each}"
        os.mkdir(name)
        write(name + "/file", name.encode())
        os.rename(name, name + "-moved")
threads = [threading.Thread(target=make, args=(number,)) for number in range(40)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print("done")
"""
    with closing(NativeEngine(None, protected_roots())) as engine:
        outcome = _run(engine, place, code)
    assert outcome.stdout == b"done\n", outcome.stderr
    found = {path.name: (path / "file").read_text() for path in place.iterdir()}
    names = [f"{number}-{each}" for number in range(40) for each in range(20)]
    assert found == {f"{name}-moved": name for name in names}
