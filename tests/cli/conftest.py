"""The real command in a real process, with an environment built from nothing."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import consentry as consentry_package
from consentry.base.codes import Code
from tests.store.conftest import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]  # fixtures that tests here ask for by name

PROGRAM = (sys.executable, "-m", "consentry")
NOBODY = 65534
# Found out once by each process that runs tests: it takes starting the command to know.
_INTERPRETERS: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str


def assert_error(ended: Ended, code: Code) -> None:
    """One error on standard error, in the documented form, and nothing on the other stream."""
    first, second = ended.err.splitlines()
    assert first.startswith(f"consentry: error[{code}]: ")
    assert second.startswith("help: ")
    assert ended.out == ""
    assert ended.status == code.status


@dataclass(slots=True)
class CommandLine:
    """Runs `consentry` in `cwd`, with `environ` and nothing else in its environment."""

    cwd: Path
    environ: dict[str, str]
    options: dict[str, Any] = field(default_factory=dict)
    program: tuple[str, ...] = PROGRAM

    def __call__(self, *words: str | bytes, **environ: str) -> Ended:
        """Runs it to its end. Keyword arguments are added to the environment."""
        done = subprocess.run(
            [*self.program, *words],
            cwd=self.cwd,
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            **self.options,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in err, err
        return Ended(done.returncode, out, err)

    def in_shell(self, script: str, **environ: str) -> Ended:
        """Runs a line of bash in which `consentry` is the command."""
        function = f'consentry() {{ {" ".join(self.program)} "$@"; }}\n'
        done = subprocess.run(
            ["/bin/bash", "--norc", "-c", function + script],
            cwd=self.cwd,
            env={**self.environ, **environ},
            capture_output=True,
            text=True,
            check=False,
            **self.options,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Ended(done.returncode, done.stdout, done.stderr)


def _environ(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with nothing in it."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git root with nothing in it."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def consentry(home: Path, project: Path) -> CommandLine:
    """The command, started in the project."""
    return CommandLine(project, _environ(home))


def interpreter_for(identity: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, str]]:
    """A way to run the command under that identity: this interpreter, or else the system's.

    A development interpreter may lie in a home folder that nobody else can enter.
    """
    known = _INTERPRETERS.get(repr(identity))
    if known is not None:
        return known
    packages = [path for path in sys.path if path.endswith("site-packages")]
    modules = os.pathsep.join([str(Path(consentry_package.__file__).parents[1]), *packages])
    ways = (
        (PROGRAM, {}),
        (("/usr/bin/python3", "-B", "-m", "consentry"), {"PYTHONPATH": modules}),
    )
    reasons = []
    for program, environ in ways:
        try:
            words = [*program, "--version"]
            tried = subprocess.run(words, env=environ, capture_output=True, check=True, **identity)
        except (OSError, subprocess.CalledProcessError) as problem:
            reasons.append(str(problem))
        else:
            assert tried.stdout.decode().startswith("consentry ")
            _INTERPRETERS[repr(identity)] = (program, environ)
            return program, environ
    pytest.skip(f"user {NOBODY} can run no interpreter: {'; '.join(reasons)}")


@pytest.fixture
def as_nobody() -> Iterator[CommandLine]:
    """The command as an ordinary user, in a project of that user's; skips where it cannot be."""
    if os.geteuid() != 0:
        pytest.skip("the other tests run as an ordinary user already")
    identity: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": ()}
    program, environ = interpreter_for(identity)
    place = Path(tempfile.mkdtemp(prefix="consentry-nobody-"))
    try:
        for folder in (place, place / "home", place / "project", place / "project/.git"):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)
            os.chown(folder, NOBODY, NOBODY)
        environ = {**_environ(place / "home"), **environ}
        yield CommandLine(place / "project", environ, identity, program)
    finally:
        shutil.rmtree(place)


@pytest.fixture(params=["as we are", "as an ordinary user"])
def line(request: pytest.FixtureRequest) -> CommandLine:
    """The command as whoever runs the tests, and as an ordinary user."""
    name = "consentry" if request.param == "as we are" else "as_nobody"
    found: CommandLine = request.getfixturevalue(name)
    return found
