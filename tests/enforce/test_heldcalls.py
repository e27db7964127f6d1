"""What the grants refuse waits for a person: opened, made or listed after a yes, and refused after a no.

Beyond ESCALATION, which asks after a run has failed: here nothing is run again.
"""

import os
import stat

import pytest

from consentry.base.codes import Code
from consentry.base.errors import Refused
from tests.enforce.heldruns import NEVER, Ground, said_in_order
from tests.enforce.shownfolders import shown_folder

pytestmark = pytest.mark.skipif(
    shown_folder() is None, reason="this user can write no folder it shows"
)
YES, NO = {"/out": "granted"}, {"/out": "refused"}


def test_a_file_is_read_after_a_yes_and_was_there_to_be_looked_up(ground: Ground) -> None:
    """The person is shown the very file; nothing else of the run changes, nor is anything a violation."""
    secret = str(ground.place / "out/secret")
    told = ground.run("print(os.stat(P+'/out/secret').st_size, read(P+'/out/secret'))", answers=YES)
    assert said_in_order(told) == ["6 SECRET"]
    assert told["asked"] == [["read", "open", secret]]
    [flags] = told["flags"]
    assert (flags["is_direct"], flags["creates"], flags["through_layer"]) == (False, False, False)
    assert flags["program"].startswith("/usr/bin/python3")
    [record] = told["held"]
    assert (record["path"], record["answer"], record["direct"]) == (secret, "granted", False)
    assert record["request"] == "request-1"
    assert secret in told["reads"]
    assert (told["violations"], told["complete"]) == ([], True)


@pytest.mark.parametrize(
    ("answer", "rule"),
    [("refused", "held, and refused"), ("expired", "held, and not answered in time")],
)
def test_without_a_yes_the_program_is_told_that_it_may_not(
    ground: Ground, answer: str, rule: str
) -> None:
    """It goes on with its error; the record has a violation that our own mediation vouches for."""
    secret = str(ground.place / "out/secret")
    told = ground.run(
        "print(tried(read, P + '/out/secret'), read('granted'))", answers={secret: answer}
    )
    assert said_in_order(told) == ["EACCES GRANTED"]
    assert told["violations"] == [["read", secret, rule, "mediated"]]
    assert [each["answer"] for each in told["held"]] == [answer]
    assert secret not in told["reads"]


def test_what_is_written_elsewhere_reaches_the_host_at_once(ground: Ground) -> None:
    """The question says so and the record, with the mode that the program asked for, less its umask."""
    code = """
os.umask(0o027)
print(write(P + "/out/new", "made", os.O_CREAT | os.O_EXCL, 0o6777))
print(write(P + "/out/secret", "+more", os.O_APPEND))
print(tried(os.mkdir, P + "/out/folder", 0o777), tried(os.makedirs, P + "/out/a/b"))
file = ctypes.CDLL(None, use_errno=True).creat((P + "/out/created").encode(), 0o644)
print(os.write(file, b"C"))
both = os.open(P + "/out/both", os.O_RDWR | os.O_CREAT, 0o600)
print(os.write(both, b"both"), os.pread(both, 10, 0))
"""
    told = ground.run(code, answers=YES)
    assert said_in_order(told) == ["done", "done", "None None", "1", "4 b'both'"]
    out = ground.place / "out"
    assert (out / "new").read_text() == "made"
    assert stat.S_IMODE((out / "new").stat().st_mode) == 0o750
    assert stat.S_IMODE((out / "folder").stat().st_mode) == 0o750
    assert (out / "secret").read_text() == "SECRET+more"
    assert (out / "a/b").is_dir()
    assert ((out / "created").read_text(), (out / "both").read_text()) == ("C", "both")
    assert {(out / name).stat().st_uid for name in ("new", "folder", "created")} == {ground.uid}
    assert all(each["direct"] for each in told["held"]), told["held"]
    assert all(each["is_direct"] for each in told["flags"])
    assert [verb for _, verb, _ in told["asked"]] == [
        "create", "open", "mkdir", "mkdir", "mkdir", "create", "create",
    ]  # fmt: skip
    assert told["violations"] == []


def test_nothing_is_made_after_a_no(ground: Ground) -> None:
    """And what was there is as it was."""
    code = "print(tried(write, P + '/out/new'), tried(os.mkdir, P + '/out/d'), tried(write, P + '/out/secret'))"
    told = ground.run(code, answers=NO)
    assert said_in_order(told) == ["EACCES EACCES EACCES"]
    out = ground.place / "out"
    assert [path.name for path in out.iterdir()] == ["secret"]
    assert (out / "secret").read_text() == "SECRET"
    assert {each[2] for each in told["violations"]} == {"held, and refused"}


