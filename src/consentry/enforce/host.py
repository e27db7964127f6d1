"""What this host offers for confinement, read without starting a process or changing anything.

Every fact says what was found, where it was read, and `unknown` when the files do not settle it.
A fact is a reading, not a proof: a mount, a clone or a filter may still be refused when it is
tried. Proving by doing belongs to each engine's own probe.
"""

import errno
import re

from consentry.enforce.facts import Fact, Found, HostView, LandlockAnswer
from consentry.enforce.mounts import (
    cgroup_delegation_fact,
    cgroup_fact,
    read_mounts,
    whole_proc_fact,
)
from consentry.enforce.ownership import ROOT_UID

# Every fact by its name, in the order they are reported, and what it is good for.
FACT_MEANINGS = {
    "kernel": "the running kernel; what it offers grows with its version",
    "landlock": (
        "a process gives up access to files and TCP ports for good; the ABI number says how much"
    ),
    "user-namespaces": "lets an ordinary user make the other namespaces, and so a sandbox",
    "seccomp": "a process gives up system calls for good, by a filter",
    "seccomp-notify": "a filter that tells a supervisor of a system call; used to observe",
    "overlayfs": "writes go to a layer on top, so that a run can be looked at and discarded",
    "cgroup": "limits and measures of memory, processor time and number of processes",
    "cgroup-delegation": "whether this process may make groups of its own for such limits",
    "whole-proc": "nothing covers a part of /proc; else the kernel refuses a fresh one to users",
    "container": "signs that all this runs in a container, which may forbid more than it shows",
}

_FILTERING = "2"
_WHOLE_UID_MAP = ["0", "0", "4294967295"]


def look_at_host(view: HostView) -> tuple[Fact, ...]:
    """Every fact, always all of them, always in this order."""
    mounts = read_mounts(view)
    return (
        _kernel(view),
        _landlock(view.landlock()),
        _user_namespaces(view),
        _seccomp(view),
        _seccomp_notify(view),
        _overlayfs(view),
        cgroup_fact(mounts),
        cgroup_delegation_fact(view, mounts),
        whole_proc_fact(mounts),
        _container(view),
    )


def _kernel(view: HostView) -> Fact:
    source = "/proc/sys/kernel/osrelease"
    release = view.read_word(source)
    if not release:
        return Fact("kernel", Found.UNKNOWN, "", f"{source} cannot be read")
    return Fact("kernel", Found.YES, f"Linux {release}", f"read from {source}")


def _landlock(answer: LandlockAnswer) -> Fact:
    name, call = "landlock", "landlock_create_ruleset"
    if answer.version > 0:
        return Fact(name, Found.YES, f"ABI {answer.version}", f"the kernel answered {call}")
    if answer.error == errno.ENOSYS:
        return Fact(name, Found.NO, "not built in", f"the kernel has no {call}")
    if answer.error == errno.EOPNOTSUPP:
        return Fact(name, Found.NO, "off at boot", f"{call}: built in, switched off at boot")
    word = errno.errorcode.get(answer.error, str(answer.error))
    return Fact(name, Found.UNKNOWN, word, f"{call} could not be asked: {word}")


def _user_namespaces(view: HostView) -> Fact:
    name, limit_source = "user-namespaces", "/proc/sys/user/max_user_namespaces"
    debian = "/proc/sys/kernel/unprivileged_userns_clone"
    ubuntu = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
    limit = view.read_word(limit_source)
    if limit is None:
        return Fact(name, Found.UNKNOWN, "", f"{limit_source} cannot be read")
    if limit == "0":
        return Fact(name, Found.NO, "limit 0", f"{limit_source} is 0")
    if view.uid != ROOT_UID and view.read_word(debian) == "0":
        return Fact(name, Found.NO, "root only", f"{debian} is 0")
    if view.uid != ROOT_UID and view.read_word(ubuntu) == "1":
        profile = (view.read_word("/proc/self/attr/current") or "").strip("\0")
        if profile in ("", "unconfined"):
            why = f"{ubuntu} is 1 and no AppArmor profile makes an exception for this program"
            return Fact(name, Found.NO, "restricted", why)
        why = f"{ubuntu} is 1; whether the profile of this program allows them is not readable"
        return Fact(name, Found.UNKNOWN, "restricted", why)
    if _status_field(view, "Seccomp") == _FILTERING:
        why = f"{limit_source} is {limit}, but a seccomp filter on this process may refuse them"
        return Fact(name, Found.UNKNOWN, "filtered", why)
    return Fact(name, Found.YES, "", f"{limit_source} is {limit}")


def _status_field(view: HostView, wanted: str) -> str | None:
    for line in (view.read("/proc/self/status") or "").splitlines():
        name, _, value = line.partition(":")
        if name == wanted:
            return value.strip()
    return None


def _seccomp(view: HostView) -> Fact:
    name, source = "seccomp", "/proc/self/status"
    if view.read(source) is None:
        return Fact(name, Found.UNKNOWN, "", f"{source} cannot be read")
    mode = _status_field(view, "Seccomp")
    if mode is None:
        return Fact(name, Found.NO, "not built in", f"{source} has no line for it")
    state = "we are filtered already" if mode == _FILTERING else ""
    return Fact(name, Found.YES, state, f"the Seccomp line of {source} is {mode}")


def _seccomp_notify(view: HostView) -> Fact:
    name, source = "seccomp-notify", "/proc/sys/kernel/seccomp/actions_avail"
    actions = view.read_word(source)
    if actions is None:
        return Fact(name, Found.UNKNOWN, "", f"{source} cannot be read")
    if "user_notif" in actions.split():
        return Fact(name, Found.YES, "", f"user_notif is listed in {source}")
    return Fact(name, Found.NO, "", f"user_notif is not listed in {source}")


def _overlayfs(view: HostView) -> Fact:
    name, source = "overlayfs", "/proc/filesystems"
    listing = view.read(source)
    if listing is None:
        return Fact(name, Found.UNKNOWN, "", f"{source} cannot be read")
    if any(line.split()[-1:] == ["overlay"] for line in listing.splitlines()):
        return Fact(name, Found.YES, "", f"listed in {source}")
    release = view.read_word("/proc/sys/kernel/osrelease") or "unknown"
    folder = f"/lib/modules/{release}/kernel/fs/overlayfs"
    if view.has(folder):
        why = f"not listed in {source}; a module lies in {folder} and may be loaded on demand"
        return Fact(name, Found.UNKNOWN, "module not loaded", why)
    return Fact(name, Found.NO, "", f"not listed in {source}, no module in {folder}")


def _container(view: HostView) -> Fact:
    name = "container"
    signs = [path for path in ("/.dockerenv", "/run/.containerenv") if view.has(path)]
    if view.read_word("/run/systemd/container"):
        signs.append("/run/systemd/container")
    first_group = view.read("/proc/1/cgroup") or ""
    if re.search(r"docker|kubepods|libpod|lxc|containerd", first_group):
        signs.append("/proc/1/cgroup")
    uid_map = (view.read_word("/proc/self/uid_map") or "").split()
    if uid_map and uid_map != _WHOLE_UID_MAP:
        signs.append("/proc/self/uid_map")
    if signs:
        return Fact(name, Found.YES, "by its signs", f"evidence, no proof: {', '.join(signs)}")
    return Fact(name, Found.NO, "", "none of the usual signs; that proves nothing")
