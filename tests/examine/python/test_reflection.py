"""Reaching things by name: a constant is that attribute, what is computed may be any."""

import pytest

from consentry.examine.python.extract import extract_python
from tests.examine.extractionwords import words_of


def found(code: str) -> set[str]:
    """The powers of some code, without imports."""
    words = words_of(extract_python(code.encode())).split()
    return {word for word in words if not word.startswith(">")}


@pytest.mark.parametrize(
    "code",
    [
        "getattr(os, 'system')('ls')",
        "vars(os)['system']('ls')",
        "vars(os).get('system')('ls')",
        "os.__dict__['system']('ls')",
        "operator.attrgetter('system')(os)('ls')",
        "operator.methodcaller('system', 'ls')(os)",
        "object.__getattribute__(os, 'system')('ls')",
        "keep['x'] = object.__getattribute__(os, 'system')",
        "keep['x'] = getattr(os, 'system')",
        "functools.partial(getattr, os, 'system')",
        "sys.modules['os'].system('ls')",
        "__import__('os').system('ls')",
        "f(getattr(os, 'system'))",
    ],
)
def test_a_constant_name_is_that_attribute(code: str) -> None:
    """GUARD §extract-proc."""
    words = found(f"import functools, operator, os, sys\n{code}\n")
    assert any(word.startswith("proc:") for word in words)


@pytest.mark.parametrize(
    "code",
    [
        "getattr(os, name)",
        "getattr(*both)",
        "vars(os)[name]",
        "vars(os).values()",
        "os.__dict__[name]",
        "operator.attrgetter(name)",
        "os.__getattribute__(name)",
        "inspect.getmembers(os)",
        "getattr(unknown, name)",
        "globals()[name]",
        "__builtins__[name]",
        "getattr",
        "builtins.eval = mine",
        "setattr(builtins, 'open', mine)",
        "'{0.__class__.__subclasses__}'.format(x)",
        "len.__self__",
        "x.__subclasses__()",
        "exec(name)",
    ],
)
def test_what_is_computed_may_be_any_code(code: str) -> None:
    """GUARD §extract-dynamic, §decide-dynamic: on a module with powers, or on the unknown."""
    words = found(
        f"import builtins, inspect, operator, os\nname = input()\nx = ({code})\n"
        if "= mine" not in code
        else f"import builtins\n{code}\n"
    )
    assert "load:ANY" in words


@pytest.mark.parametrize(
    "code",
    [
        "class C: pass\ngetattr(C(), name)",
        "import math\ngetattr(math, name)",
        "getattr('text', name)",
        "class C:\n    def f(self, name): return getattr(self, name)",
        "d = {'a': 1}\nd[name]",
        "'{0.name}'.format(x)",
        "setattr(x, 'name', 1)",
        "x.__class__.__name__",
    ],
)
def test_look_alikes(code: str) -> None:
    """Computed names on what has no power reach none."""
    assert found(f"{code}\n") == set()
