"""Score-cards of boxes from which something was taken away, and of no box at all.

    python3 -c 'from tests.enforce.cards import print_card; print_card("filter")'

Each way to weaken a box changes what the launcher is told, or the launcher itself, and nothing of
the product: there is no switch in it that could do this. The pid namespace is never taken away,
because a box ends everything that it can see.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from consentry.enforce.engines import native
from consentry.enforce.engines.native import NativeEngine
from consentry.enforce.native import parent
from consentry.enforce.native.parent import NativeParent, Running
from consentry.enforce.scorecard import Ground, ScoreCard
from consentry.surface.modes import View
from consentry.surface.protected import protected_roots

ALLOW_ALL = bytes([6, 0, 0, 0, 0, 0, 0xFF, 0x7F])
PYTHON = Path("/usr/bin/python3")

Told = dict[str, Any]


@dataclass(frozen=True)
class Weakening:
    """What is taken away, and which attacks then reach their goal."""

    change: Callable[[Told], None]
    opens: frozenset[str]
    opens_to_root: frozenset[str] = frozenset()
    launcher: str = ""


def _no_filter(told: Told) -> None:
    told.update(filter=ALLOW_ALL, listens=False)


def _no_filter_and_no_landlock(told: Told) -> None:
    _no_filter(told)
    told["landlock"] = None


def _show_files(told: Told) -> None:
    """No Landlock, nothing covered, nothing read-only, and what was hidden is shown."""
    outside = str(Path(json.loads(told["argv"][5])["hidden"]).parent)
    taken = ("hide_folder", "hide_file", "limit")
    told["landlock"] = None
    told["steps"] = (
        *(step for step in told["steps"] if step[0] not in taken),
        ("dir", outside),
        ("bind", outside, outside, ("idmap",), None),
        ("empty", "/etc/shadow"),
        ("bind", "/etc/shadow", "/etc/shadow", ("ro", "idmap"), None),
    )


def _start_anything(told: Told) -> None:
    told["landlock"] = None
    told["steps"] = tuple(
        tuple(_without_noexec(part) for part in step)
        for step in told["steps"]
        if not (step[0] == "again" and "noexec" in step[2])
    )


def _without_noexec(part: object) -> object:
    return tuple(each for each in part if each != "noexec") if isinstance(part, tuple) else part


def _pass_environment(told: Told) -> None:
    told["env"] = {**told["env"], **os.environ}


def _no_landlock(told: Told) -> None:
    told["landlock"] = None


def _show_processes(told: Told) -> None:
    told["steps"] = (*told["steps"], ("bind", "/proc", "/proc", (), None))


def _no_limits(told: Told) -> None:
    told.update(rlimits=[], groups=[], group_limits=[], layer_bytes=1 << 28)


def _nothing(_: Told) -> None:
    return


# The caller's own, or those of its user namespace, are kept through the change of user and exec.
_KEEP_CAPABILITIES = """
import ctypes
from consentry.enforce.native import calls
def keep():
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    calls._syscall(90 if calls._GENERIC else 125, header, sets)
    for at in (0, 3):
        sets[at] = sets[at + 2] = sets[at + 1]
    calls._syscall(calls.SYS_CAPSET, header, sets)
    for number in range(64):
        calls._libc.prctl(calls.PR_CAP_AMBIENT, 2, number, 0, 0)
calls.drop_capabilities = keep
calls.drop_bounding_set = lambda: calls.prctl(8, 1)
"""

WEAKENINGS = {
    "filter": Weakening(
        _no_filter,
        frozenset({"af-netlink", "keys", "ptrace", "memfd", "user-namespace", "clone3", "tiocsti"}),
    ),
    "filter and landlock": Weakening(_no_filter_and_no_landlock, frozenset({"mount"})),
    "files": Weakening(
        _show_files,
        frozenset({"hidden-file", "outside-file", "granted-file", "denied-inside", "host-socket"}),
        frozenset({"shadow"}),
    ),
    "programs": Weakening(
        _start_anything, frozenset({"other-program", "loader", "written-program"})
    ),
    "environment": Weakening(_pass_environment, frozenset({"secret"})),
    "network": Weakening(
        _no_landlock,
        frozenset({"host-network", "abstract-socket"}),
        launcher="from consentry.enforce.native import box, calls\n"
        "box.NEW_NAMESPACES &= ~calls.CLONE_NEWNET\n"
        "from consentry.enforce.native import waysout\n"
        "waysout.bring_up_loopback, waysout.for_questions = lambda: None, lambda: []\n",
    ),
    "processes": Weakening(_show_processes, frozenset({"host-processes"})),
    "capabilities": Weakening(
        _nothing,
        frozenset({"capabilities"}),
        launcher=_KEEP_CAPABILITIES,
    ),
    "limits": Weakening(
        _no_limits, frozenset({"big-file", "much-written", "many-descriptors", "many-processes"})
    ),
}


def print_card(taken: str) -> None:
    """The answers of every attack: `none` in a whole box, `box` bare, else in a weakened one."""
    card = bare_card() if taken == "box" else boxed_card(WEAKENINGS.get(taken))
    sys.stdout.write(json.dumps({row.name: [row.verdict, row.said] for row in card.rows}))


def print_visible_card(folder: str, *, with_landlock: bool) -> None:
    """The same in a box that shows the host's tree, aimed at what lies in a folder it shows."""
    if not with_landlock:
        _weaken(Weakening(_no_landlock, frozenset()))
    engine = NativeEngine(None, protected_roots())
    try:
        with Ground(folder) as ground:
            # Or a root caller's program, which is another user, sees nothing in it anyhow.
            ground.workspace.parent.chmod(0o755)
            wanted = replace(ground.confinement(PYTHON), view=View.VISIBLE)
            outcome = engine._tried(wanted)
            assert ground.is_untouched
    finally:
        engine.close()
    card = ScoreCard.of(outcome.stdout, outcome.limit)
    assert all(card.works.values()), card.works
    sys.stdout.write(json.dumps({row.name: [row.verdict, row.said] for row in card.rows}))


def bare_card() -> ScoreCard:
    """The attacks as an ordinary process of this user, with one descriptor too many."""
    extra = os.open("/dev/null", os.O_RDONLY)
    with Ground() as ground:
        done = subprocess.run(
            ground.words(PYTHON), capture_output=True, check=False, pass_fds=[extra]
        )
    os.close(extra)
    return ScoreCard.of(done.stdout)


def boxed_card(weakening: Weakening | None) -> ScoreCard:
    """The attacks in a box of the engine."""
    if weakening is not None:
        _weaken(weakening)
    engine = NativeEngine(None, protected_roots())
    try:
        trial = engine.try_out()
    finally:
        engine.close()
    assert trial.card is not None, trial.probe
    return trial.card


def _weaken(weakening: Weakening) -> None:
    """For the rest of this process, which lives for one card."""

    class Weakened(NativeParent):
        def launch(self, plan: Any, files: Any) -> Running:
            told = dict(plan)
            weakening.change(told)
            return super().launch(told, files)

    native.NativeParent = Weakened  # type: ignore[misc]
    first, _, rest = parent._PROGRAM.partition("\n")
    parent._PROGRAM = f"{first}\n{weakening.launcher}{rest}"  # type: ignore[misc]
