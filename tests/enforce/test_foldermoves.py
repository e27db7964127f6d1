"""Renaming a folder that was there before: an overlay refuses it, and it is done by hand instead."""

import os
from pathlib import Path
from typing import Any

import pytest

from consentry.surface.lattice import Surface
from consentry.surface.modes import LayerPlace
from tests.enforce.boxes import PYTHON, BoxRun, run_in_box
from tests.enforce.treesight import sight_of

_RUN = """
import os, sys
sys.path.insert(0, sys.argv[2])
def tries(does, *words, **options):
    try:
        does(*words, **options)
    except OSError as problem:
        return os.strerror(problem.errno)
    return 'done'
exec(sys.argv[1])
"""


@pytest.fixture(params=list(LayerPlace), ids=str)
def kind(request: pytest.FixtureRequest) -> LayerPlace:
    """Where the layer lies."""
    found: LayerPlace = request.param
    return found


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A folder with everything in it that a folder can have."""
    made = tmp_path / "ws"
    (made / "folder" / "inner" / "deep").mkdir(parents=True)
    (made / "folder" / "file").write_text("1", encoding="utf-8")
    (made / "folder" / "inner" / "odd \n\udcff").write_text("2", encoding="utf-8")
    (made / "folder" / "inner" / "deep" / "script").write_text("3", encoding="utf-8")
    (made / "folder" / "inner" / "deep" / "script").chmod(0o751)
    (made / "folder" / "link").symlink_to("inner/nowhere")
    (made / "folder" / "inner").chmod(0o750)
    os.utime(made / "folder" / "inner" / "deep" / "script", ns=(1, 1_500_000_000_000_000_000))
    os.utime(made / "folder" / "inner", ns=(1, 1_400_000_000_000_000_000))
    os.setxattr(made / "folder" / "inner", "user.mark", b"kept")
    (made / "other").mkdir()
    (made / "full").mkdir()
    (made / "full" / "f").touch()
    return made


def _tried(
    workspace: Path, code: str, kind: LayerPlace = LayerPlace.MEMORY, **options: Any
) -> BoxRun:
    words = [PYTHON, "-I", "-S", "-c", _RUN, code, str(Path(__file__).parent)]
    state = workspace.parent / "state" if kind is LayerPlace.DISK else None
    run = run_in_box(words, workspace=workspace, state=state, **options)
    assert run.ended.status == 0, run.stderr
    return run


def test_a_folder_is_renamed_with_everything_in_it(workspace: Path, kind: LayerPlace) -> None:
    """Names, modes, times, links and marks are those of the old one; the host is as it was."""
    before = sight_of(workspace)
    code = """
print(tries(os.rename, 'folder', 'new'), os.path.lexists('folder'))
s = os.stat('new/inner')
print(oct(s.st_mode), s.st_mtime_ns, os.getxattr('new/inner', 'user.mark'))
s = os.stat('new/inner/deep/script')
print(oct(s.st_mode), s.st_mtime_ns, open('new/inner/deep/script').read())
print(sorted(os.listdir(b'new/inner')), os.readlink('new/link'))
"""
    run = _tried(workspace, code, kind)
    assert run.stdout.decode().splitlines() == [
        "done False",
        "0o40750 1400000000000000000 b'kept'",
        "0o100751 1500000000000000000 3",
        r"[b'deep', b'odd \n\xff'] inner/nowhere",
    ]
    assert sight_of(workspace) == before


def test_the_answers_are_the_kernels_own(workspace: Path) -> None:
    """Into itself, over a full folder, over a file, where there is none; over an empty one it goes."""
    code = """
print(tries(os.rename, 'folder', 'folder/inner/x'))
print(tries(os.rename, 'folder', 'full'))
print(tries(os.rename, 'folder', 'full/f'))
print(tries(os.rename, 'folder', 'nowhere/x'))
print(tries(os.rename, 'none', 'x'))
print(tries(os.rename, 'folder/', 'other/'), os.listdir('other/inner/deep'))
print(tries(os.rename, 'other', 'full/other'), os.path.exists('full/other/inner/deep/script'))
"""
    assert _tried(workspace, code).stdout.decode().splitlines() == [
        "Invalid argument",
        "Directory not empty",
        "Not a directory",
        "No such file or directory",
        "No such file or directory",
        "done ['script']",
        "done True",
    ]


def test_no_name_is_no_folder_and_deep_ones_are_renamed_from_within(workspace: Path) -> None:
    """An empty name is not the folder the program stands in; where no path is long enough, a name is."""
    code = """
os.chdir('folder')
print(tries(os.rename, '', '../new'), tries(os.rename, 'inner', ''), os.path.exists('inner'))
for n in range(20):
    os.mkdir('d' * 250)
    os.chdir('d' * 250)
os.mkdir('x')
print(tries(os.rename, 'x', 'y'), os.listdir('.'))
"""
    assert _tried(workspace, code).stdout.decode().splitlines() == [
        "No such file or directory No such file or directory True",
        "done ['y']",
    ]


def test_without_it_the_kernel_refuses(workspace: Path) -> None:
    """As between two file systems: this is what it is for."""

    def take_away(told: dict[str, Any]) -> None:
        told["moves"] = False

    code = "print(tries(os.rename, 'folder', 'new'), os.path.exists('folder/file'))"
    run = _tried(workspace, code, change=take_away)
    assert run.stdout == b"Invalid cross-device link True\n"


def test_it_has_no_right_that_the_program_lacks(workspace: Path) -> None:
    """A folder that may only be read is not moved away, and nothing is put where nothing may be."""
    surface = Surface.of(read=["./"], write=["other/", "/tmp/"])
    code = """
print(tries(os.rename, 'folder', 'other/x'), os.path.exists('folder/file'))
print(tries(os.rename, 'folder/inner', 'folder/x'), os.path.exists('folder/inner'))
print(os.listdir('other'))
"""
    run = _tried(workspace, code, surface=surface)
    lines = run.stdout.decode().splitlines()
    assert all(line.endswith(" True") and "done" not in line for line in lines[:2]), lines
    assert lines[2] == "[]"


def test_what_is_denied_in_a_folder_keeps_it_where_it_is(workspace: Path, kind: LayerPlace) -> None:
    """A denied file has its name as its protection; halfway, everything is taken back."""
    code = """
print(tries(os.rename, 'folder', 'new'), os.path.lexists('new'))
print(sorted(os.listdir('folder')), sorted(os.listdir('folder/inner/deep')))
print(tries(open, 'folder/inner/deep/script'))
"""
    run = _tried(workspace, code, kind, denied=["folder/inner/deep/script"])
    lines = run.stdout.decode().splitlines()
    assert lines[:2] == [
        "Invalid cross-device link False",
        "['file', 'inner', 'link'] ['script']",
    ]
    assert lines[2] != "done"


def test_a_folder_of_more_names_than_are_moved_stays(workspace: Path) -> None:
    """`mv` copies it then; whoever cannot is told as the kernel tells it."""
    many = workspace / "many"
    many.mkdir()
    for number in range(50_001):
        os.link(workspace / "full" / "f", many / str(number))
    code = "print(tries(os.rename, 'many', 'new'), len(os.listdir('many')), os.path.exists('new'))"
    assert _tried(workspace, code).stdout == b"Invalid cross-device link 50001 False\n"
