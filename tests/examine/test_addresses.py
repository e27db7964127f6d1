"""GUARD §extract-net: the host of an address, where every reader finds the same one."""

import pytest

from consentry.examine.constanttargets import host_target


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://good.example/x", "good.example:443"),
        ("https://user:word@good.example:8443/x", "good.example:8443"),
        ("https://good.example?x", "good.example:443"),
        ("good.example:99", "good.example:99"),
        ("https://evil.example\\@good.example/", None),
        ("https:\\\\evil.example", None),
        ("https://good.example\t.evil.example/", None),
        ("https://good.example\n/", None),
        ("https://good.example/a b", None),
        ("https://good.example\x00/", None),
        ("https://good.example:80evil.example/", None),
        ("https://good.example:\u00b2/", None),
        ("good.example:\u00b2", None),
        ("http:80", None),
        ("https:///evil.example", None),
    ],
)
def test_host(address: str, expected: str | None) -> None:
    """Backslashes, control characters and white space make it computed."""
    assert host_target(address) == expected
