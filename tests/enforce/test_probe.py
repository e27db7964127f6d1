"""The probe tells what a host enforces by doing it: on this host, and on hosts that refuse some of it."""

import errno
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from consentry.enforce.engine import Control, Probe
from consentry.enforce.engines import native
from consentry.enforce.engines.native import NativeEngine
from consentry.enforce.native import calls, notbuilt
from consentry.enforce.native.notbuilt import remedy_for
from consentry.enforce.native.parent import NativeParent, Running
from consentry.enforce.native.probe import Trial
from consentry.enforce.native.seccompfilter import FilterWish, compile_filter
from consentry.enforce.scorecard import Ground
from consentry.surface.protected import protected_roots
from tests.enforce import hosts
from tests.enforce.conftest import MakeHost

ALLOW_ALL = bytes([6, 0, 0, 0, 0, 0, 0xFF, 0x7F])
SCRIPT = """
import json
from pathlib import Path
from consentry.enforce.engines.native import NativeEngine
from consentry.surface.protected import protected_roots
engine = NativeEngine(Path("/nonexistent"), protected_roots())
probe = engine.probe()
engine.close()
print(json.dumps({
    "mode": probe.mode,
    "because": probe.because,
    "held": {each.control: [each.mechanism, each.truth] for each in probe.held},
    "lacking": {each.control: [each.why, each.remedy] for each in probe.lacking},
}))
"""


@pytest.fixture
def engine() -> Iterator[NativeEngine]:
    """An engine of this host."""
    made = NativeEngine(Path.home(), protected_roots())
    yield made
    made.close()


@pytest.mark.parametrize("uid", hosts.users())
def test_everything_is_held_here(uid: int) -> None:
    """On a host with all features every control holds, for root and for an ordinary user."""
    told = json.loads(hosts.run_as(uid, SCRIPT))
    assert told["mode"] is None
    assert told["lacking"] == {}
    assert set(told["held"]) == {control.value for control in Control}
    assert all(mechanism for mechanism, _ in told["held"].values())


def test_it_is_done_once(engine: NativeEngine) -> None:
    """Asking again starts nothing."""
    first = engine.try_out()
    engine.close()
    assert engine.try_out() is first
    assert engine.probe() is first.probe
    assert engine._parent is None


def test_no_descriptor_is_left_behind(engine: NativeEngine) -> None:
    """Of a trial in a launcher that runs already."""
    engine.try_out()
    before = sorted(Path("/proc/self/fd").iterdir())
    engine._trial = None
    engine.try_out()
    assert sorted(Path("/proc/self/fd").iterdir()) == before


def test_the_ground_is_removed() -> None:
    """With everything that was made for the attacks."""
    with Ground() as ground:
        assert ground.is_untouched
        (ground.writable / "new").touch()
        assert not ground.is_untouched
    assert not ground.workspace.parent.exists()


def _weakened(monkeypatch: pytest.MonkeyPatch, change: Callable[[dict[str, Any]], None]) -> Trial:
    """The trial of an engine one of whose controls was taken away."""

    class Weakened(NativeParent):
        def launch(self, plan: Any, files: Any) -> Running:
            changed = dict(plan)
            change(changed)
            return super().launch(changed, files)

    monkeypatch.setattr(native, "NativeParent", Weakened)
    engine = NativeEngine(Path.home(), protected_roots())
    try:
        return engine.try_out()
    finally:
        engine.close()


def _lacking(probe: Probe) -> dict[Control, str]:
    return {each.control: each.why for each in probe.lacking}


def _without_filter(told: dict[str, Any]) -> None:
    told.update(filter=ALLOW_ALL, listens=False)


def _without_observer(told: dict[str, Any]) -> None:
    wish = FilterWish(observed=False, memory_files=False)
    told.update(filter=compile_filter(calls.MACHINE, wish), listens=False)


