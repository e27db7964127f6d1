"""One attack on each control of the engines that are commands, looked at from outside the box.

    python3 -c 'from tests.enforce.engines.threes import print_threes as p; p("firejail", "/srv/mine")'

Each is made three times: in a box of the engine, in one that is granted what it wants, and in one of
the same engine without what holds the control. What a box could read is told by a secret that lies on
the host alone, what it wrote by the host's own file, whom it reached by who was listening, and whom it
ended by who is gone. Only a traced process leaves no trace outside: there the kernel's word inside is
taken. What nobody can be granted has the nearest thing that must work instead.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engine import Control
from consentry.enforce.engines.boxcommand import BoxCommandEngine
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.tryout import direct_confinement
from consentry.enforce.scorecard import Ground
from consentry.surface.lattice import Surface
from consentry.surface.protected import protected_roots
from tests.enforce.engines.weakened import WEAKENED, WHOLE

PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_PYTHON: Final = Path("/usr/bin/python3")
_NAME: Final = "ONLY_THE_CALLERS"
_SECRET: Final = os.urandom(16).hex()

_READ = "import sys; print(open(sys.argv[1]).read())"
_WRITE = "import sys; open(sys.argv[1], 'a').write(sys.argv[2])"
_CONNECT = """
import socket, sys
port = int(sys.argv[1])
if not port:
    own = socket.create_server(("127.0.0.1", 0))
    port = own.getsockname()[1]
socket.create_connection(("127.0.0.1", port), 3)
print("reached")
"""
_VARIABLE = "import os, sys; print(os.environ[sys.argv[1]])"
_END = """
import os, signal, sys
other = int(sys.argv[1]) or os.fork()
if not other:
    signal.pause()
os.kill(other, signal.SIGTERM)
if not int(sys.argv[1]):
    os.waitpid(other, 0)
print("reached")
"""
_TRACE = """
import ctypes, os, signal, sys
other = os.fork()
if not other:
    signal.pause()
libc = ctypes.CDLL(None, use_errno=True)
if int(sys.argv[1]):
    libc.ptrace(0x4206, other, 0, 0)
    told = dict(line.split(":\\t", 1) for line in open(f"/proc/{other}/status") if ":\\t" in line)
    print("reached" if int(told["TracerPid"]) else "refused")
os.kill(other, signal.SIGKILL)
os.waitpid(other, 0)
print("reached" if not int(sys.argv[1]) else "")
"""
_POWERS = """
import ctypes, os, sys
try:
    closed = open(sys.argv[1])
except PermissionError:
    uid, gid, new_user = os.getuid(), os.getgid(), 0x10000000
    if ctypes.CDLL(None).unshare(new_user):
        sys.exit("refused")
    for name, said in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(said)
    closed = open(sys.argv[1])
print(closed.read())
"""


@dataclass(frozen=True, slots=True)
class Scene:
    """The host as the attack finds it, and who waits there."""

    ground: Ground
    listening: socket.socket
    victim: "subprocess.Popen[bytes]"

    @property
    def closed(self) -> Path:
        """A file that nobody may read who has no power to."""
        return self.ground.workspace / "closed"

    @property
    def port(self) -> int:
        """Of this host's own network."""
        return int(self.listening.getsockname()[1])

    def was_reached(self) -> bool:
        """Whether somebody connected."""
        try:
            self.listening.accept()[0].close()
        except BlockingIOError:
            return False
        return True

    def has_lost_the_victim(self) -> bool:
        """Whether it was ended by a signal."""
        try:
            return self.victim.wait(0.2) < 0
        except subprocess.TimeoutExpired:
            return False


Words = tuple[str, ...]
Change = Callable[[Confinement, Scene], Confinement]
Seen = Callable[[bytes, Scene], bool]


def _as_it_is(wanted: Confinement, _: Scene) -> Confinement:
    return wanted


def _is_secret(out: bytes, _: Scene) -> bool:
    return _SECRET.encode() in out


def _is_reached(out: bytes, _: Scene) -> bool:
    return b"reached" in out


@dataclass(frozen=True, slots=True)
class Three:
    """A program, what it attacks, what it is granted instead, and how its success is seen.

    Where nothing can be granted, `granted` are the words with which it does what any program may, and
    its own word is taken for that.
    """

    program: str
    attack: Callable[[Scene], Words]
    granted: Callable[[Scene], Words]
    seen: Seen
    grant: Change = _as_it_is
    seen_granted: Seen | None = None
    change: Change = _as_it_is

    def granted_instead(self) -> "Three":
        """The same as something that is granted."""
        seen = self.seen_granted or self.seen
        return replace(self, attack=self.granted, change=self.grant, seen=seen)


def _hidden(scene: Scene) -> Words:
    return (str(scene.ground.hidden),)


def _denied(scene: Scene) -> Words:
    return (str(scene.ground.denied),)


