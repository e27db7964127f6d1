"""With `reads: exact`, programs work as ever, and the list says which file each open led to."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from consentry.enforce.engine import Control, FileState
from consentry.enforce.violations import Operation, Truth
from consentry.surface.modes import Reads
from tests.enforce.outcomes import outcome_of


def _state(path: Path) -> FileState:
    told = path.stat()
    return FileState(told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns)


def test_files_read_are_mediated_and_known_by_their_inode(tmp_path: Path) -> None:
    """By whatever name they were opened; a missing file, a folder and a look are no reads."""
    for name in ("whole", "relative", "linked", "in_folder", "looked_at"):
        (tmp_path / name).write_text(name)
    (tmp_path / "link").symlink_to("linked")
    code = """
import os, sys
def opened(*arguments, **how):
    with open(os.open(*arguments, **how)) as file:
        return file.read()
here = os.open(".", os.O_RDONLY)
print(opened(sys.argv[1] + "/whole", 0), opened("relative", 0), opened("link", 0))
print(opened("in_folder", 0, dir_fd=here), os.open("looked_at", os.O_PATH) > 0)
print(os.path.exists("nowhere"), sorted(os.listdir(here)) == sorted(os.listdir(".")))
"""
    outcome = outcome_of(code, tmp_path, str(tmp_path), reads=Reads.EXACT)
    assert outcome.stdout == b"whole relative linked\nin_folder True\nFalse True\n"
    expected = [str(tmp_path / name) for name in ("whole", "relative", "linked", "in_folder")]
    assert list(outcome.reads) == expected
    assert outcome.reads_truth is Truth.MEDIATED
    assert outcome.read_states == {each: (_state(Path(each)),) for each in expected}
    assert (outcome.violations, outcome.complete) == ((), True)
    [held] = [each for each in outcome.held if each.control is Control.FILES_READ]
    assert held.truth is Truth.MEDIATED


def test_without_exact_reads_the_same_list_is_observed(tmp_path: Path) -> None:
    """And nothing is known of which file it was."""
    (tmp_path / "file").touch()
    outcome = outcome_of("open('file')", tmp_path)
    assert outcome.reads == (str(tmp_path / "file"),)
    assert (outcome.reads_truth, outcome.read_states) == (Truth.OBSERVED, {})


MOVES = {
    "moved": "os.rename('secret', 'other')",
    "linked": "os.link('secret', 'other')",
    "exchanged": "open('other', 'w').close() or CALL(-100, b'secret', -100, b'other', 2)",
    "exchanged from here": "open('other', 'w').close() or CALL(-100, b'other', -100, b'secret', 2)",
}


@pytest.mark.parametrize("reads", [Reads.EXACT, Reads.OBSERVED])
@pytest.mark.parametrize("move", MOVES)
def test_another_name_does_not_hide_what_was_read(tmp_path: Path, move: str, reads: Reads) -> None:
    """What the program moved or linked counts as read; and names of a move are only observed."""
    (tmp_path / "secret").write_text("secret")
    code = f"import ctypes, os\nCALL = ctypes.CDLL(None).renameat2\n{MOVES[move]}"
    outcome = outcome_of(
        f"{code}\nprint(open('other').read())", tmp_path, write=["./"], reads=reads
    )
    assert outcome.stdout == b"secret\n"
    assert str(tmp_path / "secret") in outcome.reads
    assert outcome.reads_truth is Truth.OBSERVED
    [held] = [each for each in outcome.held if each.control is Control.FILES_READ]
    assert held.truth is Truth.OBSERVED


def test_a_file_that_is_opened_to_be_changed_is_read_too(tmp_path: Path) -> None:
    """Unless nothing of what was in it is left."""
    (tmp_path / "changed").write_text("old")
    (tmp_path / "emptied").write_text("old")
    code = "print(open('changed', 'r+').read(), open('emptied', 'w+'))"
    outcome = outcome_of(code, tmp_path, write=["./"])
    assert outcome.stdout.startswith(b"old ")
    assert outcome.reads == (str(tmp_path / "changed"),)


def test_files_are_made_and_changed_as_ever(tmp_path: Path) -> None:
    """With the program's umask, through links that lead nowhere yet, and without a name."""
    (tmp_path / "old").write_text("old")
    code = """
import os, stat
os.umask(0o027)
with open("new", "w+") as file:
    file.write("new")
print(oct(stat.S_IMODE(os.stat("new").st_mode)), open("new").read())
with open("old", "r+") as file:
    print(file.read())
    file.write(" and more")
print(open("old").read())
os.symlink("target", "link")
os.close(os.open("link", os.O_RDWR | os.O_CREAT))
unnamed = os.open(".", os.O_RDWR | os.O_TMPFILE)
os.write(unnamed, b"x")
print(os.pread(unnamed, 9, 0), sorted(os.listdir(".")))
for flags in (os.O_RDWR | os.O_CREAT | os.O_EXCL, os.O_RDONLY | os.O_DIRECTORY):
    try:
        os.open("new", flags)
    except OSError as problem:
        print(type(problem).__name__)
"""
    outcome = outcome_of(code, tmp_path, write=["./", "/tmp/"], reads=Reads.EXACT)
    assert outcome.stdout.decode().splitlines() == [
        "0o640 new",
        "old",
        "old and more",
        "b'x' ['link', 'new', 'old', 'target']",
        "FileExistsError",
        "NotADirectoryError",
    ]
    assert set(outcome.reads) == {str(tmp_path / "new"), str(tmp_path / "old")}
    assert (outcome.violations, outcome.complete) == ((), True)


