"""The owner's side of the process that dials: starts it, gives it runs, and hears what they reached."""

import marshal
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.egress.heldquestions import HeldQuestions
from consentry.enforce.egress.report import READY, Reach, Reached
from consentry.enforce.egress.secrets import Secret
from consentry.enforce.held import HeldDesk
from consentry.surface.access import Access
from consentry.surface.hosts import HostScope
from consentry.surface.modes import AnyHost

_SOURCE: Final = Path(__file__).resolve().parents[3]
_PROGRAM: Final = (
    "import sys; sys.path.append(sys.argv[2])\n"
    "from consentry.enforce.egress.server import Server\n"
    "Server(int(sys.argv[1])).live()"
)
_PART: Final = 1 << 16
_PATIENCE_SECONDS: Final = 30.0


class ServedBox:
    """A run that the proxy serves."""

    def __init__(self, line: socket.socket, questions: HeldQuestions | None = None) -> None:
        self._line = line
        self._questions = questions

    def finish(self) -> Reached:
        """Ends it, and tells what was reached; of a proxy that died, only that something is missing."""
        said = b""
        self._ask_no_more()
        with self._line as line, suppress(OSError):
            line.shutdown(socket.SHUT_WR)
            while part := line.recv(_PART):
                said += part
        try:
            entries, left_out = marshal.loads(said)  # noqa: S302 - from our own process
        except (EOFError, ValueError, TypeError):
            return Reached(left_out=1)
        places = tuple(Reach(*entry) for entry in entries)
        return Reached(places, left_out)

    def close(self) -> None:
        """Of a run whose record nobody waits for."""
        self._ask_no_more()
        self._line.close()

    def _ask_no_more(self) -> None:
        if self._questions is not None:
            self._questions.close()


class Proxy:
    """The process and the socket to it; threads may share it."""

    def __init__(self) -> None:
        self._one_at_a_time = Lock()
        self._control, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        argv = [sys.executable, "-I", "-S", "-c", _PROGRAM, str(its.fileno()), str(_SOURCE)]
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
            argv,
            pass_fds=[its.fileno()],
            stdin=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
        )
        its.close()

    def serve(
        self,
        access: Access[HostScope],
        sockets: Sequence[int],
        secrets: Sequence[Secret] = (),
        desk: HeldDesk | None = None,
        any_host: AnyHost = AnyHost.PUBLIC,
    ) -> ServedBox:
        """From now on programs in that box reach what they may; `sockets`, the box's own, are closed.

        What they may not waits for the answer of the `desk`, where there is one.
        """
        mine, its = socket.socketpair()
        mine.settimeout(_PATIENCE_SECONDS)
        questions = None if desk is None else HeldQuestions(desk)
        asked_by = () if questions is None else (questions.its.fileno(),)
        try:
            told = told_rules(access, secrets, any_host, holds=questions is not None)
            self._send(told, [its.fileno(), *asked_by, *sockets])
            its.close()
            if questions is not None:
                questions.its.close()
            if mine.recv(len(READY)) != READY:
                raise Refused(Code.ENGINE_FAILED, "the proxy ended before it could serve")
        except BaseException as problem:
            mine.close()
            its.close()
            if questions is not None:
                questions.close()
            if isinstance(problem, OSError):
                raise Refused(Code.ENGINE_FAILED, f"the proxy is gone: {problem}") from problem
            raise
        finally:
            for each in sockets:
                os.close(each)
        return ServedBox(mine, questions)

    def _send(self, told: dict[str, Any], files: Sequence[int]) -> None:
        """The rules go as a file, because a list may be longer than a message."""
        rules = os.memfd_create("rules", os.MFD_CLOEXEC)
        with os.fdopen(rules, "wb") as file:
            marshal.dump(told, file)
            file.flush()
            with self._one_at_a_time:
                socket.send_fds(self._control, [READY], [rules, *files])

    @property
    def is_gone(self) -> bool:
        """Whether it has ended; no run can be served by it any more."""
        return self._process.poll() is not None

    def close(self) -> None:
        """Ends it, and every connection with it."""
        self._control.close()
        self._process.wait()


def told_rules(
    access: Access[HostScope],
    secrets: Sequence[Secret],
    any_host: AnyHost = AnyHost.PUBLIC,
    *,
    holds: bool,
) -> dict[str, Any]:
    """What the process is told of a run, besides its sockets."""
    return {
        "level": access.level.value,
        "targets": list(access.targets),
        "secrets": [each.told() for each in secrets],
        "any_host": any_host.value,
        "holds": holds,
    }
