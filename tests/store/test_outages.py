"""What a ledger on a file does when the disk or the file is not there for it, for real.

Each time: the caller is told with a code, a message and what to do; the action does not run; nothing
is half-written; and when the cause is gone, the next append works.
"""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import LedgerProblem
from consentry.store.database import Database
from consentry.store.ledger import Ledger
from consentry.store.migrations import migrate
from consentry.store.sqlite import Access, SqliteDatabase
from tests.record.samples import WRITER
from tests.store.crashes import BATCH, Said, append, make_appended, require_whole
from tests.store.ledgers import fresh_drafts

HOLDER = (sys.executable, "-m", "tests.store.holders")
PATIENCE = 0.2  # seconds until waiting becomes an error
MOUNT, UMOUNT = "/usr/bin/mount", "/usr/bin/umount"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")
needs_ordinary_user = pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")


class Kept:
    """A ledger on a file, and what was acknowledged."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with closing(SqliteDatabase(path)) as database:
            migrate(database)
            make_appended(database)
        self.said: list[Said] = []
        self.append()

    def append(self) -> None:
        """An append that must work, by a process that opens the file anew."""
        with closing(SqliteDatabase(self.path)) as database:
            self.said.append(append(Ledger(database, WRITER), BATCH))
            require_whole(database, self.said, BATCH)

    def require_whole(self) -> None:
        """Nothing was lost, nothing half-written; whoever only reads is never in the way."""
        with closing(SqliteDatabase(self.path, Access.READ)) as database:
            require_whole(database, self.said, BATCH)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """A ledger in a folder of its own."""
    (tmp_path / "state").mkdir(mode=0o700)
    return Kept(tmp_path / "state" / "ledger.db")


def record_then_act(database: Database, acted: Path) -> None:
    """What every caller does: the record first, and then the action."""
    Ledger(database, WRITER).append(*(fresh_drafts().make(x="y" * 9000) for _ in range(3)))
    acted.touch()


def require_refused(kept: Kept, acted: Path, code: Code) -> LedgerProblem:
    """Asserts that a process that comes now is told, and that its action does not run."""
    with (
        pytest.raises(LedgerProblem) as caught,
        closing(SqliteDatabase(kept.path, patience=PATIENCE)) as database,
    ):
        record_then_act(database, acted)
    problem = caught.value
    assert (problem.code, problem.exit_status) == (code, ExitStatus.LEDGER)
    assert str(kept.path) in problem.message
    assert problem.help_line
    assert not acted.exists()
    return problem


@contextmanager
def mounted(folder: Path, size: str) -> Iterator[Path]:
    """A small disk."""
    folder.mkdir(mode=0o700)
    options = f"size={size},mode=0700"
    subprocess.run([MOUNT, "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run([UMOUNT, "-l", str(folder)], check=True)


@needs_root
def test_a_full_disk(tmp_path: Path) -> None:
    """A small disk that is filled up to its last byte, and has room again."""
    with mounted(tmp_path / "small", "1m") as disk:
        kept = Kept(disk / "ledger.db")
        filler = disk / "filler"
        with pytest.raises(OSError, match="No space"):
            filler.write_bytes(b"x" * (2 << 20))
        problem = require_refused(kept, tmp_path / "acted", Code.LEDGER_UNWRITABLE)
        assert "room" in problem.help_line
        filler.unlink()
        kept.append()


def test_a_file_that_may_not_grow(kept: Kept) -> None:
    """As with a quota: a limit on the size of files, met in the middle and lifted again."""
    argv = [*HOLDER, "limit", str(kept.path), "400000"]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    said = Said.read(ended.stdout)
    assert said.failed == ("ledger-unwritable",)
    assert len(said.told) == 3 * (len(said.tried) - 1)
    kept.said.append(said)
    kept.require_whole()
    kept.append()


@needs_root
def test_a_disk_that_became_read_only(tmp_path: Path) -> None:
    """Mounted again for reading, as the system does after an error of the disk."""
    with mounted(tmp_path / "small", "4m") as disk:
        kept = Kept(disk / "ledger.db")
        subprocess.run([MOUNT, "-o", "remount,ro", str(disk)], check=True)
        problem = require_refused(kept, tmp_path / "acted", Code.LEDGER_UNWRITABLE)
        assert "right to write" in problem.help_line
        subprocess.run([MOUNT, "-o", "remount,rw", str(disk)], check=True)
        kept.append()


@needs_ordinary_user
def test_a_folder_that_may_not_be_written(kept: Kept, tmp_path: Path) -> None:
    """Its rights were taken away, and are given back."""
    folder = kept.path.parent
    kept.path.chmod(0o400)
    folder.chmod(0o500)
    problem = require_refused(kept, tmp_path / "acted", Code.LEDGER_UNWRITABLE)
    assert "right to write" in problem.help_line
    folder.chmod(0o700)
    kept.path.chmod(0o600)
    kept.append()


@contextmanager
def program(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Another process, once it has said that it holds what it is to hold."""
    argv = [*HOLDER, *words]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdout is not None
        try:
            while (line := process.stdout.readline()) != "held\n":
                assert line, "it ended before it held anything"
            yield process
        finally:
            process.kill()


