"""The key file on a real disk: made once, by whoever is first, and refused when others could reach it."""

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import consentry as consentry_package
from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import LedgerProblem
from consentry.record.publickey import PublicKey
from consentry.store.keyfile import LedgerKey, load_key, open_key

NAME = "ledger-key"
NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")

# Opens the key in each folder it is told about, as soon as it is told.
OPENER = """
import sys
from pathlib import Path
from consentry.base.errors import ConsentryError
from consentry.store.keyfile import open_key
print("ready", flush=True)
for line in sys.stdin:
    try:
        print(open_key(Path(line.strip())).key_id, flush=True)
    except ConsentryError as problem:
        print(problem.code, problem, flush=True)
"""
MODULES = os.pathsep.join(
    [
        str(Path(consentry_package.__file__).parents[1]),
        *(path for path in sys.path if path.endswith("site-packages")),
    ]
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as the state directory is."""
    made = tmp_path / "state"
    made.mkdir(mode=0o700)
    return made


def refusal_of(path: Path, opener: Callable[[Path], LedgerKey] = open_key) -> str:
    """The one error, whatever the reason; its message."""
    with pytest.raises(LedgerProblem) as refusal:
        opener(path)
    assert refusal.value.code is Code.LEDGER_KEY
    assert refusal.value.exit_status is ExitStatus.LEDGER
    return refusal.value.message


def names_in(folder: Path) -> list[str]:
    """Everything that lies there."""
    return [entry.name for entry in folder.iterdir()]


def mode_of(path: Path) -> int:
    """The permission bits."""
    return stat.S_IMODE(path.lstat().st_mode)


def test_the_first_use_makes_a_key_that_stays(folder: Path) -> None:
    """Mode 0600, nothing beside it, the same key ever after."""
    key = open_key(folder / NAME)
    assert mode_of(folder / NAME) == 0o600
    assert names_in(folder) == [NAME]
    assert open_key(folder / NAME) == key
    assert load_key(folder / NAME) == key


def test_the_key_signs_and_its_public_half_verifies(folder: Path) -> None:
    """After a trip through PEM, as somebody else would have it."""
    key = open_key(folder / NAME)
    public = PublicKey.from_pem(key.public.to_pem())
    assert public.key_id == key.key_id
    public.verify(key.sign(b"message"), b"message")
    with pytest.raises(LedgerProblem):
        public.verify(key.sign(b"message"), b"massage")


def test_two_folders_have_two_keys(folder: Path, tmp_path: Path) -> None:
    """A key is made from the system's randomness, not from anything that could repeat."""
    (tmp_path / "other").mkdir(mode=0o700)
    assert open_key(folder / NAME).seed != open_key(tmp_path / "other" / NAME).seed


def test_a_key_does_not_show_its_secret(folder: Path) -> None:
    """Not when printed, and not in an error about a broken file."""
    path = folder / NAME
    seed = open_key(path).seed.hex()
    assert seed not in repr(open_key(path))
    path.write_bytes(
        path.read_bytes().replace(b'"kind":"ledger-key"', b'"kind":"' + seed.encode() + b'"')
    )
    assert seed not in refusal_of(path)


def test_the_umask_neither_opens_nor_closes_the_file(folder: Path) -> None:
    """Whatever the umask of the first user was."""
    for umask in (0o000, 0o777):
        before = os.umask(umask)
        try:
            open_key(folder / f"{umask}")
        finally:
            os.umask(before)
        assert mode_of(folder / f"{umask}") == 0o600


def test_loading_makes_nothing(folder: Path) -> None:
    """Whoever only looks is told that there is no key."""
    assert "no such file" in refusal_of(folder / NAME, load_key)
    assert names_in(folder) == []


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o707, 0o500])
def test_a_folder_of_another_mode_is_refused(folder: Path, mode: int) -> None:
    """Others may look in or add to it: no key is made there, and none is used; at 0700 it works."""
    open_key(folder / NAME)
    folder.chmod(mode)
    assert f"has mode {mode:04o}, not 0700" in refusal_of(folder / NAME)
    assert f"has mode {mode:04o}, not 0700" in refusal_of(folder / "fresh")
    folder.chmod(0o700)
    assert names_in(folder) == [NAME]
    open_key(folder / NAME)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666, 0o400, 0o700, 0o4600])
def test_a_key_of_another_mode_is_refused(folder: Path, mode: int) -> None:
    """It may have been read; that is for a person to decide, so nothing is repaired."""
    path = folder / NAME
    key = open_key(path)
    path.chmod(mode)
    assert f"has mode {mode:04o}, not 0600" in refusal_of(path)
    assert mode_of(path) == mode
    path.chmod(0o600)
    assert open_key(path) == key


