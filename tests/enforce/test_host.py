"""What a host offers, read from a prepared tree of real files and once from the real one."""

import errno
import os
from collections.abc import Callable

import pytest

from consentry.enforce.facts import Fact, Found, HostView, LandlockAnswer, ask_landlock
from consentry.enforce.host import FACT_MEANINGS, look_at_host

MakeHost = Callable[..., HostView]

USERNS_DEBIAN = "proc/sys/kernel/unprivileged_userns_clone"
USERNS_UBUNTU = "proc/sys/kernel/apparmor_restrict_unprivileged_userns"


def _fact(view: HostView, name: str) -> Fact:
    (found,) = (fact for fact in look_at_host(view) if fact.name == name)
    return found


def test_a_good_host_offers_everything(make_host: MakeHost) -> None:
    """On a host with all features every one is found, and there is no sign of a container."""
    answers = {fact.name: fact.found for fact in look_at_host(make_host())}
    assert answers.pop("container") is Found.NO
    assert set(answers.values()) == {Found.YES}


def test_every_fact_is_reported_always_and_in_order(make_host: MakeHost) -> None:
    """The same names in the same order, on a good host and on one where nothing can be read."""
    nothing = HostView(root=make_host().root / "missing", landlock=lambda: LandlockAnswer(-1, 1))
    for view in (make_host(), nothing):
        assert [fact.name for fact in look_at_host(view)] == list(FACT_MEANINGS)


def test_what_cannot_be_read_is_unknown_and_never_no(make_host: MakeHost) -> None:
    """Without any file to read, nothing is claimed: every answer is unknown, with the file named."""
    view = HostView(
        root=make_host().root / "missing", landlock=lambda: LandlockAnswer(-1, errno.EPERM)
    )
    facts = [fact for fact in look_at_host(view) if fact.name != "container"]
    assert {fact.found for fact in facts} == {Found.UNKNOWN}
    assert all("/proc/" in fact.why or "landlock" in fact.why for fact in facts)


def test_every_answer_says_where_it_was_read(make_host: MakeHost) -> None:
    """No fact without evidence in words."""
    assert all(fact.why for fact in look_at_host(make_host()))


def test_kernel_version_is_read(make_host: MakeHost) -> None:
    """The version comes from the kernel's own file."""
    fact = _fact(make_host(), "kernel")
    assert (fact.value, fact.why) == (
        "Linux 6.12.0-test",
        "read from /proc/sys/kernel/osrelease",
    )


@pytest.mark.parametrize(
    ("answer", "found", "value"),
    [
        (LandlockAnswer(1), Found.YES, "ABI 1"),
        (LandlockAnswer(7), Found.YES, "ABI 7"),
        (LandlockAnswer(-1, errno.ENOSYS), Found.NO, "not built in"),
        (LandlockAnswer(-1, errno.EOPNOTSUPP), Found.NO, "off at boot"),
        (LandlockAnswer(-1, errno.EPERM), Found.UNKNOWN, "EPERM"),
        (LandlockAnswer(0), Found.UNKNOWN, "0"),
    ],
)
def test_landlock_is_what_the_kernel_answered(
    make_host: MakeHost, answer: LandlockAnswer, found: Found, value: str
) -> None:
    """A version is a yes; only the two errors that mean absence are a no."""
    fact = _fact(make_host(landlock=answer), "landlock")
    assert (fact.found, fact.value) == (found, value)


