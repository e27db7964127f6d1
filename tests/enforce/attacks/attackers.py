"""Attackers: the same attack from a box of the calling user and from one of an ordinary user.

    said = attacker.tries({"read": "open('/etc/shadow').read()"})
    assert said["read"] == "ENOENT"

Each expression is evaluated in a process of its own inside the box; what comes back is its value as
text, the name of the error it met, or the signal that ended it. A request is plain JSON, so that a
helper process can carry it out as another user.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import consentry
from consentry.enforce.commit import commit
from consentry.enforce.layer import LayerRoot, file_clock_ns
from consentry.enforce.layerscan import scan
from consentry.enforce.native import parent
from consentry.enforce.writerules import WriteRules
from consentry.enforce.writeverdicts import judge
from consentry.surface.lattice import Surface
from consentry.surface.modes import Reads, View, Writes
from consentry.surface.pattern import Pattern
from consentry.surface.patterns import PatternScope
from tests.enforce.attacks import without
from tests.enforce.boxes import ENVIRONMENT, PYTHON, run_in_box
from tests.enforce.layers import opened

NOBODY: Final = 65534
_MOST_TIMES: Final = 1000
_SOURCE = Path(consentry.__file__).parents[1]

PRELUDE: Final = r"""
import ctypes, errno, json, os, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    result = libc.syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), "call")
    return result
def read(path, flags=0):
    file = os.open(path, os.O_RDONLY | flags)
    return os.read(file, 4096)
def write(path, content=b"EVIL", flags=os.O_CREAT | os.O_TRUNC):
    file = os.open(path, os.O_WRONLY | flags, 0o755)
    os.write(file, content)
    os.close(file)
    return "done"
def status(*words, path=None):
    pid = os.fork()
    if pid == 0:
        try:
            os.execv(path or words[0], list(words))
        except OSError as problem:
            os._exit(200 + min(problem.errno, 50))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code > 200:
        raise OSError(code - 200, "exec")
    return code
def attempt(expression):
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            word = str(eval(expression, globals()))
        except OSError as problem:
            word = errno.errorcode.get(problem.errno, str(problem))
        except BaseException as problem:
            word = type(problem).__name__
        os.write(told, word.encode("utf-8", "backslashreplace")[:4000])
        os._exit(0)
    os.close(told)
    word = b""
    while part := os.read(ready, 4096):
        word += part
    os.close(ready)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return signal.Signals(-code).name if code < 0 else word.decode()