def _reading_outside(wanted: Confinement, scene: Scene) -> Confinement:
    surface = Surface.of(read=["./", f"{scene.ground.hidden.parent}/"], write=["./writable/"])
    return replace(wanted, surface=replace(wanted.surface, fs_read_roots=surface.fs_read_roots))


def _denying_nothing(wanted: Confinement, _: Scene) -> Confinement:
    return replace(wanted, denied=())


def _giving_the_variable(wanted: Confinement, _: Scene) -> Confinement:
    return replace(wanted, environment={**wanted.environment, _NAME: _SECRET})


def _is_in(name: str) -> Seen:
    def seen(_: bytes, scene: Scene) -> bool:
        file = scene.ground.workspace / name
        return file.exists() and _SECRET in file.read_text()

    return seen


THREES: Final[Mapping[Control, Three]] = {
    Control.READS: Three(_READ, _hidden, _hidden, _is_secret, _reading_outside),
    Control.WRITES: Three(
        _WRITE,
        lambda scene: (str(scene.ground.granted), _SECRET),
        lambda scene: (str(scene.ground.writable / "file"), _SECRET),
        _is_in("granted"),
        seen_granted=_is_in("writable/file"),
    ),
    Control.DENY_INSIDE: Three(_READ, _denied, _denied, _is_secret, _denying_nothing),
    Control.NO_NETWORK: Three(
        _CONNECT,
        lambda scene: (str(scene.port),),
        lambda _: ("0",),
        lambda _, scene: scene.was_reached(),
        seen_granted=_is_reached,
    ),
    Control.ENVIRONMENT: Three(
        _VARIABLE, lambda _: (_NAME,), lambda _: (_NAME,), _is_secret, _giving_the_variable
    ),
    Control.PROCESSES_APART: Three(
        _END,
        lambda scene: (str(scene.victim.pid),),
        lambda _: ("0",),
        lambda _, scene: scene.has_lost_the_victim(),
        seen_granted=_is_reached,
    ),
    Control.SYSTEM_CALLS: Three(_TRACE, lambda _: ("1",), lambda _: ("0",), _is_reached),
    Control.NO_NEW_POWERS: Three(
        _POWERS,
        lambda scene: (str(scene.closed),),
        lambda scene: (str(scene.ground.granted),),
        _is_secret,
        seen_granted=lambda out, _: b"as it was" in out,
    ),
}
"""One for each control that such an engine can claim; a claim without one is found by the tests."""


def print_threes(name: str, place: str) -> None:
    """For each control what was claimed, shown and lost, and whether each attack reached its goal.

    All of it lies in a folder of the caller's that may be granted.
    """
    os.environ[_NAME] = _SECRET
    ground = EngineGround(None, protected_roots(), PATH)
    whole = WHOLE[name](ground)
    shown = whole.try_out().probe
    held = {each.control for each in shown.held}
    told = {}
    for claim in whole.claims():
        control = claim.control
        three, weak = THREES[control], WEAKENED[name][control](ground)
        trial = weak.try_out()
        left = {each.control for each in trial.probe.held}
        told[control.value] = {
            "held": control in held,
            "attack": _reached(whole, three, place),
            "granted": _reached(whole, three.granted_instead(), place),
            "weakened": _reached(weak, three, place),
            "claimed": control in {each.control for each in weak.claims()},
            "lost": sorted(each.control for each in weak.claims() if each.control not in left),
            "lacking": control in {each.control for each in trial.probe.lacking},
            "open": [row.name for row in (trial.card.broken if trial.card else ())],
        }
    sys.stdout.write(json.dumps(told))


def _reached(engine: BoxCommandEngine, three: Three, place: str) -> bool:
    """Whether the program reached its goal, in a box of the engine on ground of its own."""
    with (
        Ground(place) as ground,
        socket.create_server(("127.0.0.1", 0)) as listening,
        subprocess.Popen(["/bin/sleep", "60"]) as victim,
    ):
        listening.setblocking(False)
        scene = Scene(ground, listening, victim)
        for file in (ground.hidden, ground.denied, scene.closed):
            file.write_text(_SECRET)
        # Its owner could open it, were it not in a folder that cannot be written.
        scene.closed.chmod(0)
        try:
            out = engine._tried(_wanted(engine, scene, three)).stdout
            return three.seen(out, scene)
        finally:
            victim.kill()


def _wanted(engine: BoxCommandEngine, scene: Scene, three: Three) -> Confinement:
    wanted = direct_confinement(scene.ground.confinement(_PYTHON), engine.lacks())
    words = (str(_PYTHON), "-I", "-S", "-c", three.program, *three.attack(scene))
    started = wanted.program
    program = Program(started.path, words, started.folder, startable=started.startable)
    return three.change(replace(wanted, program=program), scene)
