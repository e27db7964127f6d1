"""What engines are measured by: the controls that they hold or lack, and what they report of a run.

An engine refuses what it cannot enforce: it raises `NotEnforceable` with the list of controls that it
lacks, and then nothing runs.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Self

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass, field
from consentry.enforce.egress.report import Reached
from consentry.enforce.held import HeldRecord
from consentry.enforce.violations import PermissionDenied, Truth


class Control(StrEnum):
    """One thing that is held back or reported, whatever holds it."""

    meaning: str

    def __new__(cls, name: str, meaning: str) -> Self:
        """A member is its own name; the meaning hangs on it."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.meaning = meaning
        return member

    READS = ("reads", "files outside the grants cannot be read")
    WRITES = ("writes", "files outside the grants cannot be written")
    LAYER = ("layer", "writes go to a layer and reach the workspace only by a commit")
    DENY_INSIDE = ("deny-inside", "a denied place inside a granted one stays closed")
    NO_NETWORK = ("no-network", "there is no network but the box's own loopback")
    PROGRAMS = ("programs", "only the allowed programs can be started by execve")
    ENVIRONMENT = ("environment", "only the allowed names of the environment are there")
    PROCESSES_APART = ("processes-apart", "other processes can be neither seen nor signalled")
    SYSTEM_CALLS = ("system-calls", "calls that reach deep into the kernel are refused")
    NO_NEW_POWERS = ("no-new-powers", "no capability, no set-user-id program, no new namespace")
    CPU = ("cpu", "processor time is limited")
    MEMORY = ("memory", "memory is limited")
    PROCESSES = ("processes", "the number of processes is limited")
    FILE_SIZE = ("file-size", "the size of one file is limited")
    WRITTEN = ("written", "how much is written in all is limited")
    OUTPUT = ("output", "how much is printed is limited")
    WALL_TIME = ("wall-time", "how long it may take is limited")
    DESCRIPTORS = ("descriptors", "the number of open files is limited")
    FILES_READ = ("files-read", "which files were read is reported")
    DENIALS = ("denials", "what was refused is reported")


@dataclass(frozen=True, slots=True)
class Held:
    """A control that holds here, and by what."""

    control: Control
    mechanism: str
    truth: Truth = Truth.KERNEL


class HeldAs(StrEnum):
    """How the grant was held by which a file could be used."""

    meaning: str

    def __new__(cls, name: str, meaning: str) -> Self:
        """A member is its own name; the meaning hangs on it."""
        member = str.__new__(cls, name)
        member._value_ = name
        member.meaning = meaning
        return member

    EXACT = ("exact", "a grant means it, and the kernel opens no more than that grant")
    ROUNDED = ("rounded", "a pattern means it, and the kernel opens the folder it begins with")
    OUTSIDE = ("outside", "no grant means it; it was open because a pattern is rounded up")


@dataclass(frozen=True, slots=True)
class Lacking:
    """A control that does not hold here, why, and what would help."""

    control: Control
    why: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """What an engine showed on this host, by doing it.

    `attested` says whether denials can be attested by the kernel, for a run that asks for it, or why
    not; none does by itself. `mode` names a way in which it holds less than it can elsewhere, and
    `because` why.
    """

    engine: str
    held: tuple[Held, ...]
    lacking: tuple[Lacking, ...] = ()
    attested: Held | Lacking | None = None
    mode: str | None = None
    because: str = ""

    @property
    def is_usable(self) -> bool:
        """Whether it can run anything at all."""
        return bool(self.held)


class NotEnforceable(Refused):
    """The engine cannot hold some of what is asked for."""

    def __init__(self, engine: str, lacking: Sequence[Lacking]) -> None:
        listed = "; ".join(f"{each.control}: {each.why}" for each in lacking)
        remedies = dict.fromkeys(each.remedy for each in lacking if each.remedy)
        super().__init__(
            Code.NOT_ENFORCEABLE,
            f"`{engine}` cannot enforce {listed}",
            help_line="; ".join(remedies) or None,
        )
        self.lacking = tuple(lacking)


class Ending(StrEnum):
    """How a run ended, in the words of the audit entry."""

    SUCCESS = "success"
    FAILURE = "failure"
    TIMEOUT = "timeout"
    KILLED = "killed"
    LIMIT = "limit"
    NOT_STARTED = "not_started"


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run used, and how that is known."""

    cpu_seconds: float
    peak_bytes: int
    processes: int | None = None
    truth: Truth = Truth.KERNEL


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """A program that was started inside."""

    path: str
    words: tuple[str, ...]
    times: int


class FileState(NamedTuple):
    """Which file was opened, and as it was then: its inode, size, and when it was changed."""

    inode: int
    size: int
    modified_ns: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class DirectChange:
    """A name that was to be written at once: whether it was there before, and was to go."""

    was_there: bool
    is_folder: bool
    goes: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an engine reports of one run; the layer, if there is one, is the receiver's to close."""

    ending: Ending
    exit_code: int | None
    signal: int | None
    usage: Usage
    reads: tuple[str, ...]
    reads_truth: Truth
    runtime_reads: dict[str, int]
    programs: tuple[ProgramRun, ...]
    violations: tuple[PermissionDenied, ...]
    complete: bool
    held: tuple[Held, ...]
    stdout: bytes = field(default=b"", repr=False)
    stderr: bytes = field(default=b"", repr=False)
    output_bytes: int = 0
    layer: int | None = None
    limit: str | None = None
    reads_held: Mapping[str, HeldAs] = field(default_factory=dict)
    direct: Mapping[str, DirectChange] | None = None
    read_states: Mapping[str, tuple[FileState, ...]] = field(default_factory=dict)
    reached: Reached = field(default_factory=Reached)
    mode: str | None = None
    touched: tuple[str, ...] = ()
    """Names in the layer that were written, made, moved or removed, also where nothing is left of it."""

    held_operations: tuple[HeldRecord, ...] = ()
    """What waited for a person's answer, and how it was answered."""

    sees_reads: bool = True
    """Whether anything watched which files were read; without, an empty list says nothing."""

    @property
    def output_complete(self) -> bool:
        """Whether everything that was printed is kept."""
        return len(self.stdout) + len(self.stderr) >= self.output_bytes
