"""What is known of a box while it runs and when it has ended, whichever engine started it."""

from collections.abc import Mapping
from typing import Any, Protocol

from consentry.base.values import dataclass, field


@dataclass(frozen=True, slots=True)
class Ended:
    """How a box ended: the program's status, what it used, what was noted, and its layer."""

    status: int | None
    user_seconds: float
    system_seconds: float
    peak_kib: int
    notes: Mapping[str, Any] = field(default_factory=dict)
    layer: int | None = None
    problem: tuple[str, int, str] | None = None


class RunningBox(Protocol):
    """One box that was started; whoever stays with it needs no more than this."""

    @property
    def pid(self) -> int | None:
        """The first process of the box, which is the engine's own; None until it is known."""
        ...

    @property
    def group(self) -> str:
        """The name of the control group it has, where groups were handed out before."""
        ...

    @property
    def store(self) -> int | None:
        """The file system with all that the box writes, where it is kept in memory."""
        ...

    def fileno(self) -> int:
        """What becomes readable when there is news."""
        ...

    def hear(self) -> bool:
        """Takes one piece of news; false when it was the last."""
        ...

    def pass_signal(self, number: int) -> None:
        """To the program and its group."""
        ...

    def end_now(self) -> None:
        """Kills everything in the box; what it used is still counted."""
        ...

    def kill(self) -> None:
        """Kills the box itself, for one that does not listen."""
        ...

    def ended(self) -> Ended:
        """How it ended; the layer is the caller's to close from here on."""
        ...

    def close(self) -> None:
        """Lets go of everything that was not handed on."""
        ...
