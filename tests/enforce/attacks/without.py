"""Takes controls of the native engine away, one by one, so that tests can show what each one holds.

Only tests can do this: they change what the launcher is told, or the launcher's own program, and no
option, document or variable of the product leads here. Each function changes the plan in place.
"""

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

Told = dict[str, Any]

ALLOW_ALL: Final = bytes([6, 0, 0, 0, 0, 0, 0xFF, 0x7F])
_BINDS: Final = {"bind": 4, "view": 4, "layer": 4}


def _filter(told: Told) -> None:
    told.update(filter=ALLOW_ALL, listens=False)


def _landlock(told: Told) -> None:
    told["landlock"] = None


def _covers(told: Told) -> None:
    told["steps"] = [
        step for step in told["steps"] if not step[0].startswith("hide_") and step[0] != "cover"
    ]


def _noexec(told: Told) -> None:
    told["steps"] = [
        tuple(() if part == ("noexec",) else part for part in step)
        for step in told["steps"]
        if step[0] != "again" or "noexec" not in step[2]
    ]


def _identity(told: Told) -> None:
    told["steps"] = [
        (*step[: _BINDS[step[0]]], None, *step[_BINDS[step[0]] + 1 :])
        if step[0] in _BINDS
        else step
        for step in told["steps"]
    ]


def _layer(told: Told) -> None:
    """Writes reach the host's own folder."""
    told["steps"] = [
        ("bind", step[1], step[2], ("idmap",), None) if step[0] == "layer" else step
        for step in told["steps"]
    ]


def _views(told: Told) -> None:
    told["steps"] = [("bind", *step[1:]) if step[0] == "view" else step for step in told["steps"]]


def _read_only(told: Told) -> None:
    """What is mounted so that it cannot be written is the host's own folder, to be written."""
    told["steps"] = [
        ("bind", *step[1:3], tuple(word for word in step[3] if word != "ro"), None)
        if step[0] in ("bind", "view") and step[1] == step[2]
        else step
        for step in told["steps"]
        if step[0] != "limit"
    ]


def _own_pids(told: Told) -> None:
    """The host's processes are listed, as they are in its own `/proc`; see below for the rest."""
    bound = [("dir", "/proc"), ("bind", "/proc", "/proc", (), None)]
    told["steps"] = [
        each for step in told["steps"] for each in (bound if step[0] == "proc" else [step])
    ]


def _shown_plainly(told: Told) -> None:
    """Folders that are shown besides have their own owners, and programs their bits."""
    told["steps"] = [
        ("bind", *step[1:3], (), None) if step[0] == "bind" and step[3] == ("idmap",) else step
        for step in told["steps"]
    ]


def _backdrop(told: Told) -> None:
    """The host's own folders stand behind the grants, and can be written."""
    steps: list[tuple[Any, ...]] = []
    for step in told["steps"]:
        if step[0] == "show" and Path(step[1]).is_dir():
            steps += [("dir", step[1]), ("bind", step[1], step[1], ("idmap",), None)]
        else:
            steps.append(step)
    told["steps"] = steps


def _closed_reads(told: Told) -> None:
    """The program may read granted files by itself as well."""
    told["landlock"] = told["exact"]["landlock"]


def _mediation(told: Told) -> None:
    """Nobody opens anything for the program."""
    _closed_reads(told)
    told["exact"] = None


def _grants(told: Told) -> None:
    """The opener is held to nothing."""
    told["exact"] = {**told["exact"], "landlock": None}


def _others_after_it(told: Told) -> None:
    """The program is not the only command: a process of ours starts it, and would start the next."""
    told["then"] = [(told["program"], [*told["argv"][:1], "-c", "pass"])]


CONTROLS: Final[Mapping[str, Callable[[Told], None]]] = {
    "filter": _filter,
    "landlock": _landlock,
    "covers": _covers,
    "noexec": _noexec,
    "identity": _identity,
    "layer": _layer,
    "views": _views,
    "backdrop": _backdrop,
    "read-only": _read_only,
    "pids": _own_pids,
    "closed reads": _closed_reads,
    "mediation": _mediation,
    "grants": _grants,
    "being the only command": _others_after_it,
}

