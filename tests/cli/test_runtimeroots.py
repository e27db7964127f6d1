"""What a run reads besides what it was granted, and how the record tells the two apart (CONTRACTS §10)."""

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from consentry.surface.protected import ProtectedRoot, protected_roots
from tests.cli.conftest import CommandLine
from tests.cli.execs import last_record, put
from tests.elsewhere import folder_elsewhere

PYTHON = "/usr/bin/python3"
EXCEPTIONS = protected_roots().exceptions
WRITTEN = {"passwd", "group", "hosts", "nsswitch.conf", "resolv.conf", "hostname"}
"""What every box has in `/etc`, made for it."""

SEEN = """
import hashlib, json, os, stat, sys

def seen(path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    if stat.S_ISDIR(found.st_mode):
        return sorted(os.listdir(path))
    if stat.S_ISCHR(found.st_mode):
        return found.st_rdev
    try:
        return hashlib.sha256(open(path, "rb").read()).hexdigest()
    except OSError:
        return "unreadable"

def written(path):
    try:
        if os.path.isdir(path):
            os.mkdir(os.path.join(path, "made-by-a-run"))
        else:
            os.close(os.open(path, os.O_WRONLY))
    except OSError:
        return False
    return True
"""


@pytest.fixture
def folder(line: CommandLine) -> Iterator[Path]:
    """A folder outside, of whoever runs the command, that can be shown."""
    owner = line.cwd.stat()
    with folder_elsewhere() as made:
        made.chmod(0o755)
        os.chown(made, owner.st_uid, owner.st_gid)
        yield made


def inside(line: CommandLine, script: str, *words: str, options: tuple[str, ...] = ()) -> Any:
    """What the script prints as JSON, in the smallest set."""
    done = line("exec", "--set", "minimal", *options, "--", PYTHON, "-c", SEEN + script, *words)
    assert done.status == 0, done.err
    return json.loads(done.out)


def outside(line: CommandLine, script: str, *words: str) -> Any:
    """The same by the same user without a box."""
    done = subprocess.run(
        [PYTHON, "-c", SEEN + script, *words], capture_output=True, check=True, **line.options
    )
    return json.loads(done.stdout)


def place_of(row: ProtectedRoot) -> Path:
    """Where the exception is."""
    return Path("/", *row.pattern.prefix)


def test_every_exception_is_there_as_it_is_on_the_host(line: CommandLine) -> None:
    """CONTRACTS §10-runtime: each row of the table, in the smallest set; what the host lacks is not."""
    paths = [str(place_of(row)) for row in EXCEPTIONS]
    script = "print(json.dumps([seen(each) for each in sys.argv[1:]]))"
    found = dict(zip(paths, inside(line, script, *paths), strict=True))
    expected = dict(zip(paths, outside(line, script, *paths), strict=True))
    for each in (found, expected):
        del each["/dev/tty"]  # a terminal of the box's own, or none
    assert found == expected
    assert sum(each is not None for each in found.values()) >= 10


def test_saved_code_has_the_same_ones(line: CommandLine) -> None:
    """CONTRACTS §10-runtime: in the box of snippets too, each counted by its root."""
    paths = [str(place_of(row)) for row in EXCEPTIONS if place_of(row).parts[1] != "dev"]
    put(line, "it.py", f"{SEEN}\nresult = [seen(each) for each in paths]\n")
    assert line("capability", "save", "it", "it.py").status == 0
    assert line("capability", "set", "it", "minimal").status == 0
    done = line("capability", "run", "it", "--arg", f"paths={json.dumps(paths)}")
    assert done.status == 0, done.err
    found = json.loads(done.out)
    script = "print(json.dumps([seen(each) for each in sys.argv[1:]]))"
    assert found == outside(line, script, *paths)
    there = {path for path, each in zip(paths, found, strict=True) if each is not None}
    record = last_record(line)
    assert there <= record["sandbox"]["runtimeReads"].keys()
    assert record["impact"]["filesRead"] == []


def test_no_exception_can_be_written(line: CommandLine) -> None:
    """CONTRACTS §10-runtime: read-only; devices without content take what is thrown away."""
    paths = [str(place_of(row)) for row in EXCEPTIONS if place_of(row).parts[1] != "dev"]
    paths += ["/usr", "/usr/bin/env", "/lib", "/bin"]
    script = "print(json.dumps([each for each in sys.argv[1:] if written(each)]))"
    assert inside(line, script, *paths) == []


def test_nothing_else_of_etc_is_there(line: CommandLine) -> None:
    """The rows, and six small files that say nothing of the host."""
    named = {place_of(row).parts[2] for row in EXCEPTIONS if place_of(row).parts[1] == "etc"}
    assert set(inside(line, "print(json.dumps(seen('/etc')))")) <= named | WRITTEN
    hosts = inside(line, "print(json.dumps(open('/etc/hosts').read()))")
    assert hosts == "127.0.0.1 localhost\n::1 localhost\n"


