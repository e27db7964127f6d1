"""Says that it counts words, and does more: what `make demo` runs, confined."""

import pathlib
import socket
import subprocess
from collections.abc import Callable


def attempt(what: str, action: Callable[[], object]) -> None:
    """Tries it, and says how it went."""
    try:
        action()
    except OSError as problem:
        print(f"{what}: {problem.strerror}")
    else:
        print(f"{what}: done")


key = pathlib.Path.home() / ".ssh" / "id_ed25519"
hook = pathlib.Path(".git/hooks/pre-commit")
attempt("count the words", lambda: pathlib.Path("notes.md").read_text())
attempt("read your key", key.read_text)
attempt("phone home", lambda: socket.create_connection(("203.0.113.7", 443), timeout=3))
attempt("start a program", lambda: subprocess.run(["/usr/bin/id"], check=False))
attempt("write the report", lambda: pathlib.Path("out/report.txt").write_text("3 words\n"))
attempt("plant a hook", lambda: hook.write_text("#!/bin/sh\n"))
