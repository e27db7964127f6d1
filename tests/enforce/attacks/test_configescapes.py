"""Config escapes: names that other programs obey, inside a folder that may be written."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.enforce.confinement import Confinement
from consentry.enforce.native.planner import compile_plan
from consentry.surface.lattice import Surface
from consentry.surface.protected import protected_roots
from tests.enforce.attacks.attackers import Attacker
from tests.enforce.boxes import ENVIRONMENT, program_of, this_host

OBEYED = (
    ".git/hooks/pre-commit",
    ".git/config",
    ".gitmodules",
    ".bashrc",
    ".zshrc",
    ".profile",
    ".mcp.json",
    ".claude/settings.json",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".envrc",
    ".consentry/config.yaml",
    "nested/deep/.git/hooks/post-checkout",
    "nested/.vscode/settings.json",
)
VARIANTS = (".GIT/hooks/pre-commit", ".Git/Config", ".BASHRC", ".VSCode/tasks.json", ".Mcp.json")
_WRITE = """
def put(name, content="EVIL"):
    folder = os.path.dirname(name)
    if folder:
        os.makedirs(folder, exist_ok=True)
    write(name, content.encode())
"""
NEW = _WRITE + "for name in sys.argv[1:]:\n    put(name)\nput('good', 'GOOD')\n"
RENAMED = _WRITE + (
    "for name in sys.argv[1:]:\n    put(name + '.tmp')\n    os.rename(name + '.tmp', name)\n"
    "put('good', 'GOOD')\n"
)
LINKED = _WRITE + (
    "put('evil')\nfor name in sys.argv[1:]:\n    put(name + '.tmp')\n"
    "    os.path.lexists(name) and os.unlink(name)\n    os.link('evil', name)\nput('good', 'GOOD')\n"
)
SYMLINKED = _WRITE + (
    "put('evil')\nfor name in sys.argv[1:]:\n    put(name + '.tmp')\n"
    "    os.path.lexists(name) and os.unlink(name)\n"
    "    os.symlink(os.path.relpath('evil', os.path.dirname(name) or '.'), name)\n"
    "put('good', 'GOOD')\n"
)
WAYS = {"new": NEW, "renamed": RENAMED, "linked": LINKED, "symlinked": SYMLINKED}


def _state(attacker: Attacker) -> str:
    state = attacker.place / "state"
    state.mkdir(mode=0o700, exist_ok=True)
    attacker.own(state)
    return str(state)


def _there(attacker: Attacker, names: tuple[str, ...]) -> set[str]:
    return {name for name in names if os.path.lexists(attacker.ws / name)}


@pytest.mark.parametrize("way", WAYS)
def test_new_ones_do_not_reach_the_host(attacker: Attacker, way: str) -> None:
    """Made in the layer in any way, each is dropped and told, and the rest arrives."""
    told = attacker.runs(WAYS[way], words=[*OBEYED, *VARIANTS], commit=_state(attacker))
    assert told.status == 0, told.err
    assert _there(attacker, (*OBEYED, *VARIANTS)) == set()
    assert (attacker.ws / "good").read_text(encoding="utf-8") == "GOOD"
    for name in (*OBEYED, *VARIANTS):
        assert any(f"/{name}:" in each for each in told.violations), name


@pytest.mark.parametrize("way", WAYS)
def test_those_that_exist_stay_as_they_are(attacker: Attacker, way: str) -> None:
    """Written over, replaced by another file or by a link: the host's own is unchanged."""
    paths = [attacker.put(f"ws/{name}", "OURS") for name in OBEYED]
    told = attacker.runs(WAYS[way], words=[*OBEYED], commit=_state(attacker))
    assert told.status == 0, told.err
    for path in paths:
        assert not path.is_symlink()
        assert path.read_text(encoding="utf-8") == "OURS", path
        assert path.stat().st_nlink == 1


