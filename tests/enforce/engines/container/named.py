"""Containers of named images for the tests: a real daemon of the tests' own, and real images in it.

A test that takes a control away changes the container before it is made, by `change`.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from consentry.enforce.confinement import Confinement, Limits, Program
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.container import namedengine
from consentry.enforce.engines.container.namedengine import NamedImageEngine
from consentry.enforce.engines.container.namedplan import compile_named
from consentry.enforce.engines.container.words import Container
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.native.streamends import Io
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Writes
from consentry.surface.pattern import Pattern
from consentry.surface.protected import protected_roots
from tests.enforce.boxes import ENVIRONMENT
from tests.enforce.engines.container.images import PATH, made_image
from tests.enforce.engines.container.runs import kept_by_docker

WITH_PYTHON, WITH_SHELL, WITH_NOTHING = "tool:1", "small:1", "bare:1"


@contextmanager
def images_of_host() -> Iterator[dict[str, str]]:
    """The variables that lead to a daemon with three images made of this host's files."""
    with ExitStack() as ends:
        kept = ends.enter_context(kept_by_docker())
        changes = ["ENV LEAKED=by-the-image", "ENV PATH=/usr/bin:/bin", "VOLUME /kept"]
        changes += ['CMD ["leaked"]', 'ENTRYPOINT ["/usr/bin/env"]', "USER 0", "WORKDIR /usr"]
        made_image(WITH_PYTHON, kept, python=True, changes=changes)
        made_image(WITH_SHELL, kept, python=False)
        made_image(WITH_NOTHING, kept, python=False, tools=())
        yield kept


@dataclass(slots=True)
class NamedRuns:
    """Runs programs in containers of an image, without permits and records."""

    variables: Mapping[str, str]
    monkeypatch: pytest.MonkeyPatch

    def engine(self, image: str = WITH_PYTHON, state: Path | None = None) -> NamedImageEngine:
        """The engine; whoever asks closes it."""
        environ = dict(self.variables)
        ground = EngineGround(None, protected_roots(), PATH, state, environ=environ)
        return NamedImageEngine(ground, image)

    def run(
        self,
        argv: Sequence[str],
        workspace: Path,
        *,
        image: str = WITH_PYTHON,
        surface: Surface | None = None,
        denied: Sequence[str] = (),
        writes: Writes = Writes.LAYER,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        env: Mapping[str, str] = ENVIRONMENT,
        change: Callable[[Container], Container] = lambda same: same,
        words: Callable[[tuple[str, ...]], tuple[str, ...]] = lambda same: same,
    ) -> Outcome:
        """Runs it as the product does; `change` and `words` take controls away."""
        engine = self.engine(image)
        made, told = namedengine.container_of, namedengine.run_words
        try:
            program = Program(
                Path(engine.find(argv[0])), tuple(argv), workspace, image=engine.program_image
            )
            wanted = Confinement(
                surface=(surface or Surface.of(read=["./"], write=["/tmp/"]))
                | Surface.of(run=Level.ANY),
                workspace=workspace,
                program=program,
                environment=env,
                denied=tuple(map(Pattern.parse, denied)),
                writes=writes,
                limits=limits,
            )

            def changed(*given: Any, **how: Any) -> Container:
                return change(made(*given, **how))

            with self.monkeypatch.context() as patched:
                patched.setattr(namedengine, "container_of", changed)
                patched.setattr(namedengine, "run_words", lambda *given: words(told(*given)))
                plan = compile_named(wanted, engine.image, engine._about(), None)
                return engine._run(plan, Io(keeps=True), lambda: None)
        finally:
            engine.close()


def is_root() -> bool:
    """Whether the tests may start a daemon."""
    return os.geteuid() == 0
