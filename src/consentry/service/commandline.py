"""Turns a person's own command line into a confinement: what the line names, and nothing more.

The line is the decision: there is no prompt, nothing stored is read, and nothing is stored that a
later run could use. What is not named stays closed; what can never be granted is refused here.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.declare.profile import EngineName
from consentry.enforce.confinement import Confinement, Limits, Program
from consentry.enforce.denoflags import OWN_VARIABLES, RUN, FlagGround, deno_options
from consentry.enforce.egress.ports import proxy_variables
from consentry.enforce.ownership import is_roots_alone
from consentry.enforce.programfiles import Started, look_at_program
from consentry.enforce.programs import DENO
from consentry.service.binding import (
    ANY,
    BoundWish,
    Wish,
    as_profile_says,
    folder_in,
    granted_pattern,
    ground_surface,
    protected_in,
    require_no_trust,
    with_network,
    with_secrets,
)
from consentry.service.denoscripts import DenoScript, find_script, require_script_alone
from consentry.service.enginechoice import EngineWish
from consentry.service.profiles import with_limits_of
from consentry.service.programsearch import (
    find_program,
    is_protected,
    is_system,
    prefix_of,
    prefixes_of,
    script_of,
    started_path,
)
from consentry.service.surroundings import Surroundings, own_home
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Denials, LayerPlace, View
from consentry.surface.pattern import Pattern
from consentry.surface.protected import ProtectedRoots

FIXED_ENVIRONMENT: Final[Mapping[str, str]] = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/home/user",
    "TMPDIR": "/tmp",  # noqa: S108 - the box's own
    "LANG": "C.UTF-8",
}

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_TERMINAL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,31}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RunWish(Wish):
    """What the line asks for."""

    words: tuple[str, ...]
    write: tuple[str, ...] = ()
    execute: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    view: View | None = None
    layer: LayerPlace | None = None
    denials: Denials = Denials.OBSERVED
    engine: EngineName | None = None

    @property
    def engines(self) -> EngineWish:
        """The engine that the line names; else what the profile's document says."""
        if self.engine is not None:
            return EngineWish(self.engine)
        return EngineWish() if self.profile is None else self.profile.engines

    @property
    def looked_up(self) -> tuple[str, ...]:
        """Every name that is looked for on PATH."""
        deno = (DENO,) if self.engines.named is EngineName.DENO else ()
        return (self.words[0], *self.execute, *deno)


def bind_wish(wish: RunWish, workspace: Path, around: Surroundings) -> BoundWish:
    """The confinement that this line asks for; raises before anything is recorded or started."""
    _require_givable(wish)
    cwd = around.cwd or workspace
    protected = protected_in((*wish.read, *wish.write), workspace, cwd, around)
    script = _script(wish, around)
    path = find_program(wish.words[0], around) if script is None else script.deno
    written = [granted_pattern(each, workspace, cwd, may_be_new=True) for each in wish.write]
    surface = _surface(wish, workspace, cwd, path, written)
    environment = _environment(wish, around) | proxy_variables(surface.net_access)
    named = None
    if script is not None:
        wish, named = _for_deno(wish, script, surface, workspace, around), script.script
        environment |= OWN_VARIABLES
    started, program = _program(wish, path, workspace, cwd, around, protected, named)
    confinement = Confinement(
        surface=surface,
        workspace=workspace,
        program=program,
        environment=environment,
        limits=wish.limits,
        view=wish.view or View.PRIVATE,
        layer=wish.layer or LayerPlace.MEMORY,
        denials=wish.denials,
    )
    spelled = tuple(map(Pattern.parse, written))
    bound = BoundWish(confinement, started, wish.profile_word, protected, spelled)
    bound = as_profile_says(bound, wish.profile, around, wish.view, wish.layer)
    return with_secrets(bound, wish, around)


def _require_givable(wish: RunWish) -> None:
    require_no_trust(wish, "name what the program needs with --read, --write and --exec")
    for word in wish.words:
        if "\0" in word:
            raise UsageProblem(Code.USAGE, f"`{word}` has a NUL in it, which no argument can have")
        try:
            word.encode()
        except UnicodeEncodeError:
            raise UsageProblem(
                Code.USAGE,
                f"the argument `{word}` is not UTF-8, so it could not be recorded",
                help_line="name the file by a pattern or a link that is UTF-8",
            ) from None
    for name in wish.environment:
        if _VARIABLE.fullmatch(name) is None:
            raise UsageProblem(
                Code.USAGE,
                f"`{name}` is not the name of a variable",
                help_line="give the name alone; its value is the one it has here",
            )


