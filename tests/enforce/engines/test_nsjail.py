"""What nsjail is told: its program is in no package of the tests, so the plan is what is tested."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engine import Control, NotEnforceable
from consentry.enforce.engines.boxplan import box_items
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.nsjail import Nsjail
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Writes
from consentry.surface.pattern import Pattern
from consentry.surface.protected import protected_roots
from tests.elsewhere import folder_elsewhere


@pytest.fixture
def workspace() -> Iterator[Path]:
    """Not below a folder that is a run's own."""
    with folder_elsewhere() as place:
        for name in ("out", "secret"):
            (place / name).mkdir()
        yield place


def _engine() -> Nsjail:
    return Nsjail(EngineGround(None, protected_roots(), "/nowhere"))


def _wanted(workspace: Path, *words: str, copies: tuple[Path, ...] = ()) -> Confinement:
    return Confinement(
        Surface.of(read=["./"], write=["./out/", "/tmp/"], run=Level.ANY),
        workspace,
        Program(Path("/usr/bin/echo"), ("echo", *words), workspace, copies=copies),
        {"PATH": "/usr/bin", "NAME": 'a "b" \\ \n'},
        denied=(Pattern.parse("./secret/"),),
        writes=Writes.DIRECT,
    )


def test_the_configuration_describes_the_same_box(workspace: Path) -> None:
    """Grants, what is hidden, the run's own folders, small files, the words and the environment."""
    engine = _engine()
    plan = engine._compiled(_wanted(workspace, "it's", "\x1b[0m", "ä"), None)
    lines = list(engine.configuration(plan, tuple(box_items(plan.plan))))
    text = "\n".join(lines)
    assert f'mount {{ src: "{workspace}" dst: "{workspace}" is_bind: true rw: false' in text
    assert f'dst: "{workspace}/out" is_bind: true rw: true' in text
    assert f'dst: "{workspace}/secret" fstype: "tmpfs"' in text
    assert 'dst: "/tmp" fstype: "tmpfs"' in text
    assert 'dst: "/etc/passwd"' in text
    assert 'envar: "NAME=a \\042b\\042 \\134 \\012"' in lines
    assert 'arg: "it\\047s" arg: "\\033\\1330m" arg: "\\303\\244"' in text
    assert "USE box DEFAULT ALLOW" in text
    assert all(line.isascii() and line.isprintable() for line in lines)


def test_it_refuses_what_it_cannot_place(workspace: Path) -> None:
    """A program whose bytes would be looked up again."""
    tool = workspace / "tool"
    tool.write_text("#!/bin/sh\n")
    with pytest.raises(NotEnforceable) as refused:
        _engine()._compiled(_wanted(workspace, copies=(tool,)), None)
    assert [each.control for each in refused.value.lacking] == [Control.PROGRAMS]


def test_it_is_missing_where_there_is_none() -> None:
    """And says so without starting anything."""
    assert _engine().missing() == "there is no `nsjail` on PATH"