def test_without_the_filter_the_probe_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The controls that it holds are lacking, those that mounts hold are not."""
    trial = _weakened(monkeypatch, _without_filter)
    lacking = _lacking(trial.probe)
    assert {
        Control.SYSTEM_CALLS,
        Control.NO_NEW_POWERS,
        Control.FILES_READ,
        Control.DENIALS,
    } <= set(lacking)
    assert not {Control.READS, Control.LAYER, Control.NO_NETWORK} & set(lacking)
    assert lacking[Control.SYSTEM_CALLS].startswith("a program could ")


def test_without_the_observer_nothing_is_said_to_be_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was read and refused is known to the test, and missing in the report."""
    lacking = _lacking(_weakened(monkeypatch, _without_observer).probe)
    assert lacking == {
        Control.FILES_READ: "a file was read, and the observer did not report it",
        Control.DENIALS: "reading a file was refused, and the observer did not report it",
    }


def test_a_box_in_which_nothing_works_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """That every attack fails proves nothing where granted files cannot be read either."""

    def closed(told: dict[str, Any]) -> None:
        rights = told["landlock"]
        kept = [each for each in rights["paths"] if not each[0].startswith("/tmp")]
        told["landlock"] = {**rights, "paths": kept}

    probe = _weakened(monkeypatch, closed).probe
    assert not probe.is_usable
    assert set(_lacking(probe).values()) == {"a granted file cannot be read"}


LESS = {Control.LAYER.value, Control.WRITTEN.value}
"""What no run has where nothing can be mounted."""


def _require_less(told: dict[str, Any], why: str, remedy: str) -> None:
    """The Landlock-only mode was shown to hold all but what needs a mount, and says why."""
    assert told["mode"] == "landlock-only"
    assert told["because"].endswith(why)
    assert set(told["lacking"]) == LESS
    assert set(told["held"]) == {control.value for control in Control} - LESS
    for said, advice in told["lacking"].values():
        assert said.endswith(why)
        assert remedy in advice


@pytest.mark.skipif(calls.landlock_abi() < 6, reason="needs Landlock's scopes")
def test_no_more_user_namespaces_is_said_with_the_kernels_word_and_the_setting() -> None:
    """An ordinary user on such a host is told the error, and which limit to raise."""
    uid = os.getuid() or hosts.NOBODY
    told = json.loads(hosts.run_as(uid, SCRIPT, before=hosts.without_more_user_namespaces))
    _require_less(told, "clone: no space left on device (ENOSPC)", "user.max_user_namespaces")


def test_a_root_without_another_user_runs_nothing_there() -> None:
    """Its program would be root, whatever Landlock says, so both reasons are given."""
    if os.getuid() != 0:
        pytest.skip("the caller is not root")
    told = json.loads(hosts.run_as(0, SCRIPT, before=hosts.without_more_user_namespaces))
    assert told["held"] == {}
    assert set(told["lacking"]) == {control.value for control in Control}
    why, remedy = told["lacking"]["reads"]
    assert why.startswith("clone: no space left on device (ENOSPC); without namespaces: ")
    assert "another user" in why
    assert "user.max_user_namespaces" in remedy


@pytest.mark.skipif(calls.landlock_abi() < 6, reason="needs Landlock's scopes")
def test_covered_proc_is_said_with_the_containers_option() -> None:
    """As in most containers: a fresh /proc is refused."""
    uid = os.getuid() or hosts.NOBODY
    told = json.loads(hosts.run_as(uid, SCRIPT, before=hosts.with_covered_proc))
    assert told["because"].startswith("mount proc at /")
    _require_less(told, "operation not permitted (EPERM)", "systempaths=unconfined")


@pytest.mark.parametrize("uid", hosts.users())
@pytest.mark.skipif(calls.landlock_abi() < 6, reason="needs Landlock's scopes")
def test_a_filter_that_refuses_namespaces_is_said(uid: int) -> None:
    """Root and ordinary users alike, also where the filter refuses to look into other processes."""
    told = json.loads(hosts.run_as(uid, SCRIPT, before=hosts.behind_a_filter))
    _require_less(told, "clone: operation not permitted (EPERM)", "")


