"""What text says of denials (ESCALATION AC2, AC8): today's wording, yesterday's, and all between."""

import pytest

from consentry.examine.denialtext import DeniedText, denials_in, given_patterns
from consentry.surface.operations import Operation

READ, WRITE, NET, ENV, RUN, FFI = list(Operation)[:6]

# As ESCALATION gives them, in the notation of its own language.
GIVEN = {
    "read": r"Requires read access to ([^\s,]+)",
    "write": r"Requires write access to ([^\s,]+)",
    "net": r"Requires net access to ([^\s,]+)",
    "env": r'Requires env access to "?([^"]+)"?',
    "run": r"Requires run access to ([^\s,]+)",
    "ffi": r"Requires ffi access",
}


def read(text: str) -> list[tuple[str, str | None]]:
    """Every denial as a pair."""
    return [(each.operation.value, each.resource) for each in denials_in(text)]


def test_the_patterns_of_the_document_are_kept_as_given() -> None:
    """ESCALATION: six patterns, letter by letter."""
    assert {name.value: found.pattern for name, found in given_patterns().items()} == GIVEN


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PermissionDenied: Requires read access to /etc/passwd", ("read", "/etc/passwd")),
        (
            "PermissionDenied: Requires net access to api.example.com:443",
            ("net", "api.example.com:443"),
        ),
        (
            "PermissionDenied: Requires write access to /tmp/output.txt",
            ("write", "/tmp/output.txt"),
        ),
        ("PermissionDenied: Requires run access to /bin/sh", ("run", "/bin/sh")),
        ("PermissionDenied: Requires ffi access", ("ffi", None)),
        ('PermissionDenied: Requires env access to "HOME"', ("env", "HOME")),
        ("PermissionDenied: Requires env access to HOME", ("env", "HOME")),
        (
            "PermissionDenied: Requires env access to HOME, run again with --allow-env",
            ("env", "HOME"),
        ),
        (
            "PermissionDenied: Requires net access to [2001:db8::1]:443, run again with --allow-net",
            ("net", "[2001:db8::1]:443"),
        ),
    ],
)
def test_yesterdays_wording(text: str, expected: tuple[str, str | None]) -> None:
    """ESCALATION AC8, and the same with what followed."""
    assert read(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            (
                'NotCapable: Requires net access to "api.example.com:443", run again with the'
                " --allow-net flag"
            ),
            ("net", "api.example.com:443"),
        ),
        (
            'NotCapable: Requires read access to "/a b, c", run again with the --allow-read flag',
            ("read", "/a b, c"),
        ),
        (
            'NotCapable: Requires read access to "a"b", run again with the --allow-read flag',
            ("read", 'a"b'),
        ),
        (
            'NotCapable: Requires net access to "[::1]:80", run again with the --allow-net flag',
            ("net", "[::1]:80"),
        ),
        (
            "Requires write access to <TMP>, run again with the --allow-write flag",
            ("write", "<TMP>"),
        ),
        ("Requires env access, run again with the --allow-env flag", ("env", None)),
        (
            'Requires ffi access to "libc.so.6", run again with the --allow-ffi flag',
            ("ffi", "libc.so.6"),
        ),
        (
            'Requires sys access to "hostname", run again with the --allow-sys flag',
            ("sys", "hostname"),
        ),
        ('Requires read access to "/cut/off"', ("read", "/cut/off")),
        (
            (
                '\x1b[31merror\x1b[0m: NotCapable: Requires \x1b[1mread access\x1b[0m to "/x", run again'
                " with the --allow-read flag"
            ),
            ("read", "/x"),
        ),
    ],
)
def test_todays_wording(text: str, expected: tuple[str, str | None]) -> None:
    """As Deno words it now, whatever the resource has in it."""
    assert read(text) == [expected]


def test_several_in_one_message() -> None:
    """In order, of both wordings, with repeats."""
    text = (
        'Requires read access to "/a", run again with the --allow-read flag; and\n'
        "PermissionDenied: Requires write access to /b\n"
        'Requires read access to "/a", run again with the --allow-read flag\n'
    )
    assert read(text) == [("read", "/a"), ("write", "/b"), ("read", "/a")]


@pytest.mark.parametrize(
    "text", ["", "Some other error", "Requires care", "Requires fly access to x", "requires read"]
)
def test_other_text_is_none(text: str) -> None:
    """ESCALATION AC8: not a permission error."""
    assert read(text) == []


def test_a_resource_is_cut() -> None:
    """What is kept of one is bounded."""
    [found] = denials_in("Requires read access to " + "x" * 10_000)
    assert found == DeniedText(Operation.READ, "x" * 4096)
