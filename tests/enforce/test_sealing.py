"""A sealed copy: taken once, changed by nobody, and hashed as it is."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.sealing import SealedFile, seal, seal_content

CONTENT = bytes(range(256)) * 10_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """More than one part of it is read at a time."""
    path = tmp_path / "program"
    path.write_bytes(CONTENT)
    return path


@pytest.fixture
def sealed(file: Path) -> Iterator[SealedFile]:
    """Its copy."""
    made = seal(file)
    yield made
    made.close()


def test_the_digest_is_that_of_the_copy(file: Path, sealed: SealedFile) -> None:
    """However late it is asked for: the file was rewritten before it was hashed (CONTRACTS §8)."""
    with file.open("r+b") as rewritten:
        rewritten.write(b"EVIL")
    assert sealed.digest == f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
    assert os.pread(sealed.descriptor, 4, 0) == CONTENT[:4]


def test_hashing_does_not_move_whoever_reads_the_copy(sealed: SealedFile) -> None:
    """An engine may read it while it is hashed, from the same open file."""
    before = os.lseek(sealed.descriptor, 17, os.SEEK_SET)
    assert sealed.digest
    assert os.lseek(sealed.descriptor, 0, os.SEEK_CUR) == before


@pytest.mark.parametrize("attack", ["write", "shrink", "grow", "again"])
def test_nobody_changes_a_copy(sealed: SealedFile, attack: str) -> None:
    """Not through the descriptor, and not by opening it anew."""
    digest = sealed.digest
    with pytest.raises(PermissionError):
        _change(sealed.descriptor, attack)
    assert SealedFile(sealed.path, sealed.descriptor).digest == digest


def _change(descriptor: int, attack: str) -> None:
    if attack == "write":
        os.pwrite(descriptor, b"EVIL", 0)
    elif attack == "again":
        again = os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR)
        try:
            os.write(again, b"EVIL")
        finally:
            os.close(again)
    else:
        os.ftruncate(descriptor, 3 if attack == "shrink" else 2 * len(CONTENT))


def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    """A folder, and a name that leads elsewhere."""
    (tmp_path / "link").symlink_to("/usr/bin/true")
    for path in (tmp_path, tmp_path / "link"):
        with pytest.raises(Refused) as refused:
            seal(path)
        assert refused.value.code is Code.PROGRAM_UNSTARTABLE


def test_bytes_that_lie_in_no_file_are_sealed_alike(tmp_path: Path) -> None:
    """What a run is given by its caller: hashed, never changed, and nowhere on the host."""
    path, content = tmp_path / "none.ts", b"return 1" * 100_000
    sealed = seal_content(path, content)
    try:
        assert sealed.digest == f"sha256:{hashlib.sha256(content).hexdigest()}"
        assert os.pread(sealed.descriptor, len(content) + 1, 0) == content
        with pytest.raises(PermissionError):
            os.pwrite(sealed.descriptor, b"x", 0)
    finally:
        sealed.close()
    assert not path.exists()
