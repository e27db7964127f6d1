"""The machine's id: made once, the same for everybody, refused when it is not one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from consentry.base.errors import LedgerProblem
from consentry.store.machine import FILE_NAME, machine_id


def test_it_is_made_on_first_use_and_kept(tmp_path: Path) -> None:
    """128 random bits, readable by the owner alone."""
    made = machine_id(tmp_path)
    assert re.fullmatch(r"machine-[0-9a-f]{32}", made)
    assert machine_id(tmp_path) == made
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == [FILE_NAME]


def test_processes_that_race_agree(tmp_path: Path) -> None:
    """Eight first users, one id."""
    program = (
        "import sys; from pathlib import Path\n"
        "from consentry.store.machine import machine_id\n"
        "print(machine_id(Path(sys.argv[1])))"
    )
    argv = [sys.executable, "-c", program, str(tmp_path)]
    children = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    assert len({child.communicate()[0] for child in children}) == 1


@pytest.mark.parametrize("content", ["", "machine-xyz\n", "x" * 100, "machine-" + "0" * 32])
def test_a_damaged_file_is_an_error(tmp_path: Path, content: str) -> None:
    """It is not replaced: the chain of the old id would be orphaned."""
    (tmp_path / FILE_NAME).write_text(content)
    with pytest.raises(LedgerProblem) as caught:
        machine_id(tmp_path)
    assert caught.value.code == "ledger-corrupt"
    assert (tmp_path / FILE_NAME).read_text() == content


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """The folder is missing: one clear error, no traceback."""
    with pytest.raises(LedgerProblem) as caught:
        machine_id(tmp_path / "missing")
    assert caught.value.code == "ledger-unwritable"


@pytest.mark.parametrize("kind", ["folder", "link", "pipe"])
def test_what_is_no_plain_file_is_an_error(tmp_path: Path, kind: str) -> None:
    """One clear error that names it; nobody waits for a pipe that nobody writes."""
    path = tmp_path / FILE_NAME
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to("/etc/hostname")
    else:
        os.mkfifo(path)
    with pytest.raises(LedgerProblem, match=FILE_NAME):
        machine_id(tmp_path)
