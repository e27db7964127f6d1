"""How long the command takes to start, next to the bare interpreter it runs on.

The target is for `--version`, which goes the same way as every other command: entry point, lazy
group, output. Nothing is special-cased for it.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.report import heading, interleaved, row

ROUNDS = 60
TARGET = 4.5


def run() -> bool:
    """Prints the table; returns whether the target is met."""
    heading("start-up (same interpreter, interleaved, wall time)")
    python = sys.executable
    command = str(Path(python).with_name("consentry"))
    with TemporaryDirectory() as home:
        return _table(python, command, {**os.environ, "HOME": home, "CONSENTRY_STATE": f"{home}/s"})


def _table(python: str, command: str, environ: dict[str, str]) -> bool:
    samples = interleaved(
        ROUNDS,
        bare=_spawned(environ, python, "-I", "-c", "pass"),
        click=_spawned(environ, python, "-I", "-c", "import click"),
        version=_spawned(environ, command, "--version"),
        help=_spawned(environ, command, "--help"),
        status=_spawned(environ, command, "status"),
    )
    bare = samples["bare"]
    row("python3 -I -c pass", bare)
    row("python3 -I -c 'import click'", samples["click"], bare)
    met = row("consentry --version", samples["version"], bare, TARGET)
    row("consentry --help", samples["help"], bare)
    row("consentry status", samples["status"], bare)
    return met


def _spawned(environ: dict[str, str], *argv: str) -> Callable[[], None]:
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (1, 2)]

    def spawn() -> None:
        child = os.posix_spawn(argv[0], argv, environ, file_actions=quiet)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise RuntimeError(f"{argv} ended with status {status}")

    return spawn
