"""The Landlock-only mode refuses what it cannot hold, by the control, the reason and the way out."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from consentry.enforce.engine import Control, NotEnforceable
from consentry.enforce.engines.native import NativeEngine
from consentry.enforce.facts import HostView
from consentry.enforce.native import calls
from consentry.enforce.native.bareplan import OWN_HOME, OWN_TMP, compile_bare, placed_in
from consentry.enforce.native.nonamespaces import NoNamespaces, shows_signs
from consentry.enforce.native.openparts import Parts, parts_around
from consentry.enforce.native.otherids import FIRST, one_behind_root
from consentry.surface.protected import protected_roots
from tests.enforce.bareruns import ground, wanted_by
from tests.enforce.boxes import this_host
from tests.enforce.conftest import MakeHost

WHY = "clone: operation not permitted (EPERM)"
SCOPES = pytest.mark.skipif(calls.landlock_abi() < 6, reason="needs Landlock's scopes")


@pytest.fixture
def workspace() -> Iterator[Path]:
    """One that every user may enter."""
    with ground(os.getuid()) as place:
        yield place / "ws"


@pytest.fixture
def engine() -> Iterator[NativeEngine]:
    """One that was refused namespaces."""
    made = NativeEngine(None, protected_roots())
    made._has_looked = True
    made._settle_on(NoNamespaces(WHY, "ask for them"))
    yield made
    made.close()


def lacking(engine: NativeEngine, workspace: Path, **wish: Any) -> dict[Control, tuple[str, str]]:
    """What a wish cannot be held to."""
    request = {"workspace": str(workspace), "argv": ["true"], **wish}
    try:
        engine.compile(wanted_by(request))
    except NotEnforceable as problem:
        return {each.control: (each.why, each.remedy) for each in problem.lacking}
    return {}


@SCOPES
def test_what_it_holds_is_compiled(engine: NativeEngine, workspace: Path) -> None:
    """The view `visible`, reads, and the run's own folders."""
    assert lacking(engine, workspace) == {}


@SCOPES
@pytest.mark.parametrize(
    ("wish", "control", "said", "remedy"),
    [
        ({"view": "private"}, Control.READS, "private view", "--view visible"),
        ({"write": ["./out/"]}, Control.LAYER, "through a layer", "TMPDIR"),
        ({"write": ["./out/"], "writes": "direct"}, Control.WRITES, "covered", "TMPDIR"),
        ({"reads": "exact"}, Control.FILES_READ, "exact reads", "observed"),
        ({"denials": "attested"}, Control.DENIALS, "attested", "--attest"),
    ],
)
def test_what_needs_a_box_is_refused_with_the_kernels_word(
    engine: NativeEngine,
    workspace: Path,
    wish: dict[str, Any],
    control: Control,
    said: str,
    remedy: str,
) -> None:
    """And with what would let it run here."""
    [(found, (why, help_line))] = lacking(engine, workspace, **wish).items()
    assert found is control
    assert said in why
    assert why.endswith(WHY)
    assert remedy in help_line


@SCOPES
def test_everything_is_listed_at_once(engine: NativeEngine, workspace: Path) -> None:
    """Nobody has to try again to hear of the next thing."""
    wish = {"view": "private", "write": ["./out/"], "reads": "exact", "net": True}
    found = lacking(engine, workspace, **wish)
    assert set(found) == {Control.READS, Control.LAYER, Control.FILES_READ, Control.NO_NETWORK}


@SCOPES
def test_network_is_refused(engine: NativeEngine, workspace: Path) -> None:
    """A box without a network of its own cannot be led to the proxy."""
    assert set(lacking(engine, workspace, net=True)) == {Control.NO_NETWORK}


@SCOPES
def test_a_limit_on_all_that_is_written_is_refused(engine: NativeEngine, workspace: Path) -> None:
    """There is no file system whose size could hold it; the usual one is not promised either."""
    found = lacking(engine, workspace, limits={"written_bytes": 1 << 20})
    assert found == {Control.WRITTEN: (found[Control.WRITTEN][0], "")}
    assert "quota" in found[Control.WRITTEN][0]


@SCOPES
def test_a_program_that_others_may_change_is_not_run_as_it_is(
    engine: NativeEngine, workspace: Path
) -> None:
    """There is nothing to put a copy of it at its place; standard input needs none."""
    script = workspace / "script.py"
    script.write_text("pass")
    script.chmod(0o666)
    found = lacking(engine, workspace, argv=["python3", str(script)], copies=[str(script)])
    why, remedy = found[Control.PROGRAMS]
    assert str(script) in why
    assert "- < script.py" in remedy


@SCOPES
def test_granted_by_the_name_that_is_denied_is_refused(
    engine: NativeEngine, workspace: Path
) -> None:
    """Or by one above it: nothing lies beside that could be opened instead."""
    (workspace / "a/b").mkdir(parents=True)
    for denied in ("./a/", "./a/b/"):
        found = lacking(engine, workspace, read=["./a/b/"], denied=[denied])
        assert set(found) == {Control.DENY_INSIDE}


