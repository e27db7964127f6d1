"""`make check`: every step runs, also after one has failed; the status tells whether all passed.

The steps do not depend on each other and run side by side; they are reported in their order. What a
step prints is shown when it fails; warnings of our own checks are shown always.
"""

import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Step:
    """A named command; a line of its output that contains `notice` is shown even when it passed."""

    name: str
    command: tuple[str, ...]
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a step ended."""

    status: int
    output: str
    seconds: float


_SCRIPTS = Path(sysconfig.get_path("scripts"))

STEPS = (
    Step("style", (sys.executable, "-m", "ruff", "check", "--quiet", ".")),
    Step("format", (sys.executable, "-m", "ruff", "format", "--check", "--quiet", ".")),
    Step("types", (sys.executable, "-m", "mypy", "--no-error-summary")),
    Step("imports", (str(_SCRIPTS / "lint-imports"), "--no-logo")),
    Step("checks", (sys.executable, "-m", "checks"), notice=" warning: "),
)


def run_all(steps: tuple[Step, ...]) -> int:
    """Runs the steps, reports each, and returns 1 when one of them failed."""
    failed = []
    with ThreadPoolExecutor() as pool:
        for step, outcome in zip(steps, pool.map(_run, steps), strict=True):
            verdict = "failed" if outcome.status else "ok"
            print(f"{step.name:<8} {verdict:<6} {outcome.seconds:5.1f} s", flush=True)
            for line in _shown(step, outcome):
                print(f"    {line}", flush=True)
            if outcome.status:
                failed.append(step.name)
    print(f"check: failed: {', '.join(failed)}" if failed else "check: all passed")
    return 1 if failed else 0


def _run(step: Step) -> Outcome:
    start = time.monotonic()
    done = subprocess.run(  # noqa: S603 # commands of the table above
        step.command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return Outcome(done.returncode, done.stdout, time.monotonic() - start)


def _shown(step: Step, outcome: Outcome) -> Iterator[str]:
    for line in outcome.output.splitlines():
        if outcome.status or (step.notice is not None and step.notice in line):
            yield line


if __name__ == "__main__":
    sys.exit(run_all(STEPS))
