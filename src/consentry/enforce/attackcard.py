"""The score-card's attacks: a program that tries what a box must not allow, and tells how it went.

Started in a box by an engine's probe and by `consentry doctor --attack`, and bare by tests, which
shows that each attack works where nothing holds it. It needs this file, `attackcalls` and the standard
library; `scorecard` hands both in as text, because nothing of this package is in a box.

Each attack is made in a child of its own, one at a time. None of them does harm where it succeeds:
what is opened for writing is not written, what is mounted has a type that no kernel knows, and
every program it makes ends at once.

It prints one JSON document on a line for each attack: whether the goal was `reached` (null: not to
be tried on this machine) and in `said` what it got, or the kernel's word for why not. Those that may
end the whole box come last.
"""

import errno
import json
import mmap
import os
import resource
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, NoReturn

from consentry.enforce.attackcalls import (
    EXIT_OF_OURS,
    Bait,
    NotHere,
    any_of,
    call_by_int80,
    call_by_x32,
    enter_users,
    enter_users_by_clone3,
    handle_faults,
    has_promised_no_new_powers,
    little_program,
    make_ring,
    mount,
    open_netlink,
    open_other_families,
    open_vsock,
    start_from_memory,
    trace_another,
    type_for_the_user,
    use_bpf,
    use_capability,
    use_keys,
    use_perf,
)

_PATIENCE = 5.0
# A watcher looks more often than that.
_SEEN_AFTER = 0.3
_PART = 1 << 16
_MIB = 1 << 20


def _opened(path: str, flags: int = os.O_RDONLY) -> str:
    os.close(os.open(path, flags | os.O_CLOEXEC))
    return f"opened {path}"


def _read_shadow(_: Bait) -> str:
    return _opened("/etc/shadow")


def _read_hidden(bait: Bait) -> str:
    hidden: str = bait["hidden"]
    return any_of(
        lambda: _opened(hidden),
        lambda: _opened(f"/proc/self/root{hidden}"),
        lambda: _opened(f"/proc/1/root{hidden}"),
    )


def _read_denied(bait: Bait) -> str:
    return _opened(bait["denied"])


def _write_outside(bait: Bait) -> str:
    return _opened(bait["hidden"], os.O_WRONLY)


def _write_granted(bait: Bait) -> str:
    return _opened(bait["granted"], os.O_WRONLY)


def _write_sysctl(_: Bait) -> str:
    return any_of(
        lambda: _opened("/proc/sys/kernel/core_pattern", os.O_WRONLY),
        lambda: _opened("/proc/sysrq-trigger", os.O_WRONLY),
    )


def _host_socket(bait: Bait) -> str:
    with socket.socket(socket.AF_UNIX) as mine:
        mine.connect(bait["socket"])
    return "connected"


def _abstract_socket(bait: Bait) -> str:
    with socket.socket(socket.AF_UNIX) as mine:
        mine.connect("\0" + bait["abstract"])
    return "connected"


def _host_network(bait: Bait) -> str:
    with socket.socket(socket.AF_INET) as mine:
        mine.settimeout(_PATIENCE / 2)
        mine.connect(("127.0.0.1", bait["port"]))
    return f"connected to 127.0.0.1:{bait['port']} of the host"


def _written_program(bait: Bait) -> str:
    def started_from(folder: str) -> str:
        path = os.path.join(folder, "program")  # noqa: PTH118 - slow to load in a box
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o755)
        os.write(file, little_program())
        os.close(file)
        _started(path, path)

    folders: list[str] = bait["writable"]
    return any_of(*(partial(started_from, folder) for folder in folders))


def _other_program(_: Bait) -> str:
    return any_of(*(partial(_started, path, path) for path in ("/usr/bin/true", "/bin/true")))


def _by_loader(_: Bait) -> str:
    loaders = ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
    loader = next((each for each in loaders if os.path.exists(each)), None)  # noqa: PTH110
    if loader is None:
        raise NotHere("the loader has another name here")
    # It complains by itself when it may not; that is no part of our answer.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    return _started(loader, loader, "/usr/bin/true")


def _started(path: str, *words: str) -> NoReturn:
    os.execv(path, list(words))  # noqa: S606 - the attack


