"""The mode of the native engine for hosts that refuse namespaces or mounts: Landlock and seccomp.

Whether a host refuses them is known only when a box was tried. That costs a moment, so it is tried
where something shows that it may: a filter on this process, a setting, a part of /proc that is
covered, or a root without the power to mount.
"""

import os
import socket
import stat
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from consentry.base.errors import Refused
from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engine import Control, Lacking, NotEnforceable
from consentry.enforce.facts import Found, HostView
from consentry.enforce.limits import LimitPlan
from consentry.enforce.mounts import read_mounts, whole_proc_fact
from consentry.enforce.native.barefilter import compile_bare_filter
from consentry.enforce.native.bareplan import (
    HELD,
    PINNED,
    compile_bare,
    denied_above,
    lacking_here,
    placed_in,
)
from consentry.enforce.native.ending import LIMITED
from consentry.enforce.native.notbuilt import NotBuilt
from consentry.enforce.native.otherids import one_behind_root
from consentry.enforce.native.planner import ENGINE, Host, Plan
from consentry.enforce.native.runfolders import run_folders
from consentry.enforce.ownership import ROOT_UID
from consentry.enforce.usage import Control as Limited
from consentry.surface.lattice import Surface

__all__ = ["HELD", "MODE", "NoNamespaces", "compiled", "launcher_of", "placed"]

MODE: Final = "landlock-only"
"""As records and reports call it."""

_SIGNS: Final = (
    ("/proc/sys/user/max_user_namespaces", "0"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
)
_MAY_MOUNT: Final = 1 << 21  # CAP_SYS_ADMIN
_STEPS: Final = (
    "clone", "uid_map", "/proc/self/", "mount", "open_tree", "pivot_root", "umount", "move_mount",
    "sethostname", "building",
)  # fmt: skip
_NO_QUOTA: Final = "the run's own folders have no quota without a file system of their own"


@dataclass(frozen=True, slots=True)
class NoNamespaces:
    """Why a host makes no boxes, in the kernel's words, and what would let it."""

    why: str
    remedy: str

    @property
    def lacking(self) -> tuple[Lacking, ...]:
        """What no run can have here."""
        return (
            Lacking(Control.LAYER, f"no layer can be mounted: {self.why}", self.remedy),
            Lacking(Control.WRITTEN, f"{_NO_QUOTA}: {self.why}", self.remedy),
        )


def shows_signs(view: HostView) -> bool:
    """Whether namespaces or mounts may be refused to this process."""
    status = {
        name: value.strip()
        for name, _, value in (
            line.partition(":") for line in (view.read("/proc/self/status") or "").splitlines()
        )
    }
    powers = int(status.get("CapEff") or "0", 16)
    return (
        any(view.read_word(path) == value for path, value in _SIGNS)
        or status.get("Seccomp") != "0"
        or (view.uid == ROOT_UID and not powers & _MAY_MOUNT)
        or whole_proc_fact(read_mounts(view)).found is not Found.YES
    )


def refused_namespaces(make_box: Callable[[Confinement], object]) -> NoNamespaces | None:
    """Why no box can be made here, or None where one was, or something else was in the way."""
    # What is started is not allowed to, so that nothing but the box is tried.
    program = Program(Path("/usr/bin/true"), ("true",), Path("/usr"))
    surface = Surface.of(write=["/tmp/"])  # noqa: S108 - the box's own
    try:
        make_box(Confinement(surface, Path("/usr"), program, {}))
    except NotBuilt as problem:
        if problem.step.startswith(_STEPS):
            return NoNamespaces(str(problem), problem.help_line or "")
    except Refused:
        pass
    return None


def host_without(host: Host, view: HostView) -> Host:
    """The host as a plan without namespaces sees it: root needs one other number, and no block."""
    other = one_behind_root(view) if host.uid == ROOT_UID else None
    return host if other is None else replace(host, behind_root=other)


def compiled(
    wanted: Confinement, host: Host, limits: LimitPlan, without: NoNamespaces, *, counted: bool
) -> tuple[Plan, dict[str, Any]]:
    """The plan and what else the launcher is told; raises `NotEnforceable` with all that it lacks."""
    lacking = [
        *lacking_here(wanted, host, without.why),
        *(_unheld(each.control, each.why) for each in limits.unheld),
    ]
    if lacking:
        raise NotEnforceable(ENGINE, lacking)
    plan = compile_bare(wanted, host, memory_files=counted)
    denied = list(denied_above(plan, wanted, host.home))
    if denied:
        raise NotEnforceable(ENGINE, denied)
    told = {
        "bare": compile_bare_filter(host.machine),
        "pinned": list(PINNED),
    }
    return plan, told


def _unheld(control: Limited, why: str) -> Lacking:
    is_written = control is Limited.WRITTEN
    return Lacking(LIMITED[control], _NO_QUOTA if is_written else why)


def launcher_of(host: Host) -> str:
    """What the interpreter of the launcher is told."""
    uid, gid = host.inner
    return (
        "import sys; sys.path.append(sys.argv[2])\n"
        "from consentry.enforce.native.barelauncher import BareLauncher\n"
        f"BareLauncher(int(sys.argv[1]), {uid}, {gid}).live()"
    )


def placed(wanted: Confinement, plan: Plan, host: Host, ends: ExitStack) -> dict[str, Any]:
    """What of a compiled run changes when its own folders are there, which go when `ends` does."""
    own = ends.enter_context(run_folders(*host.inner))
    environment = {**wanted.environment, "TMPDIR": own.tmp, "HOME": own.home}
    return {
        "wanted": replace(wanted, environment=environment),
        "plan": placed_in(plan, own.tmp, own.home),
    }


def with_doors(told: Mapping[str, Any], first: int, doors: list[int]) -> dict[str, Any]:
    """Opens the files by which groups are joined: the launcher may be another user than we are.

    They are added to `doors`, and numbered from `first` on.
    """
    for path in told["groups"]:
        doors.append(os.open(path, os.O_WRONLY | os.O_CLOEXEC))  # noqa: PERF401 - closed by others
    return {**told, "groups": (), "doors": [first + at for at in range(len(doors))]}


def require_no_sockets(*streams: int | None) -> None:
    """A socket can be told to send elsewhere, and no network namespace keeps it from that."""
    for each in streams:
        if each is not None and stat.S_ISSOCK(os.fstat(each).st_mode):
            with socket.socket(fileno=os.dup(each)) as found:
                if (found.family, found.type) != (socket.AF_UNIX, socket.SOCK_STREAM):
                    why = "a standard stream is a socket, which could be sent elsewhere from inside"
                    raise NotEnforceable(
                        ENGINE, [Lacking(Control.NO_NETWORK, why, "give it a pipe or a file")]
                    )
