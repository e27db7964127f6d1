"""The score-card of an engine: each attack of `attackcard`, and whether it reached its goal inside.

`Ground` is what the attacks are aimed at: a folder with a workspace and a file beside it, sockets
that listen, and what is to be known of the caller. Every engine gets the same ground and the same
program, so that their cards can be laid side by side. What an engine promises is always the same:
`blocked`.
"""

import inspect
import json
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

from consentry.base.canonical import Json
from consentry.base.values import dataclass, replace
from consentry.enforce import attackcalls, attackcard
from consentry.enforce.confinement import Confinement, Limits, Program
from consentry.enforce.limits import MOST_DESCRIPTORS
from consentry.enforce.programfiles import look_at_program
from consentry.surface.lattice import Surface
from consentry.surface.modes import View
from consentry.surface.pattern import Pattern
from consentry.surface.patterns import PatternScope

_PARTS: Final = (attackcalls, attackcard)
_LOADER: Final = """\
import os, sys, types
sys.argv[1] = sys.argv[1].replace("$TMPDIR", os.environ.get("TMPDIR", ""))
for name, source in zip(sys.argv[2::2], sys.argv[3::2]):
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(source, name, "exec"), module.__dict__)
module.main(1)
"""
ENVIRONMENT: Final[Mapping[str, str]] = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/user",
    "TMPDIR": "/tmp",  # noqa: S108 - the box's own
    "LANG": "C.UTF-8",
}
_PROCESSES: Final = 24
_MEMORY: Final = 128 << 20
LIMITS: Final = Limits(
    cpu_seconds=30,
    memory_bytes=_MEMORY,
    processes=_PROCESSES,
    file_bytes=1 << 20,
    written_bytes=4 << 20,
    output_bytes=1 << 20,
    wall_seconds=60.0,
)
# bwrap says by it where the program begins, which is the grant's own folder and not the caller's.
_SAID_ANEW: Final = frozenset({"PWD"})
# Where nothing tells what this process was started with: what most are, and docker's own command is.
_OF_MANY_CALLERS: Final = (
    "USER",
    "LOGNAME",
    "SHELL",
    "SSH_AUTH_SOCK",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
)
_STARTED_AT: Final = 19  # among the fields of /proc/PID/stat behind the name


class Verdict(StrEnum):
    """What became of an attack."""

    BLOCKED = "blocked"
    OPEN = "open"
    UNTRIED = "untried"


@dataclass(frozen=True, slots=True)
class Row:
    """One attack: the control that must hold it, what it tries, and how it went."""

    name: str
    control: str
    what: str
    verdict: Verdict
    said: str
    is_promised: bool = True

    def to_json(self) -> dict[str, Json]:
        """As `consentry doctor --attack --json` prints it."""
        return {
            "name": self.name,
            "control": self.control,
            "what": self.what,
            "promised": Verdict.BLOCKED.value if self.is_promised else None,
            "found": self.verdict.value,
            "said": self.said,
        }


@dataclass(frozen=True, slots=True)
class ScoreCard:
    """How every attack went in one engine, and whether what must work did."""

    rows: tuple[Row, ...]
    works: Mapping[str, bool]

    @property
    def broken(self) -> tuple[Row, ...]:
        """The promises that were not kept."""
        return tuple(row for row in self.rows if row.verdict is Verdict.OPEN and row.is_promised)

    @classmethod
    def of(
        cls,
        printed: bytes,
        limit: str | None = None,
        unpromised: frozenset[str] = frozenset(),
    ) -> "ScoreCard":
        """Reads what the program printed; raises `ValueError` when that is no card.

        `limit` is the one that the whole box was ended for, if it was; `unpromised` are controls that
        such a run does not claim.
        """
        told = {answer["name"]: answer for answer in map(json.loads, printed.splitlines())}
        if any(each.name not in told for each in attackcard.WORKS):
            raise ValueError("no card")
        rows = (_row(each, told.get(each.name), limit) for each in attackcard.ATTACKS)
        return cls(
            rows=tuple(replace(row, is_promised=row.control not in unpromised) for row in rows),
            works={each.name: told[each.name]["reached"] for each in attackcard.WORKS},
        )


def _row(attack: attackcard.Attack, answer: Mapping[str, object] | None, limit: str | None) -> Row:
    verdicts = {True: Verdict.OPEN, False: Verdict.BLOCKED, None: Verdict.UNTRIED}
    if answer is not None:
        reached = answer["reached"]
        verdict, said = verdicts[None if reached is None else bool(reached)], str(answer["said"])
    elif limit is not None and limit.startswith(attack.control):
        verdict, said = Verdict.BLOCKED, "the box was ended"
    else:
        verdict, said = Verdict.UNTRIED, "the box was ended before"
    return Row(attack.name, attack.control, attack.what, verdict, said)


def _own_variables() -> set[str]:
    """The names that this process was started with; what it set itself is no secret of the caller."""
    if sys.platform != "linux":
        return set(_OF_MANY_CALLERS)
    entries = Path("/proc/self/environ").read_bytes().split(b"\0")
    return {os.fsdecode(entry.partition(b"=")[0]) for entry in entries if b"=" in entry}


