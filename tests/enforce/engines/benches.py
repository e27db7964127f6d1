"""One engine, one user and a project of that user's: what the conformance suite runs everything on.

The project does not lie in a folder that is a run's own, because such engines write at once. Its
profile is the same for every engine: one folder is written at once, and one in it is denied.
"""

import os
import pwd
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.interface import Engine
from consentry.enforce.engines.registry import FROM_CHEAPEST, made_engine
from consentry.surface.protected import protected_roots
from tests.cli.conftest import CommandLine, Ended, interpreter_for
from tests.cli.execs import put, started
from tests.elsewhere import folder_elsewhere
from tests.enforce.engines.container.images import made_image
from tests.enforce.engines.container.runs import KEPT_BY

if TYPE_CHECKING:
    import subprocess

NATIVE: Final = "native"
CONTAINERS: Final = tuple(KEPT_BY)
IMAGE: Final = "docker-image"
"""Docker, with an image that is named: the same engine, told otherwise."""

OF_A_USER: Final = ("firejail", *CONTAINERS, IMAGE)
"""Engines that are of no use to root, or that write nothing of root's at once."""

_NOBODY: Final = 65534
_PROFILE: Final = """
sandboxConfig:
  profiles:
    server:
      writes: direct
      filesystem:
        readOnly: ['${WORKSPACE}']
        readWrite: ['${WORKSPACE}/out']
        noAccess: ['${WORKSPACE}/out/keys']
"""


def made(name: str) -> Engine:
    """The engine, for whoever runs the tests."""
    return made_engine(name, EngineGround(None, protected_roots(), "/usr/local/bin:/usr/bin:/bin"))


def engines_here() -> list[str]:
    """Those on this machine that are commands on it, and our own."""
    # Docker's daemon is started when it is needed.
    return [name for name in FROM_CHEAPEST if made(name).missing() is None or name in CONTAINERS]


def ordinary(engine: str) -> int:
    """A user that the engine works for: firejail wants one with a home folder and a shell."""
    if engine in OF_A_USER and engine not in (*CONTAINERS, IMAGE):
        for each in pwd.getpwall():
            folder = Path(each.pw_dir)
            is_home = folder.is_dir() and folder.stat().st_uid == each.pw_uid
            if each.pw_uid and is_home and each.pw_shell.endswith("sh"):
                return each.pw_uid
    return _NOBODY


@dataclass(frozen=True, slots=True)
class Bench:
    """Runs programs by the real command, in one engine and as one user."""

    engine: str
    line: CommandLine
    image: str | None = None

    @property
    def project(self) -> Path:
        """The workspace."""
        return self.line.cwd

    def words(self, *options: str) -> tuple[str, ...]:
        """What stands before the program."""
        fixed = ("--engine", self.engine, "--profile", "box.yaml", "--exec", "any")
        image = () if self.image is None else ("--image", self.image)
        return ("exec", *fixed, *image, *options, "--")

    def run(self, *program: str | bytes, options: tuple[str, ...] = (), **environ: str) -> Ended:
        """A program, to its end."""
        return self.line(*self.words(*options), *program, **environ)

    def start(
        self, *program: str, options: tuple[str, ...] = (), **how: Any
    ) -> "subprocess.Popen[bytes]":
        """A program, started and not waited for."""
        return started(self.line, *self.words(*options), *program, **how)


@contextmanager
def bench_of(engine: str, uid: int) -> Iterator[Bench]:
    """With a project and a home of that user's, gone afterwards."""
    with ExitStack() as ends:
        image = None
        if engine == IMAGE:
            engine, image = "docker", "tool:1"
        kept = ends.enter_context(KEPT_BY[engine](uid)) if engine in CONTAINERS else {}
        if image is not None:
            made_image(image, kept, python=True)
        place = ends.enter_context(folder_elsewhere())
        place.chmod(0o755)
        for name in ("home", "project", "project/.git", "project/out", "project/out/keys"):
            (place / name).mkdir()
            os.chown(place / name, uid, uid)
        identity: dict[str, Any] = {}
        environ = {"HOME": str(place / "home"), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        environ |= kept
        line = CommandLine(place / "project", environ)
        if uid != os.getuid():
            identity = {"user": uid, "group": uid, "extra_groups": ()}
            program, more = interpreter_for(identity)
            line = CommandLine(place / "project", environ | more, identity, program)
        put(line, "box.yaml", _PROFILE)
        put(line, "out/keys/key", "secret")
        put(line, "granted", "granted")
        yield Bench(engine, line, image)


def users_of(engine: str) -> list[int]:
    """Whom to run it as: root where that is of use, and an ordinary user."""
    if os.getuid() != 0:
        return [os.getuid()]
    return [ordinary(engine)] if engine in OF_A_USER else [0, ordinary(engine)]


def require_ordinary() -> None:
    """Skips a test that changes who runs it, where the tests may not."""
    if os.getuid() != 0:
        pytest.skip("only root can become another user")
