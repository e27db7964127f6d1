"""The box that asks about a tool: the reference box of CONSENT, on any terminal, with nothing cut off."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.base.canonical import Digest
from consentry.base.units import Duration
from consentry.cli.boxdrawing import ASCII, UNICODE, Glyphs, glyphs_for
from consentry.cli.estimatetext import clock_text, estimate_in_words
from consentry.cli.previewbox import prompt_text
from consentry.cli.promptpages import PromptOptions
from consentry.decide.preview import Preview
from consentry.decide.previewfiles import ExistingFile, Extent, FileUse, Found, Impact
from consentry.decide.previewparts import (
    CommandPart,
    CommandUse,
    Estimate,
    LastConsent,
    Source,
)
from consentry.declare.consent import RememberDuration
from consentry.declare.tool import ConsentLevel, Origin
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Writes
from tests.decide import previews
from tests.decide.previews import build_latex

GOLDEN = Path(__file__).parent / "golden"
SESSION = PromptOptions(RememberDuration.SESSION)
REFERENCE = (
    "Tool Execution Request",
    "Tool: build-latex",
    "Description:",
    "Compile LaTeX document to PDF",
    "Files to be Read:",
    "latex/main.tex",
    "latex/sections/*.tex (7 files)",
    "latex/references/references.bib",
    "Files to be Written/Modified:",
    "output-final/pdf/main.pdf",
    'latex/*.aux, *.log, *.bbl ("build artifacts")',
    "External Commands:",
    "pdflatex main.tex",
    "bibtex main",
    "Estimated Duration: 30-60 seconds",
    "Approve",
    "Deny",
    "Details",
    "Remember my choice for this session",
)
"""The lines of the reference box, in its order."""


def pages(
    preview: Preview,
    width: int = 80,
    height: int = 60,
    options: PromptOptions = SESSION,
    glyphs: Glyphs = UNICODE,
) -> tuple[str, ...]:
    """What is drawn."""
    return prompt_text(preview, width, height, options, glyphs).pages


def text_of(preview: Preview, **changes: object) -> str:
    """All pages, one after the other."""
    return "\n".join(pages(preview, **changes))  # type: ignore[arg-type]


def facts(preview: Preview, **changes: object) -> str:
    """The words on all pages, with what goes on in the next row put together again."""
    inner = [line[3:-1].strip() for line in text_of(preview, **changes).splitlines()]
    return re.sub(r"\n ?\|", "", "\n".join(inner))


@pytest.mark.parametrize(
    ("name", "preview", "height", "options", "glyphs"),
    [
        ("reference-roomy", build_latex(), 60, SESSION, UNICODE),
        ("reference-80x24", build_latex(), 20, SESSION, UNICODE),
        ("reference-ascii", build_latex(), 20, SESSION, ASCII),
        ("full-80x24", previews.full(), 20, SESSION, UNICODE),
        ("full-details", previews.full(), 20, replace(SESSION, shows_details=True), UNICODE),
    ],
)
def test_the_box_is_drawn_as_it_was_agreed(
    name: str, preview: Preview, height: int, options: PromptOptions, glyphs: Glyphs
) -> None:
    """CONSENT §prompt-reference: byte for byte, for a person to look at in the golden files."""
    drawn = text_of(preview, height=height, options=options, glyphs=glyphs)
    assert f"{drawn}\n" == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_the_documentation_shows_the_box_as_it_is() -> None:
    """The page that explains it has the golden box in it."""
    page = Path(__file__).parents[2] / "docs/explanation/what-a-prompt-shows.md"
    golden = (GOLDEN / "reference-80x24.txt").read_text(encoding="utf-8")
    assert f"```\n{golden}```\n" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
@pytest.mark.parametrize("height", [60, 20, 9])
def test_the_reference_box_has_its_lines_in_order(glyphs: Glyphs, height: int) -> None:
    """CONSENT §prompt-1, §prompt-2, §prompt-3, §prompt-4, §prompt-5, whatever the terminal."""
    estimate = Estimate(Duration(30_000), Duration(60_000), 20)
    drawn = text_of(build_latex(estimate=estimate), glyphs=glyphs, height=height)
    at = 0
    for line in REFERENCE:
        assert line in drawn[at:], line
        at = drawn.index(line, at)
    assert f"{glyphs.unticked} Remember" in drawn


def test_the_reference_fits_one_page_of_the_smallest_usual_terminal() -> None:
    """24 lines, of which the prompt has four for itself."""
    [page] = pages(build_latex(), height=20)
    assert len(page.splitlines()) == 20


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
@pytest.mark.parametrize("width", [30, 49, 60, 80, 101, 300])
@pytest.mark.parametrize("height", [1, 5, 20, 200])
def test_no_page_is_larger_than_the_terminal(glyphs: Glyphs, width: int, height: int) -> None:
    """No wider and no longer, down to the least that a box needs."""
    for preview in (build_latex(), previews.full()):
        for details in (False, True):
            options = replace(SESSION, shows_details=details)
            for page in pages(preview, width, height, options, glyphs):
                rows = page.splitlines()
                assert len(rows) <= max(height, 5)
                assert max(map(len, rows)) <= max(width - 1, 48)


@pytest.mark.parametrize("height", [5, 8, 20, 200])
def test_nothing_is_lost_between_pages(height: int) -> None:
    """The rows of all pages are the rows of the one long page."""

    def words(drawn: str) -> list[str]:
        inner = (line.strip("│┌┐└┘├┤─ ") for line in drawn.splitlines())
        return [line for line in inner if line and "Request" not in line and line != "goes on"]

    long = words("\n".join(pages(previews.full(), height=60, options=PromptOptions())))
    cut = words("\n".join(pages(previews.full(), height=height, options=PromptOptions())))
    assert [line for line in cut if "Approve" not in line] == [
        line for line in long if "Approve" not in line
    ]


def test_only_the_last_page_has_buttons() -> None:
    """Earlier ones say that it goes on, and where one is."""
    first, *_, last = pages(previews.full(), height=12)
    assert "goes on" in first
    assert "Approve" not in first
    assert "□" not in first
    assert "(1 of" in first
    assert "[ Approve ]" in last
    assert "□ Remember" in last


def test_no_heading_ends_a_page() -> None:
    """A heading stays with the first line of what it is about."""
    for height in range(6, 30):
        for page in pages(previews.full(), height=height)[:-1]:
            assert not page.splitlines()[-2].rstrip("│ ").endswith(":")


@pytest.mark.parametrize(
    ("remember", "words"),
    [
        (RememberDuration.SESSION, "for this session"),
        (RememberDuration.HOUR, "for 1 hour"),
        (RememberDuration.DAY, "for 1 day"),
        (RememberDuration.PERMANENT, "until the tool changes"),
    ],
)
def test_the_remember_line_says_for_how_long(remember: RememberDuration, words: str) -> None:
    """CONSENT §prompt-5: empty at first, filled when chosen, absent where nothing is remembered."""
    assert f"□ Remember my choice {words}" in text_of(
        build_latex(), options=PromptOptions(remember)
    )
    chosen = PromptOptions(remember, is_remembered=True)
    assert f"■ Remember my choice {words}" in text_of(build_latex(), options=chosen)
    assert f"[x] Remember my choice {words}" in text_of(build_latex(), options=chosen, glyphs=ASCII)
    assert "Remember" not in text_of(build_latex(), options=PromptOptions())


@pytest.mark.parametrize(
    ("p50", "p90", "words"),
    [
        (30_000, 60_000, "30-60 seconds"),
        (100, 900, "under 1 second"),
        (100, 1_200, "up to 2 seconds"),
        (1_000, 1_000, "about 1 second"),
        (59_000, 90_100, "59-91 seconds"),
        (100_000, 300_000, "2-5 minutes"),
        (120_000, 120_000, "about 2 minutes"),
        (3_600_000, 9_000_000, "1-3 hours"),
    ],
)
def test_an_estimate_is_a_span(p50: int, p90: int, words: str) -> None:
    """From half of the runs to nine in ten."""
    assert estimate_in_words(Estimate(Duration(p50), Duration(p90), 20)) == words


def test_without_runs_there_is_no_estimate() -> None:
    """What is not known is not guessed."""
    assert estimate_in_words(None) == "not known yet"
    assert "Estimated Duration: not known yet" in text_of(build_latex())
    assert [clock_text(Duration(each)) for each in (7_900, 62_000, 3_723_000)] == [
        "0:07",
        "1:02",
        "1:02:03",
    ]


@pytest.mark.parametrize(
    ("found", "pattern", "shown"),
    [
        (Found(Extent.WHOLE, 1), "a/*.x", 'a/*.x (1 file) ("p")'),
        (Found(Extent.WHOLE, 12_345), "a/*.x", 'a/*.x (12,345 files) ("p")'),
        (Found(Extent.WHOLE, 0), "a/*.x", 'a/*.x (no files) ("p")'),
        (Found(Extent.AT_LEAST, 5), "a/", 'a/ (at least 5 files) ("p")'),
        (Found(Extent.WHOLE, 1), "a/x", 'a/x ("p")'),
        (Found(Extent.WHOLE, 0), "a/x", 'a/x (not there now) ("p")'),
        (Found(), "/opt/x/", '/opt/x/ (not counted) ("p")'),
    ],
)
def test_what_a_pattern_matches_is_said(found: Found, pattern: str, shown: str) -> None:
    """CONSENT §prompt-2: the number, honestly, and the purpose beside it."""
    assert f"• {shown}" in text_of(build_latex(read=(FileUse(pattern, "p", found),)))


def test_patterns_of_one_folder_and_purpose_share_a_line() -> None:
    """Others have lines of their own, so that no folder is left to be guessed."""
    uses = tuple(
        FileUse(pattern, purpose, Found(Extent.WHOLE, 0))
        for pattern, purpose in [
            ("a/*.x", "p"),
            ("a/*.y", "p"),
            ("b/*.y", "p"),
            ("*.y", "p"),
            ("*.z", "p"),
            ("b/", "p"),
            ("b/c, *.z", "p"),
            ("b/*.z", "q"),
        ]
    )
    drawn = facts(build_latex(write=uses))
    assert '• a/*.x, *.y ("p")\n• b/*.y ("p")\n• *.y ("p")\n• *.z ("p")\n• b/ ("p")\n' in drawn
    assert '• `b/c, *.z` ("p")\n• b/*.z ("q")' in drawn


def test_what_is_opened_by_a_profile_is_said_by_us() -> None:
    """Where there is no purpose of the author's, the words are ours and have no quotes."""
    uses = (FileUse("/opt/data/", None),)
    assert "• /opt/data/ (not counted) (opened by the profile)" in text_of(build_latex(read=uses))


