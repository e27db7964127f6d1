"""What is read of images and daemons, and what is refused of them, without a container."""

import os
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused
from consentry.enforce.confinement import Confinement, Limits, Program, ProgramImage
from consentry.enforce.engine import Control, NotEnforceable
from consentry.enforce.engines.container import namedplan
from consentry.enforce.engines.container.daemon import Daemon, FileThere
from consentry.enforce.engines.container.namedimage import (
    FoundInImage,
    NamedImage,
    find_in_image,
    require_image_name,
)
from consentry.enforce.engines.container.namedplan import (
    NamedGround,
    compile_named,
    limits_for,
    require_same,
    takes_any_case,
)
from consentry.enforce.engines.dockercommand import DockerCommand
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.usage import Control as Limited
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Writes
from consentry.surface.pattern import Pattern
from consentry.surface.protected import protected_roots

_ID = "sha256:" + "a" * 64
_TOLD: dict[str, Any] = {
    "Id": _ID,
    "Os": "linux",
    "Architecture": "arm64",
    "Config": {"Env": ["PATH=/opt/bin:/bin", "A=b=c"], "Volumes": {"/data": {}}},
}
_ABLE = {"MemTotal": 4 << 30, "MemoryLimit": True, "PidsLimit": True}
IMAGE = NamedImage.of("name", _TOLD)


def test_an_image_is_its_id_and_what_it_adds() -> None:
    """Its variables and volumes are known, so that they can be taken away again."""
    assert (IMAGE.digest, IMAGE.machine, IMAGE.path) == (_ID, "aarch64", "/opt/bin:/bin")
    assert (IMAGE.variables, IMAGE.volumes) == (("PATH", "A"), ("/data",))
    plain = NamedImage.of("name", {**_TOLD, "Architecture": "riscv64", "Config": None})
    assert (plain.machine, plain.variables) == (None, ())
    assert plain.path.startswith("/usr/local/sbin:")


@pytest.mark.parametrize(
    ("told", "said"), [({"Os": "windows"}, "only Linux's"), ({"Id": "latest"}, "no id")]
)
def test_what_is_no_image_of_linux_is_refused(told: dict[str, str], said: str) -> None:
    """By its own word; and an id that is no digest names nothing."""
    with pytest.raises(Refused, match=said):
        NamedImage.of("name", {**_TOLD, **told})


@pytest.mark.parametrize("name", ["", "-v", "--privileged", "a b", "a/../../info", "a\n", "?x=1"])
def test_a_name_is_never_an_option_or_another_question(name: str) -> None:
    """Neither for the command nor for the daemon."""
    with pytest.raises(ConsentryError) as found:
        require_image_name(name)
    assert found.value.code is Code.USAGE
    assert require_image_name("registry.example/team/tool:1.2@sha256:0") is not None


def test_a_program_is_found_by_the_path_of_the_image() -> None:
    """It goes by the name it was found by, as programs do that are many; what is behind is known too.

    Links are followed as far as a kernel would; a loop and a plain file are no program.
    """
    folder, program, plain = (
        FileThere("", is_program=False), FileThere("", is_program=True), FileThere("", is_program=False),
    )  # fmt: skip
    files = {
        "/opt": folder,
        "/opt/bin": folder,
        "/opt/bin/data": plain,
        "/bin": FileThere("usr/bin", is_program=False),
        "/usr": folder,
        "/usr/bin": folder,
        "/usr/bin/data": program,
        "/usr/bin/sh": FileThere("busybox", is_program=False),
        "/usr/bin/busybox": program,
        "/usr/bin/loop": FileThere("/bin/loop", is_program=False),
        "/opt/bin/plain": plain,
    }
    shell = FoundInImage("/bin/sh", "/usr/bin/busybox")
    assert find_in_image(IMAGE, "sh", files.get) == shell
    assert find_in_image(IMAGE, "data", files.get) == FoundInImage("/bin/data", "/usr/bin/data")
    assert find_in_image(IMAGE, "/opt/../bin/sh", files.get) == shell
    codes = {"loop": Code.PROGRAM_UNKNOWN, "plain": Code.PROGRAM_UNSTARTABLE}
    for word, code in (
        *codes.items(),
        ("./sh", Code.PROGRAM_UNKNOWN),
        ("", Code.PROGRAM_UNSTARTABLE),
    ):
        with pytest.raises(ConsentryError) as found:
            find_in_image(IMAGE, word, files.get)
        assert found.value.code is code


def test_a_daemon_that_cannot_limit_is_not_trusted_to() -> None:
    """What it says it cannot do is unheld; by default a part of its memory stays the host's."""
    unable = limits_for(Limits(), {"MemTotal": 4 << 30})
    assert {each.control for each in unable.unheld} == {Limited.MEMORY, Limited.PROCESSES}
    plan = limits_for(Limits(), _ABLE)
    assert not plan.unheld
    assert plan.limit(Limited.MEMORY) == 3 << 30
    small = limits_for(Limits(memory_bytes=1), _ABLE)
    assert [each.control for each in small.unheld] == [Limited.MEMORY]


def _wanted(folder: Path) -> Confinement:
    return Confinement(
        Surface.of(read=["./"], write=["/tmp/"], run=Level.ANY),
        folder,
        Program(Path("/bin/sh"), ("sh",), folder, image=ProgramImage("name", IMAGE.digest)),
        {},
        denied=(Pattern.parse("./denied/"),),
    )


