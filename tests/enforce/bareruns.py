r"""Runs of the engine's Landlock-only mode, on hosts that were made to refuse namespaces.

    found = BareHost(uid).tried(place, {"secret": "read('/etc/shadow')"})
    assert found["secret"] == "EACCES"

A request is carried out by a process that was put into such a host (`hosts`), as root of a container
or as an ordinary user without user namespaces. It is compiled and launched as the product
does it; what is missing around it is the permit and the record. `without` takes controls away, which
nothing but this file can do.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from consentry.base.errors import Refused
from consentry.enforce.confinement import Confinement, Limits
from consentry.enforce.engine import NotEnforceable
from consentry.enforce.engines import native
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.facts import HostView
from consentry.enforce.native.otherids import one_behind_root
from consentry.enforce.native.parent import NativeParent, Running
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Denials, Reads, View, Writes
from consentry.surface.pattern import Pattern
from consentry.surface.protected import protected_roots
from tests.enforce import hosts
from tests.enforce.attacks.attackers import PRELUDE
from tests.enforce.boxes import ENVIRONMENT, PYTHON, program_of

ALLOW_ALL: Final = bytes([6, 0, 0, 0, 0, 0, 0xFF, 0x7F])
TRIES: Final = """
print(json.dumps({name: attempt(each) for name, each in json.loads(sys.argv[1]).items()}))
"""
Told = dict[str, Any]


def host_of(uid: int) -> Callable[[], None]:
    """A host without namespaces on which nothing else is refused to that user."""
    return hosts.as_root_of_a_container if uid == 0 else hosts.without_more_user_namespaces


def inside(uid: int) -> int:
    """Who a program of that user's is."""
    found = one_behind_root(HostView()) if uid == 0 else uid
    assert found is not None
    return found


@contextmanager
def ground(uid: int) -> Iterator[Path]:
    """A folder with a workspace of that user's, which others may enter; gone afterwards."""
    place = Path(tempfile.mkdtemp(prefix="bare-", dir="/var/tmp"))
    try:
        (place / "ws").mkdir()
        for each in (place, place / "ws"):
            each.chmod(0o755)
            os.chown(each, uid, uid)
        yield place
    finally:
        shutil.rmtree(place)