def test_empty_sections_say_none() -> None:
    """Nothing to read, to write, to start or to reach is a fact too."""
    empty = build_latex(read=(), write=(), commands=(), surface=Surface.of())
    drawn = facts(empty)
    for words in ("Read: none", "Modified: none", "Commands: none", "Network: none"):
        assert words in drawn


def test_powers_without_bounds_are_called_so() -> None:
    """Any host, any program, every variable."""
    surface = Surface.of(net=Level.ANY, run=Level.ANY, env=Level.ANY)
    drawn = facts(build_latex(surface=surface))
    assert "Network: any host" in drawn
    assert "• any program" in drawn
    assert "Environment: every variable" in drawn


def test_hosts_and_secrets_are_shown() -> None:
    """CONSENT §prompt-network: each host of the list, and what would be added for it."""
    drawn = facts(previews.full())
    assert "Network: api.example.com:443" in drawn
    assert "with your secret: Authorization for api.example.com:443" in drawn


def test_an_entry_point_comes_first_and_names_what_it_may_start() -> None:
    """What runs, and what that may run, are told apart; an argument with a space shows its end."""
    commands = (
        CommandUse("./build.sh", ("--fast", "a b", ""), None),
        CommandUse("bibtex", (), "references", CommandPart.ALLOWED),
    )
    drawn = facts(build_latex(commands=commands))
    assert "• ./build.sh --fast 'a b' ''\n• may start bibtex (\"references\")" in drawn


