"""Attacks on what waits for a person's answer: what was shown is what is opened, and no more than that."""

import os
import socket
import stat
from pathlib import Path

import pytest

from tests.enforce.heldruns import NEVER, Ground, said_in_order
from tests.enforce.shownfolders import shown_folder

pytestmark = pytest.mark.skipif(
    shown_folder() is None, reason="this user can write no folder it shows"
)

HARMLESS, BOTH = {"/harmless": "granted"}, {"/out/": "granted"}

# After the answer the program's own memory is read once more, and what is named there is opened.
BY_NAME = """
import os
from consentry.enforce.native import heldpins, observer
looked = observer.Observer._look_at_open
def look(self, number, pid, name, arguments):
    heldpins.last = (self, pid, arguments)
    return looked(self, number, pid, name, arguments)
def reopened(self, pin):
    watcher, pid, arguments = heldpins.last
    name = watcher._memory.text_at(pid, arguments[1])
    if not name.startswith(b"/"):
        name = os.readlink(b"/proc/%d/cwd" % pid) + b"/" + name
    _, place, _ = watcher._finder_of(pid).find(pid, name, keeps_link=False)
    return os.open(place, os.O_RDONLY)
observer.Observer._look_at_open = look
heldpins.HeldPins._open = reopened
"""
# A yes opens whatever has the name that was shown.
BY_SHOWN_NAME = """
import os
from consentry.enforce.native import heldpins
heldpins.HeldPins._open = lambda self, pin: os.open(pin.path, os.O_RDONLY)
"""
WRITABLE_CLONE = """
import os
from consentry.enforce.native import heldpins
heldpins._opened_root = lambda tree: os.open("/", os.O_PATH)
"""
FOLDERS_OF_THE_HOST = """
import os
from consentry.enforce.native import heldpins
made = heldpins.HeldPins.__init__
def made_so(self, wish, rules, pid):
    made(self, wish, rules, pid)
    self._roots[heldpins.BOX] = os.open("/", os.O_PATH)
heldpins.HeldPins.__init__ = made_so
"""
NO_LAYER = """
from consentry.enforce.native import heldrules
heldrules.HeldRules.layer_of = lambda self, place: None
"""
NEVER_LOOKS = """
from consentry.enforce.native import notify
notify.is_there = lambda listener, number: True
"""

FLIPS = """
buffer = ctypes.create_string_buffer((P + "/out/harmless").encode())
libc = ctypes.CDLL(None, use_errno=True)
def flip():
    until_asked()
    buffer.value = (P + "/out/secret").encode()
threading.Thread(target=flip).start()
file = libc.open(buffer, 0)
print(os.read(file, 100).decode() if file >= 0 else errno.errorcode[ctypes.get_errno()])
"""


def test_a_name_that_changes_while_it_waits_opens_what_was_shown(ground: Ground) -> None:
    """Another thread rewrites the bytes after the question; they are never read again."""
    ground.put("out/harmless", "HARMLESS")
    told = ground.run(FLIPS, answers=HARMLESS, delay=1.0)
    assert said_in_order(told) == ["HARMLESS"]
    assert [each[2] for each in told["asked"]] == [str(ground.place / "out/harmless")]


def test_the_file_behind_the_other_name_is_opened_where_that_is_granted(ground: Ground) -> None:
    """It is there, and can be read by this program after a yes."""
    told = ground.run("print(read(P + '/out/secret'))", answers=BOTH)
    assert said_in_order(told) == ["SECRET"]


def test_without_the_pin_the_name_that_was_changed_is_opened(ground: Ground) -> None:
    """The person said yes to one file, and the program has another."""
    ground.put("out/harmless", "HARMLESS")
    told = ground.run(FLIPS, answers=HARMLESS, delay=1.0, launcher=BY_NAME)
    assert said_in_order(told) == ["SECRET"]
    assert [each[2] for each in told["asked"]] == [str(ground.place / "out/harmless")]


