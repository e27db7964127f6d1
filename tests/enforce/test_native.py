"""What the native engine does not do yet it refuses, and says so, instead of doing something else."""

import os
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engine import Control, NotEnforceable
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.enforce.facts import HostView
from consentry.enforce.groupplaces import Holds, Place, Version
from consentry.enforce.limits import LimitMeans
from consentry.enforce.native import readgrants
from consentry.enforce.native.seccompfilter import FilterWish, compile_filter
from consentry.enforce.patternfiles import Budget
from consentry.enforce.violations import Truth
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Denials, Reads, Rounding, View, Writes
from consentry.surface.protected import protected_roots
from tests.enforce.boxes import ENVIRONMENT, program_of


@pytest.fixture
def engine() -> Iterator[NativeEngine]:
    """The engine, of which nothing is started."""
    with closing(NativeEngine(None, protected_roots())) as engine:
        yield engine


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder where a run has none of its own."""
    with TemporaryDirectory(dir="/var/tmp") as place:
        yield Path(place)


@pytest.fixture
def plain(tmp_path: Path) -> Confinement:
    """A confinement that asks for nothing unusual."""
    program = Program(Path("/usr/bin/true"), ("true",), tmp_path)
    return Confinement(Surface.of(read=["./*.txt"]), tmp_path, program, environment={})


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {"reads": Reads.EXACT, "surface": Surface.of(run=Level.ANY)},
            "exact reads need a list of the programs that may start",
        ),
        (
            {"reads": Reads.EXACT, "writes": Writes.DIRECT},
            "exact reads need a layer for what is written",
        ),
    ],
)
def test_what_is_not_built_is_refused(
    engine: NativeEngine, plain: Confinement, asked: dict[str, Any], said: str
) -> None:
    """Without it the same confinement compiles."""
    with pytest.raises(NotEnforceable) as raised:
        engine.compile(replace(plain, **asked))
    assert raised.value.code is Code.NOT_ENFORCEABLE
    assert [each.why for each in raised.value.lacking] == [said]
    assert engine.compile(plain).wanted == plain


def test_patterns_that_are_held_as_they_are_compile_as_exact(
    engine: NativeEngine, plain: Confinement, tmp_path: Path
) -> None:
    """Whole folders, literal files, and patterns where nothing may be written."""
    (tmp_path / "out").mkdir()
    (tmp_path / "src").mkdir()
    surface = Surface.of(
        read=["./*.txt", "./docs/**/*.md", "./src/", "./one"], write=["./out/", "./src/one"]
    )
    wanted = replace(plain, surface=surface, rounding=Rounding.EXACT)
    assert engine.compile(wanted).plan.grants.rounded == ()


@pytest.mark.parametrize(
    ("read", "write", "said"),
    [
        (["./*.txt"], ["./one"], "`*.txt` is held by the folder it begins with"),
        (["./*.txt"], ["./new/"], "`*.txt` is held by the folder it begins with"),
        (["./docs/*.md"], ["./docs/"], None),
        (["./docs/*.md"], ["./docs/*.pdf"], "`docs/*.md` is held by the folder it begins with"),
        ([], ["./docs/*.pdf"], "`docs/*.pdf` is held by the folder it begins with"),
        (["./many/*"], [], "`many/*` is held by the folder it begins with"),
    ],
)
def test_a_pattern_that_must_be_rounded_up_is_refused_as_exact(
    engine: NativeEngine,
    plain: Confinement,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    read: list[str],
    write: list[str],
    said: str | None,
) -> None:
    """The refusal names the pattern and why; rounded, the same compiles and tells of it."""
    monkeypatch.setattr(readgrants, "Budget", lambda: Budget(matched=3))
    (tmp_path / "docs").mkdir()
    (tmp_path / "many").mkdir()
    for number in range(4):
        (tmp_path / "many" / str(number)).touch()
    surface = Surface.of(read=read, write=write)
    rounded = engine.compile(replace(plain, surface=surface)).plan.grants
    wanted = replace(plain, surface=surface, rounding=Rounding.EXACT)
    if said is None:
        assert engine.compile(wanted).plan.grants.rounded == ()
        return
    with pytest.raises(NotEnforceable) as raised:
        engine.compile(wanted)
    assert any(each.why.startswith(said) for each in raised.value.lacking)
    assert any(each.mechanism.startswith(said) for each in rounded.held)


def test_a_file_that_is_made_later_is_not_open(engine: NativeEngine, tmp_path: Path) -> None:
    """Files that match are found when the plan is made; a new one is refused and told of as new."""
    program = program_of(["cat", "old.txt", "new.txt"], tmp_path)
    wanted = Confinement(Surface.of(read=["./*.txt"]), tmp_path, program, ENVIRONMENT)
    (tmp_path / "old.txt").write_text("old")
    plan = engine.compile(wanted)
    (tmp_path / "new.txt").write_text("new")
    outcome = engine._held_run(plan, (), Io(keeps=True))
    assert outcome.stdout == b"old"
    assert outcome.reads == (str(tmp_path / "old.txt"),)
    [violation] = outcome.violations
    assert violation.resource == str(tmp_path / "new.txt")
    assert violation.rule == "made after `*.txt` was bound"
    assert engine._held_run(engine.compile(wanted), (), Io(keeps=True)).stdout == b"oldnew"


def test_below_the_run_s_own_folders_a_pattern_is_rounded_up(
    engine: NativeEngine, plain: Confinement
) -> None:
    """The rule that opens the run's own `/tmp` opens whatever is mounted below it."""
    with TemporaryDirectory(dir="/tmp") as place:
        wanted = replace(plain, workspace=Path(place), rounding=Rounding.EXACT)
        with pytest.raises(NotEnforceable) as refused:
            engine.compile(wanted)
    assert "below a folder that is the run's own" in refused.value.message


