"""Files that were read are hashed within a budget, and only as what they are."""

import hashlib
import os
from pathlib import Path

from consentry.enforce.engine import FileState
from consentry.enforce.hashcache import HashCache
from consentry.service.readhashes import MOST_LISTED, ReadHashes


def test_plain_files_are_hashed(tmp_path: Path) -> None:
    """By their bytes."""
    file = tmp_path / "file"
    file.write_bytes(b"content")
    assert ReadHashes().digest_of(str(file)) == f"sha256:{hashlib.sha256(b'content').hexdigest()}"


def test_budget_is_kept_and_what_is_left_out_is_listed(tmp_path: Path) -> None:
    """A file that is too big for what is left is skipped, a smaller one after it is not."""
    sizes = {"first": 60, "second": 60, "third": 30}
    for name, size in sizes.items():
        (tmp_path / name).write_bytes(b"x" * size)
    hashes = ReadHashes(100)
    found = [hashes.digest_of(str(tmp_path / name)) is not None for name in sizes]
    assert found == [True, False, True]
    assert (hashes.left_out, hashes.left_out_count) == ([str(tmp_path / "second")], 1)


def test_file_that_is_asked_for_twice_is_read_once(tmp_path: Path) -> None:
    """The budget is for files, not for questions."""
    (tmp_path / "file").write_bytes(b"x" * 60)
    hashes = ReadHashes(100)
    assert len({hashes.digest_of(str(tmp_path / "file")) for _ in range(5)} - {None}) == 1


def test_links_pipes_and_missing_files_have_no_digest(tmp_path: Path) -> None:
    """Nothing is followed and nothing is waited for; all are counted, the first are listed."""
    (tmp_path / "target").touch()
    (tmp_path / "link").symlink_to("target")
    os.mkfifo(tmp_path / "pipe")
    hashes = ReadHashes()
    names = ["link", "pipe", *(f"missing{number}" for number in range(MOST_LISTED))]
    assert {hashes.digest_of(str(tmp_path / name)) for name in names} == {None}
    assert hashes.left_out_count == MOST_LISTED + 2
    assert len(hashes.left_out) == MOST_LISTED


def test_of_a_file_that_is_known_only_the_same_one_has_a_digest(tmp_path: Path) -> None:
    """Replaced or changed since it was opened, it would be the digest of something else."""
    files = [tmp_path / name for name in ("same", "replaced", "changed", "opened_in_two_states")]
    for file in files:
        file.write_text("content")
    states = {str(file): [_state(file)] for file in files}
    (tmp_path / "other").write_text("content")
    (tmp_path / "other").rename(tmp_path / "replaced")
    (tmp_path / "changed").write_text("CONTENT")
    states[str(files[3])].append(states[str(files[0])][0])
    hashes = ReadHashes()
    found = [hashes.digest_of(path, opened) is not None for path, opened in states.items()]
    assert found == [True, False, False, False]
    assert hashes.left_out == [str(file) for file in files[1:]]


def _state(path: Path) -> FileState:
    told = path.stat()
    return FileState(told.st_ino, told.st_size, told.st_mtime_ns, told.st_ctime_ns)


def test_a_program_is_hashed_once_for_all_runs_and_costs_no_budget_then(tmp_path: Path) -> None:
    """A compiler's programs are big: a run that starts them again takes their digests from memory."""
    program = "/usr/bin/env"
    right = f"sha256:{hashlib.sha256(Path(program).read_bytes()).hexdigest()}"
    memory = HashCache(tmp_path / "hashes")
    assert ReadHashes(programs=memory).digest_of_program(program) == right
    assert ReadHashes(1, programs=memory).digest_of_program(program) == right
    assert ReadHashes(1, programs=memory).digest_of(program) is None
    assert ReadHashes(1).digest_of_program(program) is None
