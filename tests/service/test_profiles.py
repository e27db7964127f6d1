"""Profiles that a line names: found in the user's own configuration or in a file, and held."""

from dataclasses import replace
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Where
from consentry.base.units import Duration, Size
from consentry.declare.profile import DeclaredLimits as Said
from consentry.declare.profile import EngineName, Profile
from consentry.declare.tool import Requirements
from consentry.enforce.confinement import Limits
from consentry.service.commandline import RunWish, bind_wish
from consentry.service.enginechoice import EngineWish
from consentry.service.profiles import find_profile, with_limits_of
from consentry.service.toolsurface import tool_limits
from consentry.surface.modes import Denials
from tests.service.conftest import MakeAround

ONE = """
sandboxConfig:
  profiles:
    build:
      filesystem:
        readOnly: ["${WORKSPACE}/src"]
        readWrite: ["${WORKSPACE}/out"]
      resources: {maxCPU: 60, maxMemory: 512M, maxProcesses: 50, maxFileSize: 100M}
      timeout: 30s
"""
TWO = ONE + "    other: {}\n"


@pytest.fixture
def own(home: Path) -> Path:
    """The user's own sandbox configuration."""
    folder = home / ".config/consentry"
    folder.mkdir(parents=True)
    file = folder / "sandbox-config.yaml"
    file.write_text(TWO)
    return file


def test_name_is_looked_up_in_the_own_configuration(around: MakeAround, own: Path) -> None:
    """And nowhere else."""
    found = find_profile("build", around())
    assert (found.profile.name, found.file) == ("build", str(own))


def test_name_is_not_looked_up_in_the_workspace(around: MakeAround, project: Path) -> None:
    """A repository cannot widen what a name means by being cloned."""
    (project / ".consentry").mkdir()
    (project / ".consentry/sandbox-config.yaml").write_text(ONE)
    with pytest.raises(ConsentryError) as raised:
        find_profile("build", around())
    assert raised.value.code is Code.FILE_UNUSABLE


@pytest.mark.parametrize("named", ["{file}", "{file}:build"])
def test_file_is_named_by_its_path(around: MakeAround, tmp_path: Path, named: str) -> None:
    """Alone where it has one profile, or with the name behind a colon."""
    file = tmp_path / "box.yaml"
    file.write_text(ONE)
    assert find_profile(named.format(file=file), around()).profile.name == "build"


