"""Runs a piece of Python in a box that holds what it is refused, with a keeper that a test tells what to say.

    said = held_run(uid, place, "print(open(P + '/file').read())", answers={"/out/": "granted"})
    assert said["out"] == "content" and said["asked"] == [...]

Everything goes through JSON, so that a process of another user can be the caller. In the box `P` is the
folder of the test; the workspace is `ws` in it. A keeper answers by the longest of the given parts that
the name contains, and refuses what it knows nothing of; to `never` it says nothing at all. A
`meanwhile` is carried out by the keeper, as the caller, before it answers. When it is asked, it writes to
the file `asked` in the folder, so that the code can wait for that with `until_asked`. Tests that take a
control away change the program of the launcher, or the process of the caller.
"""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any, Final, NamedTuple

from consentry.enforce.confinement import Confinement, Limits
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.held import HeldAnswer, HeldOperation, Reply
from consentry.enforce.native import parent
from consentry.surface.lattice import Surface
from consentry.surface.modes import View
from consentry.surface.pattern import Pattern
from consentry.surface.protected import protected_roots
from tests.enforce import hosts
from tests.enforce.boxes import ENVIRONMENT, PYTHON, program_of

NEVER: Final = "never"
PRELUDE: Final = """
import ctypes, errno, os, socket, sys, threading, time
P = os.environ["P"]
def read(path, flags=0):
    file = os.open(path, os.O_RDONLY | flags)
    try:
        return os.read(file, 4096).decode()
    finally:
        os.close(file)
def write(path, text="new", flags=os.O_CREAT | os.O_TRUNC, mode=0o666):
    file = os.open(path, os.O_WRONLY | flags, mode)
    os.write(file, text.encode())
    os.close(file)
    return "done"
def until_asked(times=1):
    while os.stat(P + "/asked").st_size < times:
        time.sleep(0.01)
def tried(does, *words):
    try:
        return does(*words)
    except OSError as problem:
        return errno.errorcode.get(problem.errno, str(problem))
"""


class Keeper:
    """Says what it was told to say, and keeps what it was asked."""

    def __init__(
        self,
        answers: Mapping[str, str],
        *,
        allows_direct: bool = True,
        delay: float = 0.0,
        bell: Path | None = None,
        meanwhile: Callable[[HeldOperation], None] = lambda _: None,
    ) -> None:
        self.allows_direct = allows_direct
        self.seen: list[HeldOperation] = []
        self.left: list[int] = []
        self._answers = answers
        self._delay = delay
        self._bell = bell
        self._meanwhile = meanwhile

    def asked(self, held: HeldOperation, answer: Reply) -> None:
        """Keeps it, and answers from a thread of its own where that takes its time."""
        self.seen.append(held)
        if self._bell is not None:
            with self._bell.open("a") as bell:
                bell.write("x")
        parts = [part for part in self._answers if part in held.path_or_host]
        word = self._answers[max(parts, key=len)] if parts else HeldAnswer.REFUSED.value
        if word == NEVER:
            self._meanwhile(held)
        elif self._delay:
            Thread(target=self._answer_late, args=(held, word, answer), daemon=True).start()
        else:
            self._meanwhile(held)
            answer(HeldAnswer(word), f"request-{held.number}")

    def _answer_late(self, held: HeldOperation, word: str, answer: Reply) -> None:
        time.sleep(self._delay)
        self._meanwhile(held)
        answer(HeldAnswer(word), f"request-{held.number}")

    def gone(self, number: int) -> None:
        """Keeps that, too."""
        self.left.append(number)


class Ground(NamedTuple):
    """A folder of some user's: a workspace, and things beside it that no run is granted."""

    uid: int
    place: Path

    def put(self, name: str, text: str = "SECRET", mode: int = 0o644) -> Path:
        """A file of theirs."""
        path = self.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        while path != self.place:
            os.chown(path, self.uid, self.place.stat().st_gid)
            path = path.parent
        return self.place / name

    def run(self, code: str, **wish: Any) -> dict[str, Any]:
        """Runs code in a box of theirs."""
        self.put("asked", "")
        return held_run(self.uid, self.place, code, **wish)


