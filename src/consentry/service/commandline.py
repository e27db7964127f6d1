"""Turns a person's own command line into a confinement: what the line names, and nothing more.

The line is the decision: there is no prompt, nothing stored is read, and nothing is stored that a
later run could use. What is not named stays closed; what can never be granted is refused here.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.enforce.confinement import Confinement, Limits, Program
from consentry.enforce.programfiles import Started, look_at_program
from consentry.service.surroundings import Surroundings
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.pattern import Anchor, Pattern, Wildcard
from consentry.surface.permission_sets import PermissionSet, definition

FIXED_ENVIRONMENT: Final[Mapping[str, str]] = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/home/user",
    "TMPDIR": "/tmp",  # noqa: S108 - the box's own
    "LANG": "C.UTF-8",
}
ANY: Final = "any"

_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_TAKES_A_SCRIPT: Final = (
    "python", "pypy", "perl", "ruby", "node", "deno", "bash", "sh", "dash", "zsh", "lua", "php",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunWish:
    """What the line asks for."""

    words: tuple[str, ...]
    permission_set: PermissionSet | None = None
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    execute: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class BoundWish:
    """The confinement, and how it is spoken of in records."""

    confinement: Confinement
    started: Started
    profile: str


def bind_wish(wish: RunWish, workspace: Path, around: Surroundings) -> BoundWish:
    """The confinement that this line asks for; raises before anything is recorded or started."""
    if wish.permission_set is PermissionSet.TRUSTED:
        raise Refused(
            Code.PERMISSION_SET,
            "`trusted` is never given by a command line",
            help_line="name what the program needs with --read, --write and --exec",
        )
    cwd = around.cwd or workspace
    path = find_program(wish.words[0], around)
    started = look_at_program(path)
    script = _script(wish.words, path, cwd)
    runs = _programs(wish.execute, around)
    surface = _surface(wish, workspace, cwd, path)
    copies = tuple(
        dict.fromkeys(
            each for each in (started.program, script) if each is not None and not _is_system(each)
        )
    )
    named = [each for other in runs for each in look_at_program(other).files]
    startable = tuple(
        dict.fromkeys(each for each in (*started.files, *named) if each not in copies)
    )
    program = Program(
        path=path,
        words=wish.words,
        folder=cwd if cwd.is_relative_to(workspace) else workspace,
        copies=tuple(each for each in copies if _prefix_of(each) is None),
        startable=tuple(dict.fromkeys((*startable, *(c for c in copies if _prefix_of(c))))),
        prefixes=tuple(_prefixes(path, started)),
    )
    environment = dict(FIXED_ENVIRONMENT)
    for name in wish.environment:
        if name in around.environ and name not in FIXED_ENVIRONMENT:
            environment[name] = around.environ[name]
    confinement = Confinement(
        surface=surface,
        workspace=workspace,
        program=program,
        environment=environment,
        limits=wish.limits,
    )
    profile = "command line" if wish.permission_set is None else f"set:{wish.permission_set}"
    return BoundWish(confinement, started, profile)


def find_program(name: str, around: Surroundings) -> Path:
    """The program that the line names, as a shell would find it."""
    if "/" in name:
        path = Path(os.path.normpath((around.cwd or Path("/")) / name))
        if not path.exists():
            raise UsageProblem(Code.PROGRAM_UNKNOWN, f"`{name}` does not exist")
        if not path.is_file() or not os.access(path, os.X_OK):
            raise Refused(Code.PROGRAM_UNSTARTABLE, f"`{name}` is not an executable file")
        return path
    for folder in around.environ.get("PATH", "").split(":"):
        candidate = Path(folder, name)
        if folder.startswith("/") and candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate
    raise UsageProblem(Code.PROGRAM_UNKNOWN, f"no folder of PATH has a program `{name}`")


def _programs(names: tuple[str, ...], around: Surroundings) -> tuple[Path, ...]:
    return tuple(find_program(name, around) for name in names if name != ANY)


def _surface(wish: RunWish, workspace: Path, cwd: Path, program: Path) -> Surface:
    named = Surface.of(
        read=[_pattern(each, workspace, cwd) for each in wish.read],
        write=[_pattern(each, workspace, cwd) for each in wish.write],
        run=Level.ANY if ANY in wish.execute else [str(program), *wish.execute],
        env=list(wish.environment) or Level.NONE,
    )
    if wish.permission_set is not None:
        return definition(wish.permission_set).surface | named
    return Surface.of(read=["./"], write=["/tmp/"]) | named  # noqa: S108 - the box's own


def _pattern(spelling: str, workspace: Path, cwd: Path) -> str:
    """A path as typed, bound to the workspace where it lies in it."""
    path = Path(os.path.normpath(cwd / spelling))
    if not os.path.lexists(path) and not os.path.lexists(path.parent):
        raise UsageProblem(Code.FILE_UNUSABLE, f"`{spelling}` does not exist")
    real = Path(os.path.realpath(path))
    is_folder = real.is_dir() or spelling.endswith("/")
    below: Literal[Wildcard.FOLDERS] | None = Wildcard.FOLDERS if is_folder else None
    if real.is_relative_to(workspace):
        names = real.relative_to(workspace).parts
        return Pattern.literal(Anchor.WORKSPACE, names, and_below=below).text
    return Pattern.literal(Anchor.ABSOLUTE, real.parts[1:], and_below=below).text


def _script(words: tuple[str, ...], program: Path, cwd: Path) -> Path | None:
    """The file that an interpreter is told to run, if the line names one."""
    if not program.name.startswith(_TAKES_A_SCRIPT):
        return None
    for word in words[1:]:
        if word in ("-c", "-m", "-e"):
            return None
        if not word.startswith("-"):
            path = Path(os.path.realpath(cwd / word))
            return path if path.is_file() else None
    return None


def _prefixes(path: Path, started: Started) -> Iterator[Path]:
    """What interpreters outside the system's folders need: where they are installed."""
    seen: set[Path] = set()
    for each in (started.program, *started.interpreters):
        prefix = _prefix_of(each)
        if prefix is not None and prefix not in seen:
            seen.add(prefix)
            yield prefix
    venv = path.parent.parent
    if (venv / "pyvenv.cfg").is_file() and venv not in seen:
        yield venv


def _prefix_of(program: Path) -> Path | None:
    """`prefix` of `prefix/bin/program`, where there is a `prefix/lib` as well."""
    if _is_system(program) or program.parent.name != "bin":
        return None
    prefix = program.parent.parent
    return prefix if (prefix / "lib").is_dir() and len(prefix.parts) > 2 else None  # noqa: PLR2004


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(root) for root in _SYSTEM)
