"""What a call gives: objects of known classes, modules by name, what functions of the file return."""

import pytest

from tests.examine.python.resolving import value_of

CODE = """
import os, net, functools, operator, inspect, copy, pathlib
def give(): return os.system
def choose(a):
    if a: return 'x'
    return 'y'
def nothing(): pass
class C: pass
name = 'system'
"""


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("net.make()", "<net.Client>"),
        ("net.make().other()", "<net.Client>"),
        ("net.Client()", "<net.Client>"),
        ("__import__('os')", "os"),
        ("__import__('os').system", "os.system"),
        ("__import__(given)", "?"),
        ("give()", "os.system"),
        ("choose(1)", "'x' or 'y'"),
        ("nothing()", "?"),
        ("(lambda: os.system)()", "os.system"),
        ("C()", "LocalObject"),
        ("getattr(os, 'system')", "os.system"),
        ("getattr(os, 'sys' + 'tem')", "os.system"),
        ("getattr(os, name)", "os.system"),
        ("getattr(os, given)", "?"),
        ("inspect.getattr_static(os, 'system')", "os.system"),
        ("object.__getattribute__(os, 'system')", "os.system"),
        ("os.__getattribute__('system')", "os.system"),
        ("operator.attrgetter('system')(os)", "os.system"),
        ("operator.attrgetter('path.join')(os)", "os.path.join"),
        ("functools.partial(os.system, 'ls')", "os.system"),
        ("copy.copy(os.system)", "os.system"),
        ("iter([os.system])", "Items"),
        ("list(('a', 'b'))[0]", "'a'"),
        ("''.join(reversed('lave'))", "'eval'"),
        ("vars()", "names of this file"),
        ("unknown()", "?"),
        ("net.make", "net.make"),
    ],
)
def test_calls(expression: str, value: str) -> None:
    """GUARD §extract-1."""
    assert value_of(expression, CODE) == value


def test_functions_that_call_themselves_end() -> None:
    """What leads back to itself is not known."""
    assert value_of("f()", "def f(): return f()") == "?"
    code = "def f(): return g()\ndef g(): return f()\n"
    assert value_of("f()", code) == "?"
    assert value_of("f()", "def f(): return 'a' if x else f()") == "'a' or ?"
