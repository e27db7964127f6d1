"""What a container is told, without one: words, mounts, filter, image, reports."""

import errno
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.enforce.engines.boxplan import Copy, Folder, Hidden, Own, Shown, Text
from consentry.enforce.engines.container.coverings import covered_programs
from consentry.enforce.engines.container.image import image_for
from consentry.enforce.engines.container.mounting import Bound, InMemory, mounting_of
from consentry.enforce.engines.container.profile import profile_of
from consentry.enforce.engines.container.report import Report
from consentry.enforce.engines.container.words import DOCKER, PODMAN, Container, run_words
from consentry.enforce.engines.docker import Docker
from consentry.enforce.mounts import Mount
from consentry.enforce.native.seccompfilter import REFUSED, FilterWish
from tests.enforce.engines.container.runs import ground

CONTAINER = Container(
    name="consentry-1",
    owner="1",
    image="localhost/consentry-box:0",
    user="4711:4711",
    profile="/folder/profile",
    bound=(Bound("/usr", "/usr"), Bound('/a,"b"', "/c", is_writable=True)),
    in_memory=(InMemory("/tmp", 64, 0o1777, is_writable=True),),
    shared_bytes=64,
    memory_bytes=1 << 20,
    processes=3,
    rlimits=(("core", 0),),
    words=("program", "--rm"),
)


@pytest.mark.parametrize("dialect", [DOCKER, PODMAN])
def test_nothing_is_left_to_a_default(dialect: object) -> None:
    """Network, capabilities, privileges, root, logs and pulling are said in every command."""
    words = run_words(CONTAINER, dialect)  # type: ignore[arg-type]
    for word in (
        "--rm",
        "--pull=never",
        "--network=none",
        "--read-only",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        "--security-opt=seccomp=/folder/profile",
        "--ipc=private",
        "--log-driver=none",
        "--user=4711:4711",
        "--memory=1048576",
        "--memory-swap=1048576",
        "--pids-limit=3",
    ):
        assert word in words
    assert words[words.index(CONTAINER.image) :] == (CONTAINER.image, "program", "--rm")
    assert not [word for word in words if word.startswith(("--privileged", "--device", "--volume"))]


def test_mounts_are_lines_of_a_table() -> None:
    """A comma or a quote in a path is told so that the command reads it as part of the path."""
    mounts = [word for word in run_words(CONTAINER, DOCKER) if word.startswith("--mount=")]
    assert mounts[0] == ('--mount=type=bind,"source=/a,""b""",target=/c,bind-propagation=rprivate')
    assert "readonly" in mounts[1]


def test_podman_copies_nothing_into_what_covers() -> None:
    """By itself it fills a folder in memory with what lies below: what is hidden would be shown."""
    hidden = Container(
        **{f: getattr(CONTAINER, f) for f in CONTAINER.__slots__}
        | {"in_memory": (InMemory("/hidden", 4096, 0, is_writable=False),)}
    )
    for container in (CONTAINER, hidden):
        [word] = [w for w in run_words(container, PODMAN) if "type=tmpfs" in w]
        assert "notmpcopyup" in word
        assert "noexec" in word


def test_what_lies_below_a_later_mount_is_not_mounted() -> None:
    """Containers mount by depth, whatever the order: what is covered must not come out on top."""
    items = (
        Shown("/srv/a", "/srv/a", None, is_writable=False),
        Shown("/srv/a/b/c", "/srv/a/b/c", None, is_writable=False),
        Hidden("/srv/a/b", is_folder=True),
        Text("/etc/hosts", b""),
        Hidden("/srv/a/file", is_folder=False),
        Copy(0, "/srv/a/script"),
        Own("/tmp", is_writable=True),
        Folder("/nowhere"),
        Folder("/srv"),
    )
    files = {"/etc/hosts": "/f/1", "/srv/a/file": "/f/2", "/srv/a/script": "/f/3"}
    made = mounting_of(items, files, {"/tmp": 9}, ())
    assert {each.path for each in made.bound} == {
        "/srv/a",
        "/etc/hosts",
        "/srv/a/file",
        "/srv/a/script",
    }
    assert {each.path: each.mode for each in made.in_memory} == {
        "/srv/a/b": 0,
        "/tmp": 0o1777,
        "/nowhere": 0o755,
    }


