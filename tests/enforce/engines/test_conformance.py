"""What a run is promised, whichever engine confines it; effects are looked at from outside."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.execs import last_record, put
from tests.enforce.engines.benches import CONTAINERS, NATIVE, Bench

_PATIENCE = 40.0
_ODD = "a\u00e4\u202e'\"$(x) *\n\\z".encode()
_SKELETON = {".bashrc", ".inputrc", ".profile", ".bash_logout", ".zshrc"}
_PYTHON = "/usr/bin/python3"


def _eventually(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.05)
    return holds()


def _processes(mark: str) -> list[int]:
    """Every process of the host with a word in its command line."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def _groups() -> set[str]:
    """Of all control groups that are ours, wherever they were made."""
    top = Path("/sys/fs/cgroup")
    return {
        str(Path(above, name))
        for above, names, _ in os.walk(top)
        for name in names
        if name.startswith("consentry-")
    }


def test_its_status_is_the_programs(bench: Bench) -> None:
    """Also in the record, with the engine that ran it."""
    assert bench.run("sh", "-c", "exit 3").status == 3
    record = last_record(bench.line)
    assert (record["execution"]["status"], record["execution"]["exitCode"]) == ("failure", 3)
    assert record["sandbox"]["engine"] == bench.engine


def test_a_signal_that_ended_it_is_told(bench: Bench) -> None:
    """As 128 and the signal by the command, and as what it is in the record."""
    assert bench.run("sh", "-c", "kill -9 $$").status == 128 + signal.SIGKILL
    execution = last_record(bench.line)["execution"]
    assert (execution["status"], execution["signal"]) == ("killed", signal.SIGKILL)


def test_what_is_written_to_it_comes_out(bench: Bench) -> None:
    """Input, output and errors are three streams."""
    running = bench.start("sh", "-c", "cat; echo wrong >&2", stdin=-1)
    out, err = running.communicate(b"\0bytes\xff" * 1000)
    assert (running.returncode, out) == (0, b"\0bytes\xff" * 1000)
    assert err.startswith(b"wrong\n")


def test_a_signal_reaches_the_program(bench: Bench) -> None:
    """Which may do something about it before it ends."""
    script = "trap 'echo heard; exit 7' TERM; echo ready; while :; do sleep 0.05; done"
    running = bench.start("sh", "-c", script)
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    running.send_signal(signal.SIGTERM)
    out, _ = running.communicate(timeout=_PATIENCE)
    assert (running.returncode, out) == (7, b"heard\n")


def test_time_that_is_over_ends_it(bench: Bench) -> None:
    """And everything that it started, also what left its session."""
    mark = f"86{os.getpid()}.5"
    script = f"setsid sleep {mark} & sleep {mark}"
    assert bench.run("sh", "-c", script, options=("--timeout", "1s")).status == 124
    assert _eventually(lambda: not _processes(mark))


def test_what_it_prints_is_capped(bench: Bench) -> None:
    """It is ended, and nothing more than was allowed arrives."""
    ended = bench.run("yes", options=("--max-output", "1KB"))
    assert ended.status == 137
    assert 0 < len(ended.out) <= 1024
    assert last_record(bench.line)["execution"]["limit"] == "output"


def _is_lacking(bench: Bench, control: str, *options: str) -> bool:
    """Whether the engine refuses such a limit here, which one without control groups has to."""
    ended = bench.run("true", options=options)
    if ended.status == 126:
        assert bench.engine == "podman"
        assert f"{control}: an ordinary user's containers have no control groups" in ended.err
        return True
    assert ended.status == 0
    return False


def test_memory_is_limited(bench: Bench) -> None:
    """A program that takes more than it may is ended, one that takes less is not."""
    # With more than it may have, it waits for its end, which a watcher may bring a moment later.
    take = (
        "import sys, time\nsize = int(sys.argv[1])\nheld = bytearray(size << 20)\n"
        "time.sleep(30 if size > 96 else 0)"
    )
    options = ("--memory", "96MB")
    if _is_lacking(bench, "memory", *options):
        return
    assert bench.run(_PYTHON, "-c", take, "16", options=options).status == 0
    assert bench.run(_PYTHON, "-c", take, "400", options=options).status == 137
    assert last_record(bench.line)["execution"]["limit"] == "memory_bytes"