@pytest.mark.parametrize("abi", [0, 3, 5])
def test_an_older_landlock_is_named(engine: NativeEngine, workspace: Path, abi: int) -> None:
    """Without scopes nothing keeps signals from the processes of the same user."""
    assert engine._bare is not None
    engine._bare._host = replace(engine._bare._host, landlock_abi=abi)
    why, remedy = lacking(engine, workspace)[Control.PROCESSES_APART]
    assert why == f"Landlock ABI {abi} has no scopes for signals, and {WHY}"
    assert "6.12" in remedy


def test_a_folder_that_is_closed_to_others_is_named_for_root(
    engine: NativeEngine, workspace: Path
) -> None:
    """Root's program is another user, and nothing shows it root's files as its own."""
    assert engine._bare is not None
    engine._bare._host = replace(engine._bare._host, uid=0)
    workspace.chmod(0o700)
    why, _ = lacking(engine, workspace)[Control.READS]
    assert str(workspace) in why
    workspace.chmod(0o755)
    assert Control.READS not in lacking(engine, workspace)


def test_namespaces_are_tried_where_something_speaks_against_them(make_host: MakeHost) -> None:
    """A filter, a setting, a covered part of /proc, or a root that may not mount."""
    free = {
        "proc/self/status": "Seccomp:\t0\nCapEff:\t0000000000200000\n",
        "proc/sys/user/max_user_namespaces": "100\n",
        "proc/self/mountinfo": "22 27 0:21 / /proc rw - proc proc rw\n",
        "proc/sys/kernel/apparmor_restrict_unprivileged_userns": "0\n",
    }
    assert not shows_signs(make_host(free, uid=0))
    for path, content in {
        "proc/self/status": "Seccomp:\t2\nCapEff:\t0000000000200000\n",
        "proc/sys/user/max_user_namespaces": "0\n",
        "proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n",
        "proc/self/mountinfo": "22 27 0:21 / /proc/kcore rw - tmpfs tmpfs rw\n",
    }.items():
        assert shows_signs(make_host({**free, path: content}, uid=1000)), path
    weak = {**free, "proc/self/status": "Seccomp:\t0\nCapEff:\t00000000a80425fb\n"}
    assert shows_signs(make_host(weak, uid=0))
    assert not shows_signs(make_host(weak, uid=1000))


def test_a_folder_is_opened_around_what_is_closed_in_it(tmp_path: Path) -> None:
    """It can be listed only where no rule would then tell the names of a closed folder."""
    for path in ("a/closed/x", "a/file", "b/x", "c"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / "link").symlink_to("/etc")
    top = str(tmp_path)
    assert parts_around(tmp_path, []) == Parts(folders=(top,))
    assert parts_around(tmp_path, [tmp_path]) == Parts()
    around = parts_around(tmp_path, [tmp_path / "a/closed"])
    assert around == Parts(files=(f"{top}/a/file", f"{top}/c"), folders=(f"{top}/b",))
    around = parts_around(tmp_path, [tmp_path / "a/file"])
    assert around.listed == (top, f"{top}/a")
    assert around.folders == (f"{top}/a/closed", f"{top}/b")
    assert around.files == (f"{top}/c",)


@SCOPES
def test_nothing_of_the_host_is_granted_that_was_not_asked_for(workspace: Path) -> None:
    """No rule is on /, /proc, /tmp, /etc, or a folder of programs, or above one of them."""
    wanted = wanted_by({"workspace": str(workspace), "argv": ["true"]})
    plan = placed_in(compile_bare(wanted, this_host()), "/own/tmp", "/own/home")
    assert plan.landlock is not None
    kinds = ("paths", "picked", "known")
    granted = [Path(each[0]) for kind in kinds for each in plan.landlock[kind]]
    assert not {OWN_TMP, OWN_HOME} & set(map(str, granted))
    kept = ("/proc/1/environ", "/tmp/x", "/etc/passwd", "/usr/bin/env", "/root/x", "/run/x")
    for path in map(Path, kept):
        assert not any(path.is_relative_to(each) for each in granted), path
    assert workspace in granted


def test_a_single_number_is_found_where_there_is_no_block(make_host: MakeHost) -> None:
    """As in a container with 65,536 users; those that somebody has are left out."""
    users = "root:x:0:0::/:/bin/sh\nlast:x:65533:65533::/:/bin/sh\n"
    mapped = {"proc/self/uid_map": "0 100000 65536\n", "proc/self/gid_map": "0 100000 65536\n"}
    assert one_behind_root(make_host({**mapped, "etc/passwd": users})) == 65532
    alone = dict.fromkeys(mapped, "0 0 1\n")
    assert one_behind_root(make_host({**alone, "etc/passwd": users})) is None
    whole = dict.fromkeys(mapped, "0 0 4294967295\n")
    assert one_behind_root(make_host({**whole, "etc/passwd": users})) == FIRST


def test_this_host_shows_signs_or_makes_boxes() -> None:
    """What is read here agrees with what is tried: no sign, no refusal."""
    engine = NativeEngine(None, protected_roots())
    try:
        refused = engine.without_namespaces(surely=True)
    finally:
        engine.close()
    assert refused is None or shows_signs(HostView(uid=engine._host.uid))