@pytest.mark.parametrize("holder", list(Holds))
def test_files_in_memory_are_refused_where_nobody_counts_them(
    engine: NativeEngine, plain: Confinement, holder: Holds
) -> None:
    """Only a control group sees one that is not mapped; whoever may start anything has them there."""
    surface = plain.surface | Surface.of(run=Level.ANY)
    place = Place(Path("/nowhere"), Version.V2, frozenset({holder}))
    engine._means = replace(
        LimitMeans.of(HostView(uid=os.getuid())), places=(place,), can_watch=True
    )
    plan = engine.compile(replace(plain, surface=surface)).plan
    wish = FilterWish(memory_files=holder is Holds.MEMORY)
    assert plan.filter == compile_filter(os.uname().machine, wish)


def test_patterns_hold_where_reads_are_exact(engine: NativeEngine, tmp_path: Path) -> None:
    """Whoever opens files for the program has the same rules, and no more."""
    (tmp_path / "in.txt").write_text("in")
    (tmp_path / "out.key").write_text("out")
    program = program_of(["cat", "in.txt", "out.key"], tmp_path)
    wanted = Confinement(
        Surface.of(read=["./*.txt"]),
        tmp_path,
        program,
        ENVIRONMENT,
        reads=Reads.EXACT,
        rounding=Rounding.EXACT,
    )
    outcome = engine._held_run(engine.compile(wanted), (), Io(keeps=True))
    assert outcome.stdout == b"in"
    assert (outcome.reads, outcome.reads_truth) == ((str(tmp_path / "in.txt"),), Truth.MEDIATED)
    assert [(each.resource, each.rule) for each in outcome.violations] == [
        (str(tmp_path / "out.key"), "outside `*.txt`")
    ]


def test_whoever_makes_names_goes_with_the_run(engine: NativeEngine, tmp_path: Path) -> None:
    """The launcher has no child left when a run that wrote at once is over."""
    (tmp_path / "out").mkdir()
    program = program_of(["touch", "out/new"], tmp_path)
    surface = Surface.of(write=["./out/"])
    wanted = Confinement(surface, tmp_path, program, ENVIRONMENT, writes=Writes.DIRECT)
    outcome = engine._held_run(engine.compile(wanted), (), Io(keeps=True))
    assert outcome.exit_code == 0, outcome.stderr
    assert (tmp_path / "out/new").exists()
    assert engine._parent is not None
    launcher = engine._parent._process.pid
    deadline = time.monotonic() + 30
    children = Path(f"/proc/{launcher}/task/{launcher}/children")
    while children.read_text() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert children.read_text() == ""


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"view": View.PRIVATE}, "what the private view hides"),
        ({"reads": Reads.EXACT}, "another process than the run's own"),
        ({"writes": Writes.DIRECT}, "another process than the run's own"),
    ],
)
def test_denials_are_attested_only_where_all_of_them_can_be(
    engine: NativeEngine, plain: Confinement, asked: dict[str, Any], said: str
) -> None:
    """Whatever the host allows: what would be refused to somebody else, or by nobody, is no part."""
    wanted = replace(plain, view=View.VISIBLE, denials=Denials.ATTESTED)
    with pytest.raises(NotEnforceable) as raised:
        engine.compile(replace(wanted, **asked))
    assert any(
        each.control is Control.DENIALS and said in each.why for each in raised.value.lacking
    )
