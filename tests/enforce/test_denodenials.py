"""What Deno refused by its own word: heard in parts, bounded, reported, and behind what is known."""

from pathlib import Path

from consentry.enforce.denodenials import (
    MOST_DENIALS,
    MOST_READ,
    HeardDenials,
    besides,
    reported_denials,
)
from consentry.enforce.violations import Operation, PermissionDenied, Truth
from consentry.surface.protected import protected_roots

FOLDER = Path("/srv/project")


def heard(*parts: bytes) -> HeardDenials:
    """All that a stream of these parts says."""
    found = HeardDenials()
    for part in parts:
        found.hear(part)
    found.finish()
    return found


def told(*parts: bytes) -> list[tuple[str, str, str | None, int]]:
    """As the record would have it."""
    return [
        (each.operation.value, each.resource, each.allow, each.times)
        for each in reported_denials(heard(*parts), FOLDER, FOLDER, protected_roots())
    ]


def test_a_denial_may_come_in_parts() -> None:
    """Wherever the stream is cut, and without an end of line."""
    text = b'NotCapable: Requires read access to "data/x", run again with the --allow-read flag'
    whole = [("read", "/srv/project/data/x", "--read /srv/project/data/x", 1)]
    assert told(text) == told(text + b"\n") == whole
    for at in range(len(text)):
        assert told(text[:at], text[at:]) == whole


def test_what_would_allow_it() -> None:
    """The option to type, and nothing for what no line opens."""
    lines = [
        b'Requires write access to "out/x y", run again with the --allow-write flag',
        b'Requires net access to "[::1]:80", run again with the --allow-net flag',
        b'Requires net access to "0.0.0.0:0", run again with the --allow-net flag',
        b'Requires env access to "TOKEN", run again with the --allow-env flag',
        b'Requires env access to "A B", run again with the --allow-env flag',
        b"Requires env access, run again with the --allow-env flag",
        b'Requires read access to "/etc/shadow", run again with the --allow-read flag',
        b'Requires read access to "/tmp/x", run again with the --allow-read flag',
        b"Requires write access to <TMP>, run again with the --allow-write flag",
        b'Requires run access to "ls", run again with the --allow-run flag',
        b'Requires ffi access to "x.so", run again with the --allow-ffi flag',
    ]
    assert told(b"\n".join(lines)) == [
        ("write", "/srv/project/out/x y", "--write '/srv/project/out/x y'", 1),
        ("net", "[::1]:80", "--net '[::1]:80'", 1),
        ("net", "0.0.0.0:0", None, 1),
        ("env", "TOKEN", "--env TOKEN", 1),
        ("env", "A B", None, 1),
        ("env", "any", None, 1),
        ("read", "/etc/shadow", None, 1),
        ("read", "/tmp/x", None, 1),
        ("write", "<TMP>", None, 1),
        ("run", "ls", None, 1),
        ("ffi", "x.so", None, 1),
    ]


def test_a_workspace_below_tmp_can_be_granted() -> None:
    """Its files are the host's; what else is below `/tmp` is the run's own."""
    place = Path("/tmp/project")
    said = heard(b"Requires read access to x\nRequires read access to /tmp/y\n")
    found = reported_denials(said, place, place, protected_roots())
    assert [each.allow for each in found] == ["--read /tmp/project/x", None]


def test_repeats_are_counted() -> None:
    """One entry, so many times."""
    line = b"Requires read access to /x\n"
    assert [each[3] for each in told(line * 3)] == [3]


def test_flooding_is_bounded() -> None:
    """No more than so many are kept, and the list says that it is not complete."""
    found = heard(*(b"Requires read access to /x%d\n" % number for number in range(5000)))
    assert len(found.found) == MOST_DENIALS
    assert not found.is_complete
    same = heard(b"Requires read access to /x\n" * (MOST_READ + 1))
    assert list(same.found.values()) == [MOST_READ]
    assert not same.is_complete
    endless = HeardDenials()
    for _ in range(100):
        endless.hear(b"x" * 65536)
    assert len(endless._held) <= 1 << 17


def test_all_of_it_is_reported() -> None:
    """Nobody but the program vouches for it."""
    [found] = reported_denials(
        heard(b"Requires read access to /x"), FOLDER, FOLDER, protected_roots()
    )
    assert found.truth is Truth.REPORTED
    assert "own word" in found.rule


def test_what_the_record_knows_stands() -> None:
    """The same operation on the same resource is not told twice, and not by the weaker word."""
    known = PermissionDenied(Operation.READ, "/x", "native", Truth.OBSERVED, "not granted", None)
    said = [
        PermissionDenied(Operation.READ, "/x", "deno", Truth.REPORTED, "", None),
        PermissionDenied(Operation.WRITE, "/x", "deno", Truth.REPORTED, "", None),
    ]
    assert besides([known], said) == (known, said[1])