def test_a_folder_is_listed_after_a_yes(ground: Ground) -> None:
    """Its names, and not what is in them."""
    code = "print(tried(os.listdir, P + '/out'), tried(read, P + '/out/secret'))"
    answers = {"/out": "granted", "/out/secret": "refused"}
    told = ground.run(code, answers=answers)
    assert said_in_order(told) == ["['secret'] EACCES"]
    assert told["asked"][0] == ["read", "open", str(ground.place / "out")]
    assert told["flags"][0]["is_folder"]
    assert told["reads"] == []


def test_inside_a_root_with_a_layer_what_is_written_stays_there(ground: Ground) -> None:
    """It is written beside what was granted, seen by the program, and the host's file is as it was."""
    ground.put("ws/writable/x")
    ground.put("ws/inner/file", "old")
    code = """
print(write("inner/file", "changed", os.O_TRUNC), read("inner/file"))
print(write("inner/new", "made"), tried(os.mkdir, "folder"), sorted(os.listdir("inner")))
print(write("writable/x", "granted"), write("inner/file", "+", os.O_APPEND))
"""
    told = ground.run(code, write=["./writable/", "/tmp/"], answers={"/ws/": "granted"})
    lines = ["done changed", "done None ['file', 'new']", "done done"]
    assert said_in_order(told) == lines
    ws = ground.place / "ws"
    assert [each[1:] for each in told["asked"]] == [
        ["open", str(ws / "inner/file")],
        ["create", str(ws / "inner/new")],
        ["mkdir", str(ws / "folder")],
    ]
    assert all(each["through_layer"] and not each["is_direct"] for each in told["flags"])
    assert not any(each["direct"] for each in told["held"])
    assert (ws / "inner/file").read_text() == "old"
    assert not (ws / "folder").exists()
    layer = dict(told["layer"])
    assert (layer["inner/file"], layer["inner/new"]) == ("changed+", "made")
    assert {str(ws / "inner/file"), str(ws / "folder")} <= set(told["touched"])


def test_one_yes_is_remembered_for_that_thing_and_that_kind_of_access(ground: Ground) -> None:
    """For reading no more is asked; for writing it is, and a yes to both covers each."""
    ground.put("out/both")
    code = """
print(*[read(P + "/out/secret") for _ in range(3)])
print(tried(write, P + "/out/secret", "x", 0), tried(write, P + "/out/secret", "x", 0))
os.close(os.open(P + "/out/both", os.O_RDWR))
print(read(P + "/out/both"), write(P + "/out/both", "y", 0))
"""
    told = ground.run(code, answers=YES)
    assert said_in_order(told) == ["SECRET SECRET SECRET", "done done", "SECRET done"]
    out = str(ground.place / "out")
    assert [each[0::2] for each in told["asked"]] == [
        ["read", f"{out}/secret"],
        ["write", f"{out}/secret"],
        ["write", f"{out}/both"],
    ]
    assert told["flags"][2]["also_reads"]
    assert [each["times"] for each in told["held"]] == [3, 2, 3]


def test_a_no_is_remembered_too(ground: Ground) -> None:
    """Nobody is asked until they give in."""
    told = ground.run("print(*[tried(read, P + '/out/secret') for _ in range(5)])", answers=NO)
    assert said_in_order(told) == ["EACCES EACCES EACCES EACCES EACCES"]
    assert len(told["asked"]) == 1
    assert told["violations"][0][2] == "held, and refused"


def test_another_file_of_the_same_name_is_asked_about_anew(ground: Ground) -> None:
    """What was granted is a thing, not whatever comes to be called so."""
    ground.put("out/other", "OTHER")
    ground.put("out/now", "NOW")
    code = "print(read(P + '/out/secret'), read(P + '/out/now'), tried(read, P + '/out/secret'))"
    other, secret = str(ground.place / "out/other"), str(ground.place / "out/secret")
    meanwhile = f"'/now' in held.path_or_host and os.rename({other!r}, {secret!r})"
    told = ground.run(code, answers=YES, meanwhile=meanwhile)
    assert said_in_order(told)[0].startswith("SECRET NOW ")
    assert [each[2] for each in told["asked"]] == [secret, str(ground.place / "out/now"), secret]


def test_what_a_run_had_made_it_may_go_on_with(ground: Ground) -> None:
    """It was not there before, so nothing of anybody's is read or overwritten."""
    code = "write(P + '/out/new', 'a')\nwrite(P + '/out/new', 'b', os.O_APPEND)\nprint(read(P + '/out/new'))"
    told = ground.run(code, answers=YES)
    assert said_in_order(told) == ["ab"]
    assert len(told["asked"]) == 1


