"""Network targets: reading, cover and meet, decided (CONTRACTS §7: host allowlists)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import BadInput
from consentry.surface.hosts import HostScope
from consentry.surface.targets import Target
from tests.surface.strategies import host_targets


def scope(*targets: str) -> HostScope:
    """A scope of targets."""
    return HostScope.parse(targets)


PROBES = [
    Target.parse(f"{host}{port}")
    for host in (
        "a.com",
        "x.a.com",
        "b.a.com",
        "y.b.a.com",
        "other.org",
        "localhost",
        "10.0.0.1",
        "10.200.0.1",
        "10.1.2.3",
        "192.0.2.7",
        "8.8.8.8",
    )
    for port in ("", ":80", ":443", ":9999")
] + [Target.parse(text) for text in ("[2001:db8::1]:443", "2001:db8::1", "[2001:db9::1]:443")]


@given(st.lists(host_targets, max_size=4), st.lists(host_targets, max_size=4))
def test_cover_join_and_meet_agree_with_single_targets(one: list[str], other: list[str]) -> None:
    """What a scope reaches, asked target by target, is what its operators say."""
    left, right = scope(*one), scope(*other)
    met, joined = left & right, left | right
    for probe in PROBES:
        by_one = any(Target.parse(entry).covers(probe) for entry in one)
        by_other = any(Target.parse(entry).covers(probe) for entry in other)
        assert left.reaches(probe) == by_one, probe
        assert met.reaches(probe) == (by_one and by_other), probe
        assert joined.reaches(probe) == (by_one or by_other), probe
        if left <= right:
            assert by_other or not by_one, probe


@given(st.lists(host_targets, max_size=4))
def test_a_scope_reads_back_as_itself(targets: list[str]) -> None:
    """Writing and reading a scope gives the same spelling."""
    once = scope(*targets)
    assert list(scope(*once)) == list(once)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (["api.example.com:443"], ["api.example.com"]),
        (["api.example.com:443"], ["*.example.com"]),
        (["a.b.example.com:443"], ["*.example.com:443"]),
        (["*.b.example.com"], ["*.example.com"]),
        (["10.1.2.3:80"], ["10.0.0.0/8"]),
        (["10.0.0.0/8"], ["10.0.0.0/9", "10.128.0.0/9"]),
        (["10.0.0.0/8:80"], ["10.0.0.0/9", "10.128.0.0/9:80"]),
        (["10.0.0.1:443", "a.com:443", "[::1]:443"], ["*:443"]),
        (["::ffff:10.0.0.1"], ["10.0.0.0/8"]),
        (["EXAMPLE.com."], ["example.com"]),
    ],
)
def test_covered(narrow: list[str], wide: list[str]) -> None:
    """Containments that hold."""
    assert scope(*narrow) <= scope(*wide)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (["example.com"], ["*.example.com"]),
        (["evilexample.com"], ["*.example.com"]),
        (["example.com.evil.org"], ["example.com", "*.example.com"]),
        (["example.com"], ["example.com:443"]),
        (["example.com:80"], ["example.com:443"]),
        (["10.0.0.0/8"], ["10.0.0.0/9"]),
        (["::1"], ["127.0.0.1"]),
        (["localhost"], ["127.0.0.1"]),
        (["a.com"], ["0.0.0.0/0", "::/0"]),
        (["10.0.0.1"], ["*:80", "*:443"]),
    ],
)
def test_not_covered(narrow: list[str], wide: list[str]) -> None:
    """Containments that fail; names and addresses never stand for each other."""
    assert not scope(*narrow) <= scope(*wide)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "a b",
        "a..b",
        "-a.com",
        "a.com:",
        "a.com:0",
        "a.com:080",
        "a.com:65536",
        "a.com:80:80",
        "http://a.com",
        "a.com/path",
        "user@a.com",
        "*.*.com",
        "a.*.com",
        "0x7f.0.0.1",
        "0x7f000001",
        "2130706433",
        "127.1",
        "0177.0.0.1",
        "1.2.3.4.5",
        "10.0.0.1/8",
        "[a.com]:80",
        "fe80::1%eth0",
        "münchen.de",
        "a.com\0.evil.org",
        "a.com%00",
        "a" * 64 + ".com",
        ".".join(["a" * 60] * 5),
    ],
)
def test_refused(text: str) -> None:
    """Spellings that another parser could read differently are refused, with one code."""
    with pytest.raises(BadInput) as caught:
        Target.parse(text)
    assert caught.value.code == "surface-host"


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No input crashes the reader, and what it reads is spelled so that it reads the same."""
    try:
        target = Target.parse(text)
    except BadInput:
        return
    assert Target.parse(str(target)) == target


def test_neighbouring_blocks_are_one() -> None:
    """Two halves of a block are spelled as the block."""
    assert list(scope("10.0.0.0/9", "10.128.0.0/9")) == ["10.0.0.0/8"]