@pytest.mark.skipif(calls.landlock_abi() < 6, reason="needs Landlock's scopes")
def test_root_of_a_container_has_less_and_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    """It may neither mount nor trace another user's process, and its runs are observed all the same."""
    if os.getuid() != 0:
        pytest.skip("the caller is not root")
    told = json.loads(hosts.run_as(0, SCRIPT, before=hosts.as_root_of_a_container))
    _require_less(told, "clone: operation not permitted (EPERM)", "")
    assert told["held"]["files-read"] == ["a seccomp observer", "observed"]
    assert capfd.readouterr().err == ""


USERNS_DEBIAN = {"proc/sys/kernel/unprivileged_userns_clone": "0\n"}
USERNS_UBUNTU = {"proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"}
CONTAINER = {".dockerenv": ""}
OLD_PROC = {"proc/self/mountinfo": "22 27 0:21 / /proc/kcore rw - tmpfs tmpfs rw\n"}


@pytest.mark.parametrize(
    ("step", "number", "changes", "uid", "words"),
    [
        ("clone", "ENOSPC", {}, 1000, "user.max_user_namespaces"),
        ("clone", "EPERM", USERNS_DEBIAN, 1000, "kernel.unprivileged_userns_clone=1"),
        ("clone", "EPERM", USERNS_UBUNTU, 1000, "AppArmor"),
        ("clone", "EPERM", CONTAINER, 1000, "seccomp=unconfined"),
        ("clone", "EPERM", CONTAINER, 0, "SYS_ADMIN"),
        ("clone", "EPERM", {}, 0, "run as an ordinary user"),
        ("clone", "EPERM", {}, 1000, "a filter on this process"),
        ("uid_map", "EPERM", {}, 0, "run as an ordinary user"),
        ("mount proc at /x", "EPERM", OLD_PROC, 1000, "unmask=ALL"),
        ("mount proc at /x", "EPERM", {}, 1000, "a filter on this process"),
        ("mount tmpfs at /x", "EACCES", USERNS_UBUNTU, 1000, "AppArmor"),
        ("mount overlay at /x", "ENODEV", {}, 1000, "modprobe overlay"),
        ("mount overlay at /x", "EPERM", {}, 1000, "5.11"),
        ("mount overlay at /x", "EINVAL", {}, 1000, "ext4"),
        ("mount overlay at /x", "EINVAL", {}, 0, "ordinary user"),
        ("showing /x without its sockets", "EINVAL", {}, 0, "could be reached"),
        ("showing /x without its sockets", "ENODEV", {}, 1000, "modprobe overlay"),
        ("mount_setattr x", "ENOSYS", {}, 1000, "5.12"),
        ("mount_setattr x", "EINVAL", {}, 0, "another user's"),
        ("seccomp", "EINVAL", {}, 1000, "5.19"),
        ("seccomp", "EBUSY", {}, 1000, "another observer"),
        ("landlock_create_ruleset", "EOPNOTSUPP", {}, 1000, "lsm="),
        ("something else", "EIO", {}, 1000, "consentry status --verbose"),
    ],
)
def test_each_refusal_has_its_remedy(
    make_host: MakeHost,
    step: str,
    number: str,
    changes: dict[str, str | None],
    uid: int,
    words: str,
) -> None:
    """By the step, the error, and what the host shows besides."""
    assert words in remedy_for(step, getattr(errno, number), make_host(changes, uid=uid))


def test_a_refusal_says_the_step_the_words_and_the_name(make_host: MakeHost) -> None:
    """As it is shown to a person; a failure that is no refusal of the kernel's says so."""
    assert (
        str(notbuilt.NotBuilt("clone", 1, make_host())) == "clone: operation not permitted (EPERM)"
    )
    assert str(notbuilt.NotBuilt("the launcher is gone", 0, make_host())).endswith("gone: failed")
    unsaid = notbuilt.NotBuilt("Operation not permitted", 1, make_host())
    assert str(unsaid) == "building the box: operation not permitted (EPERM)"
