"""Which folders can be written at once: those in which all that is denied or obeyed can be held."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Control, NotEnforceable
from consentry.enforce.native import directplan
from consentry.enforce.native.planner import Plan, compile_plan
from consentry.surface.lattice import Surface
from consentry.surface.modes import Writes
from consentry.surface.pattern import Pattern
from tests.enforce.boxes import ENVIRONMENT, program_of, this_host


@pytest.fixture
def place() -> Iterator[Path]:
    """A workspace where a run has no folder of its own, with a folder to write."""
    with TemporaryDirectory(dir="/var/tmp") as name:
        (Path(name) / "out").mkdir()
        yield Path(name)


def _plan(place: Path, write: str = "./out/", denied: tuple[str, ...] = ()) -> Plan:
    wanted = Confinement(
        Surface.of(read=["./"], write=[write]),
        place,
        program_of(["true"], place),
        ENVIRONMENT,
        denied=tuple(map(Pattern.parse, denied)),
        writes=Writes.DIRECT,
    )
    return compile_plan(wanted, this_host())


def _refused(place: Path, write: str = "./out/", denied: tuple[str, ...] = ()) -> list[str]:
    with pytest.raises(NotEnforceable) as refused:
        _plan(place, write, denied)
    return [f"{each.control}: {each.why}" for each in refused.value.lacking]


def test_a_whole_folder_is_bound_and_has_no_layer(place: Path) -> None:
    """What is read around it is shown as it always is, below it."""
    plan = _plan(place)
    shown = [step[:2] for step in plan.steps if str(step[1:2]).find(str(place)) >= 0]
    assert shown.index(("view", str(place))) < shown.index(("bind", str(place / "out")))
    assert plan.layered == ()
    assert plan.may_write(str(place / "out/new"))
    assert not plan.may_write(str(place / "new"))


@pytest.mark.parametrize("write", ["./out/*.txt", "./new/", "./out/one"])
def test_only_whole_folders_that_exist(place: Path, write: str) -> None:
    """A pattern, a folder that is to be made and a single file need a layer."""
    (place / "out/one").touch()
    [said] = _refused(place, write)
    assert said.startswith("writes: `")
    assert "is not a folder that exists" in said


@pytest.mark.parametrize(
    ("denied", "named"),
    [
        ("./out/.git/hooks/", "out/.git/hooks"),
        ("./out/secret", "out/secret"),
        ("./out/*.key", "out/*.key"),
        ("./**/secret", "**/secret"),
    ],
)
def test_a_denied_name_that_could_be_made_is_refused(place: Path, denied: str, named: str) -> None:
    """With the path or pattern; there is nothing yet that a mount could cover."""
    [said] = _refused(place, denied=(denied,))
    assert said.startswith("deny-inside: `")
    assert named in said


def test_denied_names_that_exist_or_lie_elsewhere_are_none_of_it(place: Path) -> None:
    """They are covered, or out of reach anyway."""
    (place / "out/secret").mkdir()
    plan = _plan(place, denied=("./out/secret/", "./other/secret", "/home/*/.ssh/", "./*.key"))
    assert plan.hidden == (str(place / "out/secret"),)


def test_a_denied_name_that_is_a_link_cannot_be_covered(place: Path) -> None:
    """Nothing can be mounted over a link, and somebody could put another thing in its place."""
    (place / "out/secret").symlink_to("elsewhere")
    assert "out/secret" in _refused(place, denied=("./out/secret",))[0]


def test_names_that_other_programs_obey_are_bound_read_only(place: Path) -> None:
    """At any depth, in any spelling, and beside a `HEAD`."""
    names = (".git/hooks", ".git/config", "deep/er/.ENVRC", ".vscode", "bare/config")
    for name in (*names, "bare/HEAD", "plain/config", ".git/HEAD"):
        path = place / "out" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if name in (".git/hooks", ".vscode") else path.touch()
    direct = _plan(place).direct
    assert direct is not None
    assert set(direct.kept) == {str(place / "out" / name) for name in names}


def test_an_obeyed_name_that_is_a_link_is_refused(place: Path) -> None:
    """It cannot be covered, and would be removed like any other link."""
    (place / "out/.bashrc").symlink_to("rc")
    [said] = _refused(place)
    assert "out/.bashrc" in said


def test_sockets_and_pipes_are_covered(place: Path) -> None:
    """Whoever is at the other end is not in the box."""
    os.mkfifo(place / "out/pipe")
    direct = _plan(place).direct
    assert direct is not None
    assert direct.doors == (str(place / "out/pipe"),)


def test_a_tree_too_large_to_look_through_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was not looked at could be anything."""
    monkeypatch.setattr(directplan, "MOST_SEEN", 2)
    for name in "abc":
        (place / "out" / name).touch()
    assert "too many" in _refused(place)[0]


def test_below_the_run_s_own_folders_nothing_is_written_at_once() -> None:
    """There, the right to write `/tmp` would let the program make any name."""
    with TemporaryDirectory(dir="/tmp") as name:
        (Path(name) / "out").mkdir()
        assert "the run's own" in _refused(Path(name))[0]


@pytest.mark.skipif(os.getuid() == 0, reason="root looks into every folder")
def test_a_folder_that_is_closed_to_its_owner_is_refused(place: Path) -> None:
    """The program could open it again, and nobody has seen what is in it."""
    (place / "out/closed/.git").mkdir(parents=True)
    (place / "out/closed").chmod(0)
    try:
        assert "cannot be looked through" in _refused(place)[0]
    finally:
        (place / "out/closed").chmod(0o700)


@pytest.mark.skipif(os.getuid() != 0, reason="only root reaches a folder of somebody else's")
def test_root_writes_nobody_else_s_folder(place: Path) -> None:
    """Its files would be root's, in a folder that is not."""
    os.chown(place / "out", 65534, 65534)
    assert "belongs to another user" in _refused(place)[0]


def test_a_plan_for_writes_at_once_is_made_anew_each_time(place: Path) -> None:
    """What other programs obey has to be looked for again."""
    before = _plan(place).direct
    (place / "out/.envrc").touch()
    after = _plan(place).direct
    assert before is not None
    assert after is not None
    assert replace(before, kept=(str(place / "out/.envrc"),)) == after


def test_control_of_what_cannot_be_denied_is_named(place: Path) -> None:
    """So that `engines` and the refusal speak of the same thing."""
    with pytest.raises(NotEnforceable) as refused:
        _plan(place, denied=("./out/later",))
    assert [each.control for each in refused.value.lacking] == [Control.DENY_INSIDE]
    assert refused.value.help_line is not None