def test_they_do_not_vanish_either(attacker: Attacker) -> None:
    """Deleting a hook, or the whole folder around it, is a change as well."""
    paths = [attacker.put(f"ws/{name}", "OURS") for name in OBEYED]
    code = (
        "for top, folders, files in os.walk('.', topdown=False):\n"
        "    [os.unlink(os.path.join(top, name)) for name in files]\n"
        "    [os.rmdir(os.path.join(top, name)) for name in folders]\n"
    )
    told = attacker.runs(code, commit=_state(attacker))
    assert told.status == 0, told.err
    assert all(path.read_text(encoding="utf-8") == "OURS" for path in paths)


def test_a_folder_moved_onto_the_name_is_stopped(attacker: Attacker) -> None:
    """A folder prepared elsewhere does not become `.git`, nor `.vscode`, by one rename."""
    code = _WRITE + (
        "put('a/hooks/pre-commit')\nput('a/config')\nos.rename('a', '.git')\n"
        "put('b/tasks.json')\nos.rename('b', '.vscode')\n"
        "put('bare/HEAD')\nput('bare/hooks/post-update')\nput('bare/config')\n"
    )
    told = attacker.runs(code, commit=_state(attacker))
    assert told.status == 0, told.err
    stopped = (".git/hooks", ".git/config", ".vscode", "bare/hooks", "bare/config")
    assert _there(attacker, stopped) == set()


def test_granted_by_name_they_arrive(attacker: Attacker) -> None:
    """A grant that spells the name out is what lifts the rule."""
    names = (".git/hooks/pre-commit", ".envrc", ".vscode/tasks.json")
    for name in names:
        attacker.put(f"ws/{name}", "OURS")
    told = attacker.runs(
        NEW,
        words=[*names],
        write=["./", "./.git/hooks/", "./.envrc", "./.vscode/"],
        commit=_state(attacker),
    )
    assert (told.status, told.violations) == (0, [])
    texts = {(attacker.ws / name).read_text(encoding="utf-8") for name in names}
    assert texts == {"EVIL"}


def test_without_the_layer_they_are_written(attacker: Attacker) -> None:
    """The table is asked when a layer is committed; with no layer nobody asks."""
    told = attacker.runs(NEW, words=[*OBEYED], without=["layer", "landlock"])
    assert told.status == 0, told.err
    assert _there(attacker, OBEYED) == set(OBEYED)


def test_a_denied_name_inside_is_covered(attacker: Attacker) -> None:
    """It can be neither read nor written, replaced nor moved away; uncovered, all of it works."""
    hook = attacker.put("ws/sub/.git/hooks/pre-commit", "OURS")
    ways = {
        "read": "read('sub/.git/hooks/pre-commit')",
        "write": "write('sub/.git/hooks/pre-commit')",
        "new": "write('sub/.git/hooks/other')",
        "through": "os.symlink('sub/.git/hooks', 'alias') or read('alias/pre-commit')",
        "replace": "os.rename('sub/.git/hooks', 'away')",
        "beside": "write('sub/.git/notes')",
    }
    denied = ["./sub/.git/hooks/"]
    found = attacker.tries(ways, denied=denied)
    assert found.pop("beside") == "done"
    assert set(found.values()) <= {"ENOENT", "EACCES", "EROFS", "EBUSY", "EXDEV"}, found
    assert hook.read_text(encoding="utf-8") == "OURS"
    weak = attacker.tries(ways, denied=denied, without=["covers"])
    assert (weak["read"], weak["through"]) == ("b'OURS'", "b'EVIL'")
    assert weak["write"] == weak["new"] == "done"


@pytest.mark.parametrize("right", ["read", "write"])
def test_our_own_places_are_never_granted(tmp_path: Path, right: str) -> None:
    """State and configuration of this product are no roots, whoever asks."""
    table = protected_roots().bound_to([str(Path.home())])
    rows = [row for row in table.never_granted if "consentry" in row.pattern.text]
    program = program_of(["true"], tmp_path)
    assert rows
    for row in rows:
        asked = [row.pattern.text]
        surface = Surface.of(read=asked) if right == "read" else Surface.of(write=asked)
        with pytest.raises(Refused) as refused:
            compile_plan(
                Confinement(surface, tmp_path, program, ENVIRONMENT),
                replace(this_host(), protected=table),
            )
        assert refused.value.code is Code.PROTECTED_ROOT
