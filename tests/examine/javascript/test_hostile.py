"""GUARD §extract-closed: whatever stands in a script, extraction answers, and never with less than it saw."""

import hashlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from consentry.examine.atoms import Extraction
from consentry.examine.javascript import Dialect, extract_javascript
from consentry.examine.syntaxtree import MOST_BYTES
from tests.examine.extractionwords import words_of

SEEDS = [
    b'const { exec: run = x, ...rest } = require("child_process"); run(`ls ${y}`, ...z)',
    b'import a, { b as c } from "fs"; export * from "./x"; export { c as d }; import("x").then(({ e }) => e())',
    b"class A extends B { #p = 1; static q = process.env; m() { return this[x]?.(super.y) } static { eval(z) } }",
    b"for (const [k, v] of Object.entries(process.env)) { label: while (1) { if (k) break label } }",
    b'x = <Foo a={fetch(u)} {...b}>text {c}</Foo>; y = a ? b : c ?? d; /re/g.exec("\\x41\\u{42}")',
    b"async function* f(a = 1, { b }, [c], ...d) { try { await a } catch { } finally { yield* arguments } }",
]
PIECES = st.sampled_from([
    b"(", b")", b"{", b"}", b"[", b"]", b"`", b"${", b'"', b"'", b"=>", b"...", b"?.", b"=",
    b";", b"\n", b"/", b"<", b">", b"eval", b"require", b"process", b".env", b"import",
    b"export", b"class", b"function", b"async", b"\\u0061", b"\xff",
])  # fmt: skip
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUICK
@given(st.binary(max_size=400), st.sampled_from(Dialect))
def test_any_bytes(content: bytes, dialect: Dialect) -> None:
    """Bytes of no language are answered, the same way each time."""
    found = extract_javascript(content, dialect)
    assert isinstance(found, Extraction)
    assert extract_javascript(content, dialect) == found


@QUICK
@given(st.lists(PIECES, max_size=60), st.sampled_from(Dialect))
def test_any_pieces(pieces: list[bytes], dialect: Dialect) -> None:
    """So are pieces of the language in any order."""
    assert isinstance(extract_javascript(b" ".join(pieces), dialect), Extraction)


@QUICK
@given(st.sampled_from(SEEDS), st.data(), st.sampled_from(Dialect))
def test_cut_and_joined(seed: bytes, data: st.DataObject, dialect: Dialect) -> None:
    """A script that is cut anywhere, or has another one in its midst, is answered."""
    at = data.draw(st.integers(0, len(seed)))
    other = data.draw(st.sampled_from(SEEDS))
    assert isinstance(extract_javascript(seed[:at], dialect), Extraction)
    assert isinstance(extract_javascript(seed[:at] + other + seed[at:], dialect), Extraction)


def test_broken_region_is_said() -> None:
    """Around a part that is not of the language the rest is read, and the file is not known."""
    content = b'fetch("https://a.example.com/"); let = = ;; { ('
    digest = hashlib.sha256(content).hexdigest()
    found = extract_javascript(content)
    assert "net:a.example.com:443" in words_of(found)
    assert [each.key for each in found.unclassified] == [f"syntax sha256:{digest}"]


def test_broken_region_in_types_is_said() -> None:
    """Types are passed over, but not what is wrong in them."""
    assert words_of(extract_javascript(b"f<f<f<", Dialect.TYPESCRIPT)) == "?syntax-"


def test_comment_of_html_is_said() -> None:
    """A module reads as code what a script takes for a comment in the manner of HTML."""
    assert words_of(extract_javascript(b"x;\n<!-- y; eval(z)\n")) == "?syntax-"
    assert words_of(extract_javascript(b"x <!-- y; eval(z)\n")) in ("?syntax-", "load:ANY")


def test_comment_ends_at_every_end_of_line() -> None:
    """Code behind the rarer ends of lines is no comment."""
    for end in (b"\r", "\u2028".encode(), "\u2029".encode()):
        for dialect in Dialect:
            assert "load:ANY" in words_of(extract_javascript(b"// x" + end + b"eval(y)", dialect))


def test_too_large() -> None:
    """A file that is too large is not read and not passed."""
    assert words_of(extract_javascript(b" " * (MOST_BYTES + 1))) == "?too-large-"


def test_byte_order_mark() -> None:
    """A mark before the first line hides nothing."""
    assert words_of(extract_javascript(b"\xef\xbb\xbfeval(x)")) == "load:ANY"


DEEP = {
    "parentheses": (b"(" * 20_000 + b"eval" + b")" * 20_000 + b"(x)", "load:ANY"),
    "functions": (b"(function(){var a;" * 2_000 + b"eval(x)" + b"})()" * 2_000, "load:ANY"),
    "calls": (b"f(" * 5_000 + b"fetch" + b")" * 5_000, "net:*"),
    "choices": (b"f(" + b"a ? b : " * 5_000 + b"fetch)", "net:*"),
    "names": (
        b'var a0 = require("child_process");'
        + b"".join(b"var a%d = a%d;" % (at + 1, at) for at in range(3_000))
        + b'a3000.exec("ls")',
        "proc:ls",
    ),
    "sums": (b"require(" + b'"c" + ' * 5_000 + b"x)", "load:ANY"),
    "patterns": (b"const " + b"{a:" * 3_000 + b"b" + b"}" * 3_000 + b" = x; eval(y)", "load:ANY"),
    "chains": (b"a" + b".b()" * 10_000 + b"; eval(y)", "load:ANY"),
}


@pytest.mark.parametrize("name", DEEP)
def test_deep(name: str) -> None:
    """Nesting of any depth is walked, and what is at the bottom is found."""
    content, expected = DEEP[name]
    assert expected in words_of(extract_javascript(content)).split()


def test_names_that_lead_on_for_too_long_are_said() -> None:
    """Names that are handed on backwards more often than is followed make the file unknown."""
    names = b"".join(b"var a%d = a%d;" % (at, at + 1) for at in range(100))
    content = b"function f() {" + names + b'a0.exec("ls") } var a100 = require("child_process")'
    assert "?too-deep-" in words_of(extract_javascript(content)).split()
