"""Programs that a line of shell names, by its look."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.declare.shellwords import programs_in


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        ("node build.js && echo done", ["node", "echo"]),
        ("NODE_ENV=production webpack --mode x | tee log; (cd a && make)", ["webpack", "tee", "make"]),
        ("if test -f x; then rm x; fi", ["test", "rm"]),
        ("for f in *; do gcc $f; done", ["gcc"]),
        ("tsc>out 2>&1 && ./x.sh", ["tsc", "./x.sh"]),
        ("cd src && eslint .", ["eslint"]),
        ("$(CC) -o x x.c", []),
        ("`which node` x", []),
        ("${TOOL} x && ls", ["ls"]),
        ("echo 'no end", ["echo"]),
        ("", []),
        ("../outside/x", []),
        ("/usr/bin/x", []),
        ("* ; ?x ; a\\b", ["ab"]),
    ],
)  # fmt: skip
def test_what_stands_where_a_program_is_named(line: str, programs: list[str]) -> None:
    """Variables, words of the shell and what is hidden are not guessed at."""
    assert list(programs_in(line)) == programs


@given(st.text(max_size=200))
def test_no_text_raises_and_no_odd_word_comes_out(line: str) -> None:
    """The text is a stranger's."""
    for word in programs_in(line):
        assert word.isascii()
        assert word.isprintable()
        assert not word.startswith("-")
