"""Kills a commit at every step it reaches, recovers, and tells what is there then.

Run as a program of its own, `python -m tests.enforce.commitcrashes PLACE WAY STATE LAYER`, because it forks
once for every crash, which a process with threads should not. Prints a line of JSON for each crash:
how far it got, what recovery said, and whether the tree is the old one, the new one, or neither.

WAY is `exchange`, `two-renames`, `meddled` (somebody changes a file after the check, so the commit is
taken back) or `recovery` (every fourth step, and the recovery is killed at every second one, too).
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from consentry.enforce import commitapply
from consentry.enforce.commit import commit
from consentry.enforce.commitrecover import recover
from consentry.enforce.filecalls import CannotExchange
from consentry.enforce.layer import LayerRoot, file_clock_ns
from consentry.enforce.layerscan import scan
from consentry.enforce.writerules import WriteRules
from consentry.enforce.writeverdicts import judge
from consentry.surface.patterns import PatternScope
from tests.enforce.treesight import Sight, sight_of

THEIRS = "theirs"


class Crashes:
    """One tree, one layer over it, and a fresh copy of the tree for every crash."""

    def __init__(self, place: Path, way: str, state: Path, layer: Path) -> None:
        self._made = layer
        self._layer = layer.parent / f"{layer.name}-now"
        self._template = place / "template"
        self._host = place / "host"
        self._state = state
        self._way = way
        self._old = sight_of(self._template)

    def told(self, every: int = 1) -> Iterator[dict[str, object]]:
        """Every crash, or every second or third, until the commit gets through."""
        self._fresh()
        assert self._in_child(self._commit, None) == 0
        new = sight_of(self._host)
        for at in range(1, 1000, 4 * every if self._way == "recovery" else every):
            self._fresh()
            status = self._in_child(self._commit, at)
            if status == 0:
                yield {"at": at, "end": True, "tree": self._tree(new)}
                return
            assert status == -signal.SIGKILL, status
            if self._way != "recovery":
                yield {"at": at, **self._recovered(new)}
                continue
            for then in range(1, 1000, 2):
                if then > 1:
                    self._fresh()
                    assert self._in_child(self._commit, at) == -signal.SIGKILL
                status = self._in_child(self._recover, then)
                yield {"at": at, "then": then, **self._recovered(new)}
                if status == 0:
                    break

    def clear(self) -> None:
        """Removes what could not be removed by those who do not open it up first."""
        _remove(self._layer)

    def _recovered(self, new: dict[str, Sight]) -> dict[str, object]:
        said = [str(each.recovery) for each in recover(self._state)]
        again = [str(each.recovery) for each in recover(self._state)]
        left = [each.name for each in (self._state / "commits").iterdir() if each.name != "turn"]
        return {"said": said, "again": again, "left": left, "tree": self._tree(new)}

    def _tree(self, new: dict[str, Sight]) -> str:
        found = sight_of(self._host)
        if self._way == "meddled":
            found = {path: each for path, each in found.items() if path != THEIRS}
        return "old" if found == self._old else "new" if found == new else repr(_apart(found, new))

    def _fresh(self) -> None:
        _remove(self._host)
        _remove(self._state / "commits")
        shutil.copytree(self._template, self._host, symlinks=True)
        # A commit uses a layer up, where it moves what lies in it.
        _remove(self._layer)
        subprocess.run(["/bin/cp", "-a", self._made, self._layer], check=True)

    def _in_child(self, does: Callable[[int | None], None], kill_at: int | None) -> int:
        pid = os.fork()
        if pid == 0:
            try:
                does(kill_at)
                os._exit(0)
            finally:
                os._exit(99)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def _commit(self, kill_at: int | None) -> None:
        reached = killing(kill_at, self._meddle if kill_at is not None else lambda _: None)
        if self._way == "two-renames":
            commitapply.exchange = refuse  # type: ignore[assignment]
        root = LayerRoot.over(0, self._host)
        rules = WriteRules.bound(PatternScope.parse(["./"]), workspace=self._host)
        layer = os.open(self._layer, os.O_RDONLY | os.O_DIRECTORY)
        changes = scan(layer, [root], started_ns=file_clock_ns())
        commit(layer, judge(changes, rules), run="run-1", state=self._state, reached=reached)

    def _recover(self, kill_at: int | None) -> None:
        recover(self._state, reached=killing(kill_at, lambda _: None))

    def _meddle(self, step: str) -> None:
        """Somebody makes a file where the commit is about to put one."""
        if self._way == "meddled" and step == "journal kept":
            (self._host / THEIRS).write_text("theirs", encoding="utf-8")


def _apart(found: dict[str, Sight], new: dict[str, Sight]) -> list[object]:
    return [
        (path, found.get(path), new.get(path))
        for path in sorted({*found, *new})
        if found.get(path) != new.get(path)
    ]


def killing(kill_at: int | None, also: Callable[[str], None]) -> Callable[[str], None]:
    """Told of steps, and ends the process at one of them."""
    steps = iter(range(1, 10_000))

    def reached(step: str) -> None:
        also(step)
        if next(steps) == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    return reached


def refuse(*_: object) -> None:
    """As a file system without exchange does."""
    raise CannotExchange


def _remove(folder: Path) -> None:
    for place, folders, _ in os.walk(folder):
        for name in folders:
            if not Path(place, name).is_symlink():
                Path(place, name).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    crashes = Crashes(Path(sys.argv[1]), sys.argv[2], *map(Path, sys.argv[3:]))
    for line in crashes.told():
        sys.stdout.write(json.dumps(line) + "\n")
    crashes.clear()
