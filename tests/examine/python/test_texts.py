"""Texts that are put together: the ways in which a name or a path is hidden, and what stays unknown."""

import pytest

from tests.examine.python.resolving import value_of

CODE = "import os, codecs, base64\nhome = '/srv'\nwords = ['a', 'b']\n"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("'ev' + 'al'", "'eval'"),
        ("home + '/x'", "'/srv/x'"),
        ("home + given", "'/srv'…"),
        ("home + '/' + given + '/x'", "'/srv/'…"),
        ("given + home", "?"),
        ("b'a' + b'b'", "b'ab'"),
        ("1 + 2", "3"),
        ("5 - 2", "3"),
        ("6 ^ 3", "5"),
        ("-1", "-1"),
        ("'ab' * 2", "'abab'"),
        ("'%s/%d' % (home, 3)", "'/srv/3'"),
        ("'/srv/%s' % given", "'/srv/'…"),
        ("'%s/x' % home", "'/srv/x'"),
        ("f'{home}/x'", "'/srv/x'"),
        ("f'{home}/{given}'", "'/srv/'…"),
        ("f'{home!r}'", "?"),
        ("f'{home:>9}'", "?"),
        ("'{}/{}'.format(home, 'x')", "'/srv/x'"),
        ("'{1}{0}'.format('al', 'ev')", "'eval'"),
        ("'{a}'.format(a=home)", "'/srv'"),
        ("'{{}}{}'.format(1)", "'{}1'"),
        ("'{}'.format(*given)", "?"),
        ("''.join(words)", "'ab'"),
        ("'-'.join(('a', 'b'))", "'a-b'"),
        ("'-'.join('ab')", "'a-b'"),
        ("''.join(chr(x) for x in [101, 118])", "'ev'"),
        ("''.join(map(chr, [101, 118]))", "'ev'"),
        ("''.join(map(chr, b'ev'))", "'ev'"),
        ("''.join(chr(x) for x in [1] if given)", "?"),
        ("''.join({'a', 'b'})", "?"),
        ("''.join([*given, 'a'])", "?"),
        ("'a b'.split()[1]", "'b'"),
        ("'a,b'.split(',')[0]", "'a'"),
        ("'EVAL'.lower()", "'eval'"),
        ("'xeval'.replace('x', '')", "'eval'"),
        ("b'eval'.decode()", "'eval'"),
        ("'6576616c'.encode()", "b'6576616c'"),
        ("bytes.fromhex('6576616c').decode()", "'eval'"),
        ("base64.b64decode('ZXZhbA==').decode()", "'eval'"),
        ("codecs.decode('riny', 'rot13')", "'eval'"),
        ("chr(101) + chr(118)", "'ev'"),
        ("str(7)", "'7'"),
        ("str(b'eval', 'ascii')", "'eval'"),
        ("given.replace('x', '')", "?"),
        ("'a'.replace(given, 'b')", "?"),
        ("'a'.lower(*given)", "?"),
    ],
)
def test_texts(expression: str, value: str) -> None:
    """GUARD §extract-dynamic: a beginning is kept where the end is computed."""
    assert value_of(expression, CODE) == value


def test_a_long_sum_is_no_deep_one() -> None:
    """Operators in a row cost no depth."""
    assert value_of("+".join(["'a'"] * 900)) == repr("a" * 900)


def test_words_of_a_command_keep_their_first() -> None:
    """Whatever is added to a list behind it."""
    assert value_of("(['git'] + given)[0]") == "'git' or ?"
    assert value_of("(['git'] + ['status'])[0]") == "'git'"
