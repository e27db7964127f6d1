"""Binds a command line to a confinement whose program lies in an image.

As for every line, but that the program is not looked for on this host: nothing of it is hashed or
copied here, and it cannot be a file of the workspace, which anybody could change before it starts.
"""

from collections.abc import Callable
from pathlib import Path

from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engines.container.namedengine import NamedImageEngine
from consentry.enforce.programfiles import Started
from consentry.service.binding import (
    BoundWish,
    as_profile_says,
    folder_in,
    granted_pattern,
    protected_in,
    with_secrets,
)
from consentry.service.commandline import RunWish, require_givable, surface_of
from consentry.service.programbinding import environment_of
from consentry.service.surroundings import Surroundings
from consentry.surface.modes import LayerPlace, View
from consentry.surface.pattern import Pattern
from consentry.surface.protected import ProtectedRoots

MakeEngine = Callable[[ProtectedRoots], NamedImageEngine]


def bind_in_image(
    wish: RunWish, workspace: Path, around: Surroundings, made: MakeEngine
) -> tuple[BoundWish, NamedImageEngine]:
    """The confinement, and the engine that found the program; raises before anything is recorded."""
    require_givable(wish)
    cwd = around.cwd or workspace
    protected = protected_in((*wish.read, *wish.write), workspace, cwd, around)
    written = [granted_pattern(each, workspace, cwd, may_be_new=True) for each in wish.write]
    engine = made(protected)
    path = Path(engine.find(wish.words[0]))
    environment = environment_of(wish.environment, around) | {"PATH": engine.image.path}
    confinement = Confinement(
        surface=surface_of(wish, workspace, cwd, path, written),
        workspace=workspace,
        program=Program(path, wish.words, folder_in(workspace, cwd), image=engine.program_image),
        environment=environment,
        limits=wish.limits,
        view=wish.view or View.PRIVATE,
        layer=wish.layer or LayerPlace.MEMORY,
        denials=wish.denials,
    )
    started = Started(path, (), ())
    spelled = tuple(map(Pattern.parse, written))
    bound = BoundWish(confinement, started, wish.profile_word, protected, spelled)
    bound = as_profile_says(bound, wish.profile, around, wish.view, wish.layer)
    return with_secrets(bound, wish, around), engine
