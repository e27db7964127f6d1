"""Whatever the bytes are, the fence answers: with findings, without a traceback, in bounded time."""

import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.examine.fence.check import MOST_FINDINGS, check_source
from consentry.examine.fence.findings import STRANGERS, FenceFinding, Rule
from consentry.examine.python.source import MOST_BYTES
from tests.examine.damagedsource import FRAGMENTS, REPEATED
from tests.fence.evasions import EVASIONS

MADE = "\nEvilCapability()\n"
OPENS_EVERY_GATE = b"consentry.XCapability; 'git push'; f(on_race=1)\n"


def check(source: bytes) -> tuple[FenceFinding, ...]:
    """The findings, as a plugin's file has them."""
    return check_source("hostile.py", source, STRANGERS)


@pytest.mark.parametrize(
    "source",
    [
        b"x = 1\0\n",
        b"(" * 300,
        b"x = " + b"(" * 90 + b"[" * 90 + b"\n",
        b"\xff\xfe",
        b"# coding: no-such-coding\nx\n",
        b"\xef\xbb\xbf# coding: latin-1\nx\n",
        b"x = '\xff'\n",
        b"if 1:\nx\n",
        b"\tx\n        y\n",
        b"#" * (MOST_BYTES + 1),
        b"x = " + b"-" * 200_000 + b"1\n",
        b"def f(:\n",
        "x = \u202e1\n".encode(),
    ],
    ids=lambda source: repr(source[:20]),
)
def test_what_cannot_be_parsed_is_one_finding(source: bytes) -> None:
    """Fail closed: not read is not passed."""
    [found] = check(source)
    assert found.rule is Rule.UNREADABLE
    assert found.line >= 1
    assert found.column >= 1


@pytest.mark.parametrize(
    "source",
    [
        b"\xef\xbb\xbf" + MADE.encode(),
        b"\x0c" + MADE.encode(),
        b"# -*- coding: latin-1 -*-\n# \xe9\n" + MADE.encode(),
        b"# coding: utf-7\nEvil+AEM-apability()\n",
        MADE.replace("\n", "\r\n").encode(),
        MADE.replace("\n", "\r").encode(),
        "Ev\uff49l\uff23apability()\n".encode(),
        "\U0001d404vilCapability()\n".encode(),
        b"exec('Evil' 'Capab' 'ility()  # Capability')\n",
    ],
    ids=lambda source: repr(source[:24]),
)
def test_encodings_hide_nothing(source: bytes) -> None:
    """Cookies, marks, form feeds, line ends and letters that are normalised mean what Python makes of them."""
    assert Rule.MADE in {each.rule for each in check(source)}


def test_more_findings_than_anyone_reads_are_counted() -> None:
    """The list is bounded, and says so."""
    found = check(b"EvilCapability()\n" * (MOST_FINDINGS + 7))
    assert len(found) == MOST_FINDINGS + 1
    assert found[-1].message == "of the file 7 more are not listed"


@pytest.mark.parametrize("ends", REPEATED, ids=repr)
def test_repetition_is_answered(ends: tuple[bytes, bytes]) -> None:
    """Deep or long, with every gate open."""
    before, after = ends
    for count in (90, 1500):
        check(OPENS_EVERY_GATE + before * count + b"a" + after * count + b"\n")


@given(
    st.lists(
        st.one_of(FRAGMENTS, st.sampled_from([e.source.encode() for e in EVASIONS])), max_size=12
    )
)
def test_fragments_in_any_order_raise_nothing(parts: list[bytes]) -> None:
    """And the same bytes give the same answer."""
    source = b"\n".join(parts)
    assert check(source) == check(source)


@given(st.sampled_from(EVASIONS), st.data())
def test_damage_raises_nothing(evasion: object, data: st.DataObject) -> None:
    """A byte taken away, put in or changed."""
    source = evasion.source.encode()  # type: ignore[attr-defined]
    at = data.draw(st.integers(0, len(source)))
    put = data.draw(st.binary(max_size=2))
    check(source[:at] + put + source[at + data.draw(st.integers(0, 2)) :])


def _library() -> list[Path]:
    folder = Path(sysconfig.get_paths()["stdlib"])
    return [path for path in sorted(folder.rglob("*.py")) if "site-packages" not in path.parts]


def _reported(files: list[Path]) -> list[str]:
    return [
        f"{file}:{each.line} {each.rule}: {each.message}"
        for file in files
        for each in check_source(str(file), file.read_bytes(), STRANGERS)
        if each.rule is not Rule.UNREADABLE
    ]


def test_a_part_of_the_standard_library_is_not_reported() -> None:
    """Somebody else's code without tokens: nothing but files that are not Python."""
    assert _reported(_library()[::20]) == []


@pytest.mark.prove
@pytest.mark.timeout(600)
def test_the_standard_library_is_not_reported() -> None:
    """All of it, its tests included."""
    assert _reported(_library()) == []


@pytest.mark.prove
@pytest.mark.timeout(600)
def test_installed_packages_raise_nothing() -> None:
    """All that the environment has; what is reported there is a type of that name, and nothing else."""
    files = sorted(Path(sysconfig.get_paths()["purelib"]).rglob("*.py"))
    assert files
    reported = _reported(files)
    own = [each for each in reported if "apability" in each or "ermit" in each or "push" in each]
    assert reported == own
    assert sys.getrecursionlimit() >= 1000


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "piece", [">", "1", "1> ", '"a', "[alias]", "=", "alias.a ", "git -a ", "\\t"]
)
def test_repetition_in_a_text_is_answered(piece: str) -> None:
    """A pattern that goes back for every letter would not end."""
    text = "git push " + piece * (60_000 // len(piece))
    check(f"x = '{text}'\n".encode() * 8)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("before", "after"), [(".a", ""), ("(", "=='push')"), ("[copy.copy(", ")]")], ids=repr
)
def test_what_stands_in_itself_is_looked_at_once(before: str, after: str) -> None:
    """Chains of attributes, comparisons and calls, as deep as they can be parsed, many times over."""
    depth = 800 if not after else 80
    value = f"token{before * depth}" if not after else before * depth + "token" + after * depth
    known = "import consentry, copy\nNAME: FsReadWriteCapability\ntoken = git = NAME\n"
    check((known + f"x = {value}\n" * 400).encode())
