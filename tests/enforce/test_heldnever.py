"""What is refused without a question, though everything else waits for one: and the record says so."""

import os
import socket
from pathlib import Path

import pytest

from tests.enforce.heldruns import Ground, held_run, said_in_order
from tests.enforce.shownfolders import shown_folder

pytestmark = pytest.mark.skipif(
    shown_folder() is None, reason="this user can write no folder it shows"
)
YES = {"/": "granted"}


def test_protected_roots_are_never_asked_for(ground: Ground) -> None:
    """Neither by their names, nor by a link in the workspace that leads there."""
    link = ground.place / "ws/link"
    link.symlink_to("/etc/passwd-")
    (ground.place / "ws/made").symlink_to("/etc/consentry-new")
    code = """
print(tried(read, "/etc/shadow"), tried(read, "link"), tried(read, "/root/.ssh/id_rsa"))
print(tried(write, "/etc/consentry-new"), tried(write, "made"), tried(os.mkdir, "/var/x"))
"""
    told = ground.run(code, answers=YES)
    words = " ".join(said_in_order(told)).split()
    assert set(words) <= {"EACCES", "ENOENT", "EROFS", "EPERM"}, words
    assert told["asked"] == told["held"] == []
    found = {each[1]: each[2] for each in told["violations"]}
    assert found["/etc/shadow"] == "protected root /etc/"
    assert not Path("/etc/consentry-new").exists()
    assert not Path("/var/x").exists()


def test_what_the_run_denies_is_never_asked_for(ground: Ground) -> None:
    """Be it hidden inside a granted folder, or named beside; nor what a denied link leads to."""
    ground.put("ws/denied/key")
    ground.put("out/private/key")
    ground.put("out/token.pem")
    ground.put("out/behind")
    (ground.place / "out/link").symlink_to(ground.place / "out/behind")
    place = str(ground.place)
    code = """
for name in ("ws/denied/key", "out/private/key", "out/token.pem", "out/behind", "out/link"):
    print(tried(read, f"{P}/{name}"), tried(write, f"{P}/{name}"))
print(tried(write, P + "/out/private/new"), tried(read, P + "/out/secret"))
"""
    denied = ["./denied/", f"{place}/out/private/", f"{place}/out/*.pem", f"{place}/out/link"]
    told = ground.run(code, answers=YES, denied=denied)
    lines = said_in_order(told)
    assert set(" ".join(lines[:5]).split()) <= {"EACCES", "ENOENT", "EROFS", "EPERM"}, lines
    assert lines[5].endswith("SECRET")
    assert not lines[5].startswith("done")
    assert [each[2] for each in told["asked"]] == [f"{place}/out/secret"]


def test_our_own_state_directory_is_never_asked_for(ground: Ground) -> None:
    """Wherever it was put: whoever writes it decides."""
    ground.put("out/state/ledger.db")
    code = "print(tried(read, P + '/out/state/ledger.db'), tried(write, P + '/out/state/new'))"
    told = ground.run(code, answers=YES, state=str(ground.place / "out/state"))
    assert said_in_order(told) == ["EACCES EACCES"]
    assert told["asked"] == []
    assert len(told["violations"]) == 2
    assert not (ground.place / "out/state/new").exists()


def test_what_every_program_asks_for_and_what_is_its_own_is_never_asked_for(
    ground: Ground,
) -> None:
    """Doors to the kernel, the runtime, the run's own folders, and names that are nowhere."""
    code = """
names = ("/proc/self/maps", "/proc/1/mem", "/proc/sys/kernel/core_pattern", "/dev/sda", "/dev/null",
         "/sys/kernel/notes", "/etc/locale.alias", "/etc/ld.so.preload", "/tmp/none", "/nowhere/x",
         "/usr/share/locale/locale.alias")
for name in names:
    tried(read, name)
for name in ("/usr/lib/x.pyc", "/usr/local/lib/x", "/tmp/own", "/home/user/own", "/proc/self/comm"):
    tried(write, name)
"""
    told = ground.run(code, answers=YES)
    said_in_order(told)
    assert told["asked"] == []


def test_what_cannot_be_done_safely_for_a_program_is_refused_as_ever(ground: Ground) -> None:
    """To remove, rename, link, cut by name or start something waits for nobody; each is a denial."""
    ground.put("out/program", "#!/bin/sh\n", 0o755)
    code = """
secret, new = P + "/out/secret", P + "/out/new"
print(tried(os.unlink, secret), tried(os.rename, secret, new), tried(os.link, secret, new))
print(tried(os.symlink, "x", new), tried(os.truncate, secret, 0), tried(os.rmdir, P + "/out"))
print(tried(os.chmod, secret, 0o777), tried(os.execv, P + "/out/program", ["program"]))
listening = socket.socket(socket.AF_UNIX)
print(tried(listening.bind, new), tried(os.mkfifo, new))
"""
    told = ground.run(code, answers=YES)
    words = set(" ".join(said_in_order(told)).split())
    assert words <= {"EACCES", "EROFS", "EPERM", "EXDEV"}, words
    assert told["asked"] == []
    denied = {(each[0], Path(each[1]).name) for each in told["violations"]}
    assert {("write", "secret"), ("write", "new"), ("run", "program")} <= denied
    assert (ground.place / "out/secret").read_text() == "SECRET"
    assert {path.name for path in (ground.place / "out").iterdir()} == {"secret", "program"}


