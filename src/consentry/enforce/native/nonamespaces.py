"""Whether this host refuses namespaces or mounts, without which no box can be made.

That is known only when one was tried. It costs a moment, so it is tried where something shows that
they may be refused: a filter on this process, a setting, a part of /proc that is covered, or a root
without the power to mount.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engine import Control, Lacking
from consentry.enforce.facts import Found, HostView
from consentry.enforce.mounts import read_mounts, whole_proc_fact
from consentry.enforce.native.notbuilt import NotBuilt
from consentry.enforce.ownership import ROOT_UID
from consentry.surface.lattice import Surface

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
NO_QUOTA: Final = "the run's own folders have no quota without a file system of their own"


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
            Lacking(Control.WRITTEN, f"{NO_QUOTA}: {self.why}", self.remedy),
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