def test_a_database_that_another_process_locked(kept: Kept, tmp_path: Path) -> None:
    """A program that knows nothing of ours holds SQLite's lock, and lets it go."""
    with program("hold", str(kept.path)) as holder:
        problem = require_refused(kept, tmp_path / "acted", Code.LEDGER_BUSY)
        assert "end the process" in problem.help_line
        kept.require_whole()
        holder.communicate()
    kept.append()


@contextmanager
def in_its_way(kept: Kept, acted: Path, step: str) -> Iterator[subprocess.Popen[str]]:
    """A process that is stopped in the middle; others wait for their turn, and are told why not."""
    with (
        closing(SqliteDatabase(kept.path, patience=PATIENCE)) as database,
        program("stop", str(kept.path), step) as stopped,
    ):
        with pytest.raises(LedgerProblem, match="is held by another process") as caught:
            record_then_act(database, acted)
        assert caught.value.code is Code.LEDGER_BUSY
        assert not acted.exists()
        require_refused(kept, acted, Code.LEDGER_BUSY)
        kept.require_whole()
        yield stopped


@pytest.mark.parametrize("step", ["BEGUN", "HEAD_MOVED"])
def test_a_process_that_was_stopped_while_it_wrote(kept: Kept, tmp_path: Path, step: str) -> None:
    """It keeps its turn while it is stopped; when it goes on, it ends what it began."""
    with in_its_way(kept, tmp_path / "acted", step) as stopped:
        stopped.send_signal(signal.SIGCONT)
        out, _ = stopped.communicate()
        assert stopped.returncode == 0
    [told] = [line.split()[1:] for line in out.splitlines() if line.startswith("told")]
    kept.said.append(Said.of_events(told))
    kept.append()


def test_a_process_that_was_killed_while_it_wrote(kept: Kept, tmp_path: Path) -> None:
    """Its turn and its lock go with it, and nothing of what it wrote is there."""
    with in_its_way(kept, tmp_path / "acted", "HEAD_MOVED") as stopped:
        stopped.kill()
        stopped.wait()
        kept.append()


def cut(content: bytes) -> bytes:
    """Half of the file."""
    return content[: len(content) // 2]


def overwritten(content: bytes) -> bytes:
    """Another program's bytes where the first pages were."""
    return b"\xde\xad\xbe\xef" * 4096 + content[16384:]


def without_pages(content: bytes) -> bytes:
    """The first page as it was, and nothing behind it."""
    return content[:4096] + bytes(len(content) - 4096)


@pytest.mark.parametrize("damage", [cut, overwritten, without_pages])
def test_a_damaged_file(kept: Kept, tmp_path: Path, damage: object) -> None:
    """It is told as damaged and left as it was found; the backup put in its place works."""
    assert callable(damage)
    backup = kept.path.read_bytes()
    damaged = damage(backup)
    kept.path.write_bytes(damaged)
    problem = require_refused(kept, tmp_path / "acted", Code.LEDGER_CORRUPT)
    assert "backup" in problem.help_line
    assert kept.path.read_bytes() == damaged
    kept.path.write_bytes(backup)
    kept.append()


def command(folder: Path, *words: str, most_bytes: int | None = None) -> tuple[int, str]:
    """The status and the last two lines of what `consentry` says, its state in that folder."""
    kept_limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    limit = kept_limits if most_bytes is None else (most_bytes, kept_limits[1])
    ended = subprocess.run(
        [sys.executable, "-m", "consentry", *words],
        cwd=folder,
        env={**os.environ, "HOME": str(folder), "CONSENTRY_STATE": str(folder / "state")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stderr


def test_a_command_that_cannot_record_exits_with_5_and_undoes_its_work(
    kept: Kept, tmp_path: Path
) -> None:
    """A checkpoint that could not be recorded is not kept; with room again it is."""
    take = ("audit", "checkpoint", "--out", "taken.json")
    status, err = command(tmp_path, *take, most_bytes=20_000)
    assert status == ExitStatus.LEDGER
    assert err.startswith("consentry: error[ledger-unwritable]: ")
    assert "\nhelp: " in err
    assert not (tmp_path / "taken.json").exists()
    kept.require_whole()
    assert command(tmp_path, *take) == (0, "")
    assert (tmp_path / "taken.json").exists()


@pytest.mark.parametrize("words", [("verify",), ("checkpoint",), ("log",)])
def test_a_command_on_a_damaged_ledger_exits_with_5(
    kept: Kept, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """And says what to do, in two lines."""
    kept.path.write_bytes(overwritten(kept.path.read_bytes()))
    status, err = command(tmp_path, "audit", *words)
    assert status == ExitStatus.LEDGER
    assert err.startswith("consentry: error[ledger-corrupt]: ")
    assert err.count("\n") == 2
