"""Subscripts: items of what is written out, members of namespaces by their names."""

import pytest

from tests.examine.python.resolving import value_of

CODE = """
import os, sys, net
table = {'a': os.system, 'b': 'text'}
computed = {key: os.system, 'b': 'text'}
items = ['a', os.system, 'c']
spread = ['a', *others]
"""


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("table['a']", "os.system"),
        ("table['missing']", "?"),
        ("table[key]", "'text' or ? or os.system"),
        ("computed['b']", "'text' or ? or os.system"),
        ("items[1]", "os.system"),
        ("items[-1]", "'c'"),
        ("items[9]", "?"),
        ("items[key]", "'a' or 'c' or ? or os.system"),
        ("spread[0]", "'a' or ?"),
        ("{'x', 'y'}[0]", "'x' or 'y' or ?"),
        ("'text'[0]", "'t'"),
        ("'text'[::-1]", "'txet'"),
        ("'text'[1:3]", "'ex'"),
        ("items[::-1][0]", "'c'"),
        ("vars(os)['system']", "os.system"),
        ("os.__dict__['system']", "os.system"),
        ("globals()['table']", "Table"),
        ("globals()['eval']", "builtins.eval"),
        ("__builtins__['eval']", "builtins.eval"),
        ("sys.modules['os']", "os"),
        ("os.environ['HOME']", "'~'"),
        ("os.environ['OTHER']", "?"),
        ("table.get('a')", "os.system"),
        ("table.pop('a')", "? or os.system"),
        ("vars(os).get('system')", "os.system"),
        ("items.pop()", "'a' or 'c' or ? or os.system"),
    ],
)
def test_what_is_found_by_a_key(expression: str, value: str) -> None:
    """One for a constant key; for a computed one any, and perhaps another."""
    assert value_of(expression, CODE) == value


def test_a_dictionary_with_a_key_twice_may_be_either() -> None:
    """Which one counts is not worth knowing."""
    assert value_of("{'a': 'x', 'a': 'y'}['a']") == "'x' or 'y'"


def test_what_is_left_out_of_a_long_list_is_not_forgotten() -> None:
    """GUARD §extract-closed: the rest may be anything."""
    assert value_of(f"[{', '.join(map(str, range(500)))}][key]").endswith("or ?")