def test_processor_time_is_limited(bench: Bench) -> None:
    """Of all processes together."""
    if _is_lacking(bench, "cpu", "--cpu", "1"):
        return
    script = "while :; do :; done & while :; do :; done"
    assert bench.run("sh", "-c", script, options=("--cpu", "1")).status == 137
    assert last_record(bench.line)["execution"]["limit"] == "cpu_seconds"


def test_processes_are_limited(bench: Bench) -> None:
    """Either no more can be made, or the run is ended."""
    if _is_lacking(bench, "processes", "--processes", "12"):
        return
    # They live for as long as their maker holds the pipe, and it waits for its end where it has too many.
    make = (
        "import os, sys, time\nmade, most = 0, int(sys.argv[1])\nends, held = os.pipe()\n"
        "for _ in range(40):\n"
        "    try:\n        pid = os.fork()\n    except OSError:\n        break\n"
        "    if pid == 0:\n        os.close(held)\n        os.read(ends, 1)\n        os._exit(0)\n"
        "    made += 1\n"
        "if made >= most:\n    time.sleep(30)\n"
        "print(made)"
    )
    words = bench.words()
    if bench.engine == NATIVE:
        # Whoever makes names for writes at once stands in the box, and is one of those counted there.
        words = ("exec", "--engine", NATIVE, "--exec", "any", "--")
    program = (_PYTHON, "-c", make)
    ended = bench.line(*words[:-1], "--processes", "12", "--", *program, "12")
    assert ended.status == 137 or int(ended.out) == 11, ended
    assert bench.line(*words[:-1], "--processes", "60", "--", *program, "60").out == "40\n"


def test_its_environment_is_what_it_is_given(bench: Bench) -> None:
    """The usual names, those that are named, and nothing of the caller's."""
    ended = bench.run("env", options=("--env", "GIVEN"), GIVEN="a b", SECRET="no")
    names = dict(line.split("=", 1) for line in ended.out.splitlines())
    assert names.pop("GIVEN") == "a b"
    # bwrap says where a program is.
    assert set(names) - {"PWD"} <= {"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TERM"}
    assert names["TMPDIR"] == "/tmp"


def test_where_its_caller_is_stands_nowhere_in_it(bench: Bench) -> None:
    """The engine's own first process, which can be seen inside, has nothing of our environment."""
    ended = bench.run("sh", "-c", "cat /proc/1/environ; echo read")
    assert ended.out.endswith("read\n")
    assert "OLDPWD" not in ended.out


def test_its_own_folders_are_empty_and_go(bench: Bench) -> None:
    """Its /tmp and its home are its own, and nothing of them is left."""
    script = (
        'ls -A /tmp; ls -A "$HOME"; echo x > /tmp/left-behind; echo x > "$HOME/left"; echo done'
    )
    ended = bench.run("sh", "-c", script)
    # firejail puts the system's usual files into an empty home.
    assert set(ended.out.split()) - _SKELETON == {"done"}, ended
    assert not Path("/tmp/left-behind").exists()


def test_it_starts_in_the_project_with_every_byte_of_its_words(bench: Bench) -> None:
    """Spaces, quotes, newlines and bytes that are no text."""
    script = "import os, sys; print(os.getcwd(), [os.fsencode(w).hex() for w in sys.argv[1:]])"
    ended = bench.run(_PYTHON.encode(), b"-c", script.encode(), _ODD, b"")
    assert ended.out == f"{bench.project} {[_ODD.hex(), '']}\n", ended


def test_what_is_granted_is_there_and_what_is_not_is_not(bench: Bench) -> None:
    """A granted file is read, one beside the project and a denied one in a granted folder are not."""
    beside = bench.project.parent / "beside"
    beside.write_text("not yours")
    script = f"cat granted; cat out/keys/key; cat {beside}; ls out/keys; cat /etc/shadow"
    ended = bench.run("sh", "-c", script)
    assert ended.out == "granted"
    assert ended.status != 0


