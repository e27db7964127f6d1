"""Ways round the names: links, renames, `/proc`, open folders, odd names, and swapped folders."""

import os
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.confinement import Confinement
from consentry.enforce.engines.native import Io, NativeEngine
from consentry.surface.lattice import Surface
from consentry.surface.protected import protected_roots
from tests.enforce.attacks.attackers import Attacker
from tests.enforce.boxes import ENVIRONMENT, program_of

EVERYTHING = ["filter", "landlock"]


def _ways(outside: Path) -> dict[str, str]:
    """To one file of the host, by all the names that might lead there."""
    climb = "../" * 12 + str(outside).lstrip("/")
    return {
        "plain": f"read({str(outside)!r})",
        "climbing": f"read({climb!r})",
        "by the root of a process": f"read('/proc/self/root{outside}')",
        "by the root of the first": f"read('/proc/1/root{outside}')",
        "by the folder of the first": f"read('/proc/1/cwd/{climb}')",
        "by a thread": f"read('/proc/thread-self/root{outside}')",
        "by a new link": f"os.symlink({str(outside)!r}, 'new') or read('new')",
        "by a link that was there": "read('link')",
        "by a hard link": f"os.link({str(outside)!r}, 'hard') or read('hard')",
        "by renaming it": f"os.rename({str(outside)!r}, 'moved') or read('moved')",
        "above a folder that was moved": (
            f"os.makedirs('a/b') or os.chdir('a/b') or os.rename('../b', '../../b')"
            f" or read({climb!r})"
        ),
        "by a descriptor's name": f"read('/proc/self/fd/0/{climb}')",
    }


def test_no_name_leads_out(attacker: Attacker) -> None:
    """Nothing outside the grants has a name inside, however it is spelled."""
    outside = attacker.put("outside/secret")
    (attacker.ws / "link").symlink_to(outside)
    found = attacker.tries(_ways(outside))
    assert set(found.values()) <= {"ENOENT", "ENOTDIR", "EACCES"}, found
    assert outside.read_text(encoding="utf-8") == "SECRET"


def test_the_same_names_lead_to_what_is_granted(attacker: Attacker) -> None:
    """With the folder granted, reading works by every name that any process may use."""
    outside = attacker.put("outside/secret")
    (attacker.ws / "link").symlink_to(outside)
    found = attacker.tries(
        _ways(outside),
        setup="os.chdir('ws')\n",
        workspace=str(attacker.place),
        read=["./ws/", "./outside/"],
        write=["./ws/"],
    )
    working = {name for name, word in found.items() if word == "b'SECRET'"}
    assert {"plain", "climbing", "by a new link", "by a link that was there"} <= working
    assert found["by renaming it"] in ("EROFS", "EXDEV")
    assert found["by a hard link"] in ("EROFS", "EXDEV")


def test_without_the_private_root_they_lead_out(attacker: Attacker) -> None:
    """Shown the folder, and with no Landlock, the program reads and moves what is in it."""
    outside = attacker.put("outside/secret")
    (attacker.ws / "link").symlink_to(outside)
    found = attacker.tries(_ways(outside), without=EVERYTHING, shown=[str(outside.parent)])
    assert found["plain"] == found["by the root of a process"] == "b'SECRET'"
    assert found["by a link that was there"] == "b'SECRET'"


def test_the_box_shows_no_process_of_the_host(attacker: Attacker) -> None:
    """`/proc` has the box's own processes, and the first of them keeps its files to itself."""
    names = ("environ", "maps", "mem", "fd", "root", "cwd", "exe", "auxv", "io", "syscall")
    ways = {name: f"os.stat('/proc/1/{name}/') and read('/proc/1/{name}')" for name in names}
    ways |= {name: f"read('/proc/1/{name}')" for name in ("environ", "maps", "mem", "auxv", "io")}
    ways["numbers"] = "sorted(filter(str.isdigit, os.listdir('/proc')))[0:1]"
    ways["host"] = f"os.path.exists('/proc/{os.getpid()}')"
    found = attacker.tries(ways)
    assert found.pop("numbers") == "['1']"
    assert found.pop("host") == "False"
    assert set(found.values()) <= {"EACCES", "ENOTDIR", "EPERM"}, found
    bare = attacker.bare({"host": f"os.path.exists('/proc/{os.getpid()}')"})
    assert bare == {"host": "True"}


