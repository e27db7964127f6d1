"""Kills `commit RUN` and `undo RUN` at their steps, and tells whether files and ledger agree then.

Run as a program of its own, `python -m tests.service.effectcrashes PLACE EVERY`, because it forks.
Prints a line of JSON for each crash: what was being done, how far it got, whether the file is the
old or the new one, and what the ledger says of it after the next start.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from consentry.enforce.commit import commit
from consentry.enforce.keptshelf import REHEARSED, UNDO, Shelf
from consentry.enforce.undo import undo
from consentry.service import rehearsals, undoing
from consentry.service.rehearsals import commit_run
from consentry.service.runledger import Run
from consentry.service.surroundings import Surroundings
from consentry.service.undoing import undo_run
from tests.enforce.commitcrashes import killing
from tests.service.rehearsing import Workshop


def main(place: Path, every: int) -> None:
    """Both deeds, at every so many steps."""
    project = place / "project"
    project.mkdir()
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(place), "CONSENTRY_STATE": str(place / "state")}
    shop = Workshop(Surroundings(environ, project, os.geteuid()), project)
    for deed in ("commit", "undo"):
        for at in range(1, 200, every):
            (project / "a").write_text("old\n", encoding="utf-8")
            run = shop.run("echo new > a; echo n > n")
            if deed == "undo":
                with shop.place() as opened:
                    commit_run(opened, run.audit_id)
            status = in_child(partial(killed, shop, deed, run.audit_id, at))
            said = told(shop, run)
            sys.stdout.write(json.dumps({"deed": deed, "at": at, "status": status, **said}) + "\n")
            for name in ("a", "n"):
                (project / name).unlink(missing_ok=True)
            if status == 0:
                break


def killed(shop: Workshop, deed: str, run: str, at: int) -> None:
    """Does it, and ends at a step."""
    reached = killing(at, lambda _: None)
    rehearsals.commit = partial(commit, reached=reached)  # type: ignore[assignment]
    undoing.undo = partial(undo, reached=reached)  # type: ignore[assignment]
    with shop.place() as place:
        if deed == "commit":
            commit_run(place, run)
        else:
            undo_run(place, run)


def told(shop: Workshop, run: Run) -> dict[str, Any]:
    """What is there after the next start."""
    with shop.place():
        pass
    permit = run.facts.permit.permit_id
    mine = [each for each in shop.events("effect.settled") if each["permitId"] == permit]
    return {
        "tree": (shop.project / "a").read_text(encoding="utf-8").strip(),
        "whole": (shop.project / "n").exists(),
        "outcomes": [each["outcome"] for each in mine],
        "waiting": Shelf(shop.state, REHEARSED).found(permit) is not None,
        "undoable": Shelf(shop.state, UNDO).found(permit) is not None,
        "left": [each.name for each in (shop.state / "commits").iterdir() if each.name != "turn"],
    }


def in_child(does: Callable[[], None]) -> int:
    """Its exit status, or the signal that ended it, negative."""
    pid = os.fork()
    if pid == 0:
        try:
            does()
            os._exit(0)
        finally:
            os._exit(99)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status not in (0, -signal.SIGKILL):
        raise RuntimeError(f"the child ended with {status}")
    return status


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
