"""One container of a named image while it runs: made first, started when it may be, removed after.

It is made before the permit is asked for, and nothing in it runs by that. Starting it is a command of
its own that stays with it. When we are killed, a shell that waits for just that removes the container;
when that is killed as well, whoever sweeps next does.

All of this is done by means that every Unix has: a pipe whose other end only the command holds says
when it ends.
"""

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.enforce.engines.container.daemon import Daemon
from consentry.enforce.engines.container.folder import RunFolder
from consentry.enforce.native.streamends import StreamEnds
from consentry.enforce.process import told_status
from consentry.enforce.running import Ended

OUT_OF_MEMORY: Final = "out of memory"
_SHELL: Final = "/bin/sh"
_MOURNER: Final = 'read -r said; [ "$said" = over ] || exec "$@"'
# Whoever opens a terminal first in a session has it, and hears of its size.
_WITH_TERMINAL: Final = ': <>"$0"; exec "$@"'
_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_NEVER: Final = "0001-01-01T00:00:00Z"
_KIB: Final = 1024
_PAUSE: Final = 0.2


@dataclass(frozen=True, slots=True)
class Starting:
    """The command that starts a container and stays with it, and the one that removes it."""

    start: tuple[str, ...]
    remove: tuple[str, ...]
    environment: Mapping[str, str]
    terminal: str | None


class NamedBox:
    """A container that was made; not shared between threads."""

    pid: int | None = None
    group = ""
    store: int | None = None

    def __init__(
        self, starting: Starting, folder: RunFolder, daemon: Daemon, streams: StreamEnds
    ) -> None:
        self._starting, self._folder, self._daemon, self._streams = (
            starting, folder, daemon, streams,
        )  # fmt: skip
        self._heard, self._told = os.pipe()
        self._command: subprocess.Popen[bytes] | None = None
        self._state: Mapping[str, Any] | None = None
        self._is_over = False
        self._used = (0.0, 0)
        self._looked_at = 0.0
        # From now on there is something to be removed.
        self._mourner = subprocess.Popen(  # noqa: S603 - the words are ours
            [_SHELL, "-c", _MOURNER, "mourner", *starting.remove],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(starting.environment),
            cwd="/",
            start_new_session=True,
        )

    def go_on(self) -> None:
        """Starts it; the streams are its own from here on."""
        words = self._starting.start
        if self._starting.terminal is not None:
            words = (_SHELL, "-c", _WITH_TERMINAL, self._starting.terminal, *words)
        reads, prints, complains = self._streams.files
        self._command = subprocess.Popen(  # noqa: S603 - the words are ours
            words,
            stdin=reads,
            stdout=prints,
            stderr=complains,
            env=dict(self._starting.environment),
            cwd="/",
            pass_fds=(self._told,),
            start_new_session=True,
        )
        self._close_told()

    def fileno(self) -> int:
        """At its end when the command is."""
        return self._heard

    def hear(self) -> bool:
        """There is one piece of news, the last: the command has ended, and the container with it."""
        if self._command is not None:
            self._command.wait()
            with suppress(Refused):
                self._state = (self._daemon.container(self._name) or {}).get("State")
        if self._state is not None and self._state.get("Running"):
            # Whoever stayed with it is gone before it: it is killed now, and ended by nothing else.
            self._state = None
        self._is_over = True
        self._remove()
        return False

    def sample(self, seconds: float | None) -> str | None:
        """Looks at what it used, now and then; the name of the limit that it is over."""
        now = time.monotonic()
        if self._command is not None and now - self._looked_at >= _PAUSE:
            self._looked_at = now
            with suppress(Refused):
                used, memory = self._daemon.used(self._name)
                self._used = max(used, self._used[0]), max(memory, self._used[1])
        return "cpu_seconds" if seconds is not None and self._used[0] >= seconds else None

    def pause(self) -> float:
        """Until there is something to look at again."""
        return _PAUSE

    def pass_signal(self, number: int) -> None:
        """To the first process, which hands it to the program."""
        with suppress(Refused):
            if self._is_over or self._daemon.signal(self._name, number):
                return
        # It is on its way; whoever asks for the end of it must not have to ask again.
        if number in _ENDING:
            self.kill()

    def end_now(self) -> None:
        """Kills everything in it; how it ended is still told."""
        with suppress(Refused):
            if self._is_over or self._daemon.signal(self._name, signal.SIGKILL):
                return
        self.kill()

    def kill(self) -> None:
        """The command first, so that it starts nothing any more."""
        self._close_told()
        if self._command is not None and self._command.poll() is None:
            self._command.kill()
        self._remove()

    def ended(self) -> Ended:
        """As the daemon tells it; what is gone without a word was killed."""
        state = self._state
        if state is None:
            return Ended(-signal.SIGKILL, self._used[0], 0.0, self._used[1] // _KIB)
        if state.get("StartedAt", _NEVER) == _NEVER:
            why = str(state.get("Error") or "it was not started")
            return Ended(None, 0.0, 0.0, 0, problem=("failed", 0, why))
        notes = {OUT_OF_MEMORY: bool(state.get("OOMKilled"))}
        status = told_status(int(state["ExitCode"]))
        return Ended(status, self._used[0], 0.0, self._used[1] // _KIB, notes=notes)

    def close(self) -> None:
        """Removes what is left of it."""
        if not self._is_over:
            self.kill()
            self.hear()
        if self._heard >= 0:
            os.close(self._heard)
            self._heard = -1
            self._dismiss()
            self._streams.close()
            self._folder.remove()

    @property
    def _name(self) -> str:
        return self._folder.path.name

    def _remove(self) -> None:
        with suppress(Refused):
            self._daemon.remove(self._name)

    def _close_told(self) -> None:
        if self._told >= 0:
            os.close(self._told)
            self._told = -1

    def _dismiss(self) -> None:
        """Of one that is removed; where the daemon did not answer, the shell asks it once more."""
        said = b"over\n"
        with suppress(Refused):
            said = said if self._daemon.container(self._name) is None else b""
        with suppress(OSError):
            self._mourner.communicate(said)
