"""Names at the end of what a name can be, and folders that are mounted, where writes reach the host."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from consentry.enforce.engine import NotEnforceable
from consentry.surface.lattice import Surface
from consentry.surface.modes import Writes
from tests.elsewhere import folder_elsewhere
from tests.enforce.attacks.attackers import Attacker
from tests.enforce.boxes import run_in_box
from tests.enforce.hosts import run_as

DIRECT = {"writes": "direct", "write": ["./", "/tmp/"]}
WRITES = Surface.of(read=["./"], write=["./"])
DEEPER = """
def down(levels, name="d" * 200):
    for _ in range(levels):
        os.path.isdir(name) or os.mkdir(name)
        os.chdir(name)
"""


def _deepest(place: Path) -> tuple[int, set[str]]:
    """How many folders lie in each other, and every other name that is there."""
    levels, names = 0, set[str]()
    folder = os.open(place, os.O_RDONLY)
    while True:
        inside = None
        for name in os.listdir(folder):  # noqa: PTH208 - by descriptor
            if name == "d" * 200:
                inside = os.open(name, os.O_RDONLY, dir_fd=folder)
            else:
                names.add(name)
        os.close(folder)
        if inside is None:
            return levels, names
        folder, levels = inside, levels + 1


def test_at_the_end_of_what_a_name_can_be_nothing_obeyed_is_made(attacker: Attacker) -> None:
    """Up to there names are made as anywhere; beyond, none is, and the program is told so."""
    code = f"""{DEEPER}
told = []
for level in range(30):
    for name in (".envrc", "plain%d" % level):
        try:
            write(name)
            told.append(name)
        except OSError as problem:
            told.append(errno.errorcode[problem.errno])
    try:
        down(1)
    except OSError as problem:
        told.append("stopped")
        break
print(json.dumps(told))
"""
    told = attacker.runs(code, **DIRECT)
    assert told.status == 0, told.err
    said = told.out
    assert ".envrc" not in said
    assert "stopped" in said
    levels, names = _deepest(attacker.ws)
    assert 15 <= levels <= 20
    assert ".envrc" not in names
    assert {f"plain{level}" for level in range(15)} <= names


def test_moving_something_very_deep_is_answered(attacker: Attacker) -> None:
    """More folders in each other than can be looked through: nobody is brought down by it."""
    code = f"""{DEEPER}
os.mkdir("deep")
os.chdir("deep")
down(1300, "d")
write("HEAD")
os.chdir(sys.argv[1])
for name in ("moved", "deep/d/moved"):
    try:
        os.rename("deep/d/d", name)
        print("moved")
    except OSError as problem:
        print(errno.errorcode[problem.errno])
write("after")
"""
    try:
        told = attacker.runs(code, words=[str(attacker.ws)], **DIRECT)
        assert (told.status, told.out) == (0, "EXDEV\nEXDEV\n"), told.err
        assert (attacker.ws / "after").exists()
        assert (attacker.ws / "deep/d/d/d").is_dir()
        assert not (attacker.ws / "moved").exists()
    finally:
        _removed(attacker.ws / "deep")


def test_a_tree_that_no_path_reaches_is_refused_before_anything_starts() -> None:
    """With the beginning of its name, and nothing worse: what cannot be seen cannot be covered."""
    with folder_elsewhere() as place:
        folder = os.open(place, os.O_RDONLY)
        for _ in range(30):
            os.mkdir("d" * 200, dir_fd=folder)
            inside = os.open("d" * 200, os.O_RDONLY, dir_fd=folder)
            os.close(folder)
            folder = inside
        os.close(folder)
        try:
            with pytest.raises(NotEnforceable, match="lies deeper than a path can say") as refused:
                run_in_box(["true"], workspace=place, surface=WRITES, writes=Writes.DIRECT)
            assert len(str(refused.value)) < 1000
        finally:
            _removed(place / ("d" * 200))


def _removed(tree: Path) -> None:
    subprocess.run(["/bin/rm", "-rf", "--", os.fspath(tree)], check=True)


@pytest.mark.parametrize("size", [4094, 4095, 4096, 5000, 70_000])
def test_names_of_every_length_are_answered(attacker: Attacker, size: int) -> None:
    """A name, a link and what it leads to; the next call is answered as ever."""
    setup = f"long = (('n' * 200 + '/') * {size // 201 + 1})[:{size}].rstrip('/')\n"
    ways = {
        "make": "os.mkdir(long)",
        "move": "os.rename('there', long)",
        "link": "os.symlink(long, 'link')",
        "long part": "os.mkdir('n' * len(long))",
        "after": "os.mkdir('after')",
    }
    attacker.put("ws/there")
    found = attacker.tries(ways, setup=setup, **DIRECT)
    assert found.pop("after") == "None"
    assert found.pop("link") in ("None", "ENAMETOOLONG")
    assert set(found.values()) <= {"ENAMETOOLONG", "ENOENT", "EACCES"}, found


MOUNTED = """
import json, os
from pathlib import Path
from consentry.enforce.native import calls
calls.unshare(calls.CLONE_NEWNS)
calls.mount("none", "/", "", calls.MS_REC | calls.MS_PRIVATE)
ws = Path({ws!r})
(ws / "inner").mkdir()
calls.mount("none", str(ws / "inner"), "tmpfs", 0, "mode=755")
(ws / "inner/.git").mkdir()
(ws / "inner/.git/config").write_text("OURS")
from tests.enforce.attacks.attackers import Attacker
attacker = Attacker(os.getuid(), ws.parent)
found = attacker.tries({ways!r}, writes="direct", write=["./", "/tmp/"])
there = sorted(str(path.relative_to(ws)) for path in ws.rglob("*"))
print(json.dumps([found, there, (ws / "inner/.git/config").read_text()]))
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root mounts")
def test_a_folder_that_is_mounted_in_another_is_held_as_that(attacker: Attacker) -> None:
    """Names that others obey are neither made nor changed in it, and it stays where it is."""
    if attacker.uid != 0:
        pytest.skip("only root mounts")
    ways = {
        "obeyed": "write('inner/.envrc')",
        "moved in": "write('x') and os.rename('x', 'inner/.envrc')",
        "config": "write('inner/.git/config')",
        "hook": "os.makedirs('inner/.git/hooks') or write('inner/.git/hooks/pre-commit')",
        "away": "os.rename('inner', 'away')",
        "beside": "write('beside')",
    }
    found, there, config = json.loads(run_as(0, MOUNTED.format(ws=str(attacker.ws), ways=ways)))
    assert found.pop("beside") == "done"
    assert set(found.values()) <= {"EACCES", "EROFS", "EBUSY", "EXDEV", "ENOENT", "EPERM"}, found
    assert config == "OURS"
    assert not [name for name in there if name.endswith((".envrc", "pre-commit"))]