def test_what_is_new_since_the_last_consent_stands_before_the_files() -> None:
    """Only what was not agreed to before, in words, with the version that changed."""
    drawn = facts(previews.full())
    assert "Asked because: the tool has changed" in drawn
    news = drawn[drawn.index("New since") : drawn.index("Files to be Read")]
    assert "version 1.0.0, it was 0.9.0" in news
    assert "may connect to `api.example.com:443`" in news
    assert "pdflatex" not in news
    assert "New since" not in text_of(build_latex())


def test_a_tool_that_gained_nothing_says_so() -> None:
    """Its bytes changed, its powers did not."""
    other = Digest("sha256:" + "e" * 64)
    before = build_latex()
    changed = build_latex(last_consent=LastConsent("1.0.0", other, before.surface))
    assert "• its manifest or its programs, at the same version" in facts(changed)
    assert "• no power that was not agreed to" in facts(changed)


def test_impact_says_what_could_be_lost_and_what_cannot_be_undone() -> None:
    """CONSENT §level-strict: files, sizes, undo, the network; and only where it was analysed."""
    drawn = facts(previews.full())
    assert "at least 1 existing file (239.9 KB) could be changed or deleted:" in drawn
    assert "output-final/pdf/main.pdf (239.9 KB)" in drawn
    assert "`consentry undo` takes it back for 7d afterwards" in drawn
    assert "what it sends over the network cannot be undone" in drawn
    assert "lands with a\nsecond yes" in drawn
    assert "Impact" not in text_of(build_latex())


