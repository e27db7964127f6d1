"""Inference on code that nobody wrote: it answers, stays in its bands, and never says `trusted`."""

import ast
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consentry.examine.inference import UNREADABLE, Inferred, Language
from consentry.examine.inference.infer import infer
from consentry.examine.inference.inferred import MOST_LETTERS, MOST_PATTERNS
from consentry.surface.permission_sets import PermissionSet
from tests.examine.damagedsource import REPEATED
from tests.examine.inference.inferencesamples import ALL

BANDS = {0.0, 0.50, 0.60, 0.70, 0.75, 0.80, 0.90, 0.95}
CODES = [sample.code for _, sample in ALL]
LANGUAGES = st.sampled_from(list(Language))
PIECES = st.sampled_from(
    [
        *("(", ")", "{", "}", "[", "]", ";", "\n", "\n    ", ":", "=", ".", ",", "`", "${", "'", '"', "//", "#"),
        *("await ", "return ", "import ", "from 'npm:x'", "new ", "eval(", "exec(", "open(", "fetch(", "mcp."),
        *("Deno.", "Deno.env.get(", "os.environ", "globalThis[", "\0", "\ud800", "\u202e", "<!--", "?.", "=>"),
        *("def f", "class A", "lambda", "yield ", "*", "**", "import *", "'data/a'", "`./data/${a}`", "callTool("),
    ]
)  # fmt: skip


def answered(code: str, language: Language) -> Inferred:
    """The answer, with what holds of every answer."""
    found = infer(code, language)
    assert found.permission_set is not PermissionSet.TRUSTED
    assert found.confidence in BANDS
    assert (found.confidence == 0.0) == (found == UNREADABLE)
    if found.confidence == 0.50:
        assert found.permission_set is PermissionSet.MCP_STANDARD
    if found.permission_set is PermissionSet.MINIMAL:
        assert found.confidence in (0.0, 0.60, 0.95)
    assert len(found.detected_patterns) <= MOST_PATTERNS
    assert list(found.detected_patterns) == sorted(set(found.detected_patterns))
    assert all(each.isprintable() for each in found.detected_patterns)
    assert all(0 < len(each) <= MOST_LETTERS for each in found.detected_patterns)
    return found


@given(st.text(max_size=200), LANGUAGES)
def test_any_text_is_answered(code: str, language: Language) -> None:
    """Nothing raises, also below the guard that a save has."""
    assert answered(code, language) == answered(code, language)


@settings(max_examples=300)
@given(st.lists(PIECES | st.sampled_from(CODES), max_size=30).map("".join), LANGUAGES)
def test_pieces_of_code_in_any_order_are_answered(code: str, language: Language) -> None:
    """Also where they happen to parse."""
    answered(code, language)


@settings(max_examples=200)
@given(st.sampled_from(CODES), st.integers(0, 200), st.integers(0, 20), PIECES, LANGUAGES)
def test_damaged_code_is_answered(
    code: str, at: int, left_out: int, piece: str, language: Language
) -> None:
    """A piece of it replaced by something else."""
    answered(f"{code[:at]}{piece}{code[at + left_out :]}", language)


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_python_that_does_not_parse_is_minimal_with_nothing_sure(code: str) -> None:
    """CONTRACTS §5; Python's own parser is the judge."""
    assert (answered(code, Language.PYTHON) == UNREADABLE) == (not parses(code))


def parses(code: str) -> bool:
    """Whether Python's parser takes it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(code.encode())
    except (SyntaxError, ValueError):
        return False
    return True


@given(st.sampled_from([each for each in ALL if each[0] is not Language.TYPESCRIPT]))
def test_more_code_never_makes_a_set_smaller(each: tuple[Language, object]) -> None:
    """A call of the network put behind any code that was read leaves no set without it."""
    language, sample = each
    code = sample.code  # type: ignore[attr-defined]
    if answered(code, language) == UNREADABLE:
        return
    call = "\nfetch('https://zq.example')\n"
    if language is Language.PYTHON:
        call = "\nimport socket as zq\nzq.create_connection(('zq.example', 443))\n"
    found = answered(f"{code}\n{call}", language)
    assert "net:zq.example:443" in found.detected_patterns
    assert found.permission_set in (PermissionSet.NETWORK_API, PermissionSet.MCP_STANDARD)


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize(("opened", "closed"), REPEATED)
def test_what_is_repeated_without_end_is_answered(
    opened: bytes, closed: bytes, language: Language
) -> None:
    """Deep nests, long chains, many names."""
    for times in (100, 3000):
        answered((opened * times + b"a" + closed * times).decode(), language)


def test_calls_of_very_many_tools_are_answered() -> None:
    """Thousands of different ones; a few are told apart."""
    code = "\n".join(f"mcp.server{at}.tool()" for at in range(8000))
    for language in (Language.PYTHON, Language.TYPESCRIPT):
        assert answered(code, language).confidence == 0.50
