"""One place writes: JSON for strict readers, colour only where it is wanted, width within reason."""

import json
import os
import pty
import subprocess
import sys
from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from consentry.cli.output import json_text, page_width, wants_color
from tests.cli.conftest import PROGRAM, CommandLine

TEXTS = st.text(st.characters(exclude_categories=()))


@given(TEXTS, TEXTS)
@example("\x7f", "\x00\x1b\x7f\x9b\u2028\ud800")
def test_json_is_ascii_without_controls_and_valid_unicode(key: str, value: str) -> None:
    """Any text at all, lone surrogates included, gives a document every reader accepts."""
    text = json_text("test", {key: value})
    assert text.isascii()
    assert all(letter == "\n" or letter.isprintable() for letter in text)
    json.loads(text)["kind"].encode()
    for item in json.loads(text).items():
        "".join(map(str, item)).encode()


def test_json_begins_with_version_and_kind() -> None:
    """Everything that leaves the process says what it is, and in which version."""
    assert list(json.loads(json_text("status", {"a": [1, None, True]}))) == [
        "schema_version",
        "kind",
        "a",
    ]


def test_json_has_no_numbers_that_are_none() -> None:
    """NaN is no JSON."""
    with pytest.raises(ValueError, match="JSON compliant"):
        json_text("test", {"a": float("nan")})


@pytest.mark.parametrize(
    ("choice", "environ", "expected"),
    [
        ("auto", {}, True),
        ("auto", {"TERM": "xterm"}, True),
        ("auto", {"NO_COLOR": "1"}, False),
        ("auto", {"NO_COLOR": ""}, True),
        ("auto", {"TERM": "dumb"}, False),
        ("never", {}, False),
        ("always", {"NO_COLOR": "1", "TERM": "dumb"}, True),
    ],
)
def test_color_on_a_terminal(choice: str, environ: dict[str, str], *, expected: bool) -> None:
    """`--color` decides; otherwise NO_COLOR and TERM=dumb may speak against it."""
    master, terminal = pty.openpty()
    with os.fdopen(master), os.fdopen(terminal, "w") as stream:
        assert wants_color(choice, stream, environ) is expected


def test_no_color_without_a_terminal() -> None:
    """Not into a file, and not when there is no stream at all."""
    assert wants_color("auto", StringIO(), {}) is False
    assert wants_color("auto", None, {}) is False


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("72", 72),
        ("1", 40),
        ("100000", 100),
        ("0", 80),
        ("-5", 80),
        ("wide", 80),
        ("", 80),
        ("9" * 5000, 80),
    ],
)
def test_width_follows_columns_within_reason(columns: str, expected: int) -> None:
    """Values that make no sense are as if not set."""
    script = "from consentry.cli.output import page_width; print(page_width())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"COLUMNS": columns},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == expected
    assert 40 <= page_width() <= 100


@pytest.mark.parametrize("words", [["status"], ["explain"], ["--help"], ["statsu"]])
def test_nothing_is_colored_in_a_pipe(consentry: CommandLine, words: list[str]) -> None:
    """Files and pipes get plain text, unless it is asked for."""
    plain = consentry(*words)
    assert "\x1b" not in plain.out + plain.err
    colored = consentry("--color", "always", *words)
    assert "\x1b[" in colored.out + colored.err


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_terminal_without_color_gets_plain_text(
    consentry: CommandLine, environ: dict[str, str]
) -> None:
    """On a real terminal the variables are honoured; without them there is colour."""
    assert b"\x1b" not in _on_terminal(consentry, "status", **environ)
    assert b"\x1b[" in _on_terminal(consentry, "status", TERM="xterm")


def _on_terminal(consentry: CommandLine, *words: str, **environ: str) -> bytes:
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, *words],
        cwd=consentry.cwd,
        env={**consentry.environ, **environ},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    seen = b""
    try:
        while part := os.read(master, 4096):
            seen += part
    except OSError:
        # A terminal whose last user has gone answers with an error.
        process.wait()
    os.close(master)
    return seen
