"""What nsjail is told: its program is in no package of the tests, so the plan is what is tested."""

import os
import shlex
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engine import Control, NotEnforceable
from consentry.enforce.engines.boxplan import Shown
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.kafelpolicy import kafel_policy
from consentry.enforce.engines.nsjail import Nsjail, _mounts
from consentry.enforce.facts import HostView
from consentry.enforce.mounts import read_mounts
from consentry.enforce.native.seccompfilter import REFUSED, FilterWish
from consentry.enforce.native.syscallnumbers import NUMBERS
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Writes
from consentry.surface.pattern import Pattern
from consentry.surface.protected import protected_roots
from tests.elsewhere import folder_elsewhere


@pytest.fixture
def workspace() -> Iterator[Path]:
    """Not below a folder that is a run's own."""
    with folder_elsewhere() as place:
        for name in ("out", "secret"):
            (place / name).mkdir()
        yield place


def _engine() -> Nsjail:
    return Nsjail(EngineGround(None, protected_roots(), "/nowhere"))


@dataclass(frozen=True)
class _Told:
    words: tuple[str, ...]
    script: str
    lines: tuple[str, ...]


def _told(wanted: Confinement, folder: Path) -> _Told:
    """What a command of that name would be started with; it is never started."""
    (folder / "nsjail").write_text("")
    (folder / "nsjail").chmod(0o755)
    engine = Nsjail(EngineGround(None, protected_roots(), str(folder)))
    with ExitStack() as ends:
        plan = engine._compiled(wanted, None)
        prepared = engine.prepared(plan, (), (0, 1, 2), ends, has_terminal=False)
        ends.callback(prepared.signs.close)
        _, script, text = prepared.command.files
        lines = os.pread(text, 1 << 20, 0).decode().splitlines()
        return _Told(prepared.command.words, os.pread(script, 1 << 20, 0).decode(), tuple(lines))


def _wanted(workspace: Path, *words: str, copies: tuple[Path, ...] = ()) -> Confinement:
    return Confinement(
        Surface.of(read=["./"], write=["./out/", "/tmp/"], run=Level.ANY),
        workspace,
        Program(Path("/usr/bin/echo"), ("echo", *words), workspace, copies=copies),
        {"PATH": "/usr/bin", "NAME": 'a "b" \\ \n'},
        denied=(Pattern.parse("./secret/"),),
        writes=Writes.DIRECT,
    )


def test_the_configuration_describes_the_same_box(workspace: Path, tmp_path: Path) -> None:
    """Grants, what is hidden, the run's own folders and small files; what is told nobody sees."""
    (workspace / ".env").write_text("secret")
    wanted = _wanted(workspace, "it's")
    denied = (*wanted.denied, Pattern.parse("./.env"))
    told = _told(replace(wanted, denied=denied), tmp_path)
    bound = f'src: "{workspace}" dst: "{workspace}" is_bind: true rw: false is_dir: true'
    text = "\n".join(told.lines)
    assert bound in text
    assert f'dst: "{workspace}/out" is_bind: true rw: true' in text
    assert f'dst: "{workspace}/secret" fstype: "tmpfs"' in text
    # As a folder, so that it is covered without being opened.
    covered = f'src: "/dev/null" dst: "{workspace}/.env" is_bind: true rw: false is_dir: true'
    assert covered in text
    assert 'dst: "/tmp" fstype: "tmpfs"' in text
    assert 'dst: "/etc/passwd"' in text
    assert "USE box DEFAULT ALLOW" in text
    assert all(line.isascii() and line.isprintable() for line in told.lines)
    mounts = [line for line in told.lines if line.startswith("mount {")]
    assert all("nosuid: true" in line for line in mounts)
    devices = [line for line in mounts if "nodev: false" in line]
    assert all('dst: "/dev/' in line or 'src: "/dev/null"' in line for line in devices)
    assert told.words[1:] == ("--really_quiet", "--config", "/proc/self/fd/6")


def test_the_program_gets_its_words_and_variables_by_a_script(
    workspace: Path, tmp_path: Path
) -> None:
    """Below a shell: the first process of a box hears no signal that comes from inside."""
    told = _told(_wanted(workspace, "it's", "\x1b[0m", "ä"), tmp_path)
    line = next(line for line in told.lines if line.startswith("exec_bin"))
    assert line == 'exec_bin { path: "/bin/sh" arg: "/proc/self/fd/5" }'
    assert [line for line in told.lines if line.startswith("pass_fd")] == [
        "pass_fd: 4",
        "pass_fd: 5",
    ]
    assert not any(line.startswith("envar") for line in told.lines)
    run = told.script[told.script.index("/usr/bin/setsid") : told.script.index(" 2>&3")]
    words = shlex.split(run)
    assert words[:3] == ["/usr/bin/setsid", "/usr/bin/env", "-i"]
    assert 'NAME=a "b" \\ \n' in words
    assert words[-4:] == ["/usr/bin/echo", "it's", "\x1b[0m", "ä"]


def test_every_mount_below_a_read_only_folder_is_named() -> None:
    """Of its own accord nsjail makes the top of a tree read-only, and would leave the rest writable."""
    shown = Shown("/", "/host", None, is_writable=False)
    lines = list(_mounts(shown, 0))
    told = {each.point for each in read_mounts(HostView()) or ()} - {"/"}
    points = {each for each in told if os.path.lexists(each)}
    assert points
    for point in points:
        assert any(f'dst: "/host{point}" is_bind: true rw: false' in line for line in lines), point
    assert len(list(_mounts(replace(shown, is_writable=True), 0))) == 1


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_its_policy_refuses_what_our_filter_refuses(machine: str) -> None:
    """Each call by its number, and by its arguments what depends on them."""
    numbers = NUMBERS[machine]
    policy = kafel_policy(machine, FilterWish(named_sockets=False, lends_identity=False))
    for name in REFUSED:
        assert name not in numbers or f" SYSCALL[{numbers[name]}]," in policy
    assert f"SYSCALL[{numbers['clone']}](flags) {{ (flags & 2114060288) != 0 }}" in policy
    assert f"SYSCALL[{numbers['fchmodat']}](folder, path, mode) {{ (mode & 3072) != 0 }}" in policy
    families = "(family & 4294967295) == 2 || (family & 4294967295) == 10"
    assert f"SYSCALL[{numbers['socket']}](family) {{ !({families}) }}" in policy
    assert ("KILL" in policy) is (machine == "x86_64")
    lax = kafel_policy(machine, FilterWish(memory_files=False))
    assert f"SYSCALL[{numbers['memfd_create']}]" in lax
    assert f"SYSCALL[{numbers['memfd_create']}]" not in policy
    assert f"SYSCALL[{numbers['fchmodat']}](" not in lax


def test_it_refuses_what_it_cannot_place(workspace: Path) -> None:
    """A program whose bytes would be looked up again."""
    tool = workspace / "tool"
    tool.write_text("#!/bin/sh\n")
    with pytest.raises(NotEnforceable) as refused:
        _engine()._compiled(_wanted(workspace, copies=(tool,)), None)
    assert [each.control for each in refused.value.lacking] == [Control.PROGRAMS]


def test_it_is_missing_where_there_is_none() -> None:
    """And says so without starting anything."""
    assert _engine().missing() == "there is no `nsjail` on PATH"
