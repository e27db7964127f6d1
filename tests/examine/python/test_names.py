"""What a name may be: any of what is bound to it, wherever that is seen; the built-in where it may be.

The order of statements does not count, but for one thing: a file that takes the name of a built-in
function may have used that function before.
"""

import pytest

from tests.examine.python.resolving import value_of


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("import os as x", "os"),
        ("import os.path as x", "os.path"),
        ("from os import system as x", "os.system"),
        ("from . import x", ".x"),
        ("from .a import b as x", ".a.b"),
        ("x = 'a'", "'a'"),
        ("y = 'a'\nx = y", "'a'"),
        ("x = 'a'\nx = 'b'", "'a' or 'b'"),
        ("if a:\n    import os as x\nelse:\n    x = None", "None or os"),
        ("x, y = 'a', 'b'", "'a'"),
        ("(x, *y), z = 1, 2", "?"),
        ("for x in ('a', 'b'): pass", "'a' or 'b'"),
        ("for x in {'a': 1, 'b': 2}: pass", "'a' or 'b'"),
        ("with open('f') as x: pass", "?"),
        ("import net\nwith net.make() as x: pass", "<net.Client>"),
        ("import net\nfor x in net.make(): pass", "<net.Client>"),
        ("x: str = 'a'", "'a'"),
        ("(x := 'a')", "'a'"),
        ("def x(): pass", "Function"),
        ("class x: pass", "LocalClass"),
        ("x = lambda: 1", "Function"),
        ("x = 'a'\nx += 'b'", "'a' or ?"),
        ("match y:\n    case x: pass", "?"),
        ("try: pass\nexcept E as x: pass", "?"),
        ("x = y\ny = x", "?"),
        ("x = x", "?"),
    ],
)
def test_bindings(code: str, value: str) -> None:
    """Whatever binds a name."""
    assert value_of("x", code) == value


def test_functions_see_the_names_around_them() -> None:
    """And their own first."""
    code = "import os as x\ndef f():\n    ...\n"
    assert value_of("x", code, inside="f") == "os"
    assert value_of("x", code.replace("...", "x = 'own'\n    ..."), inside="f") == "'own'"


def test_methods_do_not_see_the_names_of_their_class() -> None:
    """The body of the class does."""
    code = "import os as x\nclass C:\n    x = 'own'\n    def f(self):\n        ...\n"
    assert value_of("x", code, inside="f") == "os"
    body = "import os as x\nclass C:\n    x = 'own'\n    ...\n"
    assert value_of("x", body, inside="C") == "'own'"


def test_parameters() -> None:
    """Their defaults, and the classes that their annotations name, in the scope of the function."""
    code = "import net\ndef f(x{}):\n    ...\n"
    assert value_of("x", code.format(""), inside="f") == "?"
    assert value_of("x", code.format("='a'"), inside="f") == "'a' or ?"
    assert value_of("x", code.format(": net.Client"), inside="f") == "<net.Client> or ?"
    assert value_of("x", code.format(": str"), inside="f") == "?"


def test_global_and_nonlocal_names_are_bound_elsewhere() -> None:
    """In whatever order the statements stand."""
    assert value_of("x", "x = 'a'\ndef f():\n    global x\n    x = 'b'") == "'a' or 'b'"
    code = "def f():\n    x = 'a'\n    def g():\n        nonlocal x\n        x = 'b'\n    ...\n"
    assert value_of("x", code, inside="f") == "'a' or 'b'"


def test_comprehensions_have_names_of_their_own() -> None:
    """But for what they assign with `:=`."""
    assert value_of("x", "x = 'a'\n[x for x in 'bc']") == "'a'"
    assert value_of("x", "x = 'a'\n[(x := 'b') for y in z]") == "'a' or 'b'"


def test_a_list_that_is_changed_is_not_what_was_written() -> None:
    """In place, through an alias, by a function of the file that it is given to."""
    for change in (
        "x.append('c')",
        "x[0] = 'c'",
        "y = x\ny.append('c')",
        "def f(z): z[0] = 'c'\nf(x)",
        "globals()['x'] = ['c']",
    ):
        assert "?" in value_of("x", f"x = ['a', 'b']\n{change}")
    assert value_of("x", "x = ['a', 'b']\ny = ['c']\ny.append('d')") == "Items"


def test_a_star_brings_what_the_module_has() -> None:
    """GUARD §extract-1: of a module that nobody knows, anything may be rebound."""
    assert value_of("system", "from os import *") == "os.system"
    assert value_of("x", "from os import *\nx = 'a'") == "'a'"
    assert value_of("x", "from strange import *\nx = 'a'") == "'a' or ?"


@pytest.mark.parametrize("name", ["eval", "open", "getattr", "__import__"])
def test_built_in_names(name: str) -> None:
    """Where nothing else has the name."""
    assert value_of(name) == f"builtins.{name}"


@pytest.mark.parametrize(
    "code",
    [
        "def eval(text): pass",
        "from mine import eval",
        "eval = lambda text: text",
        "class eval: pass",
    ],
)
def test_the_file_has_a_function_of_that_name(code: str) -> None:
    """A benign look-alike: nothing is guessed from the spelling of a name."""
    assert "builtins.eval" not in value_of("eval", code)


def test_a_parameter_of_that_name_is_never_the_built_in() -> None:
    """Whoever calls the function says what it is."""
    assert value_of("eval", "def f(eval):\n    ...\n", inside="f") == "?"


@pytest.mark.parametrize(
    "code",
    [
        "eval('1')\neval = None",
        "eval('1'); eval = None",
        "eval = wrap(eval)",
        "def eval(x=eval): pass",
        "def f(s): return eval(s)\nf('1')\neval = None",
        "def f(s): return eval(s)\nf('1')\nfrom mine import eval",
        "eval = None\ndel eval",
        "eval = None\ndel (eval, other)",
        "eval = None\ndel globals()['eval']",
        "eval = None\nglobals().pop('eval')",
        "eval = None\nimport __main__\ndel __main__.eval",
        "if never: eval = None",
        "for eval in []: pass",
        "try:\n    eval = int('x')\nexcept ValueError: pass",
        "try: go()\nexcept E as eval: eval()",
        "def f():\n    global eval\n    eval = None",
    ],
)
def test_the_built_in_may_be_meant_all_the_same(code: str) -> None:
    """GUARD §extract-dynamic: used before the name is taken, or after it is free again."""
    assert "builtins.eval" in value_of("eval", code)


def test_a_built_in_that_a_function_above_uses_counts_there() -> None:
    """GUARD §extract-dynamic: a function below it sees only what the file put in its place."""
    above = "def f(s):\n    ...\n    eval(s)\neval = None\n"
    assert value_of("eval", above, inside="f") == "None or builtins.eval"
    below = "eval = None\ndef f(s):\n    ...\n    eval(s)\n"
    assert value_of("eval", below, inside="f") == "None"


def test_a_long_chain_of_names_ends() -> None:
    """Depth is bounded: what lies deeper is not known, and nothing raises."""
    chain = "a0 = 'x'\n" + "".join(f"a{at + 1} = a{at}\n" for at in range(2000))
    assert value_of("a9", chain) == "'x'"
    assert value_of("a2000", chain) == "?"
