"""A place is granted by its name and by what it leads to, and only where both hold."""

from ipaddress import ip_address

import pytest

from consentry.base.errors import BadInput
from consentry.base.values import replace
from consentry.enforce.egress.addresses import Kind, is_own_address, kind_of
from consentry.enforce.egress.rules import ANY_AT_ALL, ANY_PUBLIC, Rules, address_in, read_target
from consentry.surface.dimensions import Level
from consentry.surface.lattice import host_access
from consentry.surface.modes import AnyHost

PUBLIC = ip_address("93.184.216.34")


def _rules(*targets: str, level: Level | None = None) -> Rules:
    access = host_access(level) if level is not None else host_access(list(targets))
    return Rules(access, is_own=lambda address: str(address) == "203.0.113.9")


@pytest.mark.parametrize(
    ("granted", "asked", "port", "rule"),
    [
        ("example.org", "example.org", 443, "example.org"),
        ("example.org", "EXAMPLE.org.", 80, "example.org"),
        ("example.org:443", "example.org", 443, "example.org:443"),
        ("example.org:443", "example.org", 80, None),
        ("*.example.org", "a.b.example.org", 443, "*.example.org"),
        ("*.example.org", "example.org", 443, None),
        ("*.example.org", "badexample.org", 443, None),
        ("example.org", "example.org.evil.net", 443, None),
        ("192.0.2.0/24", "192.0.2.7", 80, "192.0.2.0/24"),
        ("192.0.2.0/24", "192.0.3.7", 80, None),
        ("192.0.2.7", "::ffff:192.0.2.7", 80, "192.0.2.7"),
        ("[2001:db8::/32]:443", "2001:db8::5", 443, "[2001:db8::/32]:443"),
    ],
)
def test_a_host_is_reached_where_an_entry_covers_it(
    granted: str, asked: str, port: int, rule: str | None
) -> None:
    """The narrowest entry is the rule that the record names; another port is another place."""
    verdict = _rules(granted).by_name(read_target(asked, port))
    assert (verdict.is_allowed, verdict.rule) == (rule is not None, rule)


@pytest.mark.parametrize(
    "host",
    [
        "", "*", "*.example.org", "exa mple.org", "example.org\0.evil.net", "2130706433", "0x7f.1",
        "0177.0.0.1", "127.1", "127.0.0.1.", "[example.org]", "[127.0.0.1]", "example.org%00",
        "user@example.org", "example.org/x", "exämple.org", "fe80::1%eth0", "192.0.2.0/24",
        "a..b", "-a.org", "example.org:80", "[::1", "::1]",
    ],
)  # fmt: skip
def test_what_could_be_read_in_two_ways_is_read_in_none(host: str) -> None:
    """Numbers that resolvers take for addresses, wildcards, zones, odd letters."""
    with pytest.raises(BadInput):
        read_target(host, 443)


def test_an_empty_list_reaches_nothing() -> None:
    """As does no list; only a grant opens anything."""
    for rules in (_rules(), _rules(level=Level.NONE)):
        assert not rules.by_name(read_target("example.org", 443)).is_allowed


@pytest.mark.parametrize(
    ("spelled", "kind"),
    [
        ("93.184.216.34", Kind.PUBLIC),
        ("10.1.2.3", Kind.PRIVATE),
        ("100.64.0.1", Kind.PRIVATE),
        ("127.0.0.1", Kind.LOOPBACK),
        ("127.8.8.8", Kind.LOOPBACK),
        ("::1", Kind.LOOPBACK),
        ("::ffff:127.0.0.1", Kind.LOOPBACK),
        ("::127.0.0.1", Kind.LOOPBACK),
        ("64:ff9b::7f00:1", Kind.LOOPBACK),
        ("2002:7f00:1::", Kind.LOOPBACK),
        ("169.254.1.1", Kind.LINK_LOCAL),
        ("fe80::1", Kind.LINK_LOCAL),
        ("fec0::1", Kind.LINK_LOCAL),
        ("169.254.169.254", Kind.METADATA),
        ("::ffff:169.254.169.254", Kind.METADATA),
        ("100.100.100.200", Kind.METADATA),
        ("fd00:ec2::254", Kind.METADATA),
        ("224.0.0.251", Kind.MULTICAST),
        ("ff02::1", Kind.MULTICAST),
        ("0.0.0.0", Kind.UNSPECIFIED),  # noqa: S104 - no socket gets it
        ("0.1.2.3", Kind.UNSPECIFIED),
        ("::", Kind.UNSPECIFIED),
        ("255.255.255.255", Kind.RESERVED),
        ("203.0.113.9", Kind.OWN),
    ],
)
def test_what_kind_of_place_an_address_is(spelled: str, kind: Kind) -> None:
    """However it is dressed."""
    assert kind_of(ip_address(spelled), lambda each: str(each) == "203.0.113.9") is kind