"""
_TRIES: Final = """
print(json.dumps({name: attempt(each) for name, each in json.loads(sys.argv[1]).items()}))
"""


@dataclass(frozen=True)
class Told:
    """What became of a run, as far as it can be told in JSON."""

    status: int | None
    out: str
    err: str
    problem: list[Any] | None
    notes: dict[str, int]
    noted: list[list[Any]]
    times: dict[str, int]
    violations: list[str]


@dataclass
class Attacker:
    """Somebody with a folder of their own, and boxes to run code in."""

    uid: int
    place: Path
    helper: "Helper | None" = None
    defaults: dict[str, Any] = field(default_factory=dict)

    @property
    def ws(self) -> Path:
        """The workspace."""
        return self.place / "ws"

    def put(self, name: str, content: str = "SECRET", mode: int = 0o644) -> Path:
        """A file of theirs on the host."""
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        path.chmod(mode)
        self.own(path)
        return path

    def own(self, path: Path) -> None:
        """It, and the folders above it, become theirs."""
        while path != self.place:
            os.chown(path, self.uid, self.uid, follow_symlinks=False)
            path = path.parent

    def runs(self, code: str, **wish: Any) -> Told:
        """Runs code in a box."""
        request = {"workspace": str(self.ws), "code": PRELUDE + code, **self.defaults, **wish}
        if self.helper is None:
            return Told(**carried_out(request))
        return Told(**self.helper.ask(request))

    def tries(self, attempts: Mapping[str, str], *, setup: str = "", **wish: Any) -> dict[str, str]:
        """What each expression came to."""
        told = self.runs(setup + _TRIES, words=[json.dumps(dict(attempts))], **wish)
        assert told.status == 0, (told.problem, told.err)
        found: dict[str, str] = json.loads(told.out)
        return found

    def bare(self, attempts: Mapping[str, str], *, setup: str = "") -> dict[str, str]:
        """The same with no box around it, as this user."""
        done = subprocess.run(
            [PYTHON, "-I", "-S", "-c", PRELUDE + setup + _TRIES, json.dumps(dict(attempts))],
            capture_output=True,
            check=True,
            cwd=self.ws,
            **as_user(self.uid),
        )
        found: dict[str, str] = json.loads(done.stdout)
        return found


def as_user(uid: int) -> dict[str, Any]:
    """What makes `subprocess` start a program as that user."""
    if uid == os.getuid():
        return {}
    return {"user": uid, "group": uid, "extra_groups": ()}


def carried_out(request: Mapping[str, Any]) -> dict[str, Any]:
    """Does what a request says, as whoever this process is."""
    workspace, lacking = Path(request["workspace"]), request.get("without", [])
    write: Sequence[str] = request.get("write", ["./", "/tmp/"])
    surface = Surface.of(read=request.get("read", ["./"]), write=write)
    violations: list[str] = []
    root, started = LayerRoot.over(0, workspace), file_clock_ns()
    named = [Pattern.parse(each) for each in write]
    rules = WriteRules.bound(PatternScope.parse(write), workspace=workspace, named=named)

    def see(folder: Path) -> None:
        with opened(folder) as layer:
            verdicts = judge(scan(layer, [root], started_ns=started), rules)
            violations.extend(f"{each.resource}: {each.rule}" for each in verdicts.violations)
            commit(layer, verdicts, run="run-1", state=Path(request["commit"]))

    def change(told: dict[str, Any]) -> None:
        without.take_away(told, lacking, request.get("shown", []))
        for old, new in request.get("moved", []):
            Path(old).rename(new)
        for target, link in request.get("linked", []):
            Path(link).symlink_to(target)

    strong, environ, folder = parent._PROGRAM, dict(os.environ), Path.cwd()
    parent._PROGRAM = without.weakened_launcher(strong, lacking)  # type: ignore[misc]
    argv = request.get("argv") or [PYTHON, "-I", "-S", "-c", request["code"]]
    if "isolation" in lacking:
        parent.__dict__["subprocess"] = without.Unisolated
    os.environ.update(request.get("environ", {}))
    os.chdir(request.get("folder", folder))
    left_open = request.get("left_open", [])
    for path, number in left_open:
        opened_file = os.open(path, os.O_RDONLY)
        os.dup2(opened_file, number, inheritable=True)
        os.close(opened_file)
    try:
        run = run_in_box(
            [*argv, *request.get("words", [])],
            workspace=workspace,
            surface=surface,
            env={**ENVIRONMENT, **request.get("env", {})},
            denied=request.get("denied", ()),
            view=View(request.get("view", View.PRIVATE)),
            writes=Writes(request.get("writes", Writes.LAYER)),
            run_any=request.get("run_any", False),
            reads=Reads(request.get("reads", "observed")),
            change=change,
            see_layer=see if "commit" in request else None,
        )
    finally:
        parent._PROGRAM = strong  # type: ignore[misc]
        parent.__dict__["subprocess"] = subprocess
        os.environ.clear()
        os.environ.update(environ)
        os.chdir(folder)
        for _, number in left_open:
            os.close(number)
    notes = run.ended.notes
    return {
        "status": run.ended.status,
        "out": run.stdout.decode("utf-8", "replace"),
        "err": run.stderr.decode("utf-8", "replace"),
        "problem": None if run.ended.problem is None else list(run.ended.problem),
        "notes": {name: number for name, number in notes.items() if name != "notes"},
        "noted": [[note[0], os.fsdecode(note[1])] for note in notes.get("notes", ())][:200],
        "times": _times(notes.get("notes", ())),
        "violations": violations,
    }


def _times(notes: Sequence[Sequence[Any]]) -> dict[str, int]:
    """How often each thing was noted, whatever else is known of it."""
    found: dict[str, int] = {}
    for note in notes[:_MOST_TIMES]:
        key = f"{note[0]} {os.fsdecode(note[1])}"
        found[key] = found.get(key, 0) + note[-1]
    return found


class Helper:
    """A process of another user that carries requests out, one a line."""

    def __init__(self, uid: int) -> None:
        packages = [path for path in sys.path if path.endswith("site-packages")]
        path = os.pathsep.join([str(_SOURCE), str(_SOURCE.parent), *packages])
        self._process = subprocess.Popen(
            ["/usr/bin/python3", "-B", "-m", "tests.enforce.attacks.attackers"],
            env={"PYTHONPATH": path, "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
            cwd=_SOURCE.parent,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            **as_user(uid),
        )

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Has it carried out."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        assert "raised" not in answer, answer
        return answer

    def close(self) -> None:
        """Ends it."""
        self._process.communicate()


class Ground:
    """A folder for one attacker, gone afterwards."""

    def __init__(self, uid: int, folder: str) -> None:
        self._place = Path(tempfile.mkdtemp(prefix="attack-", dir=folder))
        self._place.chmod(0o755)
        (self._place / "ws").mkdir()
        for each in (self._place, self._place / "ws"):
            os.chown(each, uid, uid)

    def __enter__(self) -> Path:
        return self._place

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._place)


def serve() -> None:
    """Requests in, answers out, until there are no more."""
    for line in sys.stdin:
        try:
            answer = carried_out(json.loads(line))
        except Exception as problem:  # noqa: BLE001 - told to whoever asked
            answer = {"raised": f"{type(problem).__name__}: {problem}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    serve()