def test_a_thread_that_flips_names_all_the_time_gets_nothing_that_was_refused(
    ground: Ground,
) -> None:
    """Answers come at once: whichever name was copied, its own file comes of it, or an error."""
    ground.put("out/harmless", "HARMLESS")
    code = """
names = [(P + "/out/harmless").encode(), (P + "/out/secret" + "\\0\\0").encode()]
buffer = ctypes.create_string_buffer(names[0], len(names[0]) + 1)
libc = ctypes.CDLL(None, use_errno=True)
is_over = False
def flip():
    while not is_over:
        for name in names:
            ctypes.memmove(buffer, name, len(name))
thread = threading.Thread(target=flip)
thread.start()
found = {}
for _ in range(300):
    file = libc.open(buffer, 0)
    word = os.read(file, 100).decode() if file >= 0 else errno.errorcode[ctypes.get_errno()]
    found[word] = found.get(word, 0) + 1
    if file >= 0:
        os.close(file)
is_over = True
print(sorted(found))
"""
    told = ground.run(code, answers=HARMLESS)
    [words] = said_in_order(told)
    assert "SECRET" not in words, words
    assert "HARMLESS" in words
    shown = {Path(each[2]).name for each in told["asked"]}
    assert shown <= {"harmless", "secret"}


SWAPS = """
os.symlink(P + "/out/harmless", "writable/link")
def swap():
    until_asked()
    os.symlink(P + "/out/secret", "writable/next")
    os.rename("writable/next", "writable/link")
threading.Thread(target=swap).start()
print(read("writable/link"))
"""


def test_a_link_that_is_swapped_while_it_waits_opens_what_was_shown(ground: Ground) -> None:
    """A link in the workspace leads to a file of the host: that file's own name is shown."""
    ground.put("out/harmless", "HARMLESS")
    ground.put("ws/writable/x")
    wish = {"answers": HARMLESS, "delay": 1.0, "write": ["./writable/", "/tmp/"]}
    told = ground.run(SWAPS, **wish)
    assert said_in_order(told) == ["HARMLESS"]
    assert [each[2] for each in told["asked"]] == [str(ground.place / "out/harmless")]
    told = ground.run(SWAPS, **wish, launcher=BY_NAME)
    assert said_in_order(told) == ["SECRET"]


def test_a_file_that_is_replaced_on_the_host_while_it_waits_is_not_what_was_shown(
    ground: Ground,
) -> None:
    """What the person was asked about is opened, though it has lost its name since."""
    ground.put("out/harmless", "HARMLESS")
    harmless, secret = (str(ground.place / "out" / name) for name in ("harmless", "secret"))
    code = "print(read(P + '/out/harmless'))"
    wish = {"answers": HARMLESS, "meanwhile": f"os.rename({secret!r}, {harmless!r})"}
    assert said_in_order(ground.run(code, **wish)) == ["HARMLESS"]
    ground.put("out/secret")
    ground.put("out/harmless", "HARMLESS")
    told = ground.run(code, **wish, launcher=BY_SHOWN_NAME)
    assert said_in_order(told) == ["SECRET"]


CHANGES = """
file = os.open(P + "/out/secret", FLAGS)
print(tried(os.fchmod, file, 0o666), tried(os.utime, file, (1, 1)))
print(tried(os.setxattr, file, "user.mark", b"x"))
try:
    again = os.open(f"/proc/self/fd/{file}", os.O_WRONLY)
    print("opened", os.write(again, b"EVIL"))
except OSError as problem:
    print(errno.errorcode[problem.errno])
"""
READ_ONLY = {"/out/secret": "granted"}


# The second question, for writing, is refused: only reading was granted.
NO_WRITES = "held.operation.value == 'write' and (_ for _ in ()).throw(ValueError('no'))"