@pytest.mark.parametrize(
    ("changes", "uid", "found"),
    [
        ({}, 1000, Found.YES),
        ({"proc/sys/user/max_user_namespaces": "0\n"}, 1000, Found.NO),
        ({"proc/sys/user/max_user_namespaces": "0\n"}, 0, Found.NO),
        ({USERNS_DEBIAN: "0\n"}, 1000, Found.NO),
        ({USERNS_DEBIAN: "0\n"}, 0, Found.YES),
        ({USERNS_DEBIAN: "1\n"}, 1000, Found.YES),
        ({USERNS_UBUNTU: "1\n", "proc/self/attr/current": "unconfined\n"}, 1000, Found.NO),
        ({USERNS_UBUNTU: "1\n", "proc/self/attr/current": "ours (enforce)\n"}, 1000, Found.UNKNOWN),
        ({USERNS_UBUNTU: "1\n"}, 0, Found.YES),
        ({USERNS_UBUNTU: "0\n"}, 1000, Found.YES),
        ({"proc/self/status": "Seccomp:\t2\n"}, 1000, Found.UNKNOWN),
    ],
)
def test_user_namespaces_follow_the_switches(
    make_host: MakeHost, changes: dict[str, str | None], uid: int, found: Found
) -> None:
    """Debian's and Ubuntu's switches bind ordinary users only; a filter on us leaves it open."""
    assert _fact(make_host(changes, uid=uid), "user-namespaces").found is found


@pytest.mark.parametrize(
    ("status", "found"),
    [("Seccomp:\t0\n", Found.YES), ("Seccomp:\t2\n", Found.YES), ("Name:\tx\n", Found.NO)],
)
def test_seccomp_is_there_when_the_kernel_keeps_a_line_for_it(
    make_host: MakeHost, status: str, found: Found
) -> None:
    """The line is there even when no filter is on; a kernel without seccomp has none."""
    assert _fact(make_host({"proc/self/status": status}), "seccomp").found is found


def test_seccomp_notify_needs_its_action(make_host: MakeHost) -> None:
    """Only the exact word counts."""
    source = "proc/sys/kernel/seccomp/actions_avail"
    assert _fact(make_host({source: "errno user_notif2\n"}), "seccomp-notify").found is Found.NO


def test_overlayfs_that_is_not_loaded_is_unknown_when_a_module_is_there(
    make_host: MakeHost,
) -> None:
    """A module may be loaded on demand or forbidden: that is not settled by reading."""
    without = {"proc/filesystems": "nodev\tsysfs\n\text4\n"}
    assert _fact(make_host(without), "overlayfs").found is Found.NO
    module = {"lib/modules/6.12.0-test/kernel/fs/overlayfs/overlay.ko.xz": ""}
    assert _fact(make_host({**without, **module}), "overlayfs").found is Found.UNKNOWN


@pytest.mark.parametrize(
    ("changes", "sign"),
    [
        ({".dockerenv": ""}, "/.dockerenv"),
        ({"run/.containerenv": ""}, "/run/.containerenv"),
        ({"run/systemd/container": "lxc\n"}, "/run/systemd/container"),
        ({"proc/1/cgroup": "0::/kubepods/pod1\n"}, "/proc/1/cgroup"),
        ({"proc/self/uid_map": "0 1000 1\n1 100000 65536\n"}, "/proc/self/uid_map"),
    ],
)
def test_signs_of_a_container_are_named_as_evidence(
    make_host: MakeHost, changes: dict[str, str | None], sign: str
) -> None:
    """Each sign alone is enough to say so, and the answer calls it evidence."""
    fact = _fact(make_host(changes), "container")
    assert fact.found is Found.YES
    assert fact.why == f"evidence, no proof: {sign}"


def test_the_real_host_answers_every_question() -> None:
    """On the machine that runs this test the kernel's version is known and nothing raises."""
    facts = look_at_host(HostView(environ=os.environ, uid=os.geteuid()))
    assert facts[0].value == f"Linux {os.uname().release}"
    assert len(facts) == len(FACT_MEANINGS)


def test_asking_for_landlock_restricts_nothing() -> None:
    """After the question this process may still read what it could read before."""
    before = os.listdir("/proc/self/fd")  # noqa: PTH208 - the plain call is the point
    answer = ask_landlock()
    assert answer.version > 0 or answer.error > 0
    assert len(os.listdir("/proc/self/fd")) == len(before)  # noqa: PTH208 - as above
