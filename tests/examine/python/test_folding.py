"""Constants are worked out within bounds: nothing raises, and nothing takes more than it is worth."""

import warnings

import pytest

from consentry.examine.python.folding import (
    MOST_LETTERS,
    added,
    filled,
    formatted,
    function_called,
    joined_parts,
    method_called,
    repeated,
    sliced,
)
from consentry.examine.python.values import Const, Partial, Value

LONG = "x" * MOST_LETTERS
HUGE = 1 << 20000


def plain(value: Value) -> object:
    """The constant, or the beginning of one with a mark behind it."""
    if isinstance(value, Partial):
        return (value.prefix, ...)
    return value.value if isinstance(value, Const) else None


def test_texts_that_are_too_long_keep_their_beginning() -> None:
    """It says most about a path."""
    assert plain(added(Const(LONG), Const("y"))) == (LONG, ...)
    assert plain(joined_parts([Const(LONG), Const("y")])) == (LONG, ...)
    assert plain(added(Const(LONG), Partial("y"))) == (LONG, ...)


@pytest.mark.parametrize(
    "value",
    [
        repeated(Const("x"), Const(1 << 40)),
        repeated(Const(LONG), Const(2)),
        repeated(Const("x"), Const(-1)),
        repeated(Const(3), Const(4)),
        filled("%900000000d", [Const(1)]),
        filled("%.900000000f", [Const(1)]),
        filled("%*d", [Const(900000000), Const(1)]),
        filled("%d", [Const("no number")]),
        filled("%d", [Const(HUGE)]),
        filled("%(a)s", [Const("b")]),
        formatted("{" * (MOST_LETTERS + 1), [], {}),
        formatted("{99999999999999999999}", [Const("a")], {}),
        method_called("x" * 2000, "replace", ["", LONG]),
        method_called("x", "no_such_method", []),
        method_called("x", "replace", []),
        method_called("\ud800", "encode", []),
        method_called(b"\xff", "decode", []),
        method_called(b"x", "decode", ["zlib"]),
        method_called(7, "lower", []),
        sliced("x" * 100_000, 1, None, None),
        sliced("abc", None, None, 0),
        sliced("abc", "a", None, None),
        sliced(7, 0, 1, None),
        function_called("builtins.chr", [0x110000]),
        function_called("builtins.chr", [-1]),
        function_called("builtins.ord", ["ab"]),
        function_called("builtins.str", [HUGE]),
        function_called("builtins.bytes.fromhex", ["zz"]),
        function_called("base64.b64decode", ["é"]),
        function_called("base64.a85decode", [b"\xff"]),
        function_called("codecs.decode", [b"x", "no such codec"]),
        function_called("os.system", ["ls"]),
        function_called("builtins.chr", []),
        joined_parts([Const(HUGE)]),
        joined_parts([None]),
    ],
)
def test_what_does_not_work_out_is_not_known(value: Value) -> None:
    """GUARD §extract-closed: whatever a hostile constant is made of."""
    assert value is None


def test_templates_keep_what_stands_before_the_first_field() -> None:
    """A year in a path is no width."""
    assert plain(filled("/srv/2024/%s", [Const("x")])) == "/srv/2024/x"
    assert plain(filled("/srv/2024/%s", [None])) == ("/srv/2024/", ...)
    assert plain(filled("%s/x", [Const("/etc"), None])) == ("/etc", ...)
    assert plain(formatted("/srv/{}{}", [Const("a")], {})) == ("/srv/a", ...)


def test_escapes_that_mean_nothing_do_not_warn() -> None:
    """They stand for themselves, as Python reads them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plain(method_called(b"\\d", "decode", ["unicode_escape"])) == "\\d"