def held_run(uid: int, place: Path, code: str, **wish: Any) -> dict[str, Any]:
    """What became of it, run by that user; raises what the caller of the engine would see."""
    request = {"place": str(place), "code": code, **wish}
    if uid == os.getuid() and not wish.get("launcher") and not wish.get("owner"):
        told = carried_out(request)
    else:
        script = "from tests.enforce.heldruns import main\nmain()"
        told = json.loads(hosts.run_as(uid, script, REQUEST=json.dumps(request)))
    return told


def main() -> None:
    """Of a process of its own: the request is in its environment."""
    print(json.dumps(carried_out(json.loads(os.environ["REQUEST"]))))  # noqa: T201 - its answer


def carried_out(request: dict[str, Any]) -> dict[str, Any]:
    """Runs it in this process."""
    if request.get("launcher"):
        first, rest = parent._PROGRAM.split("\n", 1)
        parent._PROGRAM = "\n".join([first, request["launcher"], rest])
    does: dict[str, Any] = {"os": os, "Path": Path}
    exec(request.get("owner", ""), does)  # noqa: S102 - written by the test
    exec("def meanwhile(held):\n    " + request.get("meanwhile", "pass"), does)  # noqa: S102
    keeper = Keeper(
        request.get("answers", {}),
        allows_direct=request.get("allows_direct", True),
        delay=request.get("delay", 0.0),
        bell=Path(request["place"], "asked"),
        meanwhile=does["meanwhile"],
    )
    engine = NativeEngine(None, protected_roots(), state=_path(request.get("state")))
    with closing(engine):
        wanted = wanted_by(request)
        does["engine"] = engine
        outcome = engine._held_run(engine.compile(wanted), (), Io(keeps=True, holds=keeper))
        return _told(outcome, keeper)


def wanted_by(request: Mapping[str, Any]) -> Confinement:
    """The box that is asked for."""
    place = Path(request["place"])
    workspace = place / "ws"
    argv = [PYTHON, "-I", "-S", "-c", PRELUDE + request["code"], *request.get("words", ())]
    return Confinement(
        Surface.of(read=request.get("read", ["./"]), write=request.get("write", ["/tmp/"])),
        workspace,
        program_of(argv, workspace),
        {**ENVIRONMENT, "P": str(place)},
        denied=tuple(map(Pattern.parse, request.get("denied", ()))),
        view=View(request.get("view", "visible")),
        limits=Limits(wall_seconds=request.get("wall_seconds")),
        holds=request.get("holds", True),
    )


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _told(outcome: Outcome, keeper: Keeper) -> dict[str, Any]:
    return {
        "out": outcome.stdout.decode(errors="surrogateescape").strip(),
        "err": outcome.stderr.decode(errors="replace"),
        "ending": outcome.ending.value,
        "exit_code": outcome.exit_code,
        "asked": [
            [each.operation.value, each.verb.value, each.path_or_host] for each in keeper.seen
        ],
        "flags": [
            {
                "creates": each.creates,
                "through_layer": each.through_layer,
                "also_reads": each.also_reads,
                "is_folder": each.is_folder,
                "is_direct": each.is_direct,
                "program": each.program,
            }
            for each in keeper.seen
        ],
        "gone": keeper.left,
        "held": [
            {
                "path": each.held.path_or_host,
                "answer": each.answer.value,
                "request": each.request_id,
                "direct": each.direct,
                "times": each.times,
                "error": each.error,
            }
            for each in outcome.held_operations
        ],
        "violations": [
            [each.operation.value, each.resource, each.rule, each.truth.value]
            for each in outcome.violations
        ],
        "reads": list(outcome.reads),
        "touched": list(outcome.touched),
        "complete": outcome.complete,
        "layer": [] if outcome.layer is None else _layer_files(outcome.layer),
    }


def _layer_files(layer: int) -> list[list[str]]:
    """What is in the layer: names and contents."""
    top = Path(f"/proc/self/fd/{layer}/upper0")
    found = sorted(top.rglob("*")) if top.exists() else []
    told = [
        [str(path.relative_to(top)), path.read_text() if path.is_file() else ""] for path in found
    ]
    os.close(layer)
    return told


def said_in_order(told: Mapping[str, Any]) -> Sequence[str]:
    """What the code printed, line by line."""
    assert told["exit_code"] == 0, told["err"]
    return str(told["out"]).splitlines()
