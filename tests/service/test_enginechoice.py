"""Which engine is taken (CONTRACTS §12): the one that is named, its fallback, the cheapest of all.

The engines here are stand-ins that hold or lack what a test says: what is under test is the choice,
and every real engine has its own tests.
"""

from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from consentry.base.errors import Refused
from consentry.declare.profile import EngineName
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Control, Lacking, NotEnforceable
from consentry.enforce.engines.interface import Compiled, Engine
from consentry.enforce.engines.registry import FROM_CHEAPEST
from consentry.service import enginechoice
from consentry.service.enginechoice import EngineDesk, EngineWish, choose_engine, require_native

WANTED = cast(Confinement, object())
A, B, C = EngineName.NATIVE, EngineName.BUBBLEWRAP, EngineName.DOCKER


@dataclass
class StandIn:
    """An engine that is missing, or lacks something, or takes all."""

    name: str
    absent: str | None = None
    lacks: tuple[Control, ...] = ()
    compiled: list[Confinement] = field(default_factory=list)

    def missing(self) -> str | None:
        """As the test says."""
        return self.absent

    def compile(self, wanted: Confinement) -> Compiled:
        """Refuses with what it lacks."""
        self.compiled.append(wanted)
        if self.lacks:
            raise NotEnforceable(self.name, [Lacking(each, "it cannot") for each in self.lacks])
        return cast(Compiled, self)

    def close(self) -> None:
        """Keeps nothing."""


@pytest.fixture(autouse=True)
def three_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three engines, whatever this version has."""
    monkeypatch.setattr(enginechoice, "FROM_CHEAPEST", (A, B, C))
    monkeypatch.setattr(enginechoice, "BUILT", (A, B, C))


def desk(**engines: dict[str, Any]) -> EngineDesk:
    """With stand-ins that are as said."""
    return EngineDesk(lambda name: cast(Engine, StandIn(name, **engines.get(name, {}))))


def chosen(wish: EngineWish, **engines: dict[str, Any]) -> str:
    """The name of the engine that is taken."""
    return choose_engine(wish, WANTED, desk(**engines)).engine.name


def test_auto_takes_the_cheapest() -> None:
    """The first that holds all."""
    assert chosen(EngineWish()) == A
    assert chosen(EngineWish(), native={"lacks": (Control.LAYER,)}) == B


def test_auto_passes_over_what_is_missing() -> None:
    """Without a word: nobody asked for it."""
    lacks = {"lacks": (Control.LAYER,)}
    assert chosen(EngineWish(), native=lacks, bubblewrap={"absent": "no `bwrap`"}) == C


def test_auto_takes_the_fallback_last() -> None:
    """Even if it is cheap."""
    assert chosen(EngineWish(fallback=A)) == B


def test_what_no_engine_holds_is_refused() -> None:
    """With what the first lacks, and what the others lack besides."""
    lacks = {"lacks": (Control.LAYER,)}
    with pytest.raises(NotEnforceable) as raised:
        chosen(EngineWish(), native=lacks, bubblewrap=lacks, docker={"lacks": (Control.CPU,)})
    assert "`native` cannot enforce layer" in raised.value.message
    assert "`docker` lacks cpu" in raised.value.help_line


def test_a_named_engine_that_is_here_has_no_fallback() -> None:
    """It refuses what it cannot hold, and nothing else is tried."""
    lacks = {"lacks": (Control.LAYER,)}
    with pytest.raises(NotEnforceable):
        chosen(EngineWish(B, fallback=A), bubblewrap=lacks)


def test_the_fallback_is_for_an_engine_that_is_missing() -> None:
    """And is held to the same rule."""
    absent = {"absent": "no `bwrap` on PATH"}
    assert chosen(EngineWish(B, fallback=C), bubblewrap=absent) == C
    with pytest.raises(NotEnforceable):
        chosen(EngineWish(B, fallback=C), bubblewrap=absent, docker={"lacks": (Control.CPU,)})


@pytest.mark.parametrize("fallback", [None, C])
def test_an_engine_that_is_missing_is_said_to_be(fallback: EngineName | None) -> None:
    """And why, of the fallback too."""
    absent = {"absent": "no `bwrap` on PATH"}
    with pytest.raises(Refused, match="no `bwrap` on PATH"):
        chosen(EngineWish(B, fallback), bubblewrap=absent, docker={"absent": "no `docker`"})


def test_one_that_is_not_built_is_missing() -> None:
    """So that its fallback is taken."""
    assert chosen(EngineWish(EngineName.NSJAIL, fallback=A)) == A
    with pytest.raises(Refused, match="not built"):
        chosen(EngineWish(EngineName.NSJAIL))


def test_an_engine_is_made_once() -> None:
    """Whoever asks twice gets the same."""
    both = desk()
    assert both.engine(A) is both.engine(A)


def test_snippets_have_one_engine() -> None:
    """A document that names another is refused, unless it falls back on ours."""
    require_native(EngineWish(), "snippets")
    require_native(EngineWish(C, fallback=A), "snippets")
    with pytest.raises(Refused, match="snippets run in the engine `native` alone"):
        require_native(EngineWish(C), "snippets")


def test_every_engine_of_the_registry_can_be_named() -> None:
    """In a document and on a line."""
    assert set(FROM_CHEAPEST) <= set(EngineName)
