r"""Safe text: what untrusted strings look like, and the laws that hold for every one of them."""

import ast
import html
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.invisible import FindingKind
from consentry.base.safetext import (
    LEAST_LIMIT,
    LEAST_ROWS,
    LEAST_WIDTH,
    Finding,
    Letters,
    findings,
    is_plain,
    safe_block,
    safe_html,
    safe_line,
)
from tests.base.corpus.reading import (
    HIDDEN_CATEGORIES,
    NEVER_SHOWN,
    assert_harmless,
    columns,
    read_back,
    read_back_block,
)

SOURCE = Path(__file__).parents[2] / "src" / "consentry"
HANGUL_JOINING = ("HANGUL JUNGSEONG", "HANGUL JONGSEONG")
EDGES = [*range(16), *range(0xFFF0, 0x10000)]

anything = st.text(st.characters(exclude_categories=()))
fragments = [
    *(
        "\\",
        "u{",
        "x{",
        "1b}",
        "*3}",
        " left out}",
        " ",
        "  ",
        " " * 17,
        "\n",
        "\n" * 5,
        "\r\n",
        "\t",
    ),
    *("\x1b[2J", "\u202e", "e", "\u0301", "\u0301" * 6, "\ud800", "\udcff", "\U000e0041", "\ufe0f"),
    *("│", "└─ end", "表", "\u05d0", "word", "a long word or two"),
]
tricky = st.lists(
    st.one_of(
        st.sampled_from(fragments), st.text(st.characters(exclude_categories=()), max_size=4)
    ),
    max_size=30,
).map("".join)
hostile = st.one_of(anything, tricky)


