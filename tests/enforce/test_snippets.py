"""Snippets in warm workers: a result or a typed error, and nothing of one run in the next."""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.native import calls, snippetplan
from consentry.enforce.native.parent import NativeParent
from consentry.enforce.native.planner import Host
from consentry.enforce.native.snippetplan import compile_snippet
from consentry.enforce.native.snippets import MOST_WORKERS, NAME, SnippetError, SnippetWorkers
from consentry.enforce.native.supervisor import Bounds, Supervised, Supervisor
from consentry.enforce.streams import Pipe
from consentry.surface.lattice import Surface
from consentry.surface.pattern import Pattern
from consentry.surface.protected import protected_roots


@dataclass(frozen=True, slots=True)
class Ran:
    """How a snippet went."""

    result: object
    error: SnippetError | None
    supervised: Supervised
    stdout: bytes
    stderr: bytes


class Bench:
    """One launcher, its workers, and a folder to read."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.parent = NativeParent()
        self.host = Host(
            uid=os.getuid(),
            gid=os.getgid(),
            machine=calls.MACHINE,
            landlock_abi=calls.landlock_abi(),
            home=None,
            protected=protected_roots(),
        )
        self.workers = SnippetWorkers(self.parent)

    def confinement(
        self, surface: Surface | None = None, denied: tuple[Pattern, ...] = ()
    ) -> Confinement:
        """One that opens the folder, unless a surface says otherwise."""
        return Confinement(
            surface=Surface.of(read=["./"]) if surface is None else surface,
            workspace=self.workspace,
            program=Program(Path("snippet.py"), (), self.workspace),
            environment={},
            denied=denied,
        )

    def run(
        self,
        source: str,
        surface: Surface | None = None,
        preload: tuple[str, ...] = (),
        bounds: Bounds | None = None,
        denied: tuple[Pattern, ...] = (),
        name: str = NAME,
        stdout: int | None = None,
        **names: object,
    ) -> Ran:
        """A snippet that may read the folder, unless a surface says otherwise."""
        pipes = (Pipe(stdout, keeps=True), Pipe(None, keeps=True))
        plan = compile_snippet(self.confinement(surface, denied), self.host)
        started = self.workers.start(
            source.encode(), names, plan, pipes, name=name, preload=preload
        )
        supervised = Supervisor(started.running, bounds or Bounds(), started.pipes).stay()
        out, err = (bytes(pipe.kept) for pipe in pipes)
        return Ran(*started.answer(), supervised, out, err)


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Shared by the tests here, as runs share a worker."""
    workspace = tmp_path_factory.mktemp("workspace")
    (workspace / "data.txt").write_text("forty-two")
    made = Bench(workspace)
    yield made
    made.parent.close()


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("1 + 1", 2),
        ("x = 3\nx * 2", 6),
        ("result = {'a': [1, None, 'é']}", {"a": [1, None, "é"]}),
        ("if True:\n    return [1]\nreturn 2", [1]),
        ("def f():\n    return 7\nf()", 7),
        ("open('data.txt').read()", "forty-two"),
        ("n + 1", 42),
        ("pass", None),
        ("", None),
    ],
)
def test_a_snippet_gives_back_a_json_value(bench: Bench, source: str, result: object) -> None:
    """`result`, a top-level return, or the last expression; names it is handed are there."""
    outcome = bench.run(source, n=41)
    assert (outcome.result, outcome.error) == (result, None)
    assert outcome.supervised.ended.status == 0


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("def", "SyntaxError"),
        ("object()", "ResultNotJson"),
        ("float('nan')", "ResultNotJson"),
        ("import os; os._exit(4)", "NoResult"),
        ("import nowhere", "ModuleNotFoundError"),
    ],
)
def test_what_goes_wrong_is_a_typed_error(bench: Bench, source: str, kind: str) -> None:
    """Never an exception on this side."""
    outcome = bench.run(source)
    assert outcome.error is not None
    assert outcome.error.type == kind


def test_printed_text_is_kept_apart_from_the_result(bench: Bench) -> None:
    """And a status that the snippet chooses is passed on."""
    outcome = bench.run("import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(3)")
    assert (outcome.stdout, outcome.stderr) == (b"out\n", b"err\n")
    assert outcome.supervised.ended.status == 3


