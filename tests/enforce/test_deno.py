"""The engine itself: what it claims, what it compiles, and where it finds its program."""

import os
from pathlib import Path
from typing import Any, cast

import pytest

from consentry.base.errors import Refused
from consentry.enforce import denoprogram
from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.denoflags import ALWAYS, STRANGERS
from consentry.enforce.engine import Control
from consentry.enforce.engines.deno import DenoEngine
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.interface import Compiled
from consentry.enforce.engines.native import NativeEngine
from consentry.enforce.engines.registry import FROM_CHEAPEST, made_engine
from consentry.enforce.native.streamends import Io
from consentry.enforce.programs import BUILT, DENO
from consentry.surface.lattice import Surface
from consentry.surface.protected import protected_roots
from tests.denos import deno_or_skip


def confinement(workspace: Path, *words: str) -> Confinement:
    """A box in which these words are started."""
    program = Program(Path(words[0]), words, workspace)
    return Confinement(Surface.of(read=["./"]), workspace, program, {"DENO_DIR": "/dev/shm/deno"})


def test_it_is_built_and_never_taken_by_itself() -> None:
    """It runs scripts alone, so `auto` passes it over."""
    assert DENO in BUILT
    assert DENO not in FROM_CHEAPEST
    engine = made_engine(DENO, EngineGround(None, protected_roots()))
    assert engine.name == DENO
    engine.close()


def test_it_holds_what_the_box_holds_and_says_what_deno_adds() -> None:
    """One entry for each control, with the truth of the box."""
    deno_or_skip()
    native, engine = (
        NativeEngine(None, protected_roots()),
        DenoEngine(None, protected_roots(), path=os.environ["PATH"]),
    )
    try:
        held, expected = engine.probe().held, native.probe().held
        assert engine.probe().engine == DENO
    finally:
        native.close()
        engine.close()
    assert [(each.control, each.truth) for each in held] == [
        (each.control, each.truth) for each in expected
    ]
    by_deno = {each.control for each in held if "deno" in each.mechanism}
    assert by_deno >= {Control.READS, Control.WRITES, Control.NO_NETWORK, Control.PROGRAMS}


def test_it_compiles_only_what_was_made_for_it(tmp_path: Path) -> None:
    """Words that would start Deno with more, or another program, are refused."""
    engine = DenoEngine(None, protected_roots())
    for words in (("/usr/bin/true",), ("/usr/bin/true", "run", "--allow-all", "x.ts")):
        with pytest.raises(Refused, match="runs a script"):
            engine.compile(confinement(tmp_path, *words))
    words = ("/usr/bin/true", "run", *ALWAYS, *STRANGERS, "x.ts")
    compiled = engine.compile(confinement(tmp_path, *words))
    assert engine.is_current(compiled) == engine.is_current(compiled)
    assert not engine.is_current(cast(Compiled, compiled.box))


def test_what_another_engine_compiled_is_not_launched(tmp_path: Path) -> None:
    """Nor the other way round."""
    words = ("/usr/bin/true", "run", *ALWAYS, *STRANGERS, "x.ts")
    engine, native = DenoEngine(None, protected_roots()), NativeEngine(None, protected_roots())
    wanted = confinement(tmp_path, *words)
    never: Any = pytest.fail
    with pytest.raises(TypeError):
        engine.launch(native.compile(wanted), never, (), Io())
    with pytest.raises(TypeError):
        native.launch(engine.compile(wanted), never, (), Io())


def test_without_a_program_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """And claims to hold nothing."""
    monkeypatch.setattr(denoprogram, "deno_of_wheel", lambda: None)
    engine = DenoEngine(None, protected_roots(), path="/nowhere:relative")
    assert engine.missing() == denoprogram.NOT_HERE
    assert not engine.probe().is_usable


def test_path_comes_before_the_wheel(tmp_path: Path) -> None:
    """Whoever put one on PATH means it; folders that are not absolute do not count."""
    mine = tmp_path / "deno"
    mine.write_text("#!/bin/sh\n")
    mine.chmod(0o755)
    assert denoprogram.find_deno(f"relative:{tmp_path}") == mine
    mine.chmod(0o644)
    assert denoprogram.find_deno(str(tmp_path)) == denoprogram.deno_of_wheel()
