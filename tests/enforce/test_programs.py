"""Engine programs: found on PATH, looked at, and never started."""

import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.enforce.facts import Found, HostView, LandlockAnswer
from consentry.enforce.host import look_at_host
from consentry.enforce.programs import (
    ENGINE_MEANINGS,
    PROGRAMS,
    Engine,
    docker_socket,
    look_for_engines,
)

MakeHost = Callable[..., HostView]
ME = os.geteuid()


def _put(folder: Path, name: str, mode: int = 0o755) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    # Were it started, the test would see the file that this leaves.
    path.write_text('#!/bin/sh\ntouch "$0.was-started"\n', encoding="ascii")
    path.chmod(mode)
    return path


def _engine(view: HostView, name: str, avoid: Path | None = None) -> Engine:
    engines = look_for_engines(view, look_at_host(view), avoid=avoid)
    (found,) = (engine for engine in engines if engine.name == name)
    return found


def test_all_engines_are_reported_in_order(make_host: MakeHost) -> None:
    """Found or not, each engine has its line, and each has a meaning to explain it."""
    view = make_host(environ={"PATH": "/nowhere"})
    names = [engine.name for engine in look_for_engines(view, look_at_host(view))]
    assert names == list(ENGINE_MEANINGS)
    assert names == ["native", *(name for name, _ in PROGRAMS)]


def test_program_is_found_and_not_started(make_host: MakeHost, tmp_path: Path) -> None:
    """The first runnable file of that name on PATH is the one, and it stays untouched."""
    first, second = tmp_path / "first", tmp_path / "second"
    _put(first, "bwrap", mode=0o644)
    program = _put(second, "bwrap")
    view = make_host(environ={"PATH": f"{first}:{second}"}, uid=ME)
    engine = _engine(view, "bubblewrap")
    assert (engine.found, engine.program, engine.safe) == (Found.YES, program, Found.YES)
    assert not (second / "bwrap.was-started").exists()


