"""What text says of denials (ESCALATION AC2, AC8): Deno's of today and before, Python's, our own."""

import pytest

from consentry.enforce.violations import PermissionDenied, Truth
from consentry.examine.denialtext import (
    DeniedText,
    denials_in,
    given_patterns,
    own_denial,
    python_denials_in,
)
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Requires read access to '/a b', and so on", ("read", "/a b")),
        ("Requires write access to `/a b`", ("write", "/a b")),
        ('Requires net access to "::1"', ("net", "::1")),
    ],
)
def test_quotation_marks_of_every_kind(text: str, expected: tuple[str, str | None]) -> None:
    """What stands between them is the resource, spaces and commas included."""
    assert read(text) == [expected]


def test_a_cut_off_denial_does_not_swallow_the_next() -> None:
    """Each has the resource that stands with it, although only the last has its end."""
    text = (
        'Requires read access to "/a"; Requires run access to "x", run again with the --allow-run'
    )
    assert read(text) == [("read", "/a"), ("run", "x")]


def test_a_resource_may_read_like_a_denial() -> None:
    """Its own one is whole; what its name speaks of is counted besides."""
    name = "/x/Requires net access to y"
    text = f'Requires read access to "{name}", run again with the --allow-read flag'
    assert read(text)[0] == ("read", name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PermissionError: [Errno 13] Permission denied: '/etc/shadow'", ["/etc/shadow"]),
        ("PermissionError: [Errno 1] Operation not permitted: 'a b'", ["a b"]),
        ("""PermissionError: [Errno 13] Permission denied: "it's" """, ["it's"]),
        (
            r"PermissionError: [Errno 13] Permission denied: 'a\'b\\c\n\x1b\u00e9'",
            ["a'b\\c\n\x1bé"],
        ),
        ("PermissionError: [Errno 13] Permission denied: b'/raw'", ["/raw"]),
        (r"PermissionError: [Errno 13] Permission denied: '\Uffffffff\q'", [r"\Uffffffff\q"]),
        ("Traceback\n  x\nPermissionError: [Errno 13] Permission denied: 'x'\nmore", ["x"]),
    ],
)
def test_pythons_wording(text: str, expected: list[str]) -> None:
    """The path as `repr` writes it; which of reading and writing it was, is not said."""
    found = list(python_denials_in(text))
    assert found == [DeniedText(READ, path, is_said=False) for path in expected]


def test_a_file_system_that_cannot_be_written_says_so() -> None:
    """Its number speaks of writing alone."""
    [found] = python_denials_in("OSError: [Errno 30] Read-only file system: '/usr/x'")
    assert found == DeniedText(WRITE, "/usr/x")


def test_two_paths_are_both_written() -> None:
    """A name is moved or linked from the one to the other."""
    text = "PermissionError: [Errno 13] Permission denied: 'a' -> 'b'"
    assert list(python_denials_in(text)) == [DeniedText(WRITE, "a"), DeniedText(WRITE, "b")]


@pytest.mark.parametrize(
    "text",
    [
        "PermissionError: [Errno 13] Permission denied",
        "PermissionError(13, 'Permission denied')",
        "FileNotFoundError: [Errno 2] No such file or directory: '/x'",
        "ConnectionRefusedError: [Errno 111] Connection refused",
        "[Errno 13] Permission denied: 5",
        "[Errno 13] Permission denied: '/not/closed",
    ],
)
def test_errors_of_python_that_name_nothing_denied(text: str) -> None:
    """Without a path it may be a file's, a connection's or a process's: nothing is read from it."""
    assert list(python_denials_in(text)) == []


@pytest.mark.parametrize(
    ("operation", "resource"),
    [
        (READ, "/place/data/a b, c.txt"),
        (READ, '/x\nPermissionDenied: Requires run access to "/bin/sh"'),
        (NET, "[2001:db8::1]:443"),
        (WRITE, "x, run again with the --allow-write flag"),
    ],
)
def test_our_own_line_is_read_back_whole(operation: Operation, resource: str) -> None:
    """Whatever is in the resource: it adds no second denial and loses nothing."""
    line = str(PermissionDenied(operation, resource, "native", Truth.KERNEL, "not granted"))
    assert own_denial(line) == DeniedText(operation, resource)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Requires read access to /x",
        "Error: PermissionDenied: Requires read access to /x",
        "PermissionDenied: Requires read access to ",
        "PermissionDenied: Requires fly access to /x",
        "PermissionDenied: Requires ffi access",
    ],
)
def test_other_text_is_not_our_own_line(text: str) -> None:
    """Only the whole line counts: what stands inside of other text is anybody's."""
    assert own_denial(text) is None
