"""Who may read a file that took the place of another: whoever could before, and nobody else.

Asked from outside, by processes of other users, so only root can ask.
"""

import errno
import os
import stat
import struct
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from consentry.base import jailedfiles
from consentry.base.paths import FilesystemRaceDetected, SandboxedPath

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root is somebody else for a moment")

OWNER, NAMED, MEMBER, GROUP, ELSEWHERE = 40001, 40002, 40003, 41000, 41001
_NOBODY_NAMED = 0xFFFFFFFF
_LIST, _LIST_OF_NEW = "system.posix_acl_access", "system.posix_acl_default"


def access_list(named: int, group: int) -> bytes:
    """The owner may read and write, one named user and the group so much, everybody else nothing."""
    entries = (
        (0x01, 6, _NOBODY_NAMED),
        (0x02, named, NAMED),
        (0x04, group, _NOBODY_NAMED),
        (0x10, 6, _NOBODY_NAMED),
        (0x20, 0, _NOBODY_NAMED),
    )
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *each) for each in entries)


def set_list(path: Path, kind: str, entries: bytes) -> None:
    """Gives a file or folder a list, where the file system knows lists."""
    try:
        os.setxattr(path, kind, entries)
    except OSError as problem:
        if problem.errno != errno.ENOTSUP:
            raise
        pytest.skip("this file system has no access lists")


@pytest.fixture
def jail() -> Iterator[Path]:
    """A folder that everybody reaches."""
    with TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)
        yield folder


def grown(jail: Path, mode: int) -> Path:
    """A file of an owner and a group that are not ours."""
    file = jail / "file"
    file.write_text("old")
    os.chown(file, OWNER, GROUP)
    file.chmod(mode)
    return file


def may_read(file: Path, user: int, group: int) -> bool:
    """Whether a process of that user and group can open it."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(group)
            os.setuid(user)
            os.close(os.open(file, os.O_RDONLY))
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def replaced(jail: Path, file: Path) -> None:
    """Puts another file in its place."""
    path = SandboxedPath.create(jail, file.name).unwrap()
    path.replace(b"new", on_race=ignore)
    assert file.read_text() == "new"


def ignore(race: FilesystemRaceDetected) -> None:
    """There is none."""


def mode_alone(folder: int, name: str, fresh: int, before: os.stat_result) -> None:  # noqa: ARG001 - as what it stands for
    """Owner and mode are handed over, and nothing else is asked: the control taken away."""
    os.fchown(fresh, before.st_uid, before.st_gid)
    os.fchmod(fresh, stat.S_IMODE(before.st_mode))


def test_a_group_that_the_list_shuts_out_stays_out(jail: Path) -> None:
    """The mode alone says that it may: with a list that part means something else."""
    file = grown(jail, 0o600)
    set_list(file, _LIST, access_list(named=6, group=0))
    assert stat.S_IMODE(file.stat().st_mode) == 0o660
    replaced(jail, file)
    assert not may_read(file, MEMBER, GROUP)


def test_who_the_list_lets_in_may_come_in_still(jail: Path) -> None:
    """The named user, and a group where the list has it."""
    file = grown(jail, 0o600)
    set_list(file, _LIST, access_list(named=4, group=4))
    replaced(jail, file)
    assert may_read(file, NAMED, ELSEWHERE)
    assert may_read(file, MEMBER, GROUP)
    assert not may_read(file, MEMBER, ELSEWHERE)


def test_by_the_mode_alone_the_group_would_come_in(
    jail: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The danger is real."""
    monkeypatch.setattr(jailedfiles, "_hand_over", mode_alone)
    file = grown(jail, 0o600)
    set_list(file, _LIST, access_list(named=6, group=0))
    replaced(jail, file)
    assert may_read(file, MEMBER, GROUP)


def test_what_the_folder_gives_new_files_is_not_taken(jail: Path) -> None:
    """A list for new files would let somebody in whom the old file did not."""
    file = grown(jail, 0o660)
    set_list(jail, _LIST_OF_NEW, access_list(named=6, group=6))
    assert not may_read(file, NAMED, ELSEWHERE)
    replaced(jail, file)
    assert not may_read(file, NAMED, ELSEWHERE)
    assert may_read(file, MEMBER, GROUP)


def test_with_the_mode_alone_the_folder_would_let_somebody_in(
    jail: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The danger is real."""
    monkeypatch.setattr(jailedfiles, "_hand_over", mode_alone)
    file = grown(jail, 0o660)
    set_list(jail, _LIST_OF_NEW, access_list(named=6, group=6))
    replaced(jail, file)
    assert may_read(file, NAMED, ELSEWHERE)


@pytest.mark.parametrize(("mode", "kept"), [(0o640, 0o600), (0o664, 0o644), (0o750, 0o700)])
def test_another_group_gets_no_more_than_everybody(jail: Path, mode: int, kept: int) -> None:
    """An owner who is no member of the file's group cannot give the new file to it."""
    file = grown(jail, mode)
    os.chown(jail, OWNER, ELSEWHERE)
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(ELSEWHERE)
            os.setuid(OWNER)
            replaced(jail, file)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    found = file.stat()
    assert (found.st_gid, stat.S_IMODE(found.st_mode)) == (ELSEWHERE, kept)


def test_owner_group_and_mode_are_kept_and_no_set_id_bit(jail: Path) -> None:
    """A program that runs as its owner is not made from other bytes."""
    file = grown(jail, 0o4754)
    replaced(jail, file)
    found = file.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (OWNER, GROUP, 0o754)