@pytest.mark.parametrize(
    "led", ["127.0.0.1", "169.254.169.254", "fe80::1", "224.0.0.1", "0.0.0.1", "203.0.113.9"]
)
def test_a_name_never_leads_where_only_an_address_is_granted(led: str) -> None:
    """Whoever answers for a granted name cannot point it at this machine or its metadata."""
    asked, address = read_target("example.org", 80), ip_address(led)
    for rules in (_rules("example.org"), _rules("*:80"), _rules(level=Level.ANY)):
        verdict = rules.by_address(asked, address)
        assert not verdict.is_allowed
        assert led in (verdict.why or "")
    assert _rules("example.org").by_address(asked, PUBLIC).is_allowed
    as_such = _rules(f"[{led}]:80" if ":" in led else f"{led}:80")
    assert as_such.by_address(read_target(led, 80), address).is_allowed


def test_localhost_leads_home_where_it_is_granted_by_that_name() -> None:
    """And only then: no other name does."""
    home = ip_address("127.0.0.1")
    assert _rules("localhost:80").by_address(read_target("localhost", 80), home).is_allowed
    assert not _rules("localhost:80").by_address(read_target("localhost", 81), home).is_allowed
    assert not _rules("*.local").by_address(read_target("localhost.local", 80), home).is_allowed


def test_every_public_host_is_not_every_host() -> None:
    """Neighbours on a private network are named, or not reached."""
    any_host = _rules(level=Level.ANY)
    asked = read_target("example.org", 80)
    assert any_host.by_address(asked, PUBLIC).rule == ANY_PUBLIC
    assert not any_host.by_address(asked, ip_address("192.168.1.1")).is_allowed
    assert _rules("example.org").by_address(asked, ip_address("192.168.1.1")).is_allowed


@pytest.mark.parametrize("led", ["192.168.1.1", "127.0.0.1", "169.254.169.254", "::1"])
def test_any_host_at_all_is_this_machine_and_its_neighbours_too(led: str) -> None:
    """CONTRACTS §10-trusted; a list says which hosts, whatever any would mean."""
    every = replace(_rules(level=Level.ANY), any_host=AnyHost.EVERY)
    asked = read_target("example.org", 80)
    assert every.by_address(asked, ip_address(led)).rule == ANY_AT_ALL
    listed = replace(_rules("example.org:80"), any_host=AnyHost.EVERY)
    assert not listed.by_name(read_target("localhost", 80)).is_allowed
    assert listed.by_address(asked, PUBLIC).is_allowed
    is_private = led.startswith("192.")
    assert listed.by_address(asked, ip_address(led)).is_allowed == is_private


def test_an_address_that_was_asked_for_is_its_own_answer() -> None:
    """Nothing is resolved for it."""
    assert address_in(read_target("[2001:db8::1]", 80)) == ip_address("2001:db8::1")
    assert address_in(read_target("example.org", 80)) is None


def test_the_addresses_of_this_machine_are_known() -> None:
    """By the kernel's own answer."""
    assert is_own_address(ip_address("127.0.0.1"))
    assert not is_own_address(PUBLIC)
