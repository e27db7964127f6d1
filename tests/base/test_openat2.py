"""`openat2`: what the kernel answers, and what happens where it cannot be asked."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from consentry.base import openat2

FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC


@pytest.fixture
def folder(tmp_path: Path) -> int:
    """A folder with a file, a link out of it and a link on the way."""
    (tmp_path / "jail" / "sub").mkdir(parents=True)
    (tmp_path / "jail" / "sub" / "file").write_text("inside")
    (tmp_path / "secret").write_text("outside")
    (tmp_path / "jail" / "link").symlink_to("../secret")
    (tmp_path / "jail" / "way").symlink_to("sub")
    opened = os.open(tmp_path / "jail", os.O_PATH | os.O_DIRECTORY)
    if openat2.beneath(opened, b"sub", FLAGS, 0) == -errno.ENOSYS:
        pytest.skip("this kernel has no openat2")
    return opened


def test_what_lies_below_is_opened_and_links_are_refused(folder: int) -> None:
    """A link at the end, a link on the way, a climb, and what is not there: each its own number."""
    opened = openat2.beneath(folder, b"sub/file", FLAGS, 0)
    assert os.read(opened, 10) == b"inside"
    os.close(opened)
    assert openat2.beneath(folder, b"link", FLAGS, 0) == -errno.ELOOP
    assert openat2.beneath(folder, b"way/file", FLAGS, 0) == -errno.ELOOP
    assert openat2.beneath(folder, b"../secret", FLAGS, 0) == -errno.EXDEV
    assert openat2.beneath(folder, b"sub/gone", FLAGS, 0) == -errno.ENOENT
    followed = os.open("way/file", FLAGS, dir_fd=folder)
    assert os.read(followed, 10) == b"inside", "the plain call follows a link on the way"
    os.close(followed)
    os.close(folder)


def test_a_file_is_made_with_its_mode(folder: int) -> None:
    """The mode counts where something is made, and is left out where nothing is."""
    before = os.umask(0)
    try:
        making = FLAGS | os.O_CREAT | os.O_EXCL | os.O_WRONLY
        os.close(openat2.beneath(folder, b"sub/new", making, 0o640))
    finally:
        os.umask(before)
    assert os.stat("sub/new", dir_fd=folder).st_mode & 0o777 == 0o640
    os.close(openat2.beneath(folder, b"sub/new", FLAGS, 0o640))
    os.close(folder)


def test_few_ways_of_opening_are_kept(folder: int) -> None:
    """However many there are, the memory for them is bounded."""
    for mode in range(200):
        os.close(openat2.beneath(folder, b"sub/file", FLAGS, mode))
    assert len(openat2._kept) <= 64
    os.close(folder)


@pytest.mark.parametrize("broken", ["sys.modules['_ctypes'] = None", "sys.platform = 'other'"])
def test_where_it_cannot_be_asked_it_counts_as_missing(broken: str) -> None:
    """An interpreter without the module, or another system: the caller walks instead."""
    script = (
        f"import sys; {broken}\n"
        "from consentry.base import openat2\n"
        "print(openat2.beneath(0, b'x', 0, 0))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"-{errno.ENOSYS}\n"


def test_nothing_is_loaded_before_a_path_is_opened() -> None:
    """A command that opens no such path does not pay for it, and `ctypes` itself is never loaded."""
    script = (
        "import sys, os, tempfile\n"
        "from pathlib import Path\n"
        "from consentry.base.paths import SandboxedPath\n"
        "before = '_ctypes' in sys.modules\n"
        "top = Path(tempfile.mkdtemp()); (top / 'a').mkdir(); (top / 'a' / 'b').touch()\n"
        "os.close(SandboxedPath.create(top, 'a/b').unwrap().open(on_race=print))\n"
        "print(before, '_ctypes' in sys.modules, 'ctypes' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout in ("False True False\n", "False False False\n")
