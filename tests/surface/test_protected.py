"""Protected roots (GUARD `canon://policy/protected_roots_v1`): what no grant opens."""

import pytest

from consentry.base.errors import Refused
from consentry.surface.pattern import Pattern
from consentry.surface.protected import protected_roots

TABLE = protected_roots()
BOUND = TABLE.bound_to(["/home/user", "/data/homes/odd*name"], also=["/mnt/moved-state"])


def test_the_table_is_named_and_versioned() -> None:
    """The identity that every verdict cites, and a digest of the very bytes."""
    assert TABLE.identity == "canon://policy/protected_roots_v1"
    assert TABLE.version == 1
    assert TABLE.digest.startswith("sha256:")


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/etc/",
        "/etc",
        "/proc/self/environ",
        "/var/tmp",
        "/dev/sda",
        "~/.ssh",
        "~/.ssh/id_ed25519",
        "~/.aws/credentials",
        "~/.gnupg/",
        "~/.mozilla/firefox/x/cookies.sqlite",
        "~/.config/google-chrome/Default/Cookies",
        "~/.bash_history",
        "/run/docker.sock",
        "/var/run/docker.sock",
        "/run/user/1000/bus",
        "~/.local/state/consentry/ledger.db",
    ],
)
def test_protected(path: str) -> None:
    """GUARD names `/etc`, `~/.ssh`, `/proc`, `/var`, `/dev`; keys, profiles and sockets join."""
    with pytest.raises(Refused) as caught:
        TABLE.require_grantable(Pattern.parse(path))
    assert caught.value.code == "protected-root"
    assert "never granted" in caught.value.message


@pytest.mark.parametrize(
    "path",
    ["/home/user/.ssh/id_rsa", "/root/.aws/", "/home/somebody/.ssh/config", "/mnt/moved-state/x"],
)
def test_home_rows_hold_for_every_home_once_bound(path: str) -> None:
    """The user's own home, other users' homes, root's, and a moved state directory."""
    assert BOUND.over(Pattern.parse(path)) is not None


def test_a_home_with_a_wildcard_in_its_name_is_taken_literally() -> None:
    """`odd*name` is one folder, not a pattern."""
    assert BOUND.over(Pattern.parse(r"/data/homes/odd\*name/.ssh/x")) is not None
    assert BOUND.over(Pattern.parse("/data/homes/oddXname/.ssh/x")) is None


@pytest.mark.parametrize(
    "path",
    ["data/", "./", "/usr/share/fonts/", "/tmp/x", "~/projects/", "etc/passwd", "/etcetera/x"],
)
def test_not_protected(path: str) -> None:
    """Ordinary places, and names that only look alike."""
    pattern = Pattern.parse(path)
    assert TABLE.require_grantable(pattern) is pattern


def test_a_pattern_that_contains_protected_roots_says_which() -> None:
    """`/` may be granted; what an engine must hide in it is known."""
    everything = Pattern.parse("/")
    assert TABLE.over(everything) is None
    hidden = {row.pattern.text for row in TABLE.within(everything)}
    assert {"/etc/", "/proc/", "/var/", "/dev/"} <= hidden
    assert TABLE.within(Pattern.parse("/usr/")) == ()


def test_a_wildcard_cannot_slip_under_a_root() -> None:
    """A pattern that matches only protected paths is refused however it is spelled."""
    assert TABLE.over(Pattern.parse("/etc/*/../passwd")) is not None
    assert TABLE.over(Pattern.parse("/etc/**/shadow")) is not None
    assert [row.pattern.text for row in TABLE.within(Pattern.parse("/e*/shadow"))] == ["/etc/"]


def test_exceptions_are_for_the_engine_and_never_a_grant() -> None:
    """The loader's cache is provided read-only, and still cannot be granted."""
    cache = Pattern.parse("/etc/ld.so.cache")
    assert TABLE.exception_for(cache) is not None
    with pytest.raises(Refused):
        TABLE.require_grantable(cache)
    assert TABLE.exception_for(Pattern.parse("/etc/shadow")) is None
    for row in TABLE.exceptions:
        assert TABLE.over(row.pattern) is not None, "an exception lies inside a protected root"


def test_every_row_says_why() -> None:
    """A refusal explains itself."""
    assert all(len(row.why) > 10 for row in (*TABLE.never_granted, *TABLE.exceptions))