def test_a_link_to_a_key_is_refused(folder: Path, tmp_path: Path) -> None:
    """Whoever planted the link would choose the key; opened as files usually are, it is read."""
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    planted = tmp_path / "elsewhere" / NAME
    open_key(planted)
    (folder / NAME).symlink_to(planted)
    assert json.loads((folder / NAME).read_bytes())["kind"] == "ledger-key"
    assert "is a link" in refusal_of(folder / NAME)


def test_a_link_to_nowhere_is_not_followed(folder: Path, tmp_path: Path) -> None:
    """No key is made where somebody else points to."""
    (folder / NAME).symlink_to(tmp_path / "trap")
    assert "is a link" in refusal_of(folder / NAME)
    assert not (tmp_path / "trap").exists()


def test_a_folder_that_is_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    """Where it leads may change between two uses."""
    (tmp_path / "link").symlink_to(folder)
    assert "cannot be used" in refusal_of(tmp_path / "link" / NAME)
    assert "no such file" in refusal_of(tmp_path / "missing" / NAME)


def test_what_is_no_plain_file_is_refused(folder: Path) -> None:
    """A folder, a pipe that nobody writes to, a socket: no key, and no waiting."""
    (folder / "folder").mkdir(mode=0o600)
    os.mkfifo(folder / "pipe", 0o600)
    assert "is not a plain file" in refusal_of(folder / "folder")
    assert "is not a plain file" in refusal_of(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(folder / "socket"))
        assert "cannot be used" in refusal_of(folder / "socket")


def test_a_key_cut_off_anywhere_is_refused(folder: Path) -> None:
    """Every length short of the whole, the empty file too; a longer one as well."""
    path = folder / NAME
    open_key(path)
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert "does not hold a key" in refusal_of(path)
    path.write_bytes(whole + b" " * 2000 + b"\n")
    assert "too long" in refusal_of(path)


def test_every_changed_digit_is_refused(folder: Path) -> None:
    """A seed that is not the one of the key it names would sign with another key unseen."""
    path = folder / NAME
    key = open_key(path)
    document = json.loads(path.read_bytes())
    for name in ("seed", "key_id"):
        digit = "0" if document[name][-1] != "0" else "1"
        changed = {**document, name: document[name][:-1] + digit}
        path.write_text(json.dumps(changed) + "\n")
        assert "not that of the key it names" in refusal_of(path)
    path.write_text(json.dumps(document) + "\n")
    assert open_key(path) == key


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"schema_version": 2}, "it is of version 2, and this program knows 1"),
        ({"schema_version": "1"}, "`schema_version`"),
        ({"kind": "another-key"}, "`kind`"),
        ({"algorithm": "rsa"}, "`algorithm`"),
        ({"seed": "00"}, "`seed`"),
        ({"more": 1}, "`more`"),
    ],
)
def test_a_key_of_an_unknown_form_is_refused(
    folder: Path, change: dict[str, object], reason: str
) -> None:
    """A newer program's key is left alone, and the message says what is not understood."""
    path = folder / NAME
    open_key(path)
    content = json.dumps({**json.loads(path.read_bytes()), **change}) + "\n"
    path.write_text(content)
    assert reason in refusal_of(path)
    assert path.read_text() == content


def test_what_a_killed_maker_left_does_not_matter(folder: Path) -> None:
    """A torn file before the key was in place, or a second name of the key after it was."""
    (folder / f".{NAME}.0123456789abcdef.new").write_bytes(b'{"algo')
    key = open_key(folder / NAME)
    os.link(folder / NAME, folder / f".{NAME}.fedcba9876543210.new")
    assert open_key(folder / NAME) == key


