"""The page of a report in a real browser, as wide as a desk and as narrow as a phone.

The browser draws a report of real runs without a person; what is asserted is read from what it drew: its
own idea of the document after styles and policy, and the picture.
"""

import os
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.test_report import place
from tests.record.reportsamples import Page
from tests.service.toolplaces import OwnPlace

__all__ = ["place"]  # a fixture that tests here ask for by name

pytestmark = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="chromium is not installed"
)

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--force-device-scale-factor=1",
)  # fmt: skip
DESK, PHONE = 1100, 500
LIGHT, DARK = (0xF6, 0xF7, 0xF9), (0x12, 0x16, 0x1C)
SUCCESS, REFUSED = (0x2E, 0x8B, 0x63), (0xC2, 0x43, 0x4B)


@pytest.fixture
def page(consentry: CommandLine, place: OwnPlace) -> Path:
    """The report of three runs, one of which failed."""
    assert len(place.entries()) == 3
    assert consentry("report", "--out", "report.html").status == 0
    return consentry.cwd / "report.html"


def browse(page: Path, folder: Path, *flags: str) -> str:
    """Opens it in a browser of its own; what that prints."""
    words = ["chromium", *FLAGS, f"--user-data-dir={folder / 'profile'}", *flags, page.as_uri()]
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done = subprocess.run(words, env=environ, capture_output=True, check=True, timeout=120)
    return done.stdout.decode()


def rows_of(picture: Path) -> list[bytes]:
    """The lines of a PNG with eight bits a colour, three or four colours; filters undone."""
    data, at, packed, wide, depth = picture.read_bytes(), 8, b"", 0, 3
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            wide, _, bits, colours = struct.unpack(">IIBB", body[:10])
            assert bits == 8
            depth = {2: 3, 6: 4}[colours]
        packed += body if kind == b"IDAT" else b""
        at += length + 12
    raw, size = zlib.decompress(packed), wide * depth
    rows: list[bytes] = []
    before = bytearray(size)
    for start in range(0, len(raw), size + 1):
        before = _unfiltered(
            raw[start], bytearray(raw[start + 1 : start + 1 + size]), before, depth
        )
        rows.append(bytes(before if depth == 3 else _opaque(before)))
    return rows


def _opaque(row: bytearray) -> bytearray:
    return bytearray(value for at, value in enumerate(row) if at % 4 != 3)


def _unfiltered(kind: int, row: bytearray, above: bytearray, depth: int) -> bytearray:
    for at in range(len(row)):
        left = row[at - depth] if at >= depth else 0
        corner = above[at - depth] if at >= depth else 0
        guess = left + above[at] - corner
        nearest = min((left, above[at], corner), key=lambda each: abs(guess - each))
        added = (0, left, above[at], (left + above[at]) // 2, nearest)[kind]
        row[at] = (row[at] + added) & 255
    return row


def pixels(rows: list[bytes], colour: tuple[int, int, int]) -> int:
    """How many there are of a colour."""
    wanted = bytes(colour)
    return sum(row[at : at + 3] == wanted for row in rows for at in range(0, len(row), 3))


@pytest.mark.parametrize("width", [DESK, PHONE])
def test_the_page_is_drawn_with_its_charts(page: Path, tmp_path: Path, width: int) -> None:
    """Green for what ended well, red for what was refused, on a light ground, as wide as the window."""
    picture = tmp_path / "page.png"
    browse(page, tmp_path, f"--screenshot={picture}", f"--window-size={width},1600")
    rows = rows_of(picture)
    assert {len(row) // 3 for row in rows} == {width}
    assert rows[0][:3] == bytes(LIGHT)
    assert pixels(rows, SUCCESS) > 500
    assert pixels(rows, REFUSED) > 200


def test_the_page_is_dark_where_that_is_wanted(page: Path, tmp_path: Path) -> None:
    """By the browser's own setting."""
    picture = tmp_path / "page.png"
    dark = ("--force-dark-mode", "--blink-settings=preferredColorScheme=0")
    browse(page, tmp_path, f"--screenshot={picture}", "--window-size=700,900", *dark)
    assert rows_of(picture)[0][:3] == bytes(DARK)


def test_the_browser_reads_the_same_numbers(page: Path, place: OwnPlace, tmp_path: Path) -> None:
    """Labels, links and entries in the document as the browser has it; it refused nothing of it."""
    seen = Page(browse(page, tmp_path, "--dump-dom"))
    written = Page(page.read_text())
    assert seen.labels == written.labels
    assert "explicit_approval: 3 given, 0 refused" in seen.labels
    anchors = {a.get("id") for _, a in seen.elements}
    assert {each["id"] for each in place.entries()} <= anchors
    assert {(a["href"] or "")[1:] for _, a in seen.elements if "href" in a} <= anchors


def test_a_script_in_the_page_would_not_run(page: Path, tmp_path: Path) -> None:
    """Its policy holds: the attack fails, and without the policy the same line changes the page."""
    attack = "<script>document.title = 'taken over'</script></main>"
    text = page.read_text()
    planted = page.with_name("planted.html")
    planted.write_text(text.replace("</main>", attack))
    assert "taken over</title>" not in browse(planted, tmp_path, "--dump-dom")
    planted.write_text(text.replace("</main>", attack).replace("Content-Security-Policy", "x-none"))
    assert "taken over</title>" in browse(planted, tmp_path, "--dump-dom")
