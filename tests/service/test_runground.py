"""A call that is remembered is bound as if it were bound anew, whatever changed in between."""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from consentry.base.errors import ConsentryError
from consentry.service.callresults import RunResult
from consentry.service.library import Library
from consentry.service.surroundings import Surroundings
from tests.service.conftest import MakeAround


@dataclass(frozen=True, slots=True)
class Setting:
    """A project below a folder of projects, a home, and two folders of programs."""

    project: Path
    home: Path
    early: Path
    late: Path
    around: Surroundings


@pytest.fixture
def setting(around: MakeAround, project: Path, home: Path, tmp_path: Path) -> Setting:
    """`tool` is a script in the later folder of PATH; `data` may be read."""
    early, late = tmp_path / "programs/early", tmp_path / "programs/late"
    for folder in (early, late):
        folder.mkdir(parents=True)
    _script(late / "tool", "#!/bin/sh\npwd; read -r line < data; echo $line; echo first\n")
    (project / "data").write_text("data\n")
    (tmp_path / "other").mkdir()
    environ = {"PATH": f"{early}:{late}:/usr/bin:/bin"}
    return Setting(project, home, early, late, around(environ=environ))


def _script(path: Path, content: str) -> None:
    path.write_text(content)
    path.chmod(0o755)


def marker_above(here: Setting) -> None:
    """The workspace becomes the folder above."""
    (here.project.parent / ".consentry").mkdir()


def git_above(here: Setting) -> None:
    """The same by git."""
    (here.project.parent / ".git").mkdir()


def earlier_program(here: Setting) -> None:
    """Another program of the name is found first."""
    _script(here.early / "tool", "#!/bin/sh\necho second\n")


def rewritten_program(here: Setting) -> None:
    """The same file has other bytes."""
    _script(here.late / "tool", "#!/bin/sh\necho third\n")


def other_interpreter(here: Setting) -> None:
    """The same file is for another interpreter."""
    _script(here.late / "tool", "#!/usr/bin/env bash\necho ${BASH_VERSION%%.*}\n")


def program_by_link(here: Setting) -> None:
    """The name leads to another file."""
    _script(here.early / "elsewhere", "#!/bin/sh\necho fourth\n")
    (here.late / "tool").unlink()
    (here.late / "tool").symlink_to(here.early / "elsewhere")


def no_program(here: Setting) -> None:
    """There is none any more."""
    (here.late / "tool").unlink()


def another_project(here: Setting) -> None:
    """Another folder has the project's name."""
    here.project.rename(here.project.with_name("moved"))
    here.project.mkdir()
    (here.project / "data").write_text("other\n")


def open_state(here: Setting) -> None:
    """Others may write where the record is kept."""
    (here.home / ".local/state/consentry").chmod(0o777)


def nothing(here: Setting) -> None:
    """Nothing that matters: the content of the project."""
    (here.project / "data").write_text("new\n")


def state_in_the_way(here: Setting) -> None:
    """The configuration folder leads into the project: nothing of it is a workspace any more."""
    (here.home / ".config").symlink_to(here.project)


CHANGES = [
    marker_above,
    git_above,
    earlier_program,
    rewritten_program,
    other_interpreter,
    program_by_link,
    no_program,
    another_project,
    open_state,
    nothing,
    state_in_the_way,
]


def _told(do: Callable[[], RunResult]) -> tuple[object, ...]:
    """What a caller learns of a run, less what is new in each."""
    try:
        result = do()
    except ConsentryError as problem:
        return problem.code, problem.message
    record = result.record
    return result.status, result.stdout, record["tool"], record["sandbox"], result.violations


@pytest.fixture
def libraries() -> Iterator[tuple[Library, Library]]:
    """One that remembers, and one that is asked for the first time."""
    with closing(Library()) as seasoned, closing(Library()) as fresh:
        yield seasoned, fresh


@pytest.mark.parametrize("change", CHANGES)
def test_remembered_calls_are_bound_as_new_ones(
    setting: Setting, libraries: tuple[Library, Library], change: Callable[[Setting], None]
) -> None:
    """After four calls with one answer something changes; the fifth is what a first one would be."""
    seasoned, fresh = libraries
    calls = [_told(lambda: seasoned.exec(["tool"], setting.around)) for _ in range(4)]
    assert len(set(map(_without_usage, calls))) == 1
    assert calls[0][0] == "success"
    change(setting)
    remembered = _told(lambda: seasoned.exec(["tool"], setting.around))
    first = _told(lambda: fresh.exec(["tool"], setting.around))
    assert _without_usage(remembered) == _without_usage(first)


def _without_usage(told: tuple[object, ...]) -> str:
    if len(told) > 3 and isinstance(told[3], dict):
        sandbox = {name: value for name, value in told[3].items() if name != "resourceUsage"}
        told = (*told[:3], sandbox, *told[4:])
    return str(told)


def test_bytes_are_hashed_anew_for_every_run(
    setting: Setting, libraries: tuple[Library, Library]
) -> None:
    """Whatever is remembered: the record names the bytes that ran, times set back or not."""
    library, _ = libraries
    program = setting.late / "tool"
    for _ in range(3):
        library.exec(["tool"], setting.around)
    before = program.stat()
    program.write_text(program.read_text().replace("first", "FIRST"))
    os.utime(program, ns=(before.st_atime_ns, before.st_mtime_ns))
    result = library.exec(["tool"], setting.around)
    assert result.stdout.endswith(b"FIRST\n")
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    assert f"sha256:{digest}" in str(result.record["tool"])
