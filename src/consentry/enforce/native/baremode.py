"""The mode of the native engine for hosts that refuse namespaces or mounts: Landlock and seccomp.

Loaded where it is needed only: everywhere else a run starts sooner without it.
"""

import os
import socket
import stat
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from consentry.base.values import replace
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Control, Held, Lacking, NotEnforceable
from consentry.enforce.facts import HostView
from consentry.enforce.limits import LimitPlan
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
from consentry.enforce.native.nonamespaces import MODE, NO_QUOTA, NoNamespaces
from consentry.enforce.native.otherids import one_behind_root
from consentry.enforce.native.planner import ENGINE, Host, Plan
from consentry.enforce.native.runfolders import run_folders
from consentry.enforce.ownership import ROOT_UID
from consentry.enforce.usage import Control as Limited


class BareRuns:
    """What of a run is different where there are no namespaces."""

    mode = MODE
    held: tuple[Held, ...] = HELD

    def __init__(self, host: Host, without: NoNamespaces) -> None:
        self.without = without
        # Root needs one number that is nobody's, and no block of them.
        other = one_behind_root(HostView()) if host.uid == ROOT_UID else None
        self._host = host if other is None else replace(host, behind_root=other)

    @property
    def launcher(self) -> str:
        """What the interpreter of the launcher is told."""
        uid, gid = self._host.inner
        return (
            "import sys; sys.path.append(sys.argv[2])\n"
            "from consentry.enforce.native.barelauncher import BareLauncher\n"
            f"BareLauncher(int(sys.argv[1]), {uid}, {gid}).live()"
        )

    def compiled(
        self, wanted: Confinement, limits: LimitPlan, *, counted: bool
    ) -> tuple[Plan, dict[str, Any]]:
        """The plan and what else the launcher is told; raises `NotEnforceable` with what it lacks."""
        host = self._host
        lacking = [
            *lacking_here(wanted, host, self.without.why),
            *(_unheld(each.control, each.why) for each in limits.unheld),
        ]
        if lacking:
            raise NotEnforceable(ENGINE, lacking)
        plan = compile_bare(wanted, host, memory_files=counted)
        denied = list(denied_above(plan, wanted, host.home))
        if denied:
            raise NotEnforceable(ENGINE, denied)
        return plan, {"bare": compile_bare_filter(host.machine), "pinned": list(PINNED)}

    def placed(self, wanted: Confinement, plan: Plan, ends: ExitStack) -> dict[str, Any]:
        """What of a compiled run changes when its own folders are there, which go when `ends` does."""
        own = ends.enter_context(run_folders(*self._host.inner))
        environment = {**wanted.environment, "TMPDIR": own.tmp, "HOME": own.home}
        return {
            "wanted": replace(wanted, environment=environment),
            "plan": placed_in(plan, own.tmp, own.home),
        }

    @staticmethod
    def with_doors(told: Mapping[str, Any], first: int, doors: list[int]) -> dict[str, Any]:
        """Opens the files by which groups are joined: the launcher may be another user than we are.

        They are added to `doors`, and numbered from `first` on.
        """
        for path in told["groups"]:
            doors.append(os.open(path, os.O_WRONLY | os.O_CLOEXEC))  # noqa: PERF401 - closed by others
        return {**told, "groups": (), "doors": [first + at for at in range(len(doors))]}

    @staticmethod
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


def _unheld(control: Limited, why: str) -> Lacking:
    return Lacking(LIMITED[control], NO_QUOTA if control is Limited.WRITTEN else why)
