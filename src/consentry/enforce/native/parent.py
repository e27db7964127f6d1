"""The owner's side of the launcher: starts it, hands it plans, and hears how runs end.

The launcher is a bare interpreter of its own, because making a box means duplicating a process, and
that is only safe and cheap from a small one with a single thread. It ends when this object is closed
or its process dies.
"""

import fcntl
import marshal
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.native.reaper import END_NOW
from consentry.enforce.native.runtime import ENVIRONMENT
from consentry.enforce.running import Ended

GONE: Final = "gone"
_MOST_MESSAGE: Final = 1 << 16
_MOST_DESCRIPTORS: Final = 250
# The system's own place for temporary folders, whatever the environment says.
_FOLDERS: Final = "/tmp"  # noqa: S108 - folders are made there, never guessed
_PREFIX: Final = "consentry-box-"
_AS_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# The first process of a namespace that does not ask for a signal never gets it.
_NEVER_HEARD: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)
_SOURCE: Final = Path(__file__).resolve().parents[3]
_PROGRAM: Final = (
    "import sys; sys.path.append(sys.argv[2])\n"
    "from consentry.enforce.native.launcher import Launcher\n"
    "Launcher(int(sys.argv[1])).live()"
)


class Running:
    """One box that was started; not shared between threads."""

    def __init__(
        self, news: socket.socket, *, listens: bool = True, ends_alone: bool = True
    ) -> None:
        """With `ends_alone` false, what runs does not end by itself with its first process."""
        self._news = news
        self._listens = listens
        self._ends_alone = ends_alone
        self._pidfd: int | None = None
        self.pid: int | None = None
        self._for_the_start: list[int] = []
        self.ways: tuple[int, ...] = ()
        self._store: int | None = None
        self._has_layer = False
        self.group = ""
        self._end: tuple[int, tuple[float, float, int]] | None = None
        self._problem: tuple[str, int, str] | None = None
        self._notes: Mapping[str, Any] | None = None

    def fileno(self) -> int:
        """What becomes readable when there is news."""
        return self._news.fileno()

    def hear(self) -> bool:
        """Takes one piece of news; false when it was the last."""
        said, descriptors, _, _ = socket.recv_fds(self._news, _MOST_MESSAGE, _MOST_DESCRIPTORS)
        if not said:
            self._problem = self._problem or (GONE, 0, "the launcher is gone")
            return False
        what, number, detail = marshal.loads(said)  # noqa: S302 - from our own launcher
        match what:
            case "started":
                [self._pidfd] = descriptors
                self.pid = number
                while self._for_the_start:
                    self.pass_signal(self._for_the_start.pop(0))
                self.group = str(detail)
            case "built":
                self._store = descriptors[0] if descriptors else None
                self._has_layer = bool(number)
            case "ways":
                self.ways = tuple(descriptors)
            case "ended":
                self._end = (number, detail)
            case "ready":
                return False
            case "over":
                [held] = descriptors
                with os.fdopen(held, "rb") as notes:
                    notes.seek(0)
                    self._notes = marshal.load(notes)  # noqa: S302 - as above
                return False
            case _:
                self._problem = (what, number, str(detail))
                return what != "failed" or self._pidfd is not None
        return True

    def take_ways(self) -> tuple[int, ...]:
        """The sockets by which the box's programs go out; the caller's to close."""
        ways, self.ways = self.ways, ()
        return ways

    def pass_signal(self, number: int) -> None:
        """To the program and its group."""
        if not self._listens and number in _NEVER_HEARD:
            number = signal.SIGKILL
        if self._pidfd is None:
            # It may be on its way already; whoever asked must not have to ask again.
            self._for_the_start.append(number)
            return
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, number)

    def end_now(self) -> None:
        """Kills everything in the box; what it used is still counted."""
        self.pass_signal(END_NOW if self._listens else signal.SIGKILL)

    def kill(self) -> None:
        """Kills the box itself, for one that does not listen."""
        self.pass_signal(signal.SIGKILL if self._ends_alone else END_NOW)

    @property
    def store(self) -> int | None:
        """The file system with all that the box writes, while it lives; it stays this object's."""
        return self._store

    def ended(self) -> Ended:
        """How it ended; the layer is the caller's to close from here on."""
        status, used = self._end or (None, (0.0, 0.0, 0))
        layer = None
        if self._has_layer:
            layer, self._store = self._store, None
        return Ended(
            status=None if status is None else os.waitstatus_to_exitcode(status),
            user_seconds=used[0],
            system_seconds=used[1],
            peak_kib=used[2],
            notes=self._notes or {},
            layer=layer,
            problem=self._problem,
        )

    def close(self) -> None:
        """Lets go of everything that was not handed on."""
        self._news.close()
        for descriptor in (self._pidfd, self._store, *self.ways):
            if descriptor is not None:
                os.close(descriptor)
        self._pidfd = self._store = None
        self.ways = ()


