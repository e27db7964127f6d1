"""What our own part of a container costs: a run in it, beside the bare command with the same words.

The bare command makes the same container from the same folder, with `true` as its first process; ours
writes that folder, has a first process of its own in between, and stays with the run.
"""
# ruff: noqa: SLF001 - a run without a permit is nobody's but ours

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

from bench.dockerdaemon import daemon_variables, own_daemon
from bench.installing import Absent
from bench.processes import status_of
from bench.report import heading, interleaved, row
from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engine import Ending
from consentry.enforce.engines.container.driver import ContainerEngine
from consentry.enforce.engines.container.giving import Given, container_for
from consentry.enforce.engines.container.words import run_words
from consentry.enforce.engines.docker import Docker
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.podman import Podman
from consentry.enforce.native.streamends import Io
from consentry.enforce.programfiles import look_at_program
from consentry.surface.lattice import Surface
from consentry.surface.protected import protected_roots

ROUNDS = 25
TARGET, TARGET_ADDED = 1.15, 4_000_000
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
_TRUE = Path("/usr/bin/true")


def run() -> bool:
    """Prints the table; returns whether the targets are met."""
    heading(f"containers (`true` x {ROUNDS}, in turns)")
    met = True
    for name, kept_by, kind in (("docker", _docker, Docker), ("podman", _podman, Podman)):
        try:
            with (
                tempfile.TemporaryDirectory(prefix="consentry-bench-") as folder,
                kept_by(Path(folder)) as variables,
            ):
                ground = EngineGround(None, protected_roots(), _PATH, environ=variables)
                met &= _measured(name, kind(ground))
        except Absent as problem:
            print(f"{name}: left out: {problem}")
    return met


def _measured(name: str, engine: ContainerEngine) -> bool:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        Path(folder).chmod(0o755)
        started = look_at_program(_TRUE)
        program = Program(started.program, (str(_TRUE),), Path(folder), startable=started.files)
        surface = Surface.of(read=["./"], run=[str(started.program)])
        wanted = Confinement(surface, Path(folder), program, {"PATH": "/usr/bin:/bin"})
        try:
            return _compared(name, engine, wanted)
        finally:
            engine.close()


def _compared(name: str, engine: ContainerEngine, wanted: Confinement) -> bool:
    plan = engine._compiled(wanted, None)
    driver, makers = engine._ready()
    folder = driver.of_run("consentry-bare")
    given = Given(plan, (), engine._host, has_input=False, has_terminal=False)
    container = replace(container_for(given, makers, folder), words=(str(_TRUE),))
    words = (engine.program_path(), *run_words(container, engine.dialect))
    environment = {"PATH": _PATH, **engine.environment(driver.settings)}

    def bare() -> None:
        if status_of(words, environment) != 0:
            raise RuntimeError(f"`{name} run` fails")

    def ours() -> None:
        compiled = engine._compiled(wanted, None)
        if engine._run(compiled, (), Io(keeps=True), lambda: None).ending is not Ending.SUCCESS:
            raise RuntimeError(f"a run in `{name}` fails")

    samples = interleaved(ROUNDS, bare=bare, ours=ours)
    row(f"`{name} run`, bare", samples["bare"])
    most = max(TARGET, 1 + TARGET_ADDED / samples["bare"].p50)
    return row(f"`{name}`, ours", samples["ours"], samples["bare"], round(most, 2))


@contextmanager
def _docker(folder: Path) -> Iterator[dict[str, str]]:
    if os.geteuid() != 0:
        raise Absent("its daemon needs root")
    if shutil.which("dockerd", path=_PATH) is None:
        raise Absent("`dockerd` is not installed")
    with ExitStack() as ends:
        ends.enter_context(own_daemon(folder, {**os.environ, "PATH": _PATH}))
        yield daemon_variables(folder)


@contextmanager
def _podman(folder: Path) -> Iterator[dict[str, str]]:
    if shutil.which("podman", path=_PATH) is None:
        raise Absent("`podman` is not installed")
    conf = folder / "storage.conf"
    conf.write_text(
        f'[storage]\ndriver = "vfs"\ngraphroot = "{folder}/root"\nrunroot = "{folder}/run"\n'
        f'rootless_storage_path = "{folder}/root"\n'
    )
    yield {"CONTAINERS_STORAGE_CONF": str(conf), "XDG_RUNTIME_DIR": str(folder)}
