"""GUARD §extract-closed: noise around a power does not push it over a limit of the extractor.

However many values a name has, and however far away the one lies that counts, it counts, or nobody can
tell what the name is.
"""

import pytest

from consentry.declare.patchbundle import Blob
from consentry.examine.verdict import Status
from tests.examine.attacks.reader import Attack, failures, judged

SYSTEM = "from os import system as f\nf('id')\n"
MODULE = "import os\n"
GIT = "import subprocess\nsubprocess.run(['git'])\n"
READS = "".join(f"p = 'data/{at}'\n" for at in range(17))


def rows(row: str, count: int) -> str:
    """A row again and again, each with its number."""
    return "".join(row.format(at, at + 1) for at in range(count))


PADDED = {
    "values before a function": (MODULE, rows("f = {}\n", 300) + SYSTEM),
    "a few values before a function": (MODULE, rows("f = {}\n", 17) + SYSTEM),
    "values behind a function": (MODULE, SYSTEM + rows("f = {}\n", 300)),
    "names on the way to a module": (
        MODULE,
        f"{MODULE}n0 = os\n" + rows("n{1} = n{0} or 0\n", 80) + "n80.remove('src/x')\n",
    ),
    "names on the way to a function": (
        "x = 1\n",
        "from os import system as n0\n" + rows("n{1} = n{0} or 0\n", 80) + "n80('id')\n",
    ),
    "classes on the way to a module": (
        MODULE,
        f"{MODULE}class C0: m = os\n"
        + rows("class C{1}(C{0}): pass\n", 80)
        + "C80.m.system('id')\n",
    ),
    "paths before a protected one": (
        f"{READS}open(p)\n",
        f"{READS}p = '/et' + 'c/passwd'\nopen(p)\n",
    ),
    "modes before one that writes": (
        "open('data/a')\n",
        "m = 'r'\n" * 17 + "m = 'w'\nopen('data/a', m)\n",
    ),
    "modules before one with powers": (
        rows("n = 'json{}'\n", 20) + "__import__(n)\n",
        rows("n = 'json{}'\n", 20) + "n = 'os'\n__import__(n).system('id')\n",
    ),
    "returned values before another": (
        GIT,
        f"{GIT}def p(k):\n"
        + rows(" if k == {}: return 'git'\n", 8)
        + " return 'sh'\nsubprocess.run([p(9)])\n",
    ),
    "parts of a text that are empty": (
        MODULE,
        f"{MODULE}getattr(os, ''.join(['sys', {rows(repr('') + ', ', 256)}'tem']))('id')\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), PADDED.values(), ids=PADDED)
def test_padding_hides_nothing(before: str, after: str) -> None:
    """What lies beyond a limit is not forgotten."""
    sides = [{"app.py": Blob(source.encode(), "100644")} for source in (before, after)]
    verdict = judged(Attack("app.py", *sides))
    assert not failures(verdict)
    assert verdict.status is not Status.PASS