class NativeParent:
    """A launcher and the socket to it; threads may share it."""

    def __init__(self, program: str | None = None) -> None:
        """`program` is what the interpreter is told, where it is not the usual launcher."""
        sweep_folders(_PREFIX)
        self._root, self._lock = own_folder(_PREFIX)
        self._one_at_a_time = Lock()
        self._control, its = socket.socketpair()
        argv = [sys.executable, "-I", "-S", "-c", program or _PROGRAM]
        argv += [str(its.fileno()), str(_SOURCE)]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
            argv,
            pass_fds=[its.fileno()],
            stdin=subprocess.DEVNULL,
            env=ENVIRONMENT,
            cwd="/",
            start_new_session=True,
        )
        its.close()

    def launch(self, plan: Mapping[str, Any], files: Sequence[int]) -> Running:
        """Starts a box; `files` are the descriptors that the plan names by number from 1 on."""
        mine, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        body = marshal.dumps({"root": self._root, **plan})
        try:
            with self._one_at_a_time:
                # In one piece: after an interrupt in between, the next would be taken for its rest.
                whole = len(body).to_bytes(8, "little") + body
                sent = socket.send_fds(self._control, [whole], [its.fileno(), *files])
                if sent < len(whole):
                    self._control.sendall(whole[sent:])
        except BaseException as problem:
            mine.close()
            if not isinstance(problem, OSError):
                raise
            raise Refused(Code.ENGINE_FAILED, f"the launcher is gone: {problem}") from problem
        finally:
            its.close()
        return Running(mine, listens="worker" not in plan, ends_alone="bare" not in plan)

    @property
    def is_gone(self) -> bool:
        """Whether the launcher has ended; nothing can be started by it any more."""
        return self._process.poll() is not None

    def close(self) -> None:
        """Ends the launcher, and every box with it."""
        self._control.close()
        self._process.wait()
        Path(self._root).rmdir()
        os.close(self._lock)


def own_folder(prefix: str) -> tuple[str, int]:
    """A new folder, and a descriptor that tells others it is in use."""
    while True:
        path = tempfile.mkdtemp(prefix=prefix, dir=_FOLDERS)
        # Another owner may sweep it before it is locked.
        with suppress(FileNotFoundError):
            lock = os.open(path, _AS_FOLDER)
            fcntl.flock(lock, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock), Path(path).lstat()):
                    return path, lock
            os.close(lock)


def sweep_folders(prefix: str, empty: Callable[[int], None] = lambda _: None) -> None:
    """Removes the folders of owners that were killed; `empty` takes out what was put into one."""
    for path in Path(_FOLDERS).glob(f"{prefix}*"):
        with suppress(OSError):
            _remove_if_left(path, empty)


def _remove_if_left(path: Path, empty: Callable[[int], None]) -> None:
    folder = os.open(path, _AS_FOLDER)
    try:
        if os.fstat(folder).st_uid == os.geteuid():
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            empty(folder)
            path.rmdir()
    finally:
        os.close(folder)
