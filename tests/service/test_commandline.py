"""What a command line comes to: what it names is open, everything else is not."""

import os
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.service.binding import BoundWish
from consentry.service.commandline import RunWish, bind_wish
from consentry.service.programbinding import FIXED_ENVIRONMENT
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.permission_sets import PermissionSet
from tests.service.conftest import MakeAround

PATH = {"PATH": "/usr/bin:/bin"}


def _bound(around: MakeAround, project: Path, *words: str, **wish: object) -> BoundWish:
    return bind_wish(RunWish(words or ("true",), **wish), project, around(environ=PATH))  # type: ignore[arg-type]


def _code_of(around: MakeAround, project: Path, *words: str, **wish: object) -> Code:
    with pytest.raises(ConsentryError) as raised:
        _bound(around, project, *words, **wish)
    return raised.value.code


def test_default_reads_the_workspace_and_writes_its_own_tmp(
    around: MakeAround, project: Path
) -> None:
    """No network, no variable, one program."""
    surface = _bound(around, project).confinement.surface
    assert surface == Surface.of(read=["./"], write=["/tmp/"], run=["/usr/bin/true"])


def test_set_replaces_the_default(around: MakeAround, project: Path) -> None:
    """`minimal` reads nothing; what is named comes on top."""
    bound = _bound(around, project, permission_set=PermissionSet.MINIMAL)
    assert not bound.confinement.surface.fs_read_roots
    assert bound.profile == "set:minimal"


def test_trusted_is_never_given(around: MakeAround, project: Path) -> None:
    """A line gives what it names, and that set names everything."""
    code = _code_of(around, project, permission_set=PermissionSet.TRUSTED)
    assert code is Code.NOT_ENFORCEABLE


def test_named_paths_are_bound_to_the_workspace(around: MakeAround, project: Path) -> None:
    """A folder means all below it, a file itself; what is written can be read as well."""
    (project / "folder").mkdir()
    (project / "a*b").touch()
    surface = _bound(around, project, read=("folder",), write=("a*b", "fresh")).confinement.surface
    assert surface.fs_write_roots == Surface.of(write=[r"a\*b", "fresh/", "/tmp/"]).fs_write_roots
    assert Surface.of(read=["folder/", r"a\*b", "fresh/"]).fs_read_roots <= surface.fs_read_roots


def test_written_places_are_kept_one_by_one(around: MakeAround, project: Path) -> None:
    """A wider grant does not swallow the name of a narrower one."""
    bound = _bound(around, project, write=(".", "inner"))
    assert [each.text for each in bound.written] == ["./", "inner/"]


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"read": ("nowhere",)}, Code.FILE_UNUSABLE),
        ({"read": ("link",)}, Code.FILE_UNUSABLE),
        ({"write": ("link/",)}, Code.FILE_UNUSABLE),
        ({"read": ("a\0b",)}, Code.FILE_UNUSABLE),
        ({"read": ("\udcff",)}, Code.FILE_UNUSABLE),
        ({"read": ("/tmp/somewhere-else",)}, Code.FILE_UNUSABLE),
        ({"write": ("no/where/deep",)}, Code.FILE_UNUSABLE),
        ({"environment": ("A=1",)}, Code.USAGE),
        ({"environment": ("",)}, Code.USAGE),
        ({"execute": ("nowhere",)}, Code.PROGRAM_UNKNOWN),
    ],
)
def test_bad_wishes_are_refused(
    around: MakeAround, project: Path, wish: dict[str, tuple[str, ...]], code: Code
) -> None:
    """With a code, before anything is made."""
    (project / "target").mkdir()
    (project / "link").symlink_to("target")
    assert _code_of(around, project, **wish) is code


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("nowhere",), Code.PROGRAM_UNKNOWN),
        (("./nowhere",), Code.PROGRAM_UNKNOWN),
        (("",), Code.PROGRAM_UNKNOWN),
        (("true", "a\0b"), Code.USAGE),
        (("true", "\udcff"), Code.USAGE),
        (("./plain",), Code.PROGRAM_UNSTARTABLE),
        (("./folder",), Code.PROGRAM_UNSTARTABLE),
    ],
)
def test_bad_commands_are_refused(
    around: MakeAround, project: Path, words: tuple[str, ...], code: Code
) -> None:
    """Missing, not executable, or not to be recorded."""
    (project / "plain").touch()
    (project / "folder").mkdir()
    assert _code_of(around, project, *words) is code


def test_protected_workspace_is_refused(around: MakeAround, home: Path) -> None:
    """Also when it is where the line was typed."""
    keys = home / ".ssh"
    keys.mkdir()
    assert _code_of(around, keys) is Code.PROTECTED_ROOT


def test_environment_has_our_values(around: MakeAround, project: Path) -> None:
    """Names that are asked for bring their value along, but for those that are ours."""
    here = around(environ={**PATH, "TERM": "xterm", "MINE": "1", "OTHER": "2"})
    wish = RunWish(("true",), environment=("MINE", "PATH", "ABSENT"))
    environment = bind_wish(wish, project, here).confinement.environment
    assert environment == {**FIXED_ENVIRONMENT, "TERM": "xterm", "MINE": "1"}


def test_odd_terminal_name_is_not_passed(around: MakeAround, project: Path) -> None:
    """It is somebody's text, and programs look up files by it."""
    here = around(environ={**PATH, "TERM": "../../evil"})
    bound = bind_wish(RunWish(("true",)), project, here)
    assert bound.confinement.environment["TERM"] == "dumb"


def test_any_program_is_said_as_such(around: MakeAround, project: Path) -> None:
    """`any` opens the whole dimension."""
    surface = _bound(around, project, execute=("any",)).confinement.surface
    assert surface.proc_exec.level is Level.ANY


def test_script_is_copied_and_its_interpreter_may_start(around: MakeAround, project: Path) -> None:
    """The bytes of the script are the person's; the interpreter is the system's."""
    script = project / "tool"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    program = _bound(around, project, "./tool").confinement.program
    assert program.copies == (script,)
    assert Path(os.path.realpath("/bin/sh")) in program.startable


def test_script_of_an_interpreter_is_copied(around: MakeAround, project: Path) -> None:
    """`python3 job.py` runs the bytes of `job.py` that were read, whatever happens to the file."""
    (project / "job.py").touch()
    program = _bound(around, project, "python3", "-u", "job.py").confinement.program
    assert program.copies == (project / "job.py",)
    assert _bound(around, project, "python3", "-c", "job.py").confinement.program.copies == ()


def test_program_starts_in_the_workspace(around: MakeAround, project: Path, home: Path) -> None:
    """Where the line was typed, if that is inside; else at its top."""
    inner = project / "inner"
    inner.mkdir()
    inside = bind_wish(RunWish(("true",)), project, around(inner, environ=PATH))
    assert inside.confinement.program.folder == inner
    outside = bind_wish(RunWish(("true",)), project, around(home, environ=PATH))
    assert outside.confinement.program.folder == project
