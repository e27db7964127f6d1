"""What a run uses and what it was stopped for: the values that every holder of limits speaks in."""

from enum import StrEnum
from typing import Final

from consentry.base.canonical import Json
from consentry.base.values import dataclass, replace
from consentry.enforce.violations import Truth

_RANKS: Final = {truth: rank for rank, truth in enumerate(Truth)}


class Control(StrEnum):
    """One thing that can be limited."""

    CPU = "cpu_seconds"
    MEMORY = "memory_bytes"
    PROCESSES = "processes"
    FILE = "file_bytes"
    WRITTEN = "written_bytes"
    OUTPUT = "output_bytes"
    WALL = "wall_seconds"
    DESCRIPTORS = "descriptors"


@dataclass(frozen=True, slots=True)
class Exceeded:
    """The limit that a run went over, and how far it was seen to go."""

    control: Control
    limit: float
    seen: float

    def __str__(self) -> str:
        return f"{self.control} {self.seen:g}, the limit is {self.limit:g}"

    def to_json(self) -> dict[str, Json]:
        """As it stands in a run's record."""
        return {"control": self.control.value, "limit": self.limit, "seen": self.seen}


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run has used so far; memory and processes are the most that it had at one time.

    `processes` counts threads as the kernel's own limits do. `kills` and `refusals` are how often
    the kernel killed for want of memory and refused another process, where it tells.
    """

    cpu_seconds: float = 0.0
    memory_bytes: int = 0
    processes: int = 0
    kills: int = 0
    refusals: int = 0
    cpu_truth: Truth = Truth.OBSERVED
    memory_truth: Truth = Truth.OBSERVED
    processes_truth: Truth = Truth.OBSERVED

    def joined(self, other: "Usage") -> "Usage":
        """The same with what another source saw: of each figure the better vouched, or greater."""
        cpu = _better((self.cpu_truth, self.cpu_seconds), (other.cpu_truth, other.cpu_seconds))
        memory = _better(
            (self.memory_truth, self.memory_bytes), (other.memory_truth, other.memory_bytes)
        )
        processes = _better(
            (self.processes_truth, self.processes), (other.processes_truth, other.processes)
        )
        return replace(
            self,
            cpu_seconds=cpu[1],
            cpu_truth=cpu[0],
            memory_bytes=int(memory[1]),
            memory_truth=memory[0],
            processes=int(processes[1]),
            processes_truth=processes[0],
            kills=max(self.kills, other.kills),
            refusals=max(self.refusals, other.refusals),
        )


def _better(one: tuple[Truth, float], other: tuple[Truth, float]) -> tuple[Truth, float]:
    return min(one, other, key=lambda figure: (_RANKS[figure[0]], -figure[1]))