def test_names_that_are_too_long_or_no_text_do_no_harm(attacker: Attacker) -> None:
    """They fail as they would outside, and the observer lives to see the next one."""
    ways = {
        "long": "read('/' + 'x' * 5000)",
        "long in parts": "read('/' + 'x/' * 3000)",
        "no utf-8": r"read(b'/\xff\xfe')",
        "nul": r"read('/usr\0/../etc/shadow')",
        "empty": "read('')",
        "nowhere": "call(257, -100, ctypes.c_void_p(1), 0, 0)",
        "no string": "call(257, -100, ctypes.c_void_p(2**64 - 8), 0, 0)",
        "no folder": "call(257, 77, b'x', 0, 0)",
        "loop": "os.symlink('loop', 'loop') or read('loop')",
        "good": "read('mine')",
    }
    attacker.put("ws/mine", "GOOD")
    assert attacker.tries(ways) == {
        "long": "ENAMETOOLONG",
        "long in parts": "ENAMETOOLONG",
        "no utf-8": "ENOENT",
        "nul": "ValueError",
        "empty": "ENOENT",
        "nowhere": "EFAULT",
        "no string": "EFAULT",
        "no folder": "EBADF",
        "loop": "ELOOP",
        "good": "b'GOOD'",
    }


@pytest.mark.parametrize("writable", [True, False], ids=["layer", "view"])
def test_a_folder_that_was_swapped_is_not_taken(attacker: Attacker, writable: bool) -> None:  # noqa: FBT001
    """Between the plan and the box another folder comes to that name: nothing is started."""
    attacker.put("ws/data/mine", "MINE")
    secret = attacker.put("outside/mine")
    data = attacker.ws / "data"
    swap = {
        "moved": [(str(data), str(attacker.place / "away"))],
        "linked": [(str(secret.parent), str(data))],
        "read": ["./data/"],
        "write": ["./data/"] if writable else [],
    }
    told = attacker.runs("print(read('data/mine'))", **swap)
    assert told.problem is not None
    assert (told.problem[0], told.out) == ("replaced", "")


def test_without_the_identity_the_swapped_folder_is_shown(attacker: Attacker) -> None:
    """The name alone leads to whatever was put there."""
    attacker.put("ws/data/mine", "MINE")
    secret = attacker.put("outside/mine")
    data = attacker.ws / "data"
    assert "MINE" in attacker.runs("print(read('data/mine'))", read=["./data/"], write=[]).out
    told = attacker.runs(
        "print(read('data/mine'))",
        read=["./data/"],
        write=[],
        moved=[(str(data), str(attacker.place / "away"))],
        linked=[(str(secret.parent), str(data))],
        without=["identity"],
    )
    assert "SECRET" in told.out


def test_an_open_folder_is_no_stream(tmp_path: Path) -> None:
    """From a folder that was left open one could walk through the host's own tree."""
    engine = NativeEngine(None, protected_roots())
    program = program_of(["true"], tmp_path)
    plan = engine.compile(Confinement(Surface.of(read=["./"]), tmp_path, program, ENVIRONMENT))
    folder = os.open(tmp_path, os.O_RDONLY)
    before = set(Path("/proc/self/fd").iterdir())
    try:
        for io in (Io(stdin=folder), Io(stdout=folder), Io(stderr=folder)):
            with pytest.raises(Refused) as refused:
                engine._held_run(plan, (), io)
            assert refused.value.code is Code.FILE_UNUSABLE
    finally:
        engine.close()
    assert set(Path("/proc/self/fd").iterdir()) <= before
    os.close(folder)


def test_one_writable_file_opens_no_other(attacker: Attacker) -> None:
    """Its folder is opened to replace it; what lies beside it stays unread."""
    attacker.put("ws/mine", "MINE")
    attacker.put("ws/beside")
    ways = {
        "beside": "read('beside')",
        "by a link": "os.link('beside', 'hard') or read('hard')",
        "moved": "os.rename('beside', 'moved') or read('moved')",
        "mine": "read('mine')",
        "replaced": "write('new') and os.rename('new', 'mine')",
    }
    found = attacker.tries(ways, read=[], write=["./mine"])
    assert (found["mine"], found["replaced"]) == ("b'MINE'", "None")
    assert {found["beside"], found["by a link"], found["moved"]} == {"EACCES"}
    weak = attacker.tries(ways, read=[], write=["./mine"], without=["landlock"])
    assert weak["beside"] == "b'SECRET'"