def _secret(bait: Bait) -> str:
    names: list[str] = bait["names"]
    if not names:
        raise NotHere("the caller's environment has nothing that the box is not given")
    marks = [os.fsencode(name) + b"=" for name in names]
    for process in ("self", *filter(str.isdigit, os.listdir("/proc"))):  # noqa: PTH208
        try:
            with open(f"/proc/{process}/environ", "rb") as file:  # noqa: PTH123
                entries = file.read().split(b"\0")
        except OSError:
            continue
        seen = [mark for mark in marks if any(entry.startswith(mark) for entry in entries)]
        if seen:
            return f"saw {len(seen)} variables of the caller"
    raise OSError(errno.ENOENT, "environment")


def _host_processes(bait: Bait) -> str:
    """The caller is known by when it was started, which no pid namespace hides or changes."""
    for process in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
        try:
            with open(f"/proc/{process}/stat", "rb") as file:  # noqa: PTH123
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[19]) == bait["started"]:
            return f"saw the process that started all this, as {process}"
    raise OSError(errno.ESRCH, "process")


def _set_user_id(_: Bait) -> str:
    if has_promised_no_new_powers():
        raise OSError(errno.EPERM, "no_new_privs")
    return "a set-user-id program would be honoured"


def _descriptors(bait: Bait) -> str:
    if not bait["inherited"]:
        raise OSError(errno.EBADF, "descriptors")
    return f"has descriptors {bait['inherited']}"


def _big_file(bait: Bait) -> str:
    return _filled(bait, files=1)


def _much_written(bait: Bait) -> str:
    return _filled(bait, files=8)


