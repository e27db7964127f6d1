"""A surface in words, with hostile targets in it."""

from hypothesis import given

from consentry.surface.dimensions import Level, LoadLevel
from consentry.surface.lattice import NOTHING, Surface
from consentry.surface.quoting import quoted
from consentry.surface.sentence import gain_in_words, in_words
from tests.surface.strategies import surfaces


def test_nothing_says_what_it_may_not_do() -> None:
    """Having no power is said, not left blank."""
    assert in_words(NOTHING) == (
        "may not read files, write files, reach the network, start programs or see environment "
        "variables"
    )


def test_every_kind_of_power_has_its_words() -> None:
    """Targets, any, and lists that name nothing are told apart."""
    surface = Surface.of(
        read=["data/", "latex/*.tex"],
        net=["api.example.com:443"],
        run=Level.ANY,
        env=[],
        load=LoadLevel.LIMITED,
        tools=["web"],
    )
    assert in_words(surface) == (
        "may read `data/` and `latex/*.tex`; may connect to `api.example.com:443`; "
        "may start any program; may see environment variables that are not named; "
        "may load modules by a fixed name at run time; may use tools of the kinds `web`; "
        "may not write files"
    )


def test_a_target_cannot_pass_for_our_own_words() -> None:
    """A backtick, an escape sequence or a line break in a name stays inside its quotes."""
    attack = "data/` and nothing else\x1b[2K\nmay not write `"
    shown = quoted([attack])
    assert shown.count("`") == 2
    assert "\x1b" not in shown
    assert "\n" not in shown


@given(surfaces(), surfaces())
def test_every_gain_has_a_line(a: Surface, b: Surface) -> None:
    """No gained power is silent."""
    for gain in a.gains_over(b):
        assert gain_in_words(gain)


@given(surfaces())
def test_words_mention_every_target(surface: Surface) -> None:
    """What is granted is named in full, however long the sentence gets."""
    words = in_words(surface)
    for target in surface.fs_read_roots:
        assert f"`{target}`" in words
