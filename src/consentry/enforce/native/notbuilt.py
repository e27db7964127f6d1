"""Why a box could not be made, in the kernel's words, and what would let the host make one.

The step is what the launcher or the box was doing, as `calls` names it. The advice depends on what
the host shows besides: the same refusal comes from a setting, from AppArmor, or from a container.
"""

import errno
import os
from collections.abc import Callable
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.facts import Found, HostView
from consentry.enforce.host import look_at_host
from consentry.enforce.ownership import ROOT_UID

_DEBIAN: Final = "/proc/sys/kernel/unprivileged_userns_clone"
_UBUNTU: Final = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
_REFUSALS: Final = (errno.EPERM, errno.EACCES)


class NotBuilt(Refused):
    """A box could not be made, and nothing was started."""

    def __init__(self, step: str, number: int, view: HostView | None = None) -> None:
        said = os.strerror(number).lower() if number else "failed"
        if step.lower() == said:
            # Not every call of the standard library says what it was about.
            step = "building the box"
        name = errno.errorcode.get(number, "")
        why = f"{step}: {said} ({name})" if name else f"{step}: {said}"
        advice = remedy_for(step, number, view or HostView(uid=os.getuid()))
        super().__init__(Code.ENGINE_FAILED, why, help_line=advice)
        self.step = step
        self.number = number


class LostSight(Refused):
    """The launcher ended during a run, and every box with it: the program may have begun."""

    def __init__(self) -> None:
        why = "the launcher ended during the run, so what the program did is not known"
        super().__init__(Code.ENGINE_FAILED, why)


def remedy_for(step: str, number: int, view: HostView) -> str:
    """One line on what to install, set or ask for."""
    for begins, advise in _ADVICE:
        if step.startswith(begins):
            return advise(number, view)
    return "`consentry status --verbose` shows what the host offers; a newer kernel may offer more"


def _on_namespaces(number: int, view: HostView) -> str:
    if number == errno.ENOSPC:
        return "raise the limit, as root: sysctl -w user.max_user_namespaces=15000"
    if view.uid != ROOT_UID and view.read_word(_DEBIAN) == "0":
        return "let users make them, as root: sysctl -w kernel.unprivileged_userns_clone=1"
    if view.uid != ROOT_UID and view.read_word(_UBUNTU) == "1":
        return (
            "AppArmor refuses them: give this interpreter a profile with `userns,`, or as root: "
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
        )
    if _is_contained(view):
        return (
            "the container refuses them: start it with --security-opt seccomp=unconfined "
            "--security-opt systempaths=unconfined, and --cap-add SYS_ADMIN if you are root in it"
        )
    if view.uid == ROOT_UID:
        return "this root has no CAP_SYS_ADMIN, or no users of its own; run as an ordinary user"
    return "a filter on this process refuses them; start it outside of the sandbox it runs in"


def _on_proc(number: int, view: HostView) -> str:
    if number in _REFUSALS and not _is_whole(view):
        return (
            "parts of /proc are covered, so the kernel refuses a fresh one: start the container "
            "with --security-opt systempaths=unconfined (Docker) or unmask=ALL (Podman)"
        )
    return _on_namespaces(number, view)


def _on_overlay(number: int, view: HostView) -> str:
    if number == errno.ENODEV:
        return "load overlayfs, as root: modprobe overlay"
    if number in _REFUSALS:
        return "users may mount overlayfs since Linux 5.11, unless the container forbids it"
    if view.uid == ROOT_UID:
        return "the workspace's file system cannot lie below a layer; run as an ordinary user"
    return "the workspace's file system cannot lie below a layer; move it to ext4, xfs or btrfs"


def _on_view(number: int, view: HostView) -> str:
    if number != errno.EINVAL:
        return _on_overlay(number, view)
    return (
        "its file system cannot lie below a layer, or is in too many already, so whoever listens "
        "there could be reached; copy the folder to ext4, xfs or btrfs"
    )


def _on_mount(number: int, view: HostView) -> str:
    if number == errno.ENOSYS:
        return "this needs Linux 5.12 or newer"
    if number == errno.EINVAL and view.uid == ROOT_UID:
        return "this file system cannot be shown as another user's; run as an ordinary user"
    return _on_namespaces(number, view)


def _on_filter(number: int, _: HostView) -> str:
    if number == errno.EBUSY:
        return "another observer watches this process; start it outside of the sandbox it runs in"
    return "this needs Linux 5.19 or newer, with CONFIG_SECCOMP_FILTER"


def _on_landlock(*_: object) -> str:
    return "boot a kernel (5.13 or newer) with landlock in the list of the parameter `lsm=`"


def _on_other_user(*_: object) -> str:
    return "this root may not change its user (CAP_SETUID, CAP_SETGID); run it as an ordinary user"


_ADVICE: Final[tuple[tuple[str, Callable[[int, HostView], str]], ...]] = (
    ("clone", _on_namespaces),
    ("uid_map", _on_namespaces),
    ("/proc/self/uid_map", _on_namespaces),
    ("/proc/self/gid_map", _on_namespaces),
    ("/proc/self/setgroups", _on_namespaces),
    ("mount proc", _on_proc),
    ("mount overlay", _on_overlay),
    ("showing", _on_view),
    ("mount", _on_mount),
    ("open_tree", _on_mount),
    ("seccomp", _on_filter),
    ("landlock", _on_landlock),
    ("becoming another user", _on_other_user),
)


def _is_contained(view: HostView) -> bool:
    return _fact(view, "container") is Found.YES


def _is_whole(view: HostView) -> bool:
    return _fact(view, "whole-proc") is Found.YES


def _fact(view: HostView, name: str) -> Found:
    return next(fact.found for fact in look_at_host(view) if fact.name == name)