def _ground() -> NamedGround:
    return NamedGround("docker", os.getuid(), None, protected_roots(), _ABLE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with something denied in it."""
    (tmp_path / "denied").mkdir()
    return tmp_path


def test_a_cover_counts_only_where_names_have_one_spelling(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a file system that takes any case, `DENIED` would be a way around the mount at `denied`.

    Such a one, as macOS has by default, is not here: only what is said of it is another.
    """
    assert not takes_any_case(folder)
    compile_named(_wanted(folder), IMAGE, _ground(), None)
    monkeypatch.setattr(namedplan, "takes_any_case", lambda _: True)
    with pytest.raises(NotEnforceable) as found:
        compile_named(_wanted(folder), IMAGE, _ground(), None)
    assert [each.control for each in found.value.lacking] == [Control.DENY_INSIDE]
    open_ = replace(_wanted(folder), denied=())
    compile_named(open_, IMAGE, _ground(), None)


def test_read_only_names_count_only_where_they_have_one_spelling(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What other programs obey is covered in a folder that is written at once, and is refused so.

    As above, and for letters that macOS spells in two ways, only what is said is another.
    """
    out = project / "out"
    (out / ".git" / "hooks").mkdir(parents=True)
    out.chmod(0o777)
    surface = Surface.of(read=["./"], write=["/tmp/", "./out/"], run=Level.ANY)
    wanted = replace(_wanted(project), surface=surface, writes=Writes.DIRECT, denied=())
    plan = compile_named(wanted, IMAGE, _ground(), None)
    assert plan.plan.direct is not None
    assert plan.plan.direct.kept
    with monkeypatch.context() as patched:
        patched.setattr(namedplan, "takes_any_case", lambda _: True)
        with pytest.raises(NotEnforceable, match="any case"):
            compile_named(wanted, IMAGE, _ground(), None)
    out.rename(project / "caf\u00e9")
    accented = Surface.of(read=["./"], write=["/tmp/", "./caf\u00e9/"], run=Level.ANY)
    wanted = replace(wanted, surface=accented)
    compile_named(wanted, IMAGE, _ground(), None)
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(NotEnforceable, match="two ways"):
        compile_named(wanted, IMAGE, _ground(), None)


def test_case_is_told_by_the_folders_own_name(tmp_path: Path) -> None:
    """Two folders that differ in case are two; the same one by both names is the sign."""
    one, other = tmp_path / "Folder", tmp_path / "fOLDER"
    one.mkdir()
    other.mkdir()
    assert not takes_any_case(one)
    other.rmdir()
    other.symlink_to(one)
    assert takes_any_case(one)


def test_a_machine_without_a_filter_of_ours_is_refused(folder: Path) -> None:
    """Its calls could not be told apart by their names alone."""
    with pytest.raises(NotEnforceable) as found:
        compile_named(_wanted(folder), replace(IMAGE, machine=None), _ground(), None)
    assert Control.SYSTEM_CALLS in {each.control for each in found.value.lacking}


def test_another_folder_at_a_granted_name_is_noticed(folder: Path) -> None:
    """Between what was shown and what is bound; what is the same one may be bound."""
    work = folder / "work"
    (work / "denied").mkdir(parents=True)
    plan = compile_named(_wanted(work), IMAGE, _ground(), None)
    require_same(plan.items)
    work.rename(folder / "away")
    work.mkdir()
    with pytest.raises(Refused) as found:
        require_same(plan.items)
    assert found.value.code is Code.FILESYSTEM_RACE


@pytest.fixture
def answering(tmp_path: Path) -> Iterator[tuple[str, list[bytes]]]:
    """A socket that gives one answer after the other: a daemon that lies cannot be had otherwise."""
    place, answers = str(tmp_path / "socket"), list[bytes]()
    with socket.socket(socket.AF_UNIX) as listens:
        listens.bind(place)
        listens.listen()

        def answer() -> None:
            while True:
                try:
                    with listens.accept()[0] as asked:
                        asked.recv(1 << 16)
                        asked.sendall(answers.pop(0) if answers else b"")
                except OSError:
                    return

        thread = Thread(target=answer, daemon=True)
        thread.start()
        yield place, answers
        listens.shutdown(socket.SHUT_RDWR)
        thread.join()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense",
        b"HTTP/1.0 200 OK\r\n\r\n[]",
        b"HTTP/1.0 200 OK\r\n\r\n{",
        b"HTTP/1.0 500 x\r\n\r\n",
    ],
)
def test_an_answer_that_is_none_is_an_error(
    answering: tuple[str, list[bytes]], answer: bytes
) -> None:
    """And never a guess."""
    place, answers = answering
    answers.append(answer)
    with pytest.raises(Refused) as found:
        Daemon(place).image("name")
    assert found.value.code is Code.ENGINE_FAILED


def test_what_is_not_there_is_told_apart(answering: tuple[str, list[bytes]]) -> None:
    """From no answer at all, and from a daemon that is gone."""
    place, answers = answering
    answers.append(b"HTTP/1.0 404 Not Found\r\n\r\n{}")
    assert Daemon(place).image("name") is None
    with pytest.raises(Refused, match="no such file"):
        Daemon(place + "-gone").image("name")


def test_the_socket_of_docker_desktop_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the home folder, where the usual one is not there; a named one comes first."""
    usual = tmp_path / "usual"
    monkeypatch.setattr("consentry.enforce.engines.dockercommand._USUAL", str(usual))
    ground = EngineGround(tmp_path, protected_roots())
    assert DockerCommand(ground).socket == str(usual)
    desktop = tmp_path / ".docker/run/docker.sock"
    desktop.parent.mkdir(parents=True)
    desktop.touch()
    assert DockerCommand(ground).socket == str(desktop)
    usual.touch()
    assert DockerCommand(ground).socket == str(usual)
    named = replace(ground, environ={"DOCKER_HOST": "unix:///named"})
    assert DockerCommand(named).socket == "/named"
