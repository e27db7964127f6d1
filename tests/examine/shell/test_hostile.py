"""GUARD §extract-closed: whatever stands in a script, extraction answers, and never with less than it saw."""

import hashlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from consentry.examine.atoms import Extraction
from consentry.examine.shell import extract_shell
from consentry.examine.syntaxtree import MOST_BYTES
from tests.examine.extractionwords import words_of

SEEDS = [
    b'if [ -f "$A" ]; then . ./x; else sudo -u b env C=1 make "$@" > out 2>&1; fi',
    b"cat <<E | python3 -c 'import os' \n$X `ls`\nE\nfor i in a{b,c} *.d; do echo ${i%%x}; done",
    b'f() { local a=$1; eval "$a"; }; trap \'rm "$x"\' EXIT; find . -exec rm {} \\; | xargs -I% sh -c "%"',
    b'case $x in a|b) curl -o c "$d" ;; *) exec 3<>/dev/tcp/e/80 ;; esac; [[ -d $f && g =~ ^h ]]',
    b'a=(1 "$b" $(c)); ((d = e + 1)); echo $\'\\x41\' $"f" ~/g <(h) >(i) <<< "$j"; bash -s <k',
]
PIECES = st.sampled_from([
    b"(", b")", b"{", b"}", b"[", b"]", b"[[", b"]]", b"`", b"$(", b"${", b"$((", b'"', b"'",
    b"|", b"&", b"&&", b";", b"\n", b"<", b">", b"<<E", b"<<<", b"if", b"then", b"fi", b"for",
    b"in", b"do", b"done", b"case", b"esac", b"function", b"x=", b"eval", b"sh", b"-c", b"sudo",
    b"find", b"-exec", b"\\", b"$X", b"~", b"*", b"\xff", b"\0",
])  # fmt: skip
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(st.binary(max_size=400))
def test_any_bytes(content: bytes) -> None:
    """Bytes of no language are answered, the same way each time."""
    found = extract_shell(content)
    assert isinstance(found, Extraction)
    assert extract_shell(content) == found


@QUICK
@given(st.lists(PIECES, max_size=60))
def test_any_pieces(pieces: list[bytes]) -> None:
    """So are pieces of the language in any order."""
    assert isinstance(extract_shell(b" ".join(pieces)), Extraction)


@QUICK
@given(st.sampled_from(SEEDS), st.data())
def test_cut_and_joined(seed: bytes, data: st.DataObject) -> None:
    """A script that is cut anywhere, or has another one in its midst, is answered."""
    at = data.draw(st.integers(0, len(seed)))
    other = data.draw(st.sampled_from(SEEDS))
    assert isinstance(extract_shell(seed[:at]), Extraction)
    assert isinstance(extract_shell(seed[:at] + other + seed[at:]), Extraction)


def test_broken_region_is_said() -> None:
    """Around a part that is not of the language the rest is read, and the file is not known."""
    content = b"make; if then ) (\ncurl https://a.example.com\n"
    digest = hashlib.sha256(content).hexdigest()
    found = extract_shell(content)
    assert "proc:make" in words_of(found)
    assert f"syntax sha256:{digest}" in [each.key for each in found.unclassified]


def test_too_large() -> None:
    """A file that is too large is not read and not passed."""
    assert words_of(extract_shell(b" " * (MOST_BYTES + 1))) == "?too-large-"


@pytest.mark.parametrize("opened", [b"a=(", b"a[ ", b"${", b"$(", b"{ ", b"((", b"cat <<E\n"])
def test_too_many_are_open(opened: bytes) -> None:
    """A script that opens more than is read is not known, and costs nothing."""
    assert words_of(extract_shell(opened * 5_000)) == "?too-nested-"


DEEP = {
    "substitutions": (b"$(" * 900 + b"make" + b")" * 900, "proc:make"),
    "branches": (b"if a; then " * 2_000 + b"make" + b"; fi" * 2_000, "proc:make"),
    "pipes": (b"a" + b"|b" * 10_000 + b"|make", "proc:make"),
    "programs that start others": (b"sudo " * 2_000 + b"make", "load:ANY"),
    "code in code": (b"eval " * 2_000 + b"make", "load:ANY"),
    "words": (b'"m"' * 2_000, "proc:" + "m" * 2_000),
}


@pytest.mark.parametrize("name", DEEP)
def test_deep(name: str) -> None:
    """Nesting of any depth is walked, and what is at the bottom is found or may be anything."""
    content, expected = DEEP[name]
    words = words_of(extract_shell(content)).split()
    assert expected in words or "proc:*" in words
