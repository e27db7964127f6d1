"""Engines that make containers, each with a real keeper of its own, and programs run in them.

Docker's daemon is started for the tests, once for each worker, in namespaces of its own; Podman keeps
its images and containers in a folder. Both are gone afterwards. A test that takes a control away
changes the container before it is made, by `change`.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bench.dockerdaemon import own_daemon
from bench.installing import Absent
from consentry.enforce.confinement import Confinement, Limits, Program
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.container import driver
from consentry.enforce.engines.container.driver import ContainerEngine
from consentry.enforce.engines.container.words import Container
from consentry.enforce.engines.docker import Docker
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.podman import Podman
from consentry.enforce.native.streamends import Io
from consentry.enforce.sealing import SealedFile
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Writes
from consentry.surface.pattern import Pattern
from consentry.surface.protected import protected_roots
from tests.enforce.boxes import ENVIRONMENT, program_of

PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
ENGINES = ("docker", "podman")


def ground(home: Path | None = None) -> EngineGround:
    """An engine's ground without a memory."""
    return EngineGround(home, protected_roots(), path=PATH, environ=dict(os.environ))


@contextmanager
def kept_by_docker(user: int | None = None) -> Iterator[dict[str, str]]:
    """The variables that lead to a daemon whose socket is that user's; skips where none can run."""
    if os.geteuid() != 0:
        pytest.skip("a daemon of Docker's needs root")
    for name in ("dockerd", "docker", "unshare"):
        if shutil.which(name, path=PATH) is None:
            pytest.skip(f"`{name}` is not installed")
    with TemporaryDirectory(prefix="consentry-docker-") as folder, ExitStack() as ends:
        try:
            ends.enter_context(own_daemon(Path(folder), {**os.environ, "PATH": PATH}))
        except Absent as problem:
            pytest.skip(f"no daemon of Docker's runs here: {problem}")
        Path(folder).chmod(0o755)
        if user is not None:
            os.chown(f"{folder}/sock", user, user)
        yield {"DOCKER_HOST": f"unix://{folder}/sock"}


@contextmanager
def kept_by_podman(user: int | None = None) -> Iterator[dict[str, str]]:
    """The variables that lead to a store of Podman's own, which is that user's."""
    if shutil.which("podman", path=PATH) is None:
        pytest.skip("`podman` is not installed")
    with TemporaryDirectory(prefix="consentry-podman-") as folder:
        conf = Path(folder, "storage.conf")
        conf.write_text(
            f'[storage]\ndriver = "vfs"\ngraphroot = "{folder}/root"\nrunroot = "{folder}/run"\n'
            f'rootless_storage_path = "{folder}/root"\n'
        )
        if user is not None:
            os.chown(folder, user, user)
        yield {"CONTAINERS_STORAGE_CONF": str(conf), "XDG_RUNTIME_DIR": folder}


class Containers:
    """One engine for a test."""

    def __init__(self, engine: ContainerEngine, monkeypatch: pytest.MonkeyPatch) -> None:
        self.engine = engine
        self._monkeypatch = monkeypatch

    def run(
        self,
        argv: Sequence[str],
        workspace: Path,
        *,
        surface: Surface | None = None,
        denied: Sequence[str] = (),
        writes: Writes = Writes.LAYER,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        env: Mapping[str, str] = ENVIRONMENT,
        run_any: bool = False,
        program: Program | None = None,
        sealed: Sequence[SealedFile] = (),
        io: Io | None = None,
        change: Callable[[Container], Container] = lambda same: same,
    ) -> Outcome:
        """Runs it as the product does, without a permit and a record."""
        program = program or program_of(argv, workspace)
        wanted_surface = surface or Surface.of(read=["./"], write=["/tmp/"])
        runs = Level.ANY if run_any else [str(program.path)]
        given = Surface.of(run=runs)
        made = driver.container_for

        def changed(*words: Any) -> Container:
            return change(made(*words))

        wanted = Confinement(
            surface=wanted_surface | given,
            workspace=workspace,
            program=program,
            environment=env,
            denied=tuple(map(Pattern.parse, denied)),
            writes=writes,
            limits=limits,
        )
        with self._monkeypatch.context() as patched:
            patched.setattr(driver, "container_for", changed)
            plan = self.engine._compiled(wanted, None)
            return self.engine._run(plan, sealed, io or Io(keeps=True), lambda: None)


def made_engine(name: str) -> ContainerEngine:
    """The engine of that name, with the test's own home."""
    return Docker(ground()) if name == "docker" else Podman(ground())


KEPT_BY = {"docker": kept_by_docker, "podman": kept_by_podman}