def test_what_is_mounted_below_a_folder_is_bound_by_itself(tmp_path: Path) -> None:
    """Read-only is said of one mount: one below it would stay writable."""
    below = tmp_path / "below"
    below.mkdir()
    mounts = (Mount("0:1", "/", str(below), "tmpfs", ()),)
    items = (Shown(str(tmp_path), "/seen", None, is_writable=False),)
    made = mounting_of(items, {}, {}, mounts)
    assert Bound(str(below), "/seen/below") in made.bound


def test_program_folders_show_the_allowed_and_their_links(tmp_path: Path) -> None:
    """Links that lead to an allowed program lead there still; nothing else has a name."""
    programs, beside = tmp_path / "bin", tmp_path / "beside"
    for folder in (programs, beside):
        folder.mkdir()
    for name in ("tool3.1", "other"):
        (programs / name).write_text("")
    (programs / "tool3").symlink_to("tool3.1")
    (programs / "tool").symlink_to("tool3")
    (programs / "another").symlink_to("other")
    [cover] = covered_programs([programs / "tool3.1"], beside, [str(programs)])
    assert isinstance(cover, Bound)
    assert {each.name for each in Path(cover.source).iterdir()} == {"tool", "tool3", "tool3.1"}
    [closed] = covered_programs([], beside, [str(programs)])
    assert isinstance(closed, InMemory)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_profile_refuses_what_the_native_filter_refuses(machine: str) -> None:
    """The same calls by name; new namespaces, typing for the user, and other families by argument."""
    wish = FilterWish(memory_files=False, named_sockets=False, lends_identity=False)
    profile = json.loads(json.dumps(profile_of(machine, wish)))
    assert profile["defaultAction"] == "SCMP_ACT_ALLOW"
    assert len(profile["architectures"]) == 1
    whole = [rule for rule in profile["syscalls"] if not rule["args"]]
    refused = {name for rule in whole for name in rule["names"]}
    assert refused == {*REFUSED, "memfd_create", "clone3"}
    assert {rule["errnoRet"] for rule in whole} == {errno.EPERM, errno.ENOSYS}
    families = {
        rule["args"][0]["value"]
        for rule in profile["syscalls"]
        if rule["names"] == ["socket"] and rule["args"][0]["op"] == "SCMP_CMP_EQ"
    }
    assert families == {*range(10)} - {2}


def test_the_image_is_the_same_bytes_for_the_same_links(tmp_path: Path) -> None:
    """Its name is that of its content, so that a host of another shape has another image."""
    assert image_for(tmp_path) == image_for(tmp_path)
    (tmp_path / "bin").symlink_to("usr/bin")
    assert image_for(tmp_path).name != image_for(tmp_path / "nothing").name


@given(st.binary())
def test_a_report_of_anything_is_read(told: bytes) -> None:
    """What cannot be understood was not told."""
    Report.read(told)
    ended = Report.read(told.replace(b"program", b"").replace(b"failed", b"") + b"\nended 0")
    assert ended.problem is None


def test_reports() -> None:
    """How it ended, what it used, and what went wrong, which comes first."""
    report = Report.read(b"ended 2304 0.5 0.25 100 - 0.9 4096 0\n")
    assert (report.code, report.used, report.limit) == (9, (0.5, 0.25, 100), None)
    assert (report.usage.cpu_seconds, report.usage.memory_bytes) == (0.9, 4096)
    assert Report.read(b"ended 9 0 0 0 cpu_seconds None None 0\n").code == -9
    failed = Report.read(b"program 2 /a path with spaces\nended 32512 0 0 0 - None None 0\n")
    assert failed.problem == ("program", 2, "/a path with spaces")


def test_another_hosts_daemon_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths would be the other machine's: nothing is started, and the reason says so."""
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    assert "another host's daemon" in (Docker(ground()).missing() or "")
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/socket")
    said = Docker(ground()).missing() or ""
    assert "no /nonexistent/socket" in said or "no `docker`" in said


def test_other_systems_are_told_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS and Windows the reason names both what is not driven and what is not supported."""
    engine = Docker(ground())
    monkeypatch.setattr(sys, "platform", "win32")
    assert "Windows Sandbox is not supported" in (engine.missing() or "")