def test_impact_of_writing_at_once_and_of_writing_nothing() -> None:
    """No undo is promised where there is none; and what cannot change anything says so."""
    impact = Impact(Extent.WHOLE, 0, 0, (), None)
    at_once = build_latex(impact=impact, writes=Writes.DIRECT)
    drawn = facts(at_once)
    assert "nothing of it can be undone: it writes to the files at once" in drawn
    assert "second yes" not in drawn
    assert "no file that exists now could be changed or deleted" in drawn
    nothing = facts(build_latex(impact=impact, write=(), surface=Surface.of(read=["a"])))
    assert "it can change nothing" in nothing
    assert "undo" not in nothing


def test_more_files_than_are_listed_are_counted() -> None:
    """The largest five in the box, and how many more there are."""
    largest = tuple(ExistingFile(f"f{number}", 10) for number in range(20))
    impact = Impact(Extent.WHOLE, 50, 500, largest, Duration(1000))
    assert "f4 (10 bytes)\nand 45 more" in facts(build_latex(impact=impact))
    details = facts(build_latex(impact=impact), options=PromptOptions(shows_details=True))
    assert "f19 (10 bytes)\nand 30 more" in details


def test_without_preview_the_details_still_have_all() -> None:
    """CONSENT §config-2: `showPreview: false` takes the files off the box, not out of reach."""
    bare = build_latex(shows_preview=False, level=ConsentLevel.EXPLICIT)
    assert "Files to be Read" not in text_of(bare)
    assert "Details has all of it" in text_of(bare)
    assert "latex/sections/7.tex" in text_of(bare, options=PromptOptions(shows_details=True))


def test_details_list_everything() -> None:
    """Digest, manifest, reasons, each pattern and its files, what is closed, and what is remembered."""
    drawn = facts(previews.full(), options=PromptOptions(shows_details=True), height=500)
    for words in (
        f"Digest: {previews.DIGEST}",
        "Manifest: .paper/_cfg/tools/build-latex.yaml",
        "its own manifest says strict",
        *previews.SECTIONS,
        "• latex/*.bbl",
        "/usr/share/texlive/",
        "/home/*/.ssh/",
        "May hand on these variables:",
        "View: private",
        "What a remembered yes would cover:",
        "may write `latex/*.aux`",
    ):
        assert words in drawn, words
    assert "Back" in text_of(previews.full(), options=PromptOptions(shows_details=True))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (Source("/home/u/t.yaml", Origin.OWN, is_accepted=False), "your own manifest"),
        (Source("t.yaml", Origin.WORKSPACE, is_accepted=True), "accepted manifest"),
        (Source("t.yaml", Origin.WORKSPACE, is_accepted=False), "manifest not accepted"),
    ],
)
def test_whose_manifest_it_is_is_said_by_us(source: Source, words: str) -> None:
    """Outside of the author's frame."""
    assert f"level strict, {words}" in text_of(build_latex(source=source))


@pytest.mark.parametrize(
    ("environ", "glyphs"),
    [
        ({"LANG": "en_US.UTF-8"}, UNICODE),
        ({"LANG": "C", "LC_ALL": "C.utf8"}, UNICODE),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "POSIX"}, ASCII),
        ({"LANG": "de_DE.ISO-8859-1"}, ASCII),
        ({"LANG": "en_US.UTF-8", "TERM": "linux"}, ASCII),
        ({}, ASCII),
    ],
)
def test_the_locale_decides_what_is_drawn_with(environ: dict[str, str], glyphs: Glyphs) -> None:
    """Where UTF-8 is not said, everything is ASCII."""
    assert glyphs_for(environ) is glyphs
    if glyphs is ASCII:
        accented = replace(previews.full(), description="café", tool="café")
        for details in (False, True):
            options = PromptOptions(RememberDuration.DAY, shows_details=details)
            assert text_of(accented, glyphs=glyphs, options=options).isascii()
