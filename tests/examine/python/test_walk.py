"""One pass over a tree: scopes, imports, and places, however deep they lie."""

import pytest

from consentry.examine.python.scopes import Kind
from tests.examine.python.resolving import gathered_from


def test_imports_with_their_levels_and_lines() -> None:
    """Wherever they stand."""
    code = "import a.b, c\ndef f():\n    from ..d import e, g\nclass C:\n    from h import *\n"
    found = gathered_from(code)
    assert sorted(found.imports) == [
        ("a.b", 0, (), 1),
        ("c", 0, (), 1),
        ("d", 2, ("e", "g"), 3),
        ("h", 0, ("*",), 5),
    ]
    assert found.stars == ["h"]


def test_scopes_in_the_order_they_are_entered() -> None:
    """Each once, after the one around it."""
    found = gathered_from("def f():\n    class C:\n        x = [y for y in z]\ng = lambda: 1\n")
    assert [scope.kind for scope in found.scopes] == [
        Kind.MODULE,
        Kind.FUNCTION,
        Kind.FUNCTION,
        Kind.CLASS,
        Kind.COMPREHENSION,
    ]


def test_what_runs_at_a_definition_belongs_around_it() -> None:
    """Decorators, defaults and bases run where the function or class is defined."""
    found = gathered_from(
        "@a()\ndef f(x=b()) -> c(): d()\n@e()\nclass C(g(), metaclass=h()): i()\n"
    )
    called = {
        call.func.id: scope.kind  # type: ignore[attr-defined]
        for scope in found.scopes
        for call in scope.calls
    }
    assert {name for name, kind in called.items() if kind is Kind.MODULE} == set("abcegh")
    assert (called["d"], called["i"]) == (Kind.FUNCTION, Kind.CLASS)


@pytest.mark.parametrize(
    "code",
    [
        "while x():\n    pass\nelse:\n    y()\n",
        "try:\n    x()\nexcept E:\n    y()\nelse:\n    pass\nfinally:\n    pass\n",
        "try:\n    x()\nexcept* E:\n    y()\n",
        "match x():\n    case [1, *r] if y():\n        pass\n",
        "with x() as a, y() as b:\n    pass\n",
        "async def f():\n    async with x(): pass\n    async for z in y(): pass\n",
        "assert x(), y()\n",
        "del x()[0], y().z\n",
        "raise x() from y()\n",
        "z = x() if y() else 1\n",
        "z = {**x(), 'a': y()}\n",
        "z = [x(), *y()]\n",
        "z = f'{x()}{1:{y()}}'\n",
        "z = lambda a=x(): y()\n",
        "z = {x(): y() for a in b}\n",
        "z = [a for a in x() if y()]\n",
        "z[x():y()]\n",
        "x() < y() < z\n",
        "z: x() = y()\n",
        "z += x() @ y()\n",
        "x().a.b = y()\n",
        "f(*x(), **y())\n",
        "yield_ = lambda: (yield x()) or (yield from y())\n",
        "(z := x()) and not y()\n",
        "if x():\n    y()\n",
        "isinstance(x(), y())\n",
        "return_ = 1\ndef f():\n    return x(y())\n",
    ],
)
def test_no_call_is_passed_over(code: str) -> None:
    """GUARD §extract-1: in whatever statement it stands."""
    found = gathered_from(code)
    called = {getattr(call.func, "id", "") for scope in found.scopes for call in scope.calls}
    assert {"x", "y"} <= called


@pytest.mark.parametrize(
    "code",
    [
        "x = a" + ".b" * 900,
        "x = " + "1 + " * 900 + "1",
        "x = " + "lambda: " * 80 + "1",
        "".join(" " * depth + "def f():\n" for depth in range(90)) + " " * 90 + "pass\n",
    ],
)
def test_depth_costs_nothing(code: str) -> None:
    """Nothing is walked by recursion; what cannot be parsed does not come here."""
    assert gathered_from(code).scopes


def test_paths_and_watched_attributes_are_noted() -> None:
    """Constants that look like paths, and names that count on any object."""
    found = gathered_from("a = '/etc/passwd'\nb.__subclasses__()\nc = '~/x'\nd = 'e/f'\n")
    assert [node.value for node in found.paths] == ["/etc/passwd", "~/x"]
    assert [node.attr for node in found.watched] == ["__subclasses__"]


def test_documentation_is_no_path() -> None:
    """A text that stands alone does nothing."""
    assert gathered_from('"/etc/passwd"\n').paths == []