def test_in_a_rehearsal_a_write_beside_the_layer_is_refused_and_not_held(ground: Ground) -> None:
    """Reading is still asked for, and so is what stays in the layer."""
    ground.put("ws/writable/x")
    ground.put("ws/inner/file", "old")
    code = """
print(tried(write, P + "/out/secret"), tried(write, P + "/out/new"), tried(os.mkdir, P + "/out/d"))
print(read(P + "/out/secret"), tried(write, "inner/file"))
"""
    told = ground.run(
        code, answers=YES, write=["./writable/", "/tmp/"], allows_direct=False
    )  # fmt: skip
    assert said_in_order(told) == ["EACCES EACCES EACCES", "SECRET done"]
    assert [each[0] for each in told["asked"]] == ["read", "write"]
    out = str(ground.place / "out")
    assert [each[:3] for each in told["violations"]] == [
        ["write", f"{out}/secret", "not granted"],
        ["write", f"{out}/new", "not granted"],
        ["write", f"{out}/d", "not granted"],
    ]
    assert (ground.place / "out/secret").read_text() == "SECRET"


def test_only_files_and_folders_are_ever_opened(ground: Ground) -> None:
    """A pipe, a socket or a link that is not to be followed is left to the kernel, which refuses."""
    out = ground.place / "out"
    os.mkfifo(out / "pipe", 0o666)
    (out / "link").symlink_to("secret")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(out / "socket"))
        for name in ("pipe", "socket"):
            (out / name).chmod(0o666)
        code = """
print(tried(read, P + "/out/pipe", os.O_NONBLOCK), tried(write, P + "/out/pipe", "x", os.O_NONBLOCK))
print(tried(read, P + "/out/socket"), tried(read, P + "/out/link", os.O_NOFOLLOW))
print(tried(os.open, P + "/out", os.O_TMPFILE | os.O_WRONLY), tried(write, P + "/out", "x", 0))
print(tried(write, P + "/out/secret", "x", os.O_CREAT | os.O_EXCL))
"""
        told = ground.run(code, answers=YES)
    words = said_in_order(told)
    assert not any("done" in each for each in words), words
    assert words[1].split()[1] == "ELOOP"
    assert words[3] == "EEXIST"
    assert told["asked"] == []


def test_nobody_is_asked_for_what_no_yes_would_open(ground: Ground) -> None:
    """The caller may not read it either."""
    if ground.uid == 0:
        pytest.skip("root may")
    closed = ground.put("out/closed", mode=0o000)
    told = held_run(
        ground.uid, ground.place, "print(tried(read, P + '/out/closed'))", answers=YES
    )  # fmt: skip
    assert said_in_order(told) == ["EACCES"]
    assert told["asked"] == []
    assert told["violations"][0][:2] == ["read", str(closed)]


def test_a_call_with_rules_of_its_own_for_names_waits_for_nobody(ground: Ground) -> None:
    """What it forbids, no yes must open for it: it is left to the kernel, which refuses."""
    code = """
how = (ctypes.c_uint64 * 3)(os.O_RDONLY, 0, 4)
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(437, -100, (P + "/out/secret").encode(), how, 24), ctypes.get_errno())
how = (ctypes.c_uint64 * 3)(os.O_RDONLY, 0, 0)
print(os.read(libc.syscall(437, -100, (P + "/out/secret").encode(), how, 24), 10))
"""
    told = ground.run(code, answers=YES)
    assert said_in_order(told) == ["-1 13", "b'SECRET'"]
    assert len(told["asked"]) == 1


def test_nobody_learns_from_a_refusal_what_is_out_of_sight(ground: Ground) -> None:
    """Where the box has no such folder, it is as if the host had none, whether it has one or not."""
    code = """
print(tried(write, "/var/lib/dpkg/new"), tried(write, "/var/nowhere/new"))
print(tried(os.mkdir, "/var/spool/new"), tried(read, "/var/lib/dpkg/status"), tried(read, "/var/no"))
"""
    told = ground.run(code, answers=YES)
    assert said_in_order(told) == ["ENOENT ENOENT", "ENOENT ENOENT ENOENT"]
    assert told["asked"] == []


OBEYED = (
    ".git/hooks/pre-commit",
    ".envrc",
    ".Git/Config",
    "bare.git/config",
    "repo/hooks",
    "new/HEAD",
)
WRITES_OBEYED = """
for name in NAMES:
    print(tried(write, f"{P}/out/{name}"), tried(write, name))
print(tried(os.mkdir, P + "/out/.husky"), tried(write, P + "/out/plain"))
""".replace("NAMES", repr(OBEYED))


def test_nobody_is_asked_to_have_names_written_that_other_programs_obey(ground: Ground) -> None:
    """A yes is for the run, and they are obeyed later, outside of it; reading them is asked for."""
    for root in ("out", "ws"):
        for name in (
            "repo/HEAD",
            "new/config",
            ".git/HEAD",
            ".git/hooks/x",
            ".Git/x",
            "bare.git/x",
        ):
            ground.put(f"{root}/{name}")
    wish = {"answers": YES, "write": ["./writable/", "/tmp/"]}
    ground.put("ws/writable/x")
    told = ground.run(WRITES_OBEYED, **wish)
    *lines, last = said_in_order(told)
    assert set(" ".join(lines).split()) <= {"EACCES", "EROFS"}, lines
    assert last == "EACCES done"
    assert [each[2] for each in told["asked"]] == [str(ground.place / "out/plain")]
    assert not (ground.place / "out/.git/hooks/pre-commit").exists()
    code = "print(read(P + '/out/.git/HEAD'))"
    assert said_in_order(ground.run(code, answers=YES)) == ["SECRET"]
    weakened = (
        "from consentry.enforce.native import heldplan\n"
        "heldplan.NeverHeld.rule_against_writing = lambda self, path, is_folder: None"
    )
    told = ground.run(WRITES_OBEYED, **wish, owner=weakened)
    assert said_in_order(told)[0] == "done done"
    assert (ground.place / "out/.git/hooks/pre-commit").exists()
