"""What the first process of a container tells of it, read as one reads what a stranger wrote.

The program may not open the file it is told in; should it ever, it finds nothing there to break its
reader with, and can spoil no more than the figures of its own run.
"""

import os

from consentry.base.values import dataclass, field
from consentry.enforce.usage import Usage
from consentry.enforce.violations import Truth

_NOTHING = ("-", "None")


@dataclass(frozen=True, slots=True)
class Report:
    """How the program ended, what it used, and why it could not be started; None is not told."""

    code: int | None = None
    used: tuple[float, float, int] = (0.0, 0.0, 0)
    limit: str | None = None
    usage: Usage = field(default_factory=Usage)
    problem: tuple[str, int, str] | None = None

    @classmethod
    def read(cls, told: bytes) -> "Report":
        """The first problem, or else the last end; what cannot be understood was not told."""
        ended = cls()
        for line in told.decode("utf-8", "replace").splitlines():
            words = line.split(" ")
            try:
                if words[0] in ("program", "failed"):
                    return cls(problem=(words[0], int(words[1]), " ".join(words[2:])))
                if words[0] == "ended":
                    ended = _ended(words[1:])
            except (ValueError, IndexError):
                continue
        return ended


def _ended(words: list[str]) -> Report:
    status, user, system, peak, limit, seconds, most, kills = words
    return Report(
        code=os.waitstatus_to_exitcode(int(status)),
        used=(float(user), float(system), int(peak)),
        limit=None if limit in _NOTHING else limit,
        usage=Usage(
            cpu_seconds=0.0 if seconds in _NOTHING else float(seconds),
            memory_bytes=0 if most in _NOTHING else int(most),
            kills=int(kills),
            cpu_truth=Truth.OBSERVED if seconds in _NOTHING else Truth.KERNEL,
            memory_truth=Truth.OBSERVED if most in _NOTHING else Truth.KERNEL,
        ),
    )
