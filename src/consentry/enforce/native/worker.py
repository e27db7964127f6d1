"""A warm interpreter for snippets: confined and loaded once, copied for every run.

It enters namespaces of its own and a root with nothing in it but the runtime, without a network,
before it imports anything from the operator's list. What a run may read of the workspace is attached
afterwards, at a place that every run covers. Each run is a copy of this process in fresh mount, pid
and ipc namespaces; only the copy meets the snippet.
"""

import _socket
import marshal
import os
import select
import sys

from consentry.enforce.native import box, calls, snippet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

HELD = "/.held"
"""Where the granted places lie in the worker's root, by number; covered in every run."""

_MOST_ORDER = 1 << 20
_MOST_FILES = 16


def live(plan: "Mapping[str, Any]", files: "Sequence[int]", orders: int) -> None:
    """Builds the root, imports the list, serves runs, and never returns."""
    try:
        calls.prctl(calls.PR_SET_PDEATHSIG, 9)
        socket = _socket.socket(fileno=orders)
        try:
            _settle(plan, files)
        except box.Replaced as problem:
            socket.send(marshal.dumps(("replaced", 0, str(problem))))
        except Exception as problem:  # noqa: BLE001 - the launcher passes it on
            socket.send(marshal.dumps(("failed", 0, f"{type(problem).__name__}: {problem}")))
        else:
            socket.send(marshal.dumps(("ready", 0, "")))
            Worker(socket).serve()
    finally:
        os._exit(0)


def _settle(plan: "Mapping[str, Any]", files: "Sequence[int]") -> None:
    is_root = plan["idmap"] is not None
    if not is_root:
        box.enter_user_namespace(*plan["ids"])
    built = box.Box(plan, files)
    held = [
        (built.hold(source, identity, shown_as=shown_as), is_folder)
        for source, identity, is_folder, shown_as in plan["held"]
    ]
    built.build()
    _socket.sethostname(plan["hostname"])
    if is_root:
        # The mounts were made by root; from here on it is root nowhere but in a namespace where
        # that is somebody else.
        os.setgroups([])
        calls.setns(files[plan["idmap"]], calls.CLONE_NEWUSER)
        os.setresgid(0, 0, 0)
        os.setresuid(0, 0, 0)
        # Its copies need a pid namespace that belongs to this one, too.
        calls.unshare(calls.CLONE_NEWNS | calls.CLONE_NEWPID)
        inner = os.fork()
        if inner:
            os.waitpid(inner, 0)
            os._exit(0)
        calls.prctl(calls.PR_SET_PDEATHSIG, 9)
    _load(plan)
    _attach(held)


def _attach(held: "Sequence[tuple[int, bool]]") -> None:
    """Folders behind a file system in between, so that no socket or pipe in them leads outside."""
    nothing = calls.detached_mount("tmpfs", [("mode", "755")], 0)
    flags = calls.MS_RDONLY | calls.MS_NOSUID | calls.MS_NODEV
    for number, (tree, is_folder) in enumerate(held):
        place = f"{HELD}/{number}"
        calls.move_mount(tree, place)
        os.close(tree)
        if is_folder:
            layers = f"userxattr,lowerdir={place}:/proc/self/fd/{nothing}"
            calls.mount("overlay", place, "overlay", flags, layers)
    os.close(nothing)


def _load(plan: "Mapping[str, Any]") -> None:
    """The interpreter as it usually starts, and the operator's modules."""
    import site  # noqa: PLC0415 - not before the root is the box's own

    site.main()
    # What is not there cannot be imported; asking for it would look like an attempt.
    sys.path[:] = [path for path in sys.path if os.path.exists(path)]  # noqa: PTH110 - loads less
    sys.dont_write_bytecode = True
    for name in plan["preload"]:
        __import__(name)
    # What every snippet needs, so that no run has to load it.
    import ast  # noqa: PLC0415 - as above
    import json  # noqa: PLC0415 - as above

    sys.modules.setdefault("ast", ast)
    sys.modules.setdefault("json", json)


class Worker:
    """Takes orders one after the other, and reports how each run ended."""

    def __init__(self, orders: _socket.socket) -> None:
        self._orders = orders
        self._poll = select.poll()
        self._poll.register(orders.fileno(), select.POLLIN)
        self._runs: dict[int, tuple[int, int]] = {}
        self._own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def serve(self) -> None:
        """Until no more orders can come, and the last run is over."""
        orders, is_open = self._orders.fileno(), True
        while is_open or self._runs:
            for descriptor, _ in self._poll.poll():
                if descriptor == orders:
                    is_open = self._take_order()
                    if not is_open:
                        self._poll.unregister(orders)
                elif descriptor in self._runs:
                    self._bury(descriptor)

    def _take_order(self) -> bool:
        space = _socket.CMSG_SPACE(4 * _MOST_FILES)
        body, ancillary, _, _ = self._orders.recvmsg(_MOST_ORDER, space, _socket.MSG_CMSG_CLOEXEC)
        if not body:
            return False
        files = [
            int.from_bytes(data[at : at + 4], "little")
            for _, _, data in ancillary
            for at in range(0, len(data) - len(data) % 4, 4)
        ]
        report, gate = files[:2]
        pid = self._copied()
        if pid == 0:
            os.close(report)
            self._orders.close()
            plan = marshal.loads(body)  # noqa: S302 - from our own launcher
            snippet.live(plan, files, gate)
        for descriptor in files[1:]:
            os.close(descriptor)
        pidfd = os.pidfd_open(pid)
        self._runs[pidfd] = (pid, report)
        self._poll.register(pidfd, select.POLLIN)
        return True

    def _copied(self) -> int:
        """As `os.fork`, into fresh namespaces.

        The libraries that are loaded here may have threads and want to be told of a fork, which a
        bare clone does not do; so the new pid namespace is entered by a plain fork.
        """
        calls.setns(self._own_pids, calls.CLONE_NEWPID)
        calls.unshare(calls.CLONE_NEWPID)
        pid = os.fork()
        if pid == 0:
            calls.unshare(calls.CLONE_NEWNS | calls.CLONE_NEWIPC)
        return pid

    def _bury(self, pidfd: int) -> None:
        pid, report = self._runs.pop(pidfd)
        self._poll.unregister(pidfd)
        _, status, used = os.wait4(pid, 0)
        message = marshal.dumps(("ended", status, (used.ru_utime, used.ru_stime, used.ru_maxrss)))
        try:
            os.write(report, len(message).to_bytes(4, "little") + message)
        except BrokenPipeError:
            return
        finally:
            os.close(report)
            os.close(pidfd)
