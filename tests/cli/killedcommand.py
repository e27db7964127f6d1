"""The command, killed at one of its steps: `python -m tests.cli.killedcommand STEP WORDS...`.

A step is a function of the product that is let run to its end, so many times, before the process kills
itself as `kill -9` would: nothing is cleaned up, no handler runs. `committing N` is the N-th step of a
commit. Everything else is the real command, with the real terminal, store and box.
"""

import importlib
import os
import signal
import sys
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, Final

from consentry.cli.main import main
from consentry.enforce.commit import commit
from consentry.service import rehearsals, takeover

COMMITTING: Final = "committing"


@dataclass(frozen=True, slots=True)
class Step:
    """After (or, with `is_before`, before) that call of that function."""

    module: str
    function: str
    call: int = 1
    is_before: bool = False


STEPS: Final = {
    "ready": Step("service.toolruns", "ready_tool"),
    "question stored": Step("store.requests", "StoredRequests.ask"),
    "answered": Step("store.requests", "StoredRequests.answer"),
    "consent given": Step("store.consents", "StoredConsents.give"),
    "permit spent": Step("store.permits", "StoredPermits.make_and_spend"),
    "program ended": Step("service.runs", "Runner._taken_over", is_before=True),
    "effect taken over": Step("service.takeover", "Takeover.after"),
    "record written": Step("service.runledger", "RunLedger.recorded"),
    "second question stored": Step("store.requests", "StoredRequests.ask", call=2),
    "second answered": Step("store.requests", "StoredRequests.answer", call=2),
    "commit decided": Step("service.rehearsals", "decided"),
    "settled": Step("service.rehearsals", "settled_on_disk"),
    "committed": Step("service.toolruns", "commit_run"),
}


def end_now() -> None:
    """As `kill -9` does it."""
    os.kill(os.getpid(), signal.SIGKILL)


def arm(step: Step) -> None:
    """From now on the process ends there."""
    owner: Any = importlib.import_module(f"consentry.{step.module}")
    *classes, name = step.function.split(".")
    for each in classes:
        owner = getattr(owner, each)
    real = getattr(owner, name)
    calls = iter(range(1, 1000))

    @wraps(real)
    def killed(*args: Any, **keys: Any) -> Any:
        is_the_one = next(calls) == step.call
        if is_the_one and step.is_before:
            end_now()
        done = real(*args, **keys)
        if is_the_one:
            end_now()
        return done

    setattr(owner, name, killed)


def arm_commit(at: int) -> None:
    """From now on the process ends at that step of its commit."""
    steps = iter(range(1, 1000))

    def reached(_: str) -> None:
        if next(steps) == at:
            end_now()

    killed = partial(commit, reached=reached)
    rehearsals.commit = takeover.commit = killed  # type: ignore[attr-defined]


if __name__ == "__main__":
    named = sys.argv.pop(1)
    if named.startswith(COMMITTING):
        arm_commit(int(named.removeprefix(COMMITTING)))
    else:
        arm(STEPS[named])
    main()