class TestLaws:
    """What holds for every string and for all bytes."""

    @given(hostile)
    def test_a_line_can_be_read_back(self, text: str) -> None:
        """No two strings render the same, because each can be told from its rendering."""
        assert read_back(safe_line(text)) == text

    @given(st.one_of(st.binary(), hostile.map(lambda text: text.encode("utf-8", "replace"))))
    def test_bytes_can_be_read_back(self, raw: bytes) -> None:
        """No two byte strings render the same, valid UTF-8 or not."""
        assert read_back(safe_line(raw)).encode("utf-8", "surrogateescape") == raw

    @given(hostile, st.integers(min_value=-5, max_value=120))
    def test_a_block_can_be_read_back(self, text: str, width: int) -> None:
        """Line breaks of the text and breaks made to fit the width are told apart."""
        assert read_back_block(safe_block(text, origin="x", width=width)) == text

    @given(hostile)
    def test_a_page_can_be_read_back(self, text: str) -> None:
        """What a browser shows for it can be read back as well."""
        assert read_back(html.unescape(safe_html(text))) == text

    @given(st.one_of(hostile, st.binary()))
    def test_a_line_holds_only_what_is_drawn(self, value: str | bytes) -> None:
        """No control, no invisible character and no line break survives."""
        assert_harmless(safe_line(value))
        assert_harmless(safe_html(value))

    @given(hostile, hostile, st.integers(min_value=-5, max_value=120))
    def test_every_line_of_a_block_is_ours(self, text: str, origin: str, width: int) -> None:
        """Whatever the text and whoever it claims to be from, each line starts with our frame."""
        header, *rows, footer = safe_block(text, origin=origin, width=width).split("\n")
        assert header.startswith("┌─ written by ")
        assert footer == "└─ end"
        assert rows
        for row in rows:
            assert row[0] in "│┊"
            assert row[1:2] in {"", " "}
            assert row[-1] != " "
        for row in (header, *rows):
            assert_harmless(row)
            assert columns(row) <= max(width, LEAST_WIDTH)

    @given(hostile, st.integers(min_value=-5, max_value=90))
    def test_a_limit_is_kept_and_accounted_for(self, text: str, limit: int) -> None:
        """Head and tail are exact, whole, and the number between them makes up the rest."""
        shown = safe_line(text, limit=limit)
        assert_harmless(shown)
        assert columns(shown) <= max(limit, LEAST_LIMIT)
        gaps = [gap for gap in re.finditer(r"(\\+)u\{(\d+) left out\}", shown) if len(gap[1]) % 2]
        if not gaps:
            assert shown == safe_line(text)
            return
        (gap,) = gaps
        head = read_back(shown[: gap.end(1) - 1] + "\\u{2e}")[:-1]
        tail = read_back(shown[gap.end() :])
        assert text.startswith(head)
        assert text.endswith(tail)
        assert len(head) + int(gap[2]) + len(tail) == len(text)

    @given(hostile, st.integers(min_value=-1, max_value=9))
    def test_rows_left_out_are_accounted_for(self, text: str, most: int) -> None:
        """A block of few rows keeps the first and the last, and counts what lies between."""
        whole = safe_block(text, origin="x", width=40).split("\n")
        short = safe_block(text, origin="x", width=40, rows=most).split("\n")
        if len(whole) - 2 <= max(most, LEAST_ROWS):
            assert short == whole
            return
        assert len(short) - 2 == max(most, LEAST_ROWS)
        at = next(i for i, row in enumerate(short) if re.fullmatch(r"│ \\u\{\d+ left out\}", row))
        assert short[:at] == whole[:at]
        behind = len(short) - at - 1
        assert short[at + 1 :] == whole[-behind:]
        count = int(short[at][5:].split()[0])
        from_the_gap_on, tail = (
            read_back_block("\n".join(["┌─", "│" + rows[0][1:], *rows[1:]]))
            for rows in (whole[at:], whole[-behind:])
        )
        assert text.endswith(from_the_gap_on)
        assert from_the_gap_on.endswith(tail)
        assert count == len(from_the_gap_on) - len(tail)

    @given(hostile)
    def test_findings_explain_every_change(self, text: str) -> None:
        """A text without findings is shown as it is; a changed text has findings that point at it."""
        found = findings(text)
        assert is_plain(text) == (found == ())
        if safe_line(text) != text:
            assert found
        for finding in found:
            assert 0 <= finding.first < len(text)
            assert 0 < finding.characters <= len(text) - finding.first
        assert [finding.first for finding in found] == sorted(finding.first for finding in found)

    @given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
    def test_plain_text_is_left_alone(self, text: str) -> None:
        """ASCII without padding or a typed escape comes out unchanged."""
        if not re.search(r"\\[ux]\{|^ | $|  ", text):
            assert safe_line(text) == text
            assert is_plain(text)

    def test_every_code_point_is_shown_or_escaped_by_rule(self) -> None:
        """All assigned planes: hidden categories and invisible exceptions are escapes, no others are."""
        edges_of_planes = [plane + at for plane in range(0, 0x110000, 0x10000) for at in EDGES]
        wrong = []
        for point in [*range(0x32000), *range(0xE0000, 0xE1000), *edges_of_planes]:
            char = chr(point)
            category = unicodedata.category(char)
            is_joining = unicodedata.name(char, "").startswith(HANGUL_JOINING)
            carrier = "\u1112" if is_joining else "\u0915" if category[0] == "M" else "x"
            is_escaped = char not in safe_line(carrier + char + "x")
            if char in NEVER_SHOWN or category in HIDDEN_CATEGORIES:
                if not is_escaped and char != " ":
                    wrong.append(f"shown: {point:x}")
            elif is_escaped and findings(carrier + char)[0].kind is not FindingKind.INVISIBLE:
                wrong.append(f"escaped: {point:x}")
        assert wrong == []


