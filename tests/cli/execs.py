"""What the tests of `consentry exec` share."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from tests.cli.conftest import CommandLine


def home_of(line: CommandLine) -> Path:
    """The home of whoever runs it."""
    return Path(line.environ["HOME"])


def put(line: CommandLine, name: str, content: str, mode: int = 0o644) -> Path:
    """A file of the project or the home, as its owner has it."""
    path = line.cwd / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(mode)
    owner = line.cwd.stat()
    for each in (path, path.parent):
        os.chown(each, owner.st_uid, owner.st_gid)
    return path


def last_record(line: CommandLine) -> dict[str, Any]:
    """The record of the last run."""
    document = json.loads(line("why", "--json").out)
    found: dict[str, Any] = document["run"]
    return found


def started(line: CommandLine, *words: str, **options: Any) -> "subprocess.Popen[bytes]":
    """The command, started and not waited for."""
    return subprocess.Popen(
        [*line.program, *words],
        cwd=line.cwd,
        env=line.environ,
        stdin=options.pop("stdin", subprocess.DEVNULL),
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        **line.options,
        **options,
    )