def test_a_file_that_its_own_bits_close_is_no_violation(tmp_path: Path) -> None:
    """It is granted, and not to be read: as outside."""
    (tmp_path / "closed").write_text("x")
    code = "import os\nos.chmod('closed', 0)\ntry: open('closed')\nexcept OSError: print('no')"
    outcome = outcome_of(code, tmp_path, write=["./"], reads=Reads.EXACT)
    assert (outcome.stdout, outcome.reads, outcome.violations) == (b"no\n", (), ())


def test_what_is_beside_a_granted_file_is_refused_and_told() -> None:
    """That the opener was refused it is known, where an observer could only suppose."""
    code = "print(open('given').read())\ntry: open('secret')\nexcept OSError: print('no')"
    with TemporaryDirectory(dir="/var/tmp") as folder:
        workspace = Path(folder)
        for name in ("given", "secret"):
            (workspace / name).write_text(name)
        outcome = outcome_of(
            code, workspace, read=["./given"], write=["./given"], reads=Reads.EXACT
        )
    assert outcome.stdout == b"given\nno\n"
    assert outcome.reads == (str(workspace / "given"),)
    told = [(each.operation, each.resource) for each in outcome.violations]
    assert told == [(Operation.READ, str(workspace / "secret"))]


def test_many_threads_are_served(tmp_path: Path) -> None:
    """More than the opener is asked for at once."""
    for number in range(40):
        (tmp_path / str(number)).write_text(str(number))
    code = """
import threading
wrong = []
def read(number):
    for _ in range(20):
        with open(str(number)) as file:
            if file.read() != str(number):
                wrong.append(number)
threads = [threading.Thread(target=read, args=[number]) for number in range(40)]
for each in threads: each.start()
for each in threads: each.join()
print(wrong)
"""
    outcome = outcome_of(code, tmp_path, reads=Reads.EXACT)
    assert outcome.stdout == b"[]\n"
    assert len(outcome.reads) == 40
    assert outcome.complete


@pytest.mark.parametrize("reads", Reads)
def test_a_program_with_no_descriptor_left_is_told_so(tmp_path: Path, reads: Reads) -> None:
    """The error is the kernel's own, as without."""
    (tmp_path / "file").touch()
    code = """
import errno, os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
try:
    while True:
        os.open("file", os.O_RDONLY)
except OSError as problem:
    print(errno.errorcode[problem.errno])
"""
    assert outcome_of(code, tmp_path, reads=reads).stdout == b"EMFILE\n"
