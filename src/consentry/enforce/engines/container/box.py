"""One container while it runs: the command that stays with it, and the report of its first process."""

import os
import signal
from contextlib import suppress
from typing import Final

from consentry.enforce.engines.container.folder import RunFolder
from consentry.enforce.engines.container.keeper import Keeper
from consentry.enforce.engines.container.report import Report
from consentry.enforce.engines.container.starter import END_NOW
from consentry.enforce.process import Command, CommandBox
from consentry.enforce.running import Ended

_ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class ContainerSigns:
    """The first process is the container's own, which only its keeper can see."""

    def first_process(self, command: int) -> int | None:  # noqa: ARG002 - of an interface
        """Not to be seen from here."""
        return None

    def group_leader(self, command: int) -> int | None:  # noqa: ARG002 - of an interface
        """Not to be seen from here."""
        return None

    def problem(self, status: int) -> tuple[str, int, str] | None:  # noqa: ARG002 - as above
        """The report says it."""
        return None

    def close(self) -> None:
        """Holds nothing."""


class ContainerBox(CommandBox):
    """Signals go to the first process of the container, by its keeper, and so does its end."""

    def __init__(self, command: Command, folder: RunFolder, keeper: Keeper) -> None:
        self._folder = folder
        self._keeper = keeper
        self._alive = folder.held()
        self.report = Report()
        super().__init__(command, ContainerSigns())

    def pass_signal(self, number: int) -> None:
        """To the first process, and from there to the program and its group."""
        if self._status is not None or self._keeper.signal_container(self._name, number):
            return
        # It is on its way; whoever asks for the end of it must not have to ask again.
        if number in _ENDING:
            self.kill()

    def end_now(self) -> None:
        """The first process kills all others, and tells what they used."""
        if self._status is None and not self._keeper.signal_container(self._name, END_NOW):
            self.kill()

    def kill(self) -> None:
        """The command first, so that it starts nothing any more."""
        if self._status is None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        self._keeper.end_container(self._name)

    @property
    def _name(self) -> str:
        return self._folder.path.name

    def hear(self) -> bool:
        """The command has ended; a container that has not told of its end is ended now."""
        is_more = super().hear()
        self.report = self._folder.report()
        if self.report.code is None:
            self._keeper.end_container(self._name)
        return is_more

    def close(self) -> None:
        """Removes what the container was given."""
        super().close()
        if self._alive >= 0:
            os.close(self._alive)
            self._alive = -1
            self._folder.remove()

    def ended(self) -> Ended:
        """By the report; without one, the container was killed or never started."""
        told, report = super().ended(), self.report
        if report.problem is not None:
            return Ended(None, 0.0, 0.0, 0, problem=report.problem)
        if report.code is not None:
            return Ended(report.code, *report.used, notes={"report": report})
        if told.status == -signal.SIGKILL:
            return Ended(told.status, 0.0, 0.0, 0)
        return Ended(None, 0.0, 0.0, 0, problem=("failed", 0, "starting the container"))