class TestEscapes:
    """What a reader sees in place of what must not be seen."""

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("\x1b[31mred", r"\u{1b}[31mred"),
            ("name\u202etxt.exe", r"name\u{202e}txt.exe"),
            ("two\nlines\tand\r\n", r"two\u{a}lines\u{9}and\u{d}\u{a}"),
            (b"caf\xc3\xa9 \xff\xfe", r"café \x{ff}\x{fe}"),
            ("lone \ud800 and stray \udcff", r"lone \u{d800} and stray \x{ff}"),
            ("a\u200b\u200b\u200bb", r"a\u{200b*3}b"),
            (r"C:\users\x", r"C:\users\x"),
            (r"typed \u{1b}", r"typed \\u{1b}"),
            (r"typed \\x{1b}", r"typed \\\\x{1b}"),
            ("back\\\x1b", r"back\\\u{1b}"),
            (" x ", r"\u{20}x\u{20}"),
            ("a" + " " * 16 + "b", "a" + " " * 16 + "b"),
            ("a" + " " * 17 + "b", r"a\u{20*17}b"),
            ("", ""),
            ("na\u0308ive", "na\u0308ive"),
            (
                "\u0e17\u0e35\u0e48 \u05e9\u05c1\u05b8 \u0928\u093c\u093f\u0902 表",
                "\u0e17\u0e35\u0e48 \u05e9\u05c1\u05b8 \u0928\u093c\u093f\u0902 表",
            ),
            ("a" + "\u0301" * 7, "a" + "\u0301" * 4 + r"\u{301*3}"),
            ("/\u0338", r"/\u{338}"),
            ("a\u17d2", r"a\u{17d2}"),
        ],
    )
    def test_rendering(self, text: str | bytes, shown: str) -> None:
        """One line per rule."""
        assert safe_line(text) == shown

    def test_what_does_not_fit_is_counted_not_cut(self) -> None:
        """The tail, where a payload hides, stays; the number of missing characters is exact."""
        assert (
            safe_line("a" * 50 + "b" * 50, limit=40) == r"aaaaaaaaaaaa\u{76 left out}bbbbbbbbbbbb"
        )

    def test_an_escape_is_never_split_by_a_limit(self) -> None:
        """Room for half an escape is room for none of it."""
        shown = safe_line("\u202e\u202d" * 50, limit=40)
        assert shown == r"\u{202e}\u{98 left out}\u{202d}"

    def test_a_backslash_before_the_gap_does_not_disarm_it(self) -> None:
        """A head that ends in backslashes gives them up rather than double the one that is ours."""
        assert safe_line("\\" * 100, limit=40) == r"\u{88 left out}" + "\\" * 12

    def test_a_block_wraps_in_front_of_a_space(self) -> None:
        """So a reader sees whether there was one; line breaks of the text look different."""
        shown = safe_block("one two three four five six seven eight\nnine", origin="tool", width=40)
        assert shown.split("\n") == [
            "┌─ written by tool",
            "│ one two three four five six seven",
            "┊  eight",
            "│ nine",
            "└─ end",
        ]

    def test_findings_name_kind_number_and_place(self) -> None:
        """Enough for a prompt to say what is odd and where."""
        assert findings("a\u200b\u200bb\x1b]0;x\x07") == (
            Finding(FindingKind.ZERO_WIDTH, 2, 1),
            Finding(FindingKind.ANSI, 1, 4),
            Finding(FindingKind.CONTROL, 1, 9),
        )

    def test_right_to_left_letters_are_shown_and_reported(self) -> None:
        """They are honest letters, but what stands beside them may be drawn elsewhere."""
        assert safe_line("file-\u05d0\u05d1") == "file-\u05d0\u05d1"
        assert findings("file-\u05d0\u05d1") == (Finding(FindingKind.RIGHT_TO_LEFT, 2, 5),)

    def test_ordinary_layout_is_told_from_controls(self) -> None:
        """Line ends of either habit and tabs are layout; a lone carriage return is a control."""
        assert {finding.kind for finding in findings("a\r\nb\tc\n")} == {FindingKind.LAYOUT}
        assert {finding.kind for finding in findings("a\rb")} == {FindingKind.CONTROL}


class TestModule:
    """What the module costs, and who may use its types."""

    def test_importing_it_is_light(self) -> None:
        """The error path of the command needs it: no terminal library, no HTML tables, no dataclasses."""
        probe = "import sys, consentry.base.safetext; print(*sys.modules)"
        modules = subprocess.run(
            [sys.executable, "-c", probe], check=True, capture_output=True, text=True
        ).stdout.split()
        assert not {"rich", "html", "html.entities", "dataclasses", "inspect"} & set(modules)

    def test_only_this_module_makes_safe_text(self) -> None:
        """Calling the type anywhere else would be a claim without a check."""
        makers = {
            path.relative_to(SOURCE).as_posix()
            for path in SOURCE.rglob("*.py")
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.Call)
            and getattr(node.func, "id", getattr(node.func, "attr", "")) in {"SafeText", "SafeHtml"}
        }
        assert makers == {"base/safetext.py"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("café", "caf\\u{e9}"),
        ("éé", "\\u{e9}\\u{e9}"),
        ("\\é", "\\\\\\u{e9}"),
        ("\\u{e9}", "\\\\u{e9}"),
        ("a\u0301", "a\\u{301}"),
        ("文", "\\u{6587}"),
        ("\u202e", "\\u{202e}"),
    ],
)
def test_where_only_ascii_can_be_shown_other_letters_are_escapes(text: str, shown: str) -> None:
    """Each letter has its own escape, and none of them can be typed."""
    assert safe_line(text, letters=Letters.ASCII) == shown
    block = safe_block(text, origin="é", width=40, letters=Letters.ASCII)
    assert block.isascii()
    assert block.splitlines() == ["+- written by \\u{e9}", f"| {shown}", "+- end"]
