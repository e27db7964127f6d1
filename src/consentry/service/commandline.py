"""Turns a person's own command line into a confinement: what the line names, and nothing more.

The line is the decision: there is no prompt, nothing stored is read, and nothing is stored that a
later run could use. What is not named stays closed; what can never be granted is refused here.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass, replace
from consentry.declare.profile import EngineName
from consentry.enforce.confinement import Confinement, Limits, Program
from consentry.enforce.denoflags import OWN_VARIABLES, RUN, FlagGround, deno_options
from consentry.enforce.egress.ports import proxy_variables
from consentry.enforce.programfiles import Started
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
from consentry.service.holdable import as_held, require_holdable
from consentry.service.profiles import with_limits_of
from consentry.service.programbinding import (
    environment_of,
    found_at,
    program_of,
    require_words,
)
from consentry.service.programsearch import find_program
from consentry.service.surroundings import Surroundings, own_home
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Denials, LayerPlace, View
from consentry.surface.pattern import Pattern
from consentry.surface.protected import ProtectedRoots

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


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
    image: str | None = None
    holds: bool = False

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
    require_givable(wish)
    if wish.holds:
        require_holdable(wish.engines, wish.view)
    cwd = around.cwd or workspace
    protected = protected_in((*wish.read, *wish.write), workspace, cwd, around)
    script = _script(wish, around)
    path = find_program(wish.words[0], around) if script is None else script.deno
    written = [granted_pattern(each, workspace, cwd, may_be_new=True) for each in wish.write]
    surface = surface_of(wish, workspace, cwd, path, written)
    environment = environment_of(wish.environment, around) | proxy_variables(surface.net_access)
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
    if wish.holds:
        bound = as_held(bound)
    return with_secrets(bound, wish, around)


def require_givable(wish: RunWish) -> None:
    """Raises for words and names that no program could be given, and for what no line gives."""
    require_no_trust(wish, "name what the program needs with --read, --write and --exec")
    require_words(wish.words)
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
    folder = folder_in(workspace, cwd)
    first = found_at(path, wish.words, folder)
    if script is not None:
        first = replace(first, script=script)
    others = [find_program(name, around) for name in wish.execute if name != ANY]
    needed = [found_at(other, (str(other),), folder) for other in others]
    return first.started, program_of([first], needed, folder, protected, shown=[workspace])


def surface_of(
    wish: RunWish, workspace: Path, cwd: Path, program: Path, written: list[str]
) -> Surface:
    """The powers that the line names, on the ground of its set or profile."""
    named = Surface.of(
        read=[granted_pattern(each, workspace, cwd, may_be_new=False) for each in wish.read],
        write=written,
        run=Level.ANY if ANY in wish.execute else [_spelled(str(program)), *_commands(wish, cwd)],
        env=list(wish.environment) or Level.NONE,
    )
    # What may be written may be looked at: nothing edits a file that it cannot see.
    named |= Surface.of(read=list(named.fs_write_roots))
    return with_network(ground_surface(wish, workspace) | named, wish.network)


def _commands(wish: RunWish, cwd: Path) -> Iterator[str]:
    for name in wish.execute:
        yield _spelled(os.path.normpath(cwd / name) if "/" in name else name)


def _spelled(name: str) -> str:
    """A name as a pattern that matches nothing else."""
    return re.sub(r"([*?\\])", r"\\\1", name)