def _filled(bait: Bait, files: int) -> str:
    """In all twice as much as is allowed, in files of at most what one may be if there are more."""
    count = 2 * bait["file_bytes"] if files == 1 else bait["file_bytes"]
    for number in range(files):
        path = os.path.join(bait["writable"][0], f"fill{number}")  # noqa: PTH118 - as above
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        try:
            for _ in range(count // _PART):
                if os.write(file, b"x" * _PART) < _PART:
                    raise OSError(errno.ENOSPC, path)
        finally:
            if files == 1:
                os.unlink(path)  # noqa: PTH108 - as above
            os.close(file)
    return f"wrote {files * count // _MIB} MiB"


def _many_descriptors(bait: Bait) -> str:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for _ in range(bait["descriptors"]):
        os.dup(0)
    return f"had {bait['descriptors']} descriptors"


def _many_processes(bait: Bait) -> str:
    """A set number, each of which waits and ends with this one: no bomb, whatever holds it."""
    ours, its = os.pipe()
    made = []
    try:
        for _ in range(bait["processes"]):
            pid = os.fork()
            if pid == 0:
                os.close(its)
                os.read(ours, 1)
                os._exit(0)
            made.append(pid)
        time.sleep(_SEEN_AFTER)
    finally:
        os.close(its)
        for pid in made:
            os.waitpid(pid, 0)
    return f"had {bait['processes']} processes"


def _much_memory(bait: Bait) -> str:
    with mmap.mmap(-1, bait["memory_bytes"]) as held:
        for place in range(0, bait["memory_bytes"], mmap.PAGESIZE):
            held[place] = 1
        time.sleep(_SEEN_AFTER)
    return f"had {bait['memory_bytes'] // _MIB} MiB"


class Attack(NamedTuple):
    """One row: its name, the control that must hold it, what is tried, and how."""

    name: str
    control: str
    what: str
    carry_out: Callable[[Bait], str]


ATTACKS = (
    Attack("hidden-file", "reads", "read a file that was not granted", _read_hidden),
    Attack("shadow", "reads", "read /etc/shadow", _read_shadow),
    Attack("descriptors", "reads", "use a descriptor of the caller's", _descriptors),
    Attack("outside-file", "writes", "write a file that was not granted", _write_outside),
    Attack("granted-file", "writes", "write a file that may only be read", _write_granted),
    Attack("proc-sys", "writes", "write /proc/sys or /proc/sysrq-trigger", _write_sysctl),
    Attack("denied-inside", "deny-inside", "read what is denied in a granted folder", _read_denied),
    Attack("host-network", "no-network", "connect to a port of the host", _host_network),
    Attack("host-socket", "no-network", "connect to a named socket of the host", _host_socket),
    Attack("abstract-socket", "no-network", "connect to an abstract socket", _abstract_socket),
    Attack("secret", "environment", "see the caller's environment", _secret),
    Attack("host-processes", "processes-apart", "see the processes of the host", _host_processes),
    Attack("other-program", "programs", "start a program that is not allowed", _other_program),
    Attack("loader", "programs", "start such a program by the loader", _by_loader),
    Attack("written-program", "programs", "start a program it wrote itself", _written_program),
    Attack("memfd", "programs", "start a program from memory", start_from_memory),
    Attack("af-vsock", "system-calls", "open a socket to the hypervisor", open_vsock),
    Attack("af-netlink", "system-calls", "open a netlink socket", open_netlink),
    Attack("other-families", "system-calls", "open any other kind of socket", open_other_families),
    Attack("io-uring", "system-calls", "make a ring of io_uring", make_ring),
    Attack("keys", "system-calls", "use the kernel's keyrings", use_keys),
    Attack("bpf", "system-calls", "use bpf", use_bpf),
    Attack("perf", "system-calls", "use perf_event_open", use_perf),
    Attack("userfaultfd", "system-calls", "handle page faults", handle_faults),
    Attack("ptrace", "system-calls", "trace another process", trace_another),
    Attack("mount", "system-calls", "mount, by the old calls or the new", mount),
    Attack("tiocsti", "system-calls", "type into the terminal", type_for_the_user),
    Attack("x32", "system-calls", "call by the numbers of x32", call_by_x32),
    Attack("int80", "system-calls", "call by the numbers of i386", call_by_int80),
    Attack("user-namespace", "no-new-powers", "enter a user namespace", enter_users),
    Attack("clone3", "no-new-powers", "enter one by clone3", enter_users_by_clone3),
    Attack("capabilities", "no-new-powers", "have or get a capability", use_capability),
    Attack("set-user-id", "no-new-powers", "gain by a set-user-id program", _set_user_id),
    Attack("big-file", "file-size", "write a file over the limit", _big_file),
    Attack("much-written", "written", "write more in all than the limit", _much_written),
    Attack("many-descriptors", "descriptors", "open more than the limit", _many_descriptors),
    Attack("many-processes", "processes", "make more processes than the limit", _many_processes),
    Attack("much-memory", "memory", "use more memory than the limit", _much_memory),
)


def _read_granted(bait: Bait) -> str:
    return _opened(bait["granted"])


def _write_writable(bait: Bait) -> str:
    for folder in bait["writable"]:
        path = os.path.join(folder, "written")  # noqa: PTH118 - as above
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        os.write(file, b"x")
        os.close(file)
    return "wrote where that is granted"


def _start_allowed(_: Bait) -> str:
    return _started(sys.executable, sys.executable, "-I", "-S", "-c", "")


WORKS = (
    Attack("read-granted", "reads", "read a granted file", _read_granted),
    Attack("write-granted", "writes", "write a granted folder", _write_writable),
    Attack("start-allowed", "programs", "start the allowed program", _start_allowed),
)
"""What must be reached: a box in which nothing works would hold everything."""


def _try(attack: Attack, bait: Bait) -> dict[str, object]:
    """In a child, because some attacks end whoever makes them, and others change it for good."""
    ours, its = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        os.close(ours)
        try:
            answer = {"reached": True, "said": attack.carry_out(bait)}
        except NotHere as reason:
            answer = {"reached": None, "said": str(reason)}
        except OSError as problem:
            word = errno.errorcode.get(problem.errno or 0, str(problem.errno))
            answer = {"reached": False, "said": word}
        os.write(its, json.dumps(answer).encode())
        os._exit(0)
    os.close(its)
    is_late = not select.select([ours], [], [], _PATIENCE)[0]
    if is_late:
        os.kill(pid, signal.SIGKILL)
    said = b"".join(iter(lambda: os.read(ours, _PART), b""))
    os.close(ours)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if is_late:
        return {"reached": False, "said": "no answer"}
    if said:
        return dict(json.loads(said))
    if status < 0:
        return {"reached": False, "said": signal.Signals(-status).name}
    # Without an answer the child has become another program, and that one ended well or not.
    if status in (0, EXIT_OF_OURS):
        return {"reached": True, "said": "the program ran"}
    return {"reached": False, "said": f"status {status}"}


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def main(answers: int) -> None:
    """Tries everything by what the first argument says, and writes the answers to a descriptor."""
    inherited = [number for number in range(3, 256) if _is_open(number)]
    bait: Bait = {**json.loads(sys.argv[1]), "inherited": inherited}
    for each in (*WORKS, *ATTACKS):
        os.write(answers, json.dumps({"name": each.name, **_try(each, bait)}).encode() + b"\n")
