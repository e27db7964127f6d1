"""`consentry exec --view visible`: your tree is in sight, and what is refused of it is told."""

import errno
import os
import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.execs import home_of, last_record, put
from tests.enforce.shownfolders import made_folder, shown_folder

pytestmark = pytest.mark.skipif(
    shown_folder() is None, reason="this user can write no folder it shows"
)
PROFILE = """\
sandboxConfig:
  profiles:
    seen:
      view: visible
      filesystem:
        readOnly: ["${WORKSPACE}"]
        noAccess: [%s]
"""
DIRECT = """\
sandboxConfig:
  profiles:
    seen:
      view: visible
      writes: direct
      filesystem:
        readOnly: ["${WORKSPACE}"]
        readWrite: ["${WORKSPACE}/out"]
"""
EXACT = """\
sandboxConfig:
  profiles:
    seen:
      view: visible
      reads: exact
      filesystem:
        readOnly: ["${WORKSPACE}"]
"""
LOOK = "import os, sys; print([os.path.exists(each) for each in sys.argv[1:]])"
READ = """\
import sys
for path in sys.argv[1:]:
    try:
        print(open(path).read())
    except OSError as problem:
        print(problem.strerror)
"""


@pytest.fixture
def shown(line: CommandLine) -> Iterator[CommandLine]:
    """The command of somebody whose home and project lie where the view shows them."""
    owner = line.cwd.stat()
    with made_folder(owner.st_uid) as place:
        made = replace(line, cwd=place / "project", environ={**line.environ})
        made.environ["HOME"] = str(place / "home")
        for folder in (place / "project", place / "project/.git", place / "home"):
            folder.mkdir()
            os.chown(folder, owner.st_uid, owner.st_gid)
        yield made


def _files(line: CommandLine) -> tuple[Path, Path]:
    """One beside the project, and one that is protected."""
    beside = put(line, str(line.cwd.parent / "beside/file"), "beside")
    key = put(line, str(home_of(line) / ".ssh/id_ed25519"), "key")
    return beside, key


def test_files_are_in_sight_and_refused(shown: CommandLine) -> None:
    """What is beside can be looked up; opening it is refused, told, and allowed by the option."""
    beside, key = _files(shown)
    words = ["--", "python3", "-c", LOOK, str(beside), str(key)]
    assert shown("exec", *words).out == "[False, False]\n"
    assert shown("exec", "--view", "visible", *words).out == "[True, False]\n"
    words = ["--", "python3", "-c", READ, str(beside), str(key)]
    ended = shown("exec", "--view", "visible", *words)
    assert "beside" not in ended.out
    assert "key" not in ended.out
    assert f"read {beside}: not granted; allow it with --read {beside}" in ended.err
    assert f"read {key}: protected root" in ended.err
    record = last_record(shown)["sandbox"]
    assert record["view"] == "visible"
    assert record["violationsComplete"]
    assert {each["truth"] for each in record["violations"]} == {"observed"}
    controls = {each["control"]: each["mechanism"] for each in record["controls"]}
    assert controls["reads"].startswith("Landlock")
    assert "  view      visible: your tree was in sight" in shown("why").out
    allowed = shown("exec", "--view", "visible", "--read", str(beside), *words)
    assert allowed.out.splitlines()[0] == "beside"


def test_looking_up_is_no_violation(shown: CommandLine) -> None:
    """Names, sizes and modes are open in this view, so nothing is told of asking for them."""
    beside, _ = _files(shown)
    script = f"import os; os.stat({str(beside)!r}); os.open({str(beside)!r}, os.O_PATH)"
    ended = shown("exec", "--view", "visible", "--", "python3", "-c", script)
    assert (ended.status, ended.err) == (0, "")


def test_writes_go_to_the_layer_and_are_committed(shown: CommandLine) -> None:
    """As in the private view; what is beside is neither written nor lost."""
    beside, _ = _files(shown)
    script = f"echo new > new; echo evil > {beside}"
    words = ["--write", ".", "--", "sh", "-c", script]
    ended = shown("exec", "--view", "visible", *words)
    assert ended.status != 0
    assert f"write {beside}: not granted" in ended.err
    assert beside.read_text() == "beside"
    assert (shown.cwd / "new").read_text() == "new\n"


def test_a_profile_chooses_the_view_and_the_line_overrules_it(shown: CommandLine) -> None:
    """CONTRACTS §12-profile-keys; what the profile denies is not even in sight."""
    beside, _ = _files(shown)
    denied = put(shown, str(shown.cwd.parent / "denied/file"), "denied")
    put(shown, "box.yaml", PROFILE % denied.parent)
    words = ["--profile", "box.yaml", "--", "python3", "-c", LOOK, str(beside), str(denied)]
    assert shown("exec", *words).out == "[True, False]\n"
    assert last_record(shown)["sandbox"]["view"] == "visible"
    assert shown("exec", "--view", "private", *words).out == "[False, False]\n"
    assert last_record(shown)["sandbox"]["view"] == "private"


def test_connecting_to_a_socket_in_sight_is_told(shown: CommandLine) -> None:
    """It leads to nobody, and is a violation with its name."""
    path = shown.cwd.parent / "socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        path.chmod(0o777)
        listening.listen()
        script = f"import socket; print(socket.socket(1).connect_ex({str(path)!r}))"
        ended = shown("exec", "--view", "visible", "--", "python3", "-c", script)
    assert ended.out == f"{errno.ECONNREFUSED}\n"
    assert f"net unix:{path}" in ended.err


def test_unknown_view_is_refused(shown: CommandLine) -> None:
    """With the right words."""
    assert_error(shown("exec", "--view", "visibel", "--", "true"), Code.USAGE)


def test_direct_writes_reach_the_workspace_and_nothing_beside_it(shown: CommandLine) -> None:
    """The other way to write holds in this view as well; nothing beside is changed."""
    beside, _ = _files(shown)
    put(shown, "out/old", "old")
    put(shown, "box.yaml", DIRECT)
    script = f"echo new > out/new; echo new > out/old; echo evil > {beside}; echo evil > new"
    ended = shown("exec", "--profile", "box.yaml", "--", "sh", "-c", script)
    assert f"write {beside}: not granted" in ended.err
    assert (shown.cwd / "out/new").read_text() == "new\n"
    assert (shown.cwd / "out/old").read_text() == "new\n"
    assert beside.read_text() == "beside"
    assert not (shown.cwd / "new").exists()


def test_exact_reads_open_what_is_granted_and_nothing_else(shown: CommandLine) -> None:
    """Whoever opens files for the program has no right more than the run was given."""
    beside, key = _files(shown)
    put(shown, "granted", "granted")
    put(shown, "box.yaml", EXACT)
    words = ["--", "python3", "-c", READ, "granted", str(beside), str(key)]
    ended = shown("exec", "--profile", "box.yaml", *words)
    first, *rest = ended.out.splitlines()
    assert first == "granted"
    assert "Permission denied" in rest
    assert "beside" not in rest
    assert "key" not in rest
    assert f"read {beside}: not granted" in ended.err
