"""What lies near a token leads to it no more than its name does: each way is reported."""

import pytest

from consentry.examine.fence.check import check_source
from consentry.examine.fence.findings import STRANGERS, Rule
from tests.fence.evasions import GIVEN, HOME, TOKENS
from tests.fence.near import NEAR

HARMLESS = {
    "namespace-far-from-tokens": "def f():\n    return globals(), vars(), __annotations__\n",
    "modules-far-from-tokens": "import sys\nsys.modules[__name__]\n",
    "types-far-from-tokens": "X = list[int]\nX.__args__[0]()\n",
    "getitem-far-from-tokens": "class B:\n    def __class_getitem__(cls, k):\n        return k\n",
    "known-name-of-ours": "import consentry\nconsentry.__version__, consentry.mint\n",
    "another-module-of-ours": "import importlib\nimportlib.import_module('consentry.base.paths')\n",
    "field-of-a-token": GIVEN + "return getattr(token, 'packages', ())\n",
    "tokens-in-a-list": GIVEN + "held = [token]\n    return held[0].packages\n",
    "known-key": TOKENS + "globals()['__name__']\n",
    "message": TOKENS + "raise ValueError('a NpmInstallCapability (minted) is needed')\n",
    "text-that-is-no-code": TOKENS + "help = 'call NpmInstallCapability(...) nowhere'\n",
    "path-of-the-module": "WHERE = 'consentry.decide.tokens'\n",
    "constant-of-the-home": HOME + "tokens.NPM_WRITES\n",
    "regular-expression": TOKENS + "import re\nre.compile('x' + y)\n",
    "executed-elsewhere": TOKENS + "def f(cursor, text):\n    cursor.exec(text)\n",
    "signature-far-from-tokens": "import inspect\ndef f(g):\n    return inspect.signature(g)\n",
    "own-star": "from consentry.decide.tokens import *\nisinstance(1, NpmInstallCapability)\n",
}


def _rules(source: str) -> set[Rule]:
    return {each.rule for each in check_source("x.py", source.encode(), STRANGERS)}


@pytest.mark.parametrize("name", NEAR)
def test_a_way_that_lies_near_is_reported(name: str) -> None:
    """TRUST §fence-1: by some rule about tokens, and not because it could not be read."""
    compile(NEAR[name], name, "exec")
    found = _rules(NEAR[name])
    assert found
    assert not found & {Rule.UNREADABLE, Rule.PUSH, Rule.RACE}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_near_nothing_is_not_reported(name: str) -> None:
    """The same words elsewhere, and harmless ones beside a token."""
    assert not _rules(HARMLESS[name])
