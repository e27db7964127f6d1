"""Which paths decide how a run is bound: change none of them, and it would be bound the same again.

Everything that finding the workspace, the state directory and the program, and compiling the plan
asks about. A path stands for every folder and link on the way to it, too.
"""

import os
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from consentry.base.values import dataclass, field
from consentry.enforce.engines.interface import Compiled
from consentry.enforce.native.planner import Plan
from consentry.enforce.native.runtime import PROGRAM_FOLDERS
from consentry.enforce.roots import place_of
from consentry.service.binding import BoundWish
from consentry.service.commandline import RunWish
from consentry.service.places import GIT_MARKER, MARKERS
from consentry.service.surroundings import (
    PASSWD,
    Home,
    Surroundings,
    configuration_base,
    own_home,
    state_base,
)

_LEAD_INTO_USR: Final = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_FOLDERS_OF_ENV: Final = ("/usr/local/bin", "/usr/bin", "/bin")
_SHIMS: Final = "shims"


Wish = TypeVar("Wish", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Call(Generic[Wish]):
    """All that a caller says, and who and where the caller is."""

    wish: Wish
    workspace: str | None
    environ: tuple[tuple[str, str], ...]
    cwd: Path | None
    uid: int
    account_home: Path | None
    homes: tuple[Home, ...] = field(hash=False)
    homes_parent: Path

    @classmethod
    def of(cls, wish: Wish, around: Surroundings, workspace: str | None) -> "Call[Wish]":
        """As it is now; the environment of a process changes under its readers."""
        return cls(
            wish,
            workspace,
            tuple(around.environ.items()),
            around.cwd,
            around.uid,
            around.account_home,
            around.homes,
            around.homes_parent,
        )

    @property
    def around(self) -> Surroundings:
        """The surroundings, as they were."""
        return Surroundings(
            dict(self.environ),
            self.cwd,
            self.uid,
            self.account_home,
            self.homes,
            self.homes_parent,
        )


def is_lasting(call: Call[RunWish]) -> bool:
    """Whether paths alone decide: what a version manager's shim stands for is said in files."""
    return not is_shimmed(call.wish.looked_up, call.around, str(call.cwd or "/"))


def is_shimmed(names: Iterable[str], around: Surroundings, cwd: str) -> bool:
    """Whether a version manager's shim stands where one of these programs is looked for."""
    return any(
        f"/{_SHIMS}/" in candidate and os.path.lexists(candidate)
        for name in names
        for candidate in candidates(name, around, cwd)
    )


def ground_of(call: Call[RunWish], bound: BoundWish, plan: Compiled) -> Iterator[str]:
    """The paths, in no order and with repeats."""
    around, cwd = call.around, str(call.cwd or "/")
    yield from places_of(call)
    for name in call.wish.looked_up:
        yield from candidates(name, around, cwd)
    folder = str(bound.confinement.program.folder)
    for word in call.wish.words[1:]:
        if "\0" not in word and not word.startswith("-"):
            yield joined(folder, word)
    for word in (*call.wish.read, *call.wish.write):
        yield joined(cwd, word)
    yield from program_paths(bound)
    yield from roots_of(bound, plan.plan, own_home(around).path)


def places_of(call: Call[Any]) -> Iterator[str]:
    """What the workspace, the state directory and the protected roots depend on."""
    around, cwd = call.around, str(call.cwd or "/")
    yield str(PASSWD)
    yield cwd if call.workspace is None else joined(cwd, call.workspace)
    if call.cwd is not None:
        for above in (call.cwd, *call.cwd.parents):
            for marker in (*MARKERS, GIT_MARKER):
                yield f"{above}/{marker}"
    for home in around.homes:
        yield str(home.path.parent)
    yield str(around.homes_parent)
    yield around.environ.get("CONSENTRY_STATE", "/")
    for base in (state_base(around).path, configuration_base(around).path):
        if base is not None:
            yield f"{base}/consentry"
    own = own_home(around).path
    if own is not None:
        yield str(own)


def candidates(name: str, around: Surroundings, cwd: str) -> Iterator[str]:
    """Where a program of that name is looked for."""
    if "/" in name:
        yield joined(cwd, name)
        return
    for folder in around.environ.get("PATH", "").split(":"):
        if folder.startswith("/"):
            yield f"{folder}/{name}"


def program_paths(bound: BoundWish) -> Iterator[str]:
    """What is started, and what is found from there."""
    started, program = bound.started, bound.confinement.program
    spelled = (program.path, started.program, *started.interpreters, *started.spelled)
    for path in (*spelled, *program.copies, *program.startable):
        yield str(path)
        yield f"{path.parent.parent}/lib"
    for path in started.spelled:
        for folder in _FOLDERS_OF_ENV:
            yield f"{folder}/{path.name}"
    yield from map(str, program.prefixes)


def roots_of(bound: BoundWish, compiled: Plan, home: Path | None) -> Iterator[str]:
    """What the plan shows of the host."""
    yield from granted_paths(bound, home)
    for root in (*compiled.readable, *(each.root for each in compiled.layered)):
        yield str(root.path)
    for layer in compiled.layered:
        yield from (str(root.path) for root in layer.writable)
    yield from (*compiled.runtime.roots, *compiled.hidden, *PROGRAM_FOLDERS, *_LEAD_INTO_USR)


def granted_paths(bound: BoundWish, home: Path | None) -> Iterator[str]:
    """What is granted, as far as it has a place, and what never is."""
    wanted = bound.confinement
    for scope in (wanted.surface.fs_read_roots, wanted.surface.fs_write_roots):
        for entry in scope.entries:
            for pattern in entry:
                place = place_of(pattern, wanted.workspace, home)
                if place is not None:
                    yield str(place)
    for row in bound.protected.exceptions:
        yield "/" + "/".join(row.pattern.prefix)


def joined(folder: str, spelling: str) -> str:
    """Where a spelling leads that was typed in a folder."""
    return os.path.join(folder, spelling)  # noqa: PTH118 - what is typed is no Path yet