def test_they_are_counted_by_root_and_are_no_part_of_the_surface(line: CommandLine) -> None:
    """CONTRACTS §10-runtime: the record has them as runtime; none is listed, granted or refused."""
    readable = [path for path in ("/etc/ssl/certs", "/etc/alternatives") if Path(path).is_dir()]
    inside(line, "print(json.dumps([len(os.listdir(each)) for each in sys.argv[1:]]))", *readable)
    inside(line, "print(json.dumps(len(open('/etc/ld.so.cache', 'rb').read())))")
    record = last_record(line)
    counted = record["sandbox"]["runtimeReads"]
    assert counted["/usr"] > 0
    assert counted["/etc/ld.so.cache"] > 0
    assert record["impact"]["filesRead"] == []
    assert record["sandbox"]["violations"] == []


@pytest.fixture
def environment(line: CommandLine, folder: Path) -> Path:
    """A virtual environment outside the workspace, with a module of its own."""
    made = folder / "environment"
    words = [PYTHON, "-m", "venv", "--without-pip", str(made)]
    try:
        subprocess.run(words, check=True, capture_output=True, **line.options)
    except subprocess.CalledProcessError as problem:
        pytest.skip(f"virtual environments cannot be made here: {problem.stderr!r}")
    [packages] = made.glob("lib/python3*/site-packages")
    put(line, str(packages / "of_its_own.py"), "VALUE = 'from the environment'\n")
    return made


def test_a_virtual_environment_is_there_to_be_read(line: CommandLine, environment: Path) -> None:
    """CONTRACTS §10-runtime: prefix and site-packages, read-only, counted as runtime."""
    code = (
        "import json, os, sys, of_its_own\n"
        "def tried(path):\n"
        "    try:\n        return open(path, 'w').write('x')\n"
        "    except OSError:\n        return None\n"
        "print(json.dumps([of_its_own.VALUE, sys.prefix, tried(of_its_own.__file__),"
        " tried(os.path.join(sys.prefix, 'new'))]))\n"
    )
    python = str(environment / "bin/python")
    done = line("exec", "--set", "minimal", "--", python, "-c", code)
    assert done.status == 0, done.err
    assert json.loads(done.out) == ["from the environment", str(environment), None, None]
    assert not (environment / "new").exists()
    record = last_record(line)
    assert record["sandbox"]["runtimeReads"][str(environment)] > 0
    assert record["impact"]["filesRead"] == []


def test_another_environment_is_not_there(line: CommandLine, environment: Path) -> None:
    """Only the one that was started from: the system's interpreter sees nothing of it."""
    script = "print(json.dumps([seen(sys.argv[1]), sys.prefix]))"
    assert inside(line, script, str(environment)) == [None, "/usr"]
    granted = inside(line, script, str(environment), options=("--read", str(environment)))
    assert "pyvenv.cfg" in granted[0]


def test_files_granted_elsewhere_are_listed_one_by_one(line: CommandLine, folder: Path) -> None:
    """CONTRACTS §10-files-read: by their whole path with a digest, as those of the workspace are."""
    contents = {"one.txt": "1", "deep/two.txt": "2", "unread.txt": "3"}
    for name, content in contents.items():
        put(line, str(folder / name), content)
    put(line, "here.txt", "4")
    read = [str(folder / "one.txt"), str(folder / "deep/two.txt"), "here.txt"]
    done = line("exec", "--read", str(folder), "--", "/usr/bin/cat", *read)
    assert (done.status, done.out) == (0, "124")
    record = last_record(line)
    listed = {each["path"]: each["hash"] for each in record["impact"]["filesRead"]}
    assert listed == {
        path: f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"
        for path, content in zip(read, "124", strict=True)
    }
    assert record["sandbox"]["runtimeReads"]["/usr"] > 0
    assert not any(root.startswith(str(folder)) for root in record["sandbox"]["runtimeReads"])


def test_a_capability_lists_what_trusted_let_it_read(line: CommandLine, folder: Path) -> None:
    """CONTRACTS §10-files-read: the same for saved code that may read everywhere."""
    path = put(line, str(folder / "one.txt"), "1")
    put(line, "it.py", f"result = open({str(path)!r}).read()\n")
    assert line("capability", "save", "it", "it.py").status == 0
    assert line("capability", "set", "it", "trusted", "--by-hand").status == 0
    done = line("capability", "run", "it")
    assert (done.status, done.out) == (0, '"1"\n'), done.err
    [listed] = last_record(line)["impact"]["filesRead"]
    assert listed["path"] == str(path)
    assert listed["hash"] == f"sha256:{hashlib.sha256(b'1').hexdigest()}"