# Between its look at a name that flips and its answer, the name is changed at least once.
_LATE: Final = """
import time
from consentry.enforce.native import observer
look = observer.Observer._look_at_open
def late(self, number, pid, name, arguments):
    if look(self, number, pid, name, arguments):
        return True
    at = arguments[observer.NAMED[name][2]]
    before, end = self._memory.text_at(pid, at), time.monotonic() + 5
    while before.endswith((b"/name1", b"/name2")) and time.monotonic() < end:
        if self._memory.text_at(pid, at) != before:
            break
    return False
observer.Observer._look_at_open = late
"""
IN_LAUNCHER: Final[Mapping[str, str]] = {
    # Its first process ends all others that it can reach, which would be the host's.
    "pids": "box.NEW_NAMESPACES &= ~calls.CLONE_NEWPID\nreaper._kill_all = lambda: None",
    "another user": "reaper.restraint.become = lambda uid, gid: None",
    "no new privileges": (
        "setting = calls.prctl\n"
        "calls.prctl = lambda o, v=0, w='': o == calls.PR_SET_NO_NEW_PRIVS or setting(o, v, w)\n"
        "calls.seccomp = lambda *_, **__: -1"
    ),
    # Nor is the host's own network changed, or a name server put into it.
    "network": (
        "from consentry.enforce.native import waysout\n"
        "waysout.bring_up_loopback, waysout.for_questions = lambda: None, lambda: []\n"
        "box.NEW_NAMESPACES &= ~calls.CLONE_NEWNET"
    ),
    "ipc": "box.NEW_NAMESPACES &= ~calls.CLONE_NEWIPC",
    "layers in layers": (
        "import errno\n"
        "mounted = calls.mount\n"
        "def mount(source, target, kind, flags, data=''):\n"
        "    if data.endswith('/store/nothing'):\n"
        "        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), 'mount overlay')\n"
        "    mounted(source, target, kind, flags, data)\n"
        "calls.mount = mount"
    ),
    "closing": "reaper._keep_only = calls.close_from = lambda *_: None",
    "room for notes": ("from consentry.enforce.native import observer\nobserver._MOST_NOTES = 100"),
    "promptness": _LATE,
    "opener": "from consentry.enforce.native import restraint\nrestraint.stand_in_box = None",
    "undumpable": (
        "real = calls.prctl\n"
        "calls.prctl = lambda o, v=0, w='': real(o, 1 if o == calls.PR_SET_DUMPABLE else v, w)"
    ),
}


def take_away(told: Told, controls: list[str], shown: list[str]) -> None:
    """Takes these controls away, and shows these folders of the host besides."""
    for name in controls:
        if name in CONTROLS:
            CONTROLS[name](told)
    steps = [*told["steps"]]
    for path in shown:
        steps += [("dir", path), ("bind", path, path, ("idmap",), None)]
    told["steps"] = steps
    if "owners" in controls:
        _shown_plainly(told)


class Unisolated:
    """Stands for `subprocess` where the launcher is to start as any program of the caller would."""

    DEVNULL = subprocess.DEVNULL

    @staticmethod
    def Popen(argv: list[str], **wish: Any) -> "subprocess.Popen[bytes]":  # noqa: N802 - its name
        """With the caller's environment and folder, and whatever they bring along."""
        words = [word for word in argv if word not in ("-I", "-S")]
        wish.update(env=dict(os.environ), cwd=Path.cwd())
        return subprocess.Popen(words, **wish)


def weakened_launcher(program: str, controls: list[str]) -> str:
    """The launcher's program with what it does itself taken away."""
    lines = [IN_LAUNCHER[name] for name in controls if name in IN_LAUNCHER]
    if not lines:
        return program
    first, rest = program.split("\n", 1)
    return "\n".join(
        [first, "import os\nfrom consentry.enforce.native import box, calls, reaper", *lines, rest]
    )