def _script(wish: RunWish, around: Surroundings) -> DenoScript | None:
    """The script of a line for the engine `deno`; None for every other line."""
    if wish.engines.named is not EngineName.DENO:
        return None
    require_script_alone(wish.execute, wish.environment)
    return find_script(wish.words[0], around, has_fallback=wish.engines.fallback is not None)


def _for_deno(
    wish: RunWish, script: DenoScript, surface: Surface, workspace: Path, around: Surroundings
) -> RunWish:
    """The same wish in the words that are permitted and started."""
    ground = FlagGround(
        workspace, folder_in(workspace, around.cwd or workspace), own_home(around).path
    )
    memory = _limits(wish).memory_bytes
    options = deno_options(surface, wish.permission_set, ground, memory)
    return replace(
        wish, words=(str(script.deno), RUN, *options, str(script.script), *wish.words[1:])
    )


def _limits(wish: RunWish) -> Limits:
    named = wish.profile
    return wish.limits if named is None else with_limits_of(named.profile, wish.limits)


def _program(
    wish: RunWish,
    path: Path,
    workspace: Path,
    cwd: Path,
    around: Surroundings,
    protected: ProtectedRoots,
    script: Path | None,
) -> tuple[Started, Program]:
    started = look_at_program(path)
    others = [find_program(name, around) for name in wish.execute if name != ANY]
    needed = [look_at_program(other) for other in others]
    folder = folder_in(workspace, cwd)
    script = script or script_of(wish.words, path, folder)
    files = (*started.files, *(each for other in needed for each in other.files))
    named = tuple(each for each in (started.program, script) if each is not None)
    copies = tuple(
        each
        for each in dict.fromkeys((*named, *files))
        if (each in named and not is_system(each) and prefix_of(each, protected) is None)
        # What somebody could still change after it was hashed is run from a copy as well.
        or not is_roots_alone(each)
    )
    for each in (*copies, *started.files):
        if is_protected(each, protected) and not is_system(each):
            raise Refused(Code.PROTECTED_ROOT, f"`{each}` lies in a place that is never granted")
    prefixes = tuple(
        dict.fromkeys(
            prefix
            for spelled, found in ((path, started), *zip(others, needed, strict=True))
            for prefix in prefixes_of(spelled, found, protected)
        )
    )
    starts = started_path(path, started, (workspace, *prefixes))
    # Programs look for themselves by the word they are called; inside, PATH is another.
    called = wish.words[0] if "/" in wish.words[0] or is_system(path) else str(starts)
    return started, Program(
        path=starts,
        words=(called, *wish.words[1:]),
        folder=folder,
        copies=copies,
        startable=tuple(dict.fromkeys(each for each in files if each not in copies)),
        prefixes=prefixes,
    )


def _environment(wish: RunWish, around: Surroundings) -> dict[str, str]:
    """Ours, and the names that were asked for with the values they have here."""
    terminal = around.environ.get("TERM", "")
    fixed = {**FIXED_ENVIRONMENT, "TERM": terminal if _TERMINAL.fullmatch(terminal) else "dumb"}
    asked = {name: value for name, value in around.environ.items() if name in wish.environment}
    return {**asked, **fixed}


def _surface(
    wish: RunWish, workspace: Path, cwd: Path, program: Path, written: list[str]
) -> Surface:
    named = Surface.of(
        read=[granted_pattern(each, workspace, cwd, may_be_new=False) for each in wish.read],
        write=written,
        run=Level.ANY if ANY in wish.execute else [_spelled(str(program)), *_commands(wish, cwd)],
        env=list(wish.environment) or Level.NONE,
    )
    # What may be written may be looked at: nothing edits a file that it cannot see.
    named |= Surface.of(read=list(named.fs_write_roots))
    return with_network(ground_surface(wish) | named, wish.network)


def _commands(wish: RunWish, cwd: Path) -> Iterator[str]:
    for name in wish.execute:
        yield _spelled(os.path.normpath(cwd / name) if "/" in name else name)


def _spelled(name: str) -> str:
    """A name as a pattern that matches nothing else."""
    return re.sub(r"([*?\\])", r"\\\1", name)