def test_nothing_of_one_run_is_there_in_the_next(bench: Bench) -> None:
    """Neither files in the run's own folders, nor variables, nor modules that were changed."""
    plan = Surface.of(read=["./"], write=["/tmp/"])
    first = bench.run(
        "import json, builtins\n"
        "for place in ('/tmp/x', '/dev/shm/x', '/home/user/x'):\n"
        "    open(place, 'w').write('left')\n"
        "json.left = builtins.left = 1",
        plan,
    )
    assert first.error is None
    second = bench.run(
        "import builtins, json, os\n"
        "left = [hasattr(json, 'left'), hasattr(builtins, 'left')]\n"
        "left + [os.path.exists(p) for p in ('/tmp/x', '/dev/shm/x', '/home/user/x')]",
        plan,
    )
    assert second.result == [False] * 5


LOOK = """
import os
def seen(path):
    try:
        return open(path).read()
    except OSError as problem:
        return problem.errno
[seen(path) for path in ("now.txt", "new.txt", "part/now.txt", "part/new.txt")] + os.listdir("part")
"""


def test_each_run_finds_the_workspace_as_it_is(tmp_path: Path) -> None:
    """Also where an earlier run looked, and in a copy that was made before the change."""
    bench = Bench(tmp_path)
    try:
        (tmp_path / "part").mkdir()
        for path in ("now.txt", "part/now.txt"):
            (tmp_path / path).write_text("before")
        for _ in range(4):
            assert bench.run(LOOK).result == ["before", 2, "before", 2, "now.txt"]
        for path in ("now.txt", "part/now.txt"):
            (tmp_path / "written").write_text("after")
            (tmp_path / "written").replace(tmp_path / path)
        (tmp_path / "new.txt").write_text("new")
        assert bench.run(LOOK).result == ["after", "new", "after", 2, "now.txt"]
        (tmp_path / "part").rename(tmp_path / "old")
        (tmp_path / "part").mkdir()
        (tmp_path / "part/new.txt").write_text("another")
        for _ in range(4):
            assert bench.run(LOOK).result == ["after", "new", 2, "another", "new.txt"]
    finally:
        bench.parent.close()


def test_a_folder_on_the_way_to_a_covered_place_may_be_replaced(tmp_path: Path) -> None:
    """Whoever covers a place looks up the folders above it, and copies of a worker do so early."""
    bench = Bench(tmp_path)
    try:
        denied = (Pattern.parse("./part/secret"),)
        look = "import os\n[sorted(os.listdir('part')), os.path.getsize('part/secret')]"
        (tmp_path / "part").mkdir()
        (tmp_path / "part/secret").write_text("secret")
        for _ in range(4):
            assert bench.run(look, denied=denied).result == [["secret"], 0]
        (tmp_path / "part").rename(tmp_path / "old")
        (tmp_path / "part").mkdir()
        (tmp_path / "part/secret").write_text("another")
        (tmp_path / "part/beside").write_text("x")
        for _ in range(2):
            assert bench.run(look, denied=denied).result == [["beside", "secret"], 0]
    finally:
        bench.parent.close()


def test_copies_wait_for_the_next_runs(tmp_path: Path) -> None:
    """A worker that is used again keeps a few; each serves one run, and they go with the worker."""
    bench = Bench(tmp_path)
    try:
        for _ in range(3):
            assert bench.run("import builtins\nhasattr(builtins, 'left')").result is False
            assert bench.run("import builtins\nbuiltins.left = 1").error is None
        worker = _workers(_launcher())[0]
        _until(lambda: len(_children(worker)) == 2)
        waiting = _children(worker)
        bench.run("1")
        _until(lambda: len(set(_children(worker)) - set(waiting)) == 1)
        copies = _children(worker)
        os.kill(worker, signal.SIGKILL)
        _until(lambda: not any(map(_is_alive, (worker, *copies))))
    finally:
        bench.parent.close()


def test_mistakes_are_told_by_the_snippet_s_own_name(bench: Bench) -> None:
    """In what is raised before anything runs, and where something went wrong in it."""
    for source in ("def", "1 / 0"):
        error = bench.run(source, name="sums/job.py").error
        assert error is not None
        assert 'File "sums/job.py", line 1' in error.traceback
        assert bench.run(source).error.traceback.count('File "<snippet>", line 1') == 1  # type: ignore[union-attr]


def test_runs_draw_different_random_numbers(bench: Bench) -> None:
    """Though they are copies of one process that has the generator loaded."""
    drawn = {
        bench.run("import random\nrandom.random()", preload=("random",)).result for _ in range(9)
    }
    assert len(drawn) == 9