@pytest.mark.parametrize("entry", ["", ".", "bin"])
def test_current_folder_is_never_searched(
    make_host: MakeHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    """Empty and relative entries of PATH are skipped: anybody may have put a program there."""
    _put(tmp_path, "bwrap")
    _put(tmp_path / "bin", "bwrap")
    monkeypatch.chdir(tmp_path)
    engine = _engine(make_host(environ={"PATH": f"{entry}:/nowhere"}), "bubblewrap")
    assert (engine.found, engine.why) == (Found.NO, "no `bwrap` on PATH")


def test_without_a_path_the_answer_is_unknown(make_host: MakeHost) -> None:
    """Not having looked anywhere is not the same as not finding it."""
    assert _engine(make_host(environ={}), "deno").found is Found.UNKNOWN


def test_program_others_may_change_is_found_and_not_safe(
    make_host: MakeHost, tmp_path: Path
) -> None:
    """It is there, and the report says who else has power over it."""
    program = _put(tmp_path / "bin", "nsjail", mode=0o777)
    view = make_host(environ={"PATH": str(tmp_path / "bin")}, uid=ME)
    engine = _engine(view, "nsjail")
    assert (engine.found, engine.safe) == (Found.YES, Found.NO)
    assert f"everybody may write `{program}`" in engine.why


def test_program_in_the_workspace_is_not_safe(make_host: MakeHost, tmp_path: Path) -> None:
    """A workspace is a stranger's, and so is a program in it, also behind a link."""
    workspace = tmp_path / "workspace"
    _put(workspace, "deno")
    links = tmp_path / "links"
    links.mkdir()
    (links / "deno").symlink_to(workspace / "deno")
    for folder in (workspace, links):
        view = make_host(environ={"PATH": str(folder)}, uid=ME)
        assert _engine(view, "deno").safe is Found.YES
        assert _engine(view, "deno", avoid=workspace).safe is Found.NO


def test_program_reached_through_the_workspace_is_not_safe(
    make_host: MakeHost, tmp_path: Path
) -> None:
    """A link in the workspace to a program outside chooses the program, also as a hop between.

    The control: the program itself, and the same link when that folder is not the workspace.
    """
    outside, workspace, links = tmp_path / "outside", tmp_path / "workspace/bin", tmp_path / "links"
    program = _put(outside, "bwrap")
    for folder, target in ((workspace, program), (links, workspace / "bwrap")):
        folder.mkdir(parents=True)
        (folder / "bwrap").symlink_to(target)
        view = make_host(environ={"PATH": str(folder)}, uid=ME)
        assert _engine(view, "bubblewrap").safe is Found.YES
        assert _engine(view, "bubblewrap", avoid=workspace.parent).safe is Found.NO
    view = make_host(environ={"PATH": str(outside)}, uid=ME)
    assert _engine(view, "bubblewrap", avoid=workspace.parent).safe is Found.YES


def test_native_stands_on_three_facts(make_host: MakeHost) -> None:
    """All there: found. One missing: not found, and named. One open: unknown."""
    environ = {"PATH": "/nowhere"}
    assert _engine(make_host(environ=environ), "native").found is Found.YES
    limit = "proc/sys/user/max_user_namespaces"
    old = make_host({limit: "0\n"}, environ=environ, landlock=LandlockAnswer(5))
    engine = _engine(old, "native")
    assert (engine.found, engine.why) == (
        Found.NO,
        "the kernel does not offer user-namespaces",
    )
    engine = _engine(make_host({limit: "0\n"}, environ=environ), "native")
    assert (engine.found, engine.why) == (
        Found.YES,
        "in its landlock-only mode: the kernel does not offer user-namespaces",
    )
    filtered = make_host({limit: "1\n", "proc/self/status": "Seccomp:\t2\n"}, environ=environ)
    assert _engine(filtered, "native").found is Found.UNKNOWN


def test_no_engine_has_a_driver_unless_there_is_a_file_for_it(make_host: MakeHost) -> None:
    """What this version can run is read from the drivers it has, not claimed."""
    view = make_host(environ={"PATH": "/nowhere"})
    drivers = Path(__file__).parents[2] / "src/consentry/enforce/engines"
    for engine in look_for_engines(view, look_at_host(view)):
        has_file = (drivers / f"{engine.name}.py").exists() or (drivers / engine.name).is_dir()
        assert engine.driver is has_file


def test_firejail_needs_its_set_user_id_bit(make_host: MakeHost, tmp_path: Path) -> None:
    """Without the bit it is found, and what it lacks is said."""
    program = _put(tmp_path / "bin", "firejail")
    view = make_host(environ={"PATH": str(tmp_path / "bin")}, uid=ME)
    lacking = _engine(view, "firejail").lacking
    assert lacking is not None
    assert lacking.value == "no set-user-id bit"
    program.chmod(0o4755)
    assert _engine(view, "firejail").lacking is None


def test_bubblewrap_with_the_bit_needs_no_user_namespaces(
    make_host: MakeHost, tmp_path: Path
) -> None:
    """An ordinary bwrap stands on user namespaces, a set-user-id one does not."""
    program = _put(tmp_path / "bin", "bwrap")
    view = make_host(
        {"proc/sys/user/max_user_namespaces": "0\n"},
        environ={"PATH": str(tmp_path / "bin")},
        uid=ME,
    )
    lacking = _engine(view, "bubblewrap").lacking
    assert lacking is not None
    assert lacking.name == "user-namespaces"
    program.chmod(0o4755)
    assert _engine(view, "bubblewrap").lacking is None


def test_docker_socket_is_looked_at(make_host: MakeHost) -> None:
    """Missing, not a socket, and a real one that is open to us."""
    view = make_host()
    assert docker_socket(view).found is Found.NO
    place = view.root / "var/run/docker.sock"
    place.parent.mkdir(parents=True)
    place.touch()
    assert docker_socket(view).value == "/var/run/docker.sock is no socket"
    place.unlink()
    # A short name: addresses of sockets are limited to 107 bytes.
    with socket.socket(socket.AF_UNIX) as listener, contextlib.chdir(place.parent):
        listener.bind("docker.sock")
        assert docker_socket(view).found is Found.YES


def test_docker_host_elsewhere_is_unknown(make_host: MakeHost) -> None:
    """A daemon on another machine is not looked at, and nothing is claimed about it."""
    fact = docker_socket(make_host(environ={"DOCKER_HOST": "tcp://192.0.2.7:2375"}))
    assert fact.found is Found.UNKNOWN


def test_docker_host_names_another_socket(make_host: MakeHost) -> None:
    """The socket that DOCKER_HOST names is the one that is looked at."""
    fact = docker_socket(make_host(environ={"DOCKER_HOST": "unix:///run/user/7/docker.sock"}))
    assert fact.value == "no /run/user/7/docker.sock"
