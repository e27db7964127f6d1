"""Attributes: members of modules, methods of what the tables know, members of classes of the file."""

import pytest

from tests.examine.python.resolving import value_of


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("os.system", "os.system"),
        ("os.path.join", "os.path.join"),
        ("os.sep", "'/'"),
        ("os.__dict__", "names of os"),
        ("os.system.__call__", "os.system"),
        ("eval.__self__", "builtins"),
        ("eval.__self__.open", "builtins.open"),
        ("other.os", "os"),
        ("other.deep.subprocess", "subprocess"),
        ("other.__builtins__", "builtins"),
        ("net.make().send", "<net.Client>.send"),
        ("net.make().send.__self__", "<net.Client>"),
        ("net.make().__enter__()", "?"),
        ("unknown.anything", "?"),
        ("'text'.join", "ConstMethod join"),
    ],
)
def test_members(expression: str, value: str) -> None:
    """GUARD §extract-1: modules that others hand on under their own names are those modules."""
    assert value_of(expression, "import os, net, other") == value


CLASS = """
import os
class Base:
    inherited = os.system
class C(Base):
    kept = os.system
    text = 'a'
    def __init__(self, given):
        self.module = os
        self.given = given
    def method(self):
        ...
"""


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("self.kept", "os.system"),
        ("self.module", "os"),
        ("self.module.system", "os.system"),
        ("self.inherited", "os.system"),
        ("self.text", "'a'"),
        ("self.given", "?"),
        ("self.method", "Function"),
        ("self.nothing", "?"),
        ("C.kept", "os.system"),
        ("C(1).kept", "os.system"),
    ],
)
def test_members_of_a_class_of_the_file(expression: str, value: str) -> None:
    """Assigned in its body, in its methods, or in a class above it."""
    assert value_of(expression, CLASS, inside="method") == value


def test_a_class_of_the_tables_above_it_lends_its_methods() -> None:
    """`class Mine(net.Client)` has what a client has."""
    code = "import net\nclass Mine(net.Client): pass\n"
    assert value_of("Mine().send", code) == "<net.Client>.send"


@pytest.mark.parametrize(
    "code",
    [
        "c = C(1)\nc.text = other",
        "setattr(C, 'text', other)",
        "C.__dict__",
        "for C.text in others: pass",
        "C.text, y = others",
        "with it as C.text: pass",
        "class D(C):\n    text = 'b'",
        "@decorated\nclass D: pass",
        "class D(metaclass=M): pass",
        "class D:\n    def __getattr__(self, name): pass",
    ],
)
def test_a_constant_of_a_class_that_something_may_set(code: str) -> None:
    """GUARD §extract-allowlist: it is not taken at its word where no assignment need show."""
    assert value_of("self.text", f"{CLASS}{code}\n", inside="method") != "'a'"


@pytest.mark.parametrize(
    "code",
    [
        "class A(B): pass\nclass B(A): pass\n",
        "class A(A): pass\n",
        "class A0: pass\n" + "".join(f"class A{at + 1}(A{at}): pass\n" for at in range(2000)),
    ],
)
def test_classes_in_circles_and_long_lines_end(code: str) -> None:
    """Nothing is followed for ever."""
    name = "A" if "class A(" in code else "A2000"
    assert value_of(f"{name}().missing", code) == "?"
