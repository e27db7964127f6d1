"""Binds code to the permission set it runs in: the confinement, and nothing beyond the set.

The same table for both engines. Here, and nowhere else, `trusted` becomes a confinement: no line can
name it, and what is stored under it was put there by hand. What a list of hosts says narrows what the
set opens; where the set opens no network, it opens nothing.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from consentry.base.values import dataclass, replace
from consentry.declare.profile import EngineName
from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.denoflags import OWN_VARIABLES, RUN, FlagGround, deno_options
from consentry.enforce.egress.ports import proxy_variables
from consentry.enforce.native.runtime import ENVIRONMENT
from consentry.enforce.programfiles import Started
from consentry.service.binding import (
    ANY,
    NONE,
    BoundWish,
    granted_pattern,
    protected_in,
    surface_of_set,
)
from consentry.service.capabilityscripts import Script, plain_name, script_of
from consentry.service.codeinset import CodeInSet
from consentry.service.denoscripts import ITS_OWN, require_deno
from consentry.service.enginechoice import EngineWish
from consentry.service.holdable import require_holdable
from consentry.service.profiles import profile_word
from consentry.service.programbinding import environment_of, found_at, program_of
from consentry.service.protection import protected_here
from consentry.service.snippetruns import ENDING, CodeWish, require_snippet, words_of_code
from consentry.service.surroundings import Surroundings, own_home
from consentry.service.trustedreads import trusted_places, trusted_reads
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface, host_access
from consentry.surface.modes import AnyHost
from consentry.surface.permission_sets import PermissionSet, definition
from consentry.surface.protected import ProtectedRoots

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_NEVER_HANDED_ON: Final = (*ITS_OWN, "LD_", "PYTHON", "CONSENTRY_")
"""How variables begin that would load native code, change an interpreter, or speak of our own."""


@dataclass(frozen=True, slots=True)
class BoundScript:
    """A script, bound; its bytes are found inside at its path."""

    bound: BoundWish
    script: Script


def bind_python(
    code: CodeInSet, workspace: Path, around: Surroundings
) -> tuple[CodeWish, BoundWish]:
    """The snippet, and the confinement of its set; raises before anything is recorded or started."""
    name = plain_name(code.name) + ENDING
    wish = CodeWish(
        source=code.code.encode(),
        name=name,
        permission_set=code.permission_set,
        arguments=code.arguments,
        limits=code.limits,
    )
    require_snippet(wish)
    protected, surface = _granted(code, workspace, around)
    any_host = _any_host(code)
    variables = proxy_variables(surface.net_access, any_host, holds=code.holds)
    program = Program(path=Path(name), words=words_of_code(wish), folder=workspace)
    confinement = Confinement(
        surface=surface,
        workspace=workspace,
        program=program,
        environment={**_variables(code, around), **ENVIRONMENT} | variables,
        limits=code.limits,
        any_host=any_host,
        holds=code.holds,
    )
    started = Started(program.path, (), ())
    return wish, BoundWish(confinement, started, profile_word(code.permission_set), protected)


def bind_script(code: CodeInSet, workspace: Path, around: Surroundings) -> BoundScript:
    """The same for what Deno runs; it refuses by itself, so that nothing of it can be held."""
    if code.holds:
        require_holdable(EngineWish(EngineName.DENO), None)
    script = script_of(code.name, code.language, code.code, code.arguments)
    deno = require_deno(around)
    protected, granted = _granted(code, workspace, around)
    surface = granted | Surface.of(run=[re.sub(r"([*?\\])", r"\\\1", str(deno))])
    ground = FlagGround(workspace, workspace, own_home(around).path)
    options = deno_options(surface, code.permission_set, ground, code.limits.memory_bytes)
    wish = CodeWish(b"", code.name, arguments=code.arguments)
    words = (str(deno), RUN, *options, str(script.path), *words_of_code(wish)[1:])
    found = replace(found_at(deno, words, workspace), script=None)
    program = program_of([found], (), workspace, protected, shown=[workspace])
    confinement = Confinement(
        surface=surface,
        workspace=workspace,
        program=replace(program, copies=(*program.copies, script.path)),
        environment=environment_of(_variables(code, around), around)
        | proxy_variables(surface.net_access, _any_host(code))
        | OWN_VARIABLES,
        limits=code.limits,
        any_host=_any_host(code),
    )
    profile = profile_word(code.permission_set)
    return BoundScript(BoundWish(confinement, found.started, profile, protected), script)


def _granted(
    code: CodeInSet, workspace: Path, around: Surroundings
) -> tuple[ProtectedRoots, Surface]:
    """What is never granted here, and what the set opens of the rest."""
    protected = protected_in(code.read, workspace, workspace, around)
    surface = surface_of_set(code.permission_set, workspace)
    if code.permission_set is PermissionSet.TRUSTED:
        places = trusted_places(workspace, protected)
        protected = protected_here(around, workspace, *places)
        surface = replace(surface, fs_read_roots=trusted_reads(places))
    named = [granted_pattern(each, workspace, workspace, may_be_new=False) for each in code.read]
    return protected, narrowed(surface | Surface.of(read=named), code.network)


def narrowed(surface: Surface, named: tuple[str, ...]) -> Surface:
    """The same with no more network than is named; what is not open is not opened."""
    if not named or surface.net_access.level is Level.NONE:
        return surface
    if NONE in named:
        return replace(surface, net_access=host_access(Level.NONE))
    given = surface.net_access if ANY in named else host_access(list(named))
    is_open = surface.net_access.level is Level.ANY
    return replace(surface, net_access=given if is_open else surface.net_access & given)


def _any_host(code: CodeInSet) -> AnyHost:
    """`trusted` opens this machine and its neighbours, too; every other set public hosts."""
    is_trusted = code.permission_set is PermissionSet.TRUSTED
    return AnyHost.EVERY if is_trusted else AnyHost.PUBLIC


def _variables(code: CodeInSet, around: Surroundings) -> Mapping[str, str]:
    """What the set opens of the environment with the values it has here; ours go before them."""
    if definition(code.permission_set).surface.env_read.level is not Level.ANY:
        return {}
    return {
        name: value
        for name, value in around.environ.items()
        if _VARIABLE.fullmatch(name)
        and not name.upper().startswith(_NEVER_HANDED_ON)
        and "\0" not in value
    }