def test_what_it_writes_is_there_afterwards(bench: Bench) -> None:
    """In the granted folder and nowhere else, as a file of the caller's."""
    script = "echo page > out/page; echo x > granted; echo x > new; mkdir out/folder"
    bench.run("sh", "-c", script)
    assert (bench.project / "out/page").read_text() == "page\n"
    assert (bench.project / "out/page").stat().st_uid == bench.project.stat().st_uid
    assert (bench.project / "out/folder").is_dir()
    assert (bench.project / "granted").read_text() == "granted"
    assert not (bench.project / "new").exists()


def test_a_name_that_others_obey_is_not_changed_where_it_is(bench: Bench) -> None:
    """One that is there already cannot be written, though its folder can."""
    put(bench.line, "out/.envrc", "mine")
    bench.run("sh", "-c", "echo evil > out/.envrc")
    bench.run("sh", "-c", "rm out/.envrc; echo evil > out/.envrc")
    assert (bench.project / "out/.envrc").read_text() == "mine"


def test_there_is_no_way_to_the_host_but_the_grants(bench: Bench) -> None:
    """The score-card, by the command that a person uses: no promise is broken."""
    ended = bench.line("doctor", "--attack", "--engine", bench.engine, "--json")
    document = json.loads(ended.out)
    broken = [each for each in document["problems"] if "a program could" in each["message"]]
    assert not broken
    rows = document["attacks"][0]["rows"]
    assert sum(row["found"] == "blocked" for row in rows) >= 30, rows


def test_nothing_is_left_behind(bench: Bench) -> None:
    """No process, no mount, no control group and no file."""
    mark = f"87{os.getpid()}.5"
    names = {each.name for each in bench.project.parent.rglob("*") if ".local" not in str(each)}
    bench.run("sh", "-c", f"setsid sleep {mark} & true")
    assert _eventually(lambda: not _processes(mark))
    assert str(bench.project) not in Path("/proc/self/mounts").read_text()
    now = {each.name for each in bench.project.parent.rglob("*") if ".local" not in str(each)}
    assert now == names


def test_a_killed_owner_leaves_nothing_running(bench: Bench) -> None:
    """The box goes with the command; what the kernel keeps of it goes with the next run."""
    mark = f"88{os.getpid()}.5"
    running = bench.start("sh", "-c", f"echo ready; setsid sleep {mark} & sleep {mark}")
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    mine = {name for name in _groups() if f"-{running.pid}-" in name}
    running.kill()
    running.communicate(timeout=_PATIENCE)  # all who could write are gone
    assert _eventually(lambda: not _processes(mark)), _processes(mark)
    assert bench.run("true").status == 0
    assert _eventually(lambda: not mine & _groups())


def test_what_an_engine_lacks_is_refused_with_what_would_help(bench: Bench) -> None:
    """A layer, a list of programs, the network: nothing is weakened, and nothing runs."""
    if bench.engine == NATIVE:
        pytest.skip("it lacks nothing")
    program = ("--", "sh", "-c", "echo ran")
    direct = ("--exec", "any", "--profile", "box.yaml")
    for options, control, remedy in (
        (("--write", "out", "--exec", "any"), "layer", "writes: direct"),
        ((), "programs", "--exec any"),
        (("--exec", "any", "--net", "example.org"), "no-network", "leave out the network"),
        (("--exec", "any", "--view", "visible"), "reads", "private"),
        ((*direct, "--layer", "disk"), "layer", "leave out --layer"),
        ((*direct, "--write", "granted"), "writes", ""),
    ):
        if control == "programs" and bench.engine in CONTAINERS:
            continue  # their first process holds it
        ended = bench.line("exec", "--engine", bench.engine, *options, *program)
        assert (ended.status, ended.out) == (126, ""), options
        assert f"`{bench.engine}` cannot enforce" in ended.err
        assert f"{control}: " in ended.err
        assert remedy in ended.err


def test_what_is_not_watched_is_not_called_none(bench: Bench) -> None:
    """By the command, by `why` and in the record."""
    ended = bench.run("cat", "granted")
    record = last_record(bench.line)
    is_watched = bench.engine == NATIVE
    assert record["impact"]["filesReadSeen"] is is_watched
    assert ("not watched by this engine" in ended.err) is not is_watched
    assert ("not watched by this engine" in bench.line("why").out) is not is_watched
