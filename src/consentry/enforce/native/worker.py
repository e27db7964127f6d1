"""A warm interpreter for snippets: confined and loaded once, copied for every run.

It enters namespaces of its own and a root with nothing in it but the runtime, without a network,
before it imports anything from the operator's list. What a run may read of the workspace is attached
afterwards, at a place that every run covers. Each run is a copy of this process in fresh mount, pid,
ipc and network namespaces; copies are made ahead, each for one run, and only the copy meets the snippet.
"""

import _socket
import marshal
import os
import select
import sys

from consentry.enforce.native import box, calls, restraint, snippet, wire
from consentry.enforce.native.reaper import keep_only

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

HELD = "/.held"
"""Where the granted places lie in the worker's root, by number; covered in every run."""

_MOST_REQUEST = 16
_MOST_FILES = 16
_PATIENCE_MS = 50
_MOST_LEFT = 8


def live(plan: "Mapping[str, Any]", files: "Sequence[int]", requests: int) -> None:
    """Builds the root, imports the list, makes copies, and never returns."""
    try:
        calls.prctl(calls.PR_SET_PDEATHSIG, 9)
        # What belongs to other runs of the launcher would never be closed if it stayed open here.
        keep_only((*files[1:], requests))
        socket = _socket.socket(fileno=requests)
        try:
            _settle(plan, files)
        except box.Replaced as problem:
            socket.send(marshal.dumps(("replaced", 0, str(problem))))
        except Exception as problem:  # noqa: BLE001 - the launcher passes it on
            socket.send(marshal.dumps(("failed", 0, f"{type(problem).__name__}: {problem}")))
        else:
            socket.send(marshal.dumps(("ready", 0, "")))
            Worker(socket, plan["run"]).serve()
    finally:
        os._exit(0)


def _settle(plan: "Mapping[str, Any]", files: "Sequence[int]") -> None:
    is_root = plan["idmap"] is not None
    if not is_root:
        restraint.enter_user_namespace(*plan["ids"])
    built = box.Box(plan, files)
    held = [
        built.hold(source, identity, shown_as=shown_as)
        for source, identity, shown_as in plan["held"]
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
    for number, tree in enumerate(held):
        calls.move_mount(tree, f"{HELD}/{number}")
        os.close(tree)
    calls.drop_bounding_set()


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
    """Makes a copy for each request, and reports how each one ended.

    To take down the mounts of a run takes longer than many a snippet, and nobody waits for it: they
    outlast their copy, and go while the next one is made, or when nothing else is to be done.
    """

    def __init__(self, requests: _socket.socket, plan: "Mapping[str, Any]") -> None:
        self._requests = requests
        self._plan = plan
        self._poll = select.poll()
        self._poll.register(requests.fileno(), select.POLLIN)
        self._copies: dict[int, tuple[int, int, int]] = {}
        # A library may have threads that share what changes with the namespace.
        calls.unshare(calls.CLONE_FS)
        self._own = [
            (calls.CLONE_NEWPID, _namespace("pid")),
            (calls.CLONE_NEWNS, _namespace("mnt")),
        ]
        self._left: list[int] = []

    def serve(self) -> None:
        """Until no more requests can come, and the last copy is gone."""
        requests, is_open = self._requests.fileno(), True
        while is_open or self._copies:
            heard = self._poll.poll(_PATIENCE_MS if self._left else None)
            for descriptor, _ in heard:
                if descriptor == requests:
                    is_open = self._take_request()
                    if not is_open:
                        self._poll.unregister(requests)
                elif descriptor in self._copies:
                    self._bury(descriptor)
            if not heard or len(self._left) > _MOST_LEFT:
                self._clear()

    def _take_request(self) -> bool:
        space = _socket.CMSG_SPACE(4 * _MOST_FILES)
        body, ancillary, _, _ = self._requests.recvmsg(
            _MOST_REQUEST, space, _socket.MSG_CMSG_CLOEXEC
        )
        if not body:
            return False
        report, gate, *doors = wire.passed(ancillary)
        pid, mounts = self._copied()
        if pid == 0:
            snippet.live(self._plan, gate, doors)
        # The copy has them, too, and closes them before it says that it is ready.
        self._clear()
        for descriptor in (gate, *doors):
            os.close(descriptor)
        pidfd = os.pidfd_open(pid)
        self._copies[pidfd] = (pid, report, mounts)
        self._poll.register(pidfd, select.POLLIN)
        return True

    def _copied(self) -> "tuple[int, int]":
        """As `os.fork`, into fresh namespaces; and a descriptor of the new mounts.

        The libraries that are loaded here may have threads and want to be told of a fork, which a
        bare clone does not do; so the new namespaces are entered by a plain fork.
        """
        calls.unshare(calls.CLONE_NEWPID | calls.CLONE_NEWNS)
        mounts = _namespace("mnt")
        pid = os.fork()
        if pid == 0:
            calls.unshare(calls.CLONE_NEWIPC | calls.CLONE_NEWNET)
        else:
            for kind, namespace in self._own:
                calls.setns(namespace, kind)
        return pid, mounts

    def _clear(self) -> None:
        for mounts in self._left:
            os.close(mounts)
        self._left.clear()

    def _bury(self, pidfd: int) -> None:
        pid, report, mounts = self._copies.pop(pidfd)
        self._left.append(mounts)
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


def _namespace(kind: str) -> int:
    return os.open(f"/proc/self/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC)