def test_what_may_be_read_changes_in_nothing(ground: Ground) -> None:
    """Neither mode, times nor marks, nor by its number, though the program's user owns the file."""
    secret = ground.put("out/secret")
    before = secret.stat()
    code = CHANGES.replace("FLAGS", "os.O_RDONLY")
    told = ground.run(code, answers=READ_ONLY, meanwhile=NO_WRITES)
    words = " ".join(said_in_order(told)).split()
    assert set(words) <= {"EROFS", "EACCES", "EPERM"}, words
    after = secret.stat()
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert (secret.read_text(), os.listxattr(secret)) == ("SECRET", [])


def test_what_may_be_written_may_be_changed(ground: Ground) -> None:
    """The same calls, after a yes to writing: they reach the host, as the question said."""
    if ground.uid == 0:
        pytest.skip("the program of a root caller owns no file of the host")
    secret = ground.put("out/secret")
    code = CHANGES.replace("FLAGS", "os.O_WRONLY")
    told = ground.run(code, answers=READ_ONLY)
    assert said_in_order(told)[0] == "None None"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o666


def test_without_the_read_only_mounts_a_read_grant_changes_the_file(ground: Ground) -> None:
    """A descriptor to read by is enough for its mode and its times."""
    if ground.uid == 0:
        pytest.skip("the program of a root caller owns no file of the host")
    secret = ground.put("out/secret")
    code = CHANGES.replace("FLAGS", "os.O_RDONLY")
    told = ground.run(code, answers=READ_ONLY, meanwhile=NO_WRITES, launcher=WRITABLE_CLONE)
    assert said_in_order(told)[0] == "None None"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o666


def test_nothing_that_is_written_lends_its_owners_identity(ground: Ground) -> None:
    """Neither when it is made nor later; without the filter on modes, later."""
    code = """
file = os.open(P + "/out/tool", os.O_CREAT | os.O_WRONLY, 0o6755)
print(tried(os.fchmod, file, 0o6755), tried(os.fchmod, file, 0o755))
"""
    told = ground.run(code, answers=BOTH)
    made = ground.place / "out/tool"
    assert said_in_order(told)[0].split()[0] == "EPERM"
    assert made.stat().st_mode & 0o6000 == 0
    if ground.uid == 0:
        return  # the program of a root caller owns no file of the host
    made.unlink()
    weakened = "from consentry.enforce.native import seccompfilter\nseccompfilter._MODES = ()"
    told = ground.run(code, answers=BOTH, owner=weakened)
    assert said_in_order(told) == ["None None"]


OUT_BY_FOLDER = """
folder = os.open(P + "/out", os.O_RDONLY | os.O_DIRECTORY)
print(tried(os.listdir, folder))
def opened(name):
    file = os.open(name, os.O_RDONLY, dir_fd=folder)
    return os.read(file, 100).decode()
print(tried(opened, "secret"), tried(opened, "../out/secret"))
os.fchdir(folder)
print(tried(socket.socket(socket.AF_UNIX).connect, "socket"))
print(tried(os.chmod, "secret", 0o666))
"""


@pytest.mark.parametrize("launcher", ["", FOLDERS_OF_THE_HOST], ids=["as it is", "weakened"])
def test_a_folder_that_may_be_listed_leads_to_nobody(ground: Ground, launcher: str) -> None:
    """It is a folder of the box: no socket in it reaches the host, and nothing in it is opened.

    A folder of the host would lead to whoever listens there.
    """
    with socket.socket(socket.AF_UNIX) as listening:
        path = ground.place / "out/socket"
        listening.bind(str(path))
        path.chmod(0o777)
        listening.listen()
        answers = {"/out": "granted", "/out/": "refused"}
        told = ground.run(OUT_BY_FOLDER, answers=answers, launcher=launcher)
    names, files, connected, mode = said_in_order(told)
    assert "'secret'" in names
    assert files == "EACCES EACCES"
    assert connected == ("None" if launcher else "ECONNREFUSED")
    if not launcher:
        assert mode in ("EROFS", "EPERM")