SPEAKS = """
import os, socket
said = []
try:
    ours, theirs = os.openpty()
    os.write(ours, b'spoken\\n')
    said.append('terminal')
except OSError:
    pass
named = socket.socket(socket.AF_UNIX)
named.bind('\\0spoken')
print('ready', flush=True)
while not os.stat('heard').st_size:
    pass
said
"""
HEARS = """
import os
found, names = [], []
try:
    names = os.listdir('/dev/pts')
except OSError:
    pass
for name in names:
    with open(os.open('/dev/pts/' + name, os.O_RDWR | os.O_NONBLOCK), 'rb', 0) as other:
        if name != 'ptmx' and other.read(6) == b'spoken':
            found.append('terminal')
if 'spoken' in open('/proc/net/unix').read():
    found.append('name')
found
"""


def test_copies_of_one_worker_do_not_hear_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the same time: neither by names of sockets nor by terminals, unless those are shown."""
    assert _heard_beside(tmp_path / "apart") == ([], [])
    shown = snippetplan._own_steps
    monkeypatch.setattr(
        snippetplan,
        "_own_steps",
        lambda own: (step for step in shown(own) if step != ("hide_folder", "/dev/pts")),
    )
    assert _heard_beside(tmp_path / "together") == (["terminal"], ["terminal"])


def _heard_beside(workspace: Path) -> tuple[object, object]:
    """What one run says, and another one of the same worker hears of it."""
    workspace.mkdir()
    (workspace / "heard").touch()
    bench = Bench(workspace)
    reader, writer = os.pipe()
    bounds = Bounds(wall_seconds=60)
    with ThreadPoolExecutor(1) as threads, closing(bench.parent):
        speaking = threads.submit(bench.run, SPEAKS, bounds=bounds, stdout=writer)
        assert os.read(reader, 5) == b"ready"
        heard = bench.run(HEARS, bounds=bounds)
        (workspace / "heard").write_text("yes")
        said = speaking.result()
    os.close(reader)
    os.close(writer)
    assert (said.error, heard.error) == (None, None)
    return said.result, heard.result


@pytest.mark.parametrize(
    "attempt",
    [
        "open('/etc/shadow').read()",
        "open('data.txt', 'w')",
        "open('/tmp/x', 'w')",
        "import os; os.listdir('/.held')",
        "import os; os.listdir('/var/log')",
        "import subprocess; subprocess.run(['/usr/bin/id'], check=True)",
        "import socket; socket.create_connection(('192.0.2.1', 80), 2)",
        "import socket; socket.socket(16, 3, 0)",
        "import os; os.kill(2, 0)",
        "import ctypes; assert ctypes.CDLL(None).unshare(0x10000000) == 0",
        "import os; os.memfd_create('x')",
    ],
)
def test_what_is_not_granted_fails(bench: Bench, attempt: str) -> None:
    """No file, no program, no network, no other process; the host's file stays as it was."""
    outcome = bench.run(attempt)
    assert outcome.error is not None
    assert (bench.workspace / "data.txt").read_text() == "forty-two"


def test_the_run_s_own_folders_can_be_granted(bench: Bench) -> None:
    """The same write as above works where the plan allows it."""
    plan = Surface.of(write=["/tmp/"])
    assert bench.run("open('/tmp/x', 'w').write('ab')", plan).result == 2


