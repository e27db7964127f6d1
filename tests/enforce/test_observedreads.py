"""Files that a program reads are listed, by whatever name it gets hold of them."""

import os
from pathlib import Path

import pytest

from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Outcome
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.protected import protected_roots
from tests.enforce.attacks.attackers import PRELUDE
from tests.enforce.boxes import ENVIRONMENT, PYTHON, program_of

AGAIN = "again = os.open({0!r} % written, os.O_RDONLY)\nassert os.read(again, 9) == b'CONTENT'\n"
WRITTEN = "written = os.open('file', os.O_WRONLY)\n"
WAYS = {
    "by its number": WRITTEN + AGAIN.format("/proc/self/fd/%d"),
    "by the process": f"{WRITTEN}assert read(f'/proc/{{os.getpid()}}/fd/{{written}}') == b'CONTENT'",
    "by the thread": WRITTEN + AGAIN.format("/proc/thread-self/fd/%d"),
    "by the device": WRITTEN + AGAIN.format("/dev/fd/%d"),
    "by a link": WRITTEN + "os.symlink(f'/proc/self/fd/{written}', '/tmp/link')\n"
    "assert read('/tmp/link') == b'CONTENT'",
    "by the folder of numbers": WRITTEN + "all = os.open('/proc/self/fd', os.O_PATH)\n"
    "again = os.open(str(written), os.O_RDONLY, dir_fd=all)\n"
    "assert os.read(again, 9) == b'CONTENT'",
    "by the folder it stands in": "assert read('/proc/self/cwd/file') == b'CONTENT'",
    "by its root": "assert read('/proc/self/root' + os.path.abspath('file')) == b'CONTENT'",
    "after a look": "written = os.open('file', os.O_PATH)\n" + AGAIN.format("/proc/self/fd/%d"),
    "when it is removed": WRITTEN + "os.unlink('file')\n" + AGAIN.format("/proc/self/fd/%d"),
    "for both": "assert os.read(os.open('file', os.O_RDWR), 9) == b'CONTENT'",
    "for both, or new": "assert os.read(os.open('file', os.O_RDWR | os.O_CREAT), 9) == b'CONTENT'",
    "below a root of its own": "how = (ctypes.c_uint64 * 3)(0, 0, 0x10)\n"
    "folder = os.open('.', os.O_PATH)\n"
    "assert os.read(call(437, folder, b'/file', ctypes.byref(how), 24), 9) == b'CONTENT'",
}


def _outcome(workspace: Path, code: str, run: Level = Level.NONE) -> Outcome:
    engine = NativeEngine(None, protected_roots())
    try:
        program = program_of([PYTHON, "-I", "-S", "-c", PRELUDE + code], workspace)
        surface = Surface.of(read=["./"], write=["./", "/tmp/"], run=run)
        plan = engine.compile(Confinement(surface, workspace, program, ENVIRONMENT))
        outcome = engine._held_run(plan, (), Io(keeps=True))
        if outcome.layer is not None:
            os.close(outcome.layer)
        return outcome
    finally:
        engine.close()


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_is_read_is_listed(tmp_path: Path, way: str) -> None:
    """By its own name, however it was opened."""
    (tmp_path / "file").write_text("CONTENT", encoding="utf-8")
    outcome = _outcome(tmp_path, WAYS[way])
    assert outcome.exit_code == 0, outcome.stderr
    assert outcome.reads == (str(tmp_path / "file"),)
    assert outcome.complete


def test_a_file_that_is_only_written_is_not(tmp_path: Path) -> None:
    """Nor is one that is emptied by being opened."""
    (tmp_path / "file").write_text("CONTENT", encoding="utf-8")
    code = f"{WRITTEN}os.write(written, b'NEW')\nos.open('file', os.O_RDWR | os.O_TRUNC)"
    outcome = _outcome(tmp_path, code)
    assert (outcome.exit_code, outcome.reads) == (0, ())


def test_names_that_are_too_long_to_be_followed_make_the_list_incomplete(tmp_path: Path) -> None:
    """They are read by the program, and it is told that not everything was seen."""
    code = """
for _ in range(18):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
os.makedirs("n" * 240 + "/" + "m" * 240)
write("n" * 240 + "/" + "m" * 240 + "/f")
assert read("n" * 240 + "/" + "m" * 240 + "/f") == b"EVIL"
"""
    outcome = _outcome(tmp_path, code)
    assert outcome.exit_code == 0, outcome.stderr
    assert not outcome.complete


MOVED = {
    "a link that was set anew": "os.unlink('link')\nos.symlink('two', 'link')",
    "a link that another was renamed to": "os.rename('other', 'link')",
    "two links that changed places": "call(316, -100, b'link', -100, b'other', 2)",
}


@pytest.mark.parametrize("change", MOVED)
def test_a_folder_that_was_looked_at_is_looked_at_again_when_it_changes(
    tmp_path: Path, change: str
) -> None:
    """What is kept open of a folder is forgotten when anybody in the box renames or removes."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    (tmp_path / "link").symlink_to("one")
    (tmp_path / "other").symlink_to("two")
    code = f"open('link/file')\n{MOVED[change]}\nopen('link/file')\n"
    outcome = _outcome(tmp_path, f"{code}assert os.readlink('link') == 'two'")
    assert outcome.exit_code == 0, outcome.stderr
    assert set(outcome.reads) == {str(tmp_path / name / "file") for name in ("one", "two")}


def test_the_memory_of_whoever_starts_a_program_is_not_read_for_the_program(tmp_path: Path) -> None:
    """A child that has its parent's memory until it starts a program has its own from then on."""
    names = [f"file{number}" for number in range(20)]
    for name in names:
        (tmp_path / name).touch()
    code = "import subprocess\n"
    code += "".join(f"subprocess.run(['/usr/bin/cat', {name!r}], check=True)\n" for name in names)
    outcome = _outcome(tmp_path, code, run=Level.ANY)
    assert outcome.exit_code == 0, outcome.stderr
    assert set(outcome.reads) == {str(tmp_path / name) for name in names}