def test_without_the_way_through_the_layer_the_host_is_written(ground: Ground) -> None:
    """With it the workspace is as it was; and a place that is granted is written in the layer, too."""
    ground.put("ws/writable/x", "old")
    inner = ground.put("ws/inner/file", "old")
    code = "print(write('inner/file'), write('writable/x'))"
    wish = {"answers": {"/ws/": "granted"}, "write": ["./writable/", "/tmp/"]}
    told = ground.run(code, **wish)
    assert said_in_order(told) == ["done done"]
    assert inner.read_text() == (ground.place / "ws/writable/x").read_text() == "old"
    told = ground.run(code, **wish, launcher=NO_LAYER)
    assert said_in_order(told) == ["done done"]
    assert inner.read_text() == "new"


DIES = """
pid = os.fork()
if pid == 0:
    os.mkdir(P + "/out/late")
until_asked()
os.kill(pid, 9)
os.waitpid(pid, 0)
time.sleep(1.2)
print("over")
"""


def test_a_yes_to_somebody_who_died_does_nothing(ground: Ground) -> None:
    """The answer comes when nobody waits any more; without asking the kernel, it is carried out."""
    slow = "from consentry.enforce.native import launcher\nlauncher._LOOK_FOR_DEAD = 60_000\n"
    # Whoever looks for the dead now and then would find it first.
    not_looked_for = slow + "launcher.Launcher._look_for_the_dead = lambda self: None\n"
    wish = {"answers": BOTH, "delay": 0.8}
    told = ground.run(DIES, **wish, launcher=not_looked_for)
    assert said_in_order(told) == ["over"]
    assert not (ground.place / "out/late").exists()
    assert told["held"][0]["error"] == "ESRCH: No such process"
    told = ground.run(DIES, **wish, launcher=not_looked_for + NEVER_LOOKS)
    assert (ground.place / "out/late").is_dir()


def test_a_protected_file_behind_a_link_is_opened_by_nobody(ground: Ground) -> None:
    """What was pinned is judged by its own name; were it not, a yes would open it."""
    protected = Path("/var/lib/dpkg/status")
    if not protected.exists():
        pytest.skip("there is no such file to be protected")
    (ground.place / "out/link").symlink_to(protected)
    (ground.place / "out/harmless").symlink_to("secret")
    code = "print(tried(read, P + '/out/harmless'), tried(read, P + '/out/link')[:7])"
    told = ground.run(code, answers={"/": "granted"})
    assert said_in_order(told) == ["SECRET ENOENT"]
    assert [each[2] for each in told["asked"]] == [str(ground.place / "out/secret")]
    weakened = (
        "from consentry.enforce.native import heldplan\n"
        "heldplan.NeverHeld.rule_against = lambda self, path: None"
    )
    told = ground.run(code, answers={"/": "granted"}, owner=weakened)
    assert str(protected) in [each[2] for each in told["asked"]]
    assert said_in_order(told) == [f"SECRET {protected.read_text()[:7]}"]


def test_many_that_wait_leave_the_launcher_room_for_others(ground: Ground) -> None:
    """So many of one run wait at once; what is beyond is refused, and all of it ends with the run."""
    for number in range(120):
        ground.put(f"out/{number}")
    code = """
found = []
def ask(number):
    found.append(tried(read, f"{P}/out/{number}"))
threads = [threading.Thread(target=ask, args=(n,), daemon=True) for n in range(120)]
[each.start() for each in threads]
end = time.monotonic() + 20
while len(found) < 20 and time.monotonic() < end:
    time.sleep(0.05)
print(len(found), set(found), read("granted"), flush=True)
os._exit(0)
"""
    told = ground.run(code, answers={"/out": NEVER})
    assert said_in_order(told) == ["20 {'EACCES'} GRANTED"]
    assert len(told["asked"]) == len(told["gone"]) == 100
    assert len([each for each in told["violations"] if "/out/" in each[1]]) == 120