def _started_at() -> int:
    """When this process began, in the kernel's ticks; elsewhere, a number that no process has."""
    if sys.platform != "linux":
        return -1
    stat = Path("/proc/self/stat").read_bytes()
    return int(stat.rpartition(b")")[2].split()[_STARTED_AT])


class Ground:
    """What the attacks are aimed at, in a folder `at` some place; removed at the end."""

    # The system's own place for temporary folders, whatever the environment says.
    def __init__(self, at: str = "/tmp", *, for_others: bool = False) -> None:  # noqa: S108 - as said
        """With `for_others`, whoever a root caller's program becomes can see what is there."""
        self._folder = Path(tempfile.mkdtemp(prefix="consentry-ground-", dir=at))
        if for_others:
            self._folder.chmod(0o755)
        self.workspace = self._folder / "workspace"
        self.granted = self.workspace / "granted"
        self.denied = self.workspace / "denied" / "file"
        self.writable = self.workspace / "writable"
        self.hidden = self._folder / "outside" / "file"
        self._names = sorted(_own_variables() - set(ENVIRONMENT) - _SAID_ANEW)
        self._sockets: list[socket.socket] = []

    def __enter__(self) -> Self:
        for file in (self.granted, self.denied, self.hidden):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(b"as it was")
        self.writable.mkdir()
        self._named = str(self.hidden.with_name("socket"))
        self._abstract = f"consentry-{os.urandom(8).hex()}"
        self._listening(socket.AF_UNIX, self._named)
        if sys.platform == "linux":
            self._listening(socket.AF_UNIX, f"\0{self._abstract}")
        self._port = self._listening(socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._sockets:
            each.close()
        shutil.rmtree(self._folder)

    def _listening(
        self, family: socket.AddressFamily, address: str | tuple[str, int]
    ) -> socket.socket:
        made = socket.socket(family)
        self._sockets.append(made)
        made.bind(address)
        made.listen()
        return made

    @property
    def is_untouched(self) -> bool:
        """Whether everything lies there as it was."""
        return self.is_as_it_was()

    def is_as_it_was(self, *, is_written: bool = False) -> bool:
        """The same; but for the folder that may be written, if the run writes at once."""
        files = (self.granted, self.denied, self.hidden)
        return (
            all(file.read_bytes() == b"as it was" for file in files)
            and (is_written or not any(self.writable.iterdir()))
            and {each.name for each in self.workspace.iterdir()}
            == {"denied", "granted", "writable"}
        )

    def words(self, interpreter: Path, *, is_bare: bool = False) -> tuple[str, ...]:
        """The command that makes the attacks; if `is_bare`, it may write where temporary files go."""
        parts = [(each.__name__, inspect.getsource(each)) for each in _PARTS]
        start = (str(interpreter), "-I", "-S", "-c", _LOADER)
        return (
            *start,
            json.dumps(self.bait(is_bare=is_bare)),
            *(w for part in parts for w in part),
        )

    def bait(self, *, is_bare: bool = False) -> dict[str, Any]:
        """What the attacks are told of where to aim."""
        return {
            "hidden": str(self.hidden),
            "granted": str(self.granted),
            "denied": str(self.denied),
            "writable": ["$TMPDIR" if is_bare else str(self.writable)],
            "socket": self._named,
            "abstract": self._abstract,
            "port": self._port,
            "names": self._names,
            "started": _started_at(),
            "file_bytes": LIMITS.file_bytes,
            "descriptors": MOST_DESCRIPTORS,
            "processes": _PROCESSES + _PROCESSES // 4,
            "memory_bytes": _MEMORY + _MEMORY // 2,
        }

    def confinement(
        self, interpreter: Path, prefixes: Sequence[Path] = (), *, is_bare: bool = False
    ) -> Confinement:
        """What the program is confined to: a workspace of which one folder may be written.

        Where nothing can be mounted (`is_bare`), its own folder may be, and nothing else.
        """
        wanted = self._confinement(interpreter, prefixes, is_bare=is_bare)
        if not is_bare:
            return wanted
        surface = replace(wanted.surface, fs_write_roots=PatternScope.parse(["/tmp/"]))  # noqa: S108
        limits = replace(LIMITS, written_bytes=Limits().written_bytes)
        return replace(wanted, surface=surface, view=View.VISIBLE, limits=limits)

    def _confinement(
        self, interpreter: Path, prefixes: Sequence[Path], *, is_bare: bool
    ) -> Confinement:
        started = look_at_program(interpreter)
        return Confinement(
            surface=Surface.of(
                read=["./"],
                write=["./writable/", "/tmp/"],  # noqa: S108 - the box's own
                run=[str(started.program)],
            ),
            workspace=self.workspace,
            program=Program(
                started.program,
                self.words(started.program, is_bare=is_bare),
                self.workspace,
                startable=started.files,
                prefixes=tuple(prefixes),
            ),
            environment=ENVIRONMENT,
            denied=(Pattern.parse("./denied/"),),
            limits=LIMITS,
        )