def test_a_disk_without_room_leaves_nothing(folder: Path) -> None:
    """The write fails half-way: one clear error, no key, no leftover; with room, a key."""
    limited = (
        "import resource, signal; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n"
    )
    words = [sys.executable, "-c", limited + OPENER]
    ended = subprocess.run(
        words, input=f"{folder / NAME}\n".encode(), capture_output=True, check=True
    )
    assert b"ledger-key" in ended.stdout
    assert b"cannot be used: file too large" in ended.stdout
    assert names_in(folder) == []
    open_key(folder / NAME)


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace to kill at a system call")
@pytest.mark.parametrize(
    "call", ["fchmod:1", "write:1", "fsync:1", "linkat:1", "unlinkat:1", "fsync:2"]
)
def test_a_maker_killed_at_any_step_leaves_no_key_or_a_whole_one(folder: Path, call: str) -> None:
    """Killed as it enters each system call; the next user has a key, and keeps it if there was one."""
    name, _, when = call.partition(":")
    program = (
        "import sys; from pathlib import Path; from consentry.store.keyfile import open_key; "
        "open_key(Path(sys.argv[1]))"
    )
    tracer = ["strace", "-o", "/dev/null", "-e", f"inject={name}:signal=KILL:when={when}"]
    words = [*tracer, sys.executable, "-B", "-c", program, os.fspath(folder / NAME)]
    ended = subprocess.run(words, capture_output=True, check=False)
    if b"ptrace" in ended.stderr:
        pytest.skip(f"this host does not let strace work: {ended.stderr.decode()}")
    assert ended.returncode == -9, ended.stderr
    is_made = (folder / NAME).exists()
    assert is_made == (call in {"unlinkat:1", "fsync:2"})
    before = load_key(folder / NAME) if is_made else None
    after = open_key(folder / NAME)
    assert before in {None, after}
    assert all(mode_of(entry) == 0o600 for entry in folder.iterdir())


@pytest.fixture
def openers() -> Iterator[list["subprocess.Popen[str]"]]:
    """Four processes that wait to be told where to open a key."""
    words = [sys.executable, "-c", OPENER]
    processes = [
        subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        yield processes
    finally:
        for process in processes:
            process.communicate()


def test_of_many_first_users_one_makes_the_key(
    openers: list["subprocess.Popen[str]"], tmp_path: Path
) -> None:
    """Four processes at once, again and again: all end with the key that is in the file."""
    for number in range(60):
        folder = tmp_path / f"{number}"
        folder.mkdir(mode=0o700)
        for process in openers:
            assert process.stdin is not None
            process.stdin.write(f"{folder / NAME}\n")
        for process in openers:
            assert process.stdin is not None
            process.stdin.flush()
        answers = {process.stdout.readline() for process in openers if process.stdout is not None}
        assert answers == {load_key(folder / NAME).key_id + "\n"}
        assert names_in(folder) == [NAME]


@needs_root
def test_a_key_of_somebody_else_is_refused(folder: Path) -> None:
    """The other owner could have chosen it; so could the owner of the folder."""
    path = folder / NAME
    key = open_key(path)
    os.chown(path, NOBODY, NOBODY)
    assert f"belongs to user {NOBODY}" in refusal_of(path)
    os.chown(path, 0, 0)
    os.chown(folder, NOBODY, NOBODY)
    assert f"belongs to user {NOBODY}" in refusal_of(path)
    os.chown(folder, 0, 0)
    assert open_key(path) == key


@needs_root
def test_an_ordinary_user_makes_and_uses_a_key() -> None:
    """Nothing needs root, and a key or folder of root's is no use to that user."""
    place = Path(tempfile.mkdtemp(prefix="consentry-nobody-"))
    try:
        place.chmod(0o755)
        for name, owner in (("own", NOBODY), ("planted", NOBODY), ("roots", 0)):
            (place / name).mkdir(mode=0o700)
            os.chown(place / name, owner, owner)
        (place / "planted" / NAME).write_bytes(b"")
        (place / "planted" / NAME).chmod(0o644)
        own, again, planted, roots = answers_as_nobody(
            *(place / name / NAME for name in ("own", "own", "planted", "roots"))
        )
        assert own == again
        assert own.startswith("ed25519:")
        assert (place / "own" / NAME).stat().st_uid == NOBODY
        assert mode_of(place / "own" / NAME) == 0o600
        assert planted.startswith("ledger-key ")
        assert "belongs to user 0" in planted
        assert roots.startswith("ledger-key ")
        assert "permission denied" in roots
    finally:
        shutil.rmtree(place)


def answers_as_nobody(*paths: Path) -> list[str]:
    """What opening each key answers to an ordinary user, with an interpreter that may be entered."""
    reasons = []
    for interpreter in (sys.executable, "/usr/bin/python3"):
        try:
            ended = subprocess.run(
                [interpreter, "-B", "-c", OPENER],
                input="".join(f"{path}\n" for path in paths).encode(),
                env={"PYTHONPATH": MODULES},
                cwd="/",
                user=NOBODY,
                group=NOBODY,
                extra_groups=(),
                capture_output=True,
                check=True,
            )
        except (OSError, subprocess.CalledProcessError) as problem:
            reasons.append(str(problem))
        else:
            return ended.stdout.decode().splitlines()[1:]
    pytest.skip(f"user {NOBODY} can run no interpreter: {'; '.join(reasons)}")
