"""What one run is confined to: its powers, bound to a real tree, and the limits it must keep.

This is what an engine compiles. It names nothing that an engine would have to look up or guess:
paths are absolute and were resolved by whoever made it, the environment is the very mapping that
the program will see, and everything that is not said is not there.
"""

from collections.abc import Mapping
from pathlib import Path

from consentry.base.canonical import Digest
from consentry.base.values import dataclass, field
from consentry.enforce.egress.secrets import Secret
from consentry.surface.lattice import Surface
from consentry.surface.modes import AnyHost, Denials, LayerPlace, Reads, Rounding, View, Writes
from consentry.surface.pattern import Pattern


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a run may use; None is no limit of ours."""

    cpu_seconds: int | None = None
    memory_bytes: int | None = None
    processes: int | None = None
    file_bytes: int | None = None
    written_bytes: int = 512 << 20
    output_bytes: int | None = None
    wall_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ProgramImage:
    """The image that a program lies in: as it was named, and the digest of all that is in it."""

    name: str
    digest: Digest


@dataclass(frozen=True, slots=True)
class Step:
    """One command: the program's path, and its words."""

    path: Path
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """What is started: its path, its words, and where; and what comes `then`, one after the other.

    The next one starts when the one before has ended with status 0, in the same box. `copies` are the files whose bytes were hashed and are run from a private copy, `startable` the
    files that may be executed besides, `prefixes` the folders that interpreters outside `/usr` need.
    A program of an `image` is a file of that, and none of the host's.
    """

    path: Path
    words: tuple[str, ...]
    folder: Path
    copies: tuple[Path, ...] = ()
    startable: tuple[Path, ...] = ()
    prefixes: tuple[Path, ...] = ()
    then: tuple[Step, ...] = ()
    image: ProgramImage | None = None

    @property
    def steps(self) -> tuple[Step, ...]:
        """All that is started, in order."""
        return (Step(self.path, self.words), *self.then)

    @property
    def line(self) -> tuple[str, ...]:
        """What a permit and a record name: the words; of several commands, each as one text."""
        if not self.then:
            return self.words
        from shlex import join  # noqa: PLC0415 - only tools with several commands need it

        return tuple(join(step.words) for step in self.steps)


@dataclass(frozen=True, slots=True)
class Confinement:
    """The whole box, as it is asked for."""

    surface: Surface
    workspace: Path
    program: Program
    environment: Mapping[str, str] = field(repr=False)
    denied: tuple[Pattern, ...] = ()
    view: View = View.PRIVATE
    writes: Writes = Writes.LAYER
    layer: LayerPlace = LayerPlace.MEMORY
    reads: Reads = Reads.OBSERVED
    rounding: Rounding = Rounding.ROUNDED
    denials: Denials = Denials.OBSERVED
    limits: Limits = Limits()
    secrets: tuple[Secret, ...] = field(default=(), repr=False)
    """What the proxy adds to requests; the box never has them."""

    any_host: AnyHost = AnyHost.PUBLIC
    holds: bool = False
    """Whether what is refused waits for a person's answer; then there is a way to the proxy to ask by,
    even where no host is granted."""
