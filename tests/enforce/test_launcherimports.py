"""The launcher is a bare interpreter: every run waits for what it loads, and every box is a copy of it."""

import subprocess
import sys
from pathlib import Path

import consentry

SCRIPT = (
    "import sys; sys.path.append(sys.argv[1])\n"
    "from consentry.enforce.native.launcher import Launcher\n"
    "print(*sys.modules)"
)
HEAVY = {"collections", "contextlib", "dataclasses", "enum", "functools", "pathlib", "re", "typing"}


def test_the_launcher_loads_nothing_heavy() -> None:
    """Nor any part of ours that is not for boxes."""
    source = str(Path(consentry.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", SCRIPT, source],
        capture_output=True,
        text=True,
        check=True,
    )
    modules = set(done.stdout.split())
    assert HEAVY & modules == set()
    ours = {name for name in modules if name.startswith("consentry.")}
    rooms = ("consentry.enforce", "consentry.enforce.native", "consentry.enforce.egress")
    assert {name for name in ours if not name.startswith("consentry.enforce.native.")} <= {
        *rooms,
        "consentry.enforce.egress.questions",
    }