def test_others_go_on_while_one_waits_and_many_wait_at_once(ground: Ground) -> None:
    """Threads that ask for nothing new are not held up; all that wait are answered, each its own."""
    for number in range(20):
        ground.put(f"out/{number}", f"<{number}>")
    code = """
found, done = {}, [0]
def ask(number):
    found[number] = read(f"{P}/out/{number}")
threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
[each.start() for each in threads]
while len(found) < 20:
    before = len(found)
    read("granted")
    if before == 0:
        done[0] += 1
[each.join() for each in threads]
print(done[0] > 5, all(found[n] == f"<{n}>" for n in range(20)))
"""
    told = ground.run(code, answers=YES, delay=0.5)
    assert said_in_order(told) == ["True True"]
    assert len({each[2] for each in told["asked"]}) == 20


def test_the_same_thing_asked_for_twice_at_once_is_one_question(ground: Ground) -> None:
    """Both are answered by it, also where it is to be made."""
    code = """
found = []
def ask(name):
    found.append(read(P + "/out/secret"))
    found.append(write(P + "/out/" + name, "x", os.O_CREAT | os.O_APPEND))
threads = [threading.Thread(target=ask, args=("new",)) for _ in range(4)]
[each.start() for each in threads]
[each.join() for each in threads]
print(sorted(found))
"""
    told = ground.run(code, answers=YES, delay=0.3)
    assert said_in_order(told) == [str(["SECRET"] * 4 + ["done"] * 4)]
    assert len(told["asked"]) == 2
    assert (ground.place / "out/new").read_text() == "xxxx"


def test_whoever_dies_while_it_waits_takes_its_question_along(ground: Ground) -> None:
    """The run ends as it ends; nobody waits for the dead."""
    code = """
pid = os.fork()
if pid == 0:
    read(P + "/out/secret")
until_asked()
os.kill(pid, 9)
print(os.waitpid(pid, 0)[1])
time.sleep(0.6)
"""
    told = ground.run(code, answers={"/out": NEVER})
    assert said_in_order(told) == ["9"]
    assert told["gone"] == [1]
    assert [each["answer"] for each in told["held"]] == ["gone"]


def test_the_time_of_a_run_goes_on_while_it_waits(ground: Ground) -> None:
    """A limit on it ends the run, and every question with it."""
    code = """
threading.Thread(target=read, args=(P + "/out/other",)).start()
read(P + "/out/secret")
"""
    ground.put("out/other")
    told = ground.run(code, answers={"/out": NEVER}, wall_seconds=2.0)
    assert told["ending"] == "timeout"
    assert sorted(told["gone"]) == [1, 2]


def test_with_the_launcher_gone_nothing_is_granted(ground: Ground) -> None:
    """The program ends with it, and a yes that comes later opens nothing."""
    if ground.uid != os.getuid():
        pytest.skip("it is the same for every user")
    gone = "import signal; os.kill(globals()['engine']._parent._process.pid, signal.SIGKILL)"
    with pytest.raises(Refused, match="the launcher ended"):
        ground.run("write(P + '/out/new')", answers=YES, delay=0.01, meanwhile=gone)
    assert not (ground.place / "out/new").exists()


def test_a_keeper_that_fails_grants_nothing(ground: Ground) -> None:
    """And leaves nobody waiting; the record says why."""
    told = ground.run(
        "print(tried(read, P + '/out/secret'))", answers=YES, meanwhile="raise ValueError('broken')"
    )
    assert said_in_order(told) == ["EACCES"]
    [record] = told["held"]
    assert (record["answer"], record["error"]) == ("refused", "nobody could be asked: broken")


@pytest.mark.parametrize(
    "wish", [{"view": "private"}, {"holds": False}], ids=["private", "not compiled"]
)
def test_a_run_that_cannot_be_held_does_not_start(ground: Ground, wish: dict[str, object]) -> None:
    """In the private view a program does not ask for what it cannot see."""
    if ground.uid != os.getuid():
        pytest.skip("it is the same for every user")
    with pytest.raises(Refused) as refused:
        ground.run("print('ran')", **wish)
    assert refused.value.code is Code.HOLD_REFUSED


def test_a_name_of_any_bytes_can_be_asked_for(ground: Ground) -> None:
    """As long as the kernel takes it; what is shown is the name, whatever is in it."""
    names = ["line\nbreak", "\x1b[31mred", "bytes-\udcff", "n" * 255, " (deleted)", "a (deleted)"]
    for name in names:
        ground.put(f"out/{name}", "x")
    code = "print(*[read(os.fsdecode(P) + '/out/' + name) for name in {names!a}])"
    told = ground.run(code.replace("{names!a}", ascii(names)), answers=YES)
    assert said_in_order(told) == [" ".join("x" * len(names))]
    assert [each[2] for each in told["asked"]] == [f"{ground.place}/out/{name}" for name in names]


def test_what_is_refused_is_told_once(ground: Ground) -> None:
    """Also where the program tried in other ways, which nobody holds."""
    code = "print(tried(os.unlink, P + '/out/secret'), tried(write, P + '/out/secret'))"
    told = ground.run(code, answers=NO)
    assert len(told["violations"]) == 1
    assert told["violations"][0][2:] == ["held, and refused", "mediated"]
