"""Digests of programs are remembered where nobody but root could have changed the file unseen."""

import hashlib
import os
from pathlib import Path

import pytest

from consentry.base.errors import Refused
from consentry.enforce.hashcache import HashCache

ROOTS = Path("/usr/bin/env")


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def test_a_file_of_roots_is_hashed_once_and_known_after_that(tmp_path: Path) -> None:
    """What is remembered is told without reading the file, shown by a false memory of it."""
    memory = HashCache(tmp_path / "hashes")
    told = memory.digest_of(ROOTS)
    assert told == _digest(ROOTS.read_bytes())
    [entry] = _entries(tmp_path / "hashes")
    false = _digest(b"something else")
    entry.write_text(entry.read_text().replace(told, false))
    assert HashCache(tmp_path / "hashes").digest_of(ROOTS) == false


def test_a_file_that_changed_is_hashed_again(tmp_path: Path) -> None:
    """Whatever is remembered counts for the bytes that were hashed only."""
    memory, file = HashCache(tmp_path / "hashes"), tmp_path / "file"
    for content in (b"one", b"two, and longer"):
        file.write_bytes(content)
        assert memory.digest_of(file) == _digest(content)


@pytest.mark.skipif(os.getuid() == 0, reason="root may change every file, and remembers all")
def test_an_ordinary_user_remembers_nothing_that_it_may_change(tmp_path: Path) -> None:
    """Whoever may write a file may also set its times back."""
    file = tmp_path / "file"
    file.write_bytes(b"content")
    assert HashCache(tmp_path / "hashes").digest_of(file) == _digest(b"content")
    assert _entries(tmp_path / "hashes") == []


@pytest.mark.parametrize(
    "content", ["", "nonsense\n", "1-2-3-4-5 sha256:short\n", "\x80", "x" * 5000]
)
def test_a_spoiled_memory_is_no_memory(tmp_path: Path, content: str) -> None:
    """Then the file is hashed again, and the memory mended."""
    folder = tmp_path / "hashes"
    told = HashCache(folder).digest_of(ROOTS)
    [entry] = _entries(folder)
    entry.write_text(content)
    assert HashCache(folder).digest_of(ROOTS) == told
    assert told in entry.read_text()


def test_a_folder_that_cannot_be_made_only_costs_time(tmp_path: Path) -> None:
    """A file lies where the folder should be; the digest is right all the same."""
    (tmp_path / "hashes").write_text("")
    assert HashCache(tmp_path / "hashes").digest_of(ROOTS) == _digest(ROOTS.read_bytes())


def test_what_cannot_be_opened_is_refused_by_name(tmp_path: Path) -> None:
    """No traceback, and the path is in the message."""
    with pytest.raises(Refused, match="nowhere"):
        HashCache(tmp_path / "hashes").digest_of(tmp_path / "nowhere")
