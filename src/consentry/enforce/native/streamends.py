"""Where the three streams of a program lead, and what stands between."""

import os
import stat
from collections.abc import Callable

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass, field
from consentry.enforce.held import HoldKeeper
from consentry.enforce.native.supervisor import Supervisor
from consentry.enforce.streams import Curtain, Pipe, Terminal


@dataclass(slots=True)
class Io:
    """Where a program's streams lead: given descriptors, capture, or a terminal.

    With a terminal, a stream that is None leads there; without one, input that is None is empty
    and output that is None goes nowhere but to what is kept. `capped` says that output is counted
    while it passes. `hears` is told what passes on standard error, and what is shown on a terminal.
    `ends` is asked at least once a second whether the run is to be ended. `holds` is asked about what
    the grants refuse, and the program waits for the answer; without it, that is refused at once.
    `curtain` is between the program and a terminal on which those questions are put. `begins` is told
    the id of the decision by which the run begins.
    """

    stdin: int | None = None
    stdout: int | None = None
    stderr: int | None = None
    keeps: bool = False
    capped: bool = False
    terminal: Terminal | None = None
    hears: Callable[[bytes], None] | None = field(default=None, repr=False)
    ends: Callable[[], bool] | None = field(default=None, repr=False)
    holds: HoldKeeper | None = field(default=None, repr=False)
    curtain: Curtain | None = field(default=None, repr=False)
    begins: Callable[[str], None] | None = field(default=None, repr=False)
    supervisor: Supervisor | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class StreamEnds:
    """The descriptors to pass for the three streams, and the pipes that stand between."""

    files: tuple[int, ...]
    pipes: tuple[Pipe, ...]
    empty: int | None

    @classmethod
    def of(cls, io: Io) -> "StreamEnds":
        """Those that are given, and pipes or nothing for the others."""
        _require_no_folder(io)
        pipes: list[Pipe] = []
        files: list[int] = []
        for leads_to, hears in ((io.stdout, None), (io.stderr, io.hears)):
            if leads_to is None and io.terminal is not None:
                io.terminal.hears = io.hears
                files.append(io.terminal.its)
            elif io.keeps or io.capped or leads_to is None or hears is not None:
                pipes.append(Pipe(leads_to, io.keeps, hears=hears))
                files.append(pipes[-1].writer)
            else:
                files.append(leads_to)
        empty = None
        stdin = io.stdin
        if stdin is None:
            stdin = empty = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
            if io.terminal is not None and io.terminal.typed is not None:
                stdin = io.terminal.its
        return cls((stdin, *files), tuple(pipes), empty)

    def close(self) -> None:
        """What the box has by now."""
        if self.empty is not None:
            os.close(self.empty)


def _require_no_folder(io: Io) -> None:
    """An open folder is a way out: from there, names lead through the host's own tree."""
    for name, descriptor in (("input", io.stdin), ("output", io.stdout), ("error", io.stderr)):
        if descriptor is not None and stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise Refused(Code.FILE_UNUSABLE, f"standard {name} is a folder, which no program gets")