@pytest.mark.parametrize(
    ("content", "named", "said"),
    [
        (TWO, "", "2 profiles"),
        (TWO, ":bild", "no profile `bild`"),
        (ONE.replace("maxCPU", "maxCPUs"), "", "maxCPUs"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    around: MakeAround, tmp_path: Path, content: str, named: str, said: str
) -> None:
    """With what is wrong."""
    file = tmp_path / "box.yaml"
    file.write_text(content)
    with pytest.raises(ConsentryError) as raised:
        find_profile(f"{file}{named}", around())
    assert said in str(raised.value)


def test_what_the_document_says_of_engines_comes_along(around: MakeAround, tmp_path: Path) -> None:
    """Its engine, and the one to fall back on."""
    file = tmp_path / "box.yaml"
    both = "engine: docker\n  fallbackEngine: native\n  profiles:"
    file.write_text(ONE.replace("profiles:", both))
    found = find_profile(str(file), around())
    assert found.engines == EngineWish(EngineName.DOCKER, EngineName.NATIVE)
    wish = RunWish(("true",), profile=found)
    assert wish.engines == found.engines
    assert replace(wish, engine=EngineName.NATIVE).engines == EngineWish(EngineName.NATIVE)


def test_places_of_a_profile_must_be_there(
    around: MakeAround, tmp_path: Path, project: Path
) -> None:
    """With file and line; a folder to be written in the workspace may be made."""
    file = tmp_path / "box.yaml"
    file.write_text(ONE)
    here = around(environ={"PATH": "/usr/bin"})
    wish = RunWish(("true",), profile=find_profile(str(file), here))
    with pytest.raises(ConsentryError) as raised:
        bind_wish(wish, project, here)
    assert raised.value.where is not None
    assert (raised.value.where.file, raised.value.where.line) == (str(file), 6)
    (project / "real").mkdir()
    (project / "src").symlink_to("real")
    with pytest.raises(ConsentryError, match="is a link to"):
        bind_wish(wish, project, here)
    (project / "src").unlink()
    (project / "src").mkdir()
    bound = bind_wish(wish, project, here)
    assert bound.profile == "profile:build"
    assert [each.text for each in bound.written] == ["out/"]
    assert bound.confinement.limits.memory_bytes == 512 << 20


ATTESTED = "sandboxConfig: {profiles: {seen: {view: visible, denials: attested}, plain: {}}}"


@pytest.mark.parametrize(
    ("name", "typed", "denials"),
    [
        ("seen", Denials.OBSERVED, Denials.ATTESTED),
        ("plain", Denials.OBSERVED, Denials.OBSERVED),
        ("plain", Denials.ATTESTED, Denials.ATTESTED),
    ],
)
def test_denials_are_attested_where_the_line_or_the_profile_says_so(
    around: MakeAround, own: Path, project: Path, *, name: str, typed: Denials, denials: Denials
) -> None:
    """Neither takes it back from the other."""
    own.write_text(ATTESTED)
    here = around(environ={"PATH": "/usr/bin"})
    wish = RunWish(("true",), profile=find_profile(name, here), denials=typed)
    assert bind_wish(wish, project, here).confinement.denials is denials


def test_a_named_file_does_not_turn_on_the_hosts_audit(around: MakeAround, own: Path) -> None:
    """Not even the own document, when it is named as a file: a file may be anybody's."""
    own.write_text(ATTESTED)
    with pytest.raises(ConsentryError, match="only in your own configuration") as raised:
        find_profile(f"{own}:seen", around())
    assert raised.value.code is Code.NOT_ENFORCEABLE
    assert raised.value.where is not None
    assert raised.value.where.file == str(own)
    assert find_profile(f"{own}:plain", around()).profile.denials is Denials.OBSERVED


def test_line_decides_over_the_profile() -> None:
    """Limits that are typed hold instead of those of the document."""
    said = Said(cpu=Duration(1500), memory=Size(1 << 20), processes=5, timeout=Duration(2500))
    profile = Profile("one", Where(), limits=said)
    assert with_limits_of(profile, Limits()) == Limits(
        cpu_seconds=2, memory_bytes=1 << 20, processes=5, wall_seconds=2.5
    )
    typed = Limits(cpu_seconds=9, memory_bytes=8, processes=7, wall_seconds=0.5, output_bytes=6)
    assert with_limits_of(profile, typed) == typed


@pytest.mark.parametrize(
    ("milliseconds", "seconds"), [(1, 1), (40, 1), (999, 1), (1000, 1), (1001, 2), (60_000, 60)]
)
def test_a_part_of_a_second_of_cpu_time_counts_as_one(milliseconds: int, seconds: int) -> None:
    """CONTRACTS §12-cpu: whole seconds are all that is held, so `maxCPU` and `limitCPU` round up."""
    said = Duration(milliseconds)
    profile = Profile("one", Where(), limits=Said(cpu=said))
    assert with_limits_of(profile, Limits()).cpu_seconds == seconds
    assert tool_limits(Requirements(cpu=said), None).cpu_seconds == seconds


def test_a_link_on_the_way_to_an_entry_is_not_followed(
    around: MakeAround, project: Path, tmp_path: Path
) -> None:
    """A cloned workspace with a link in it cannot lead a profile of the person's out of it."""
    file = tmp_path / "box.yaml"
    file.write_text(ONE.replace("src", "src/deep"))
    here = around(environ={"PATH": "/usr/bin"})
    wish = RunWish(("true",), profile=find_profile(str(file), here))
    (tmp_path / "outside/deep").mkdir(parents=True)
    (project / "src").symlink_to(tmp_path / "outside")
    with pytest.raises(ConsentryError, match="leads through a link to"):
        bind_wish(wish, project, here)
    (project / "src").unlink()
    (project / "src/deep").mkdir(parents=True)
    assert bind_wish(wish, project, here).profile == "profile:build"
