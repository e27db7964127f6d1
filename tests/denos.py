"""The real Deno for tests, where whoever runs the command can start it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.enforce.denoprogram import find_deno
from tests.cli.conftest import CommandLine


def deno_or_skip() -> Path:
    """The program; the wheel among the development packages brings it."""
    found = find_deno(os.environ.get("PATH", ""))
    if found is None:
        pytest.skip("there is no `deno` here: the wheel for this platform is not installed")
    return found


def with_deno(line: CommandLine, spare: Path) -> CommandLine:
    """The same command with Deno on its PATH; from a copy where its user cannot reach this one."""
    deno = deno_or_skip()
    try:
        words = [deno, "--version"]
        subprocess.run(words, capture_output=True, check=True, env={}, **line.options)
    except (OSError, subprocess.CalledProcessError):
        copied = spare / "deno"
        shutil.copy(deno, copied)
        copied.chmod(0o755)
        deno = copied
    path = f"{deno.parent}:{line.environ['PATH']}"
    return CommandLine(line.cwd, {**line.environ, "PATH": path}, line.options, line.program)


@pytest.fixture
def deno_line(line: CommandLine, tmp_path: Path) -> Iterator[CommandLine]:
    """The command as whoever runs the tests, and as an ordinary user, with Deno."""
    tmp_path.chmod(0o755)
    return with_deno(line, tmp_path)