class BareHost:
    """A process of that user's on a host of theirs without namespaces: it carries requests out."""

    def __init__(self, uid: int) -> None:
        self.uid = uid
        self._process = self.started("serve", stdin=subprocess.PIPE)

    def started(self, does: str, **how: Any) -> "subprocess.Popen[str]":
        """Another one, which does that and ends."""
        script = f"from tests.enforce import bareruns; bareruns.{does}()"
        return hosts.started_as(self.uid, script, before=host_of(self.uid), **how)

    def told(self, **request: Any) -> dict[str, Any]:
        """What became of a request."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, self._process.stderr and self._process.stderr.read()
        found: dict[str, Any] = json.loads(answer)
        assert "raised" not in found, found
        return found

    def tried(
        self, place: Path, attempts: Mapping[str, str], *, setup: str = "", **wish: Any
    ) -> dict[str, str]:
        """What each expression came to in a run."""
        request = {"workspace": str(place / "ws"), "code": PRELUDE + setup + TRIES, **wish}
        told = self.told(**request, words=[json.dumps(dict(attempts))])
        assert told.get("exit") == 0, told
        found: dict[str, str] = json.loads(told["stdout"])
        return found

    def close(self) -> None:
        """Ends it."""
        self._process.communicate()


def serve() -> None:
    """Requests in, answers out, until there are no more."""
    for line in sys.stdin:
        try:
            answer = carried_out(json.loads(line))
        except Exception as problem:  # noqa: BLE001 - told to whoever asked
            answer = {"raised": f"{type(problem).__name__}: {problem}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def carry_out_one() -> None:
    """Carries out what the environment asks for."""
    sys.stdout.write(json.dumps(carried_out(json.loads(os.environ["REQUEST"]))))


def wanted_by(request: Mapping[str, Any]) -> Confinement:
    """The confinement that a request asks for."""
    workspace = Path(request["workspace"])
    argv = request.get("argv") or [PYTHON, "-I", "-S", "-c", request["code"]]
    program = program_of([*argv, *request.get("words", ())], workspace)
    surface = Surface.of(
        read=request.get("read", ["./"]),
        write=request.get("write", ["/tmp/"]),
        run=Level.ANY if request.get("run_any") else Level.NONE,
        net=Level.ANY if request.get("net") else Level.NONE,
    )
    more = [program_of([name], workspace) for name in request.get("run", ())]
    startable = (*program.startable, *(file for each in more for file in each.startable))
    copies = tuple(Path(each) for each in request.get("copies", ()))
    return Confinement(
        surface,
        workspace,
        replace(program, startable=startable, copies=copies),
        ENVIRONMENT,
        denied=tuple(map(Pattern.parse, request.get("denied", ()))),
        view=View(request.get("view", View.VISIBLE)),
        writes=Writes(request.get("writes", Writes.LAYER)),
        reads=Reads(request.get("reads", Reads.OBSERVED)),
        denials=Denials(request.get("denials", Denials.OBSERVED)),
        limits=Limits(**request.get("limits", {})),
    )


def carried_out(request: Mapping[str, Any]) -> dict[str, Any]:
    """What became of it, or what was lacking."""
    changes = [request.get(each, ()) for each in ("without", "moved")]
    native.NativeParent = weakened(*changes)  # type: ignore[misc]
    engine = NativeEngine(Path("/nonexistent"), protected_roots())
    try:
        if request.get("compile_only"):
            engine.compile(wanted_by(request))
            return {"lacking": []}
        with ExitStack() as held:
            io = Io(keeps=True)
            if request.get("stdin") == "udp":
                given = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                io.stdin = held.enter_context(closing(given)).fileno()
            outcome = engine._held_run(engine.compile(wanted_by(request)), (), io)
    except NotEnforceable as problem:
        lacking = [[each.control.value, each.why, each.remedy] for each in problem.lacking]
        return {"lacking": lacking}
    except Refused as problem:
        return {"refused": f"{problem.code.value}: {problem}"}
    finally:
        engine.close()
    return {
        "mode": outcome.mode,
        "exit": outcome.exit_code,
        "ending": outcome.ending.value,
        "limit": outcome.limit,
        "stdout": outcome.stdout.decode("utf-8", "replace"),
        "stderr": outcome.stderr.decode("utf-8", "replace"),
        "reads": list(outcome.reads),
        "programs": [each.path for each in outcome.programs],
        "violations": [[each.operation.value, each.resource] for each in outcome.violations],
        "held": {each.control.value: each.mechanism for each in outcome.held},
        "complete": outcome.complete,
    }


def _no_landlock(told: Told) -> None:
    told["landlock"] = None


def _no_scopes(told: Told) -> None:
    told["landlock"] = {**told["landlock"], "scoped": 0}


def _no_identities(told: Told) -> None:
    rules = told["landlock"]
    paths = [*rules["paths"], *(each[:2] for each in rules["known"])]
    told["landlock"] = {**rules, "paths": paths, "known": []}


def _no_groups(told: Told) -> None:
    told["doors"] = []


def _no_filters(told: Told) -> None:
    told.update(filter=ALLOW_ALL, bare=ALLOW_ALL, listens=False)


_CONTROLS: Final[Mapping[str, Callable[[Told], None]]] = {
    "landlock": _no_landlock,
    "scopes": _no_scopes,
    "filters": _no_filters,
    "groups": _no_groups,
    "identities": _no_identities,
}
_LAUNCHERS: Final = {
    # Nobody adopts what the program leaves, and nobody hears of the end of the one above.
    "keeping": "from consentry.enforce.native import calls\n"
    "strong = calls.prctl\n"
    "calls.prctl = lambda option, *more: None if option in (1, 36) else strong(option, *more)\n",
}


def weakened(lacking: Sequence[str], moved: Sequence[tuple[str, str]] = ()) -> type[NativeParent]:
    """What starts runs without these controls, when these were moved just before."""

    class Weakened(NativeParent):
        def __init__(self, program: str | None = None) -> None:
            first, _, rest = (program or "").partition("\n")
            more = "".join(_LAUNCHERS.get(each, "") for each in lacking)
            super().__init__(f"{first}\n{more}{rest}" if program else None)

        def launch(self, plan: Any, files: Any) -> Running:
            told = dict(plan)
            for each in lacking if "bare" in told else ():
                _CONTROLS.get(each, lambda _: None)(told)
            for old, new in moved if "bare" in told else ():
                Path(old).rename(new)
            return super().launch(told, files)

    return Weakened