def test_secrets_of_the_caller_are_not_inherited(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its environment nor its open files."""
    monkeypatch.setenv("A_SECRET", "s3cr3t")
    outcome = bench.run(
        "import os\n[dict(os.environ), sorted(map(int, os.listdir('/proc/self/fd')))]"
    )
    assert outcome.error is None
    assert isinstance(outcome.result, list)
    names, descriptors = outcome.result
    assert "A_SECRET" not in names
    # The listing has one descriptor of its own open while it reads.
    assert set(descriptors) <= {0, 1, 2, 3, 4}


def test_a_snippet_that_does_not_end_is_ended(bench: Bench) -> None:
    """With everything it started; and the worker goes on."""
    bounds = Bounds(wall_seconds=0.3)
    outcome = bench.run("import os\nos.fork()\nwhile True: pass", bounds=bounds)
    assert outcome.supervised.timed_out
    assert bench.run("'still here'").result == "still here"


def test_a_snippet_ends_with_whoever_would_hear_of_it(bench: Bench) -> None:
    """The caller was interrupted when it had just been sent: nobody holds it to its time."""
    pipes = (Pipe(None, keeps=True), Pipe(None, keeps=True))
    plan = compile_snippet(bench.confinement(), bench.host)
    source = b"print('begun', flush=True)\nwhile True: pass"
    started = bench.workers.start(source, {}, plan, pipes)
    for pipe in started.pipes:
        os.close(pipe.writer)
        pipe.writer = -1
    assert os.read(pipes[0].reader, 6) == b"begun\n"
    started.running.close()
    assert os.read(pipes[0].reader, 1) == b""  # the last one that could print is gone
    for pipe in started.pipes:
        pipe.close()


def test_an_end_that_comes_before_the_start_is_not_lost(bench: Bench) -> None:
    """Whoever wants it to end need not know whether it has begun."""
    plan = compile_snippet(bench.confinement(), bench.host)
    pipes = (Pipe(None, keeps=True), Pipe(None, keeps=True))
    started = bench.workers.start(b"import time\ntime.sleep(300)", {}, plan, pipes)
    started.running.end_now()
    supervised = Supervisor(started.running, Bounds(), started.pipes).stay()
    assert supervised.ended.status == -signal.SIGKILL


def test_modules_of_the_operator_are_loaded_before_any_snippet(bench: Bench) -> None:
    """In the worker, where there is no workspace yet; a list that cannot be loaded is an error."""
    outcome = bench.run("import sys\n'xmlrpc.client' in sys.modules", preload=("xmlrpc.client",))
    assert outcome.result is True
    with pytest.raises(Exception, match="No module named 'nowhere'"):
        bench.run("1", preload=("nowhere",))


def test_a_socket_in_a_granted_folder_leads_nowhere(bench: Bench) -> None:
    """To read a folder is not to talk to whoever listens in it; outside it does listen."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(bench.workspace / "door"))
        listening.listen()
        call = f"import socket\nsocket.socket(1).connect({str(bench.workspace / 'door')!r})"
        outcome = bench.run(call)
        assert outcome.error is not None
        with socket.socket(socket.AF_UNIX) as calling:
            calling.connect(str(bench.workspace / "door"))


def test_only_what_is_granted_of_the_workspace_is_there(bench: Bench) -> None:
    """A grant of one folder shows neither the content nor the names of what lies beside it."""
    (bench.workspace / "part").mkdir(exist_ok=True)
    (bench.workspace / "part/x.txt").write_text("x")
    look = "import os\n[os.listdir('.'), open('part/x.txt').read(), os.path.exists('data.txt')]"
    assert bench.run(look, Surface.of(read=["part/"])).result == [["part"], "x", False]


@pytest.mark.parametrize(
    "said",
    [
        '{"ok": true, "result": NaN}',
        '{"ok": true, "result": 1e999}',
        "[1]",
        '{"error": 1}',
        "{} {}",
    ],
)
def test_what_is_no_json_value_is_no_result(bench: Bench, said: str) -> None:
    """A snippet may write to its result itself; what it writes is judged like any stranger's."""
    outcome = bench.run(f"import os\nos.write(3, {said.encode()!r})\nos._exit(0)")
    assert (outcome.result, outcome.error and outcome.error.type) == (None, "NoResult")


def test_a_result_has_a_largest_size(bench: Bench) -> None:
    """More than that is an error that says so."""
    outcome = bench.run("'x' * (9 << 20)")
    assert (outcome.result, outcome.error and outcome.error.type) == (None, "ResultTooLarge")


def test_workers_that_were_not_used_for_long_end(tmp_path: Path) -> None:
    """However many lists of modules and grants there are, only so many interpreters wait."""
    bench = Bench(tmp_path)
    try:
        for number in range(MOST_WORKERS + 2):
            (tmp_path / f"{number}").mkdir()
            assert bench.run("1", Surface.of(read=[f"{number}/"])).result == 1
        _until(lambda: len(_workers(_launcher())) == MOST_WORKERS)
        assert bench.run("1", Surface.of(read=["0/"])).result == 1
    finally:
        bench.parent.close()


def _launcher() -> int:
    return int(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()[-1])


def _workers(launcher: int) -> list[int]:
    """Those that make copies; root has one more process for each, which only waits."""
    first = _children(launcher)
    return [child for pid in first for child in _children(pid)] if os.getuid() == 0 else first


def _children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)
