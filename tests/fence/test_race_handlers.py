"""Handlers of a race that are none, and functions that run when nobody handles it any more."""

import pytest

from consentry.examine.fence.check import check_source
from consentry.examine.fence.findings import STRANGERS, Rule

OPEN = "p.open(on_race=print)"
TRY = f"def f(p):\n    try:\n        {OPEN}\n"
HANDLED = "    except FilesystemRace:\n        pass\n"
USED = "def f(p):\n    try:\n        %s\n" + HANDLED

UNHANDLED = {
    "raised-by-name": TRY + "    except FilesystemRace as e:\n        raise e\n",
    "raised-from-nothing": TRY
    + "    except Exception as e:\n        log()\n        raise e from None\n",
    "nothing-and-raised": TRY + "    except FilesystemRace:\n        pass\n        raise\n",
    "dots-and-raised": TRY + "    except FilesystemRace:\n        ...\n        raise\n",
    "text-and-raised": TRY + "    except FilesystemRace:\n        'why'\n        raise\n",
    "own-error": "class FilesystemRace(OSError): ...\n" + TRY + HANDLED,
    "foreign-error": "from mine import FilesystemRace\n" + TRY + HANDLED,
    "renamed-error": "from builtins import OSError as FilesystemRace\n" + TRY + HANDLED,
    "assigned-error": "FilesystemRace = OSError\n" + TRY + HANDLED,
    "own-suppress": "def suppress(*a): ...\ndef f(p):\n    with suppress(FilesystemRace):\n        "
    + OPEN,
    "foreign-suppress": "from mine import suppress\ndef f(p):\n    with suppress(FilesystemRace):\n        "
    + OPEN,
    "generator-expression": USED % "return (p.open(on_race=print) for p in q)",
    "generator": f"def _g(p):\n    yield {OPEN}\n" + USED % "return _g(p)",
    "coroutine": f"async def _g(p):\n    return {OPEN}\n" + USED % "later = _g(p)",
    "another-method-is-called": f"class A:\n    def _g(self, p):\n        {OPEN}\n"
    "class B:\n    def _g(self, p): ...\n" + USED % "B()._g(p)",
    "shown-to-others": f"__all__ = ['_g']\ndef _g(p):\n    {OPEN}\n" + USED % "_g(p)",
    "name-like-a-class": "def f(p):\n    Open = p.open\n    Open(on_race=print)\n",
    "keyword-with-a-default": "def f(p, *, on_race=print):\n    p.open(on_race=on_race)\n",
    "keyword-by-position": "def f(p, on_race):\n    p.open(on_race=on_race)\nf(1, print)\n",
    "keyword-rebound": "def f(p, *, on_race):\n    on_race = print\n    p.open(on_race=on_race)\n",
}
FINE = {
    "of-ours": "from consentry.base.errors import FilesystemRace\n" + TRY + HANDLED,
    "of-the-same-package": "from .errors import FilesystemRace\n" + TRY + HANDLED,
    "of-contextlib": "from contextlib import suppress\ndef f(p):\n    with suppress(FilesystemRace):\n        "
    + OPEN,
    "another-error-raised": TRY
    + "    except FilesystemRace as e:\n        raise Other(e) from e\n",
    "generator-used-at-once": f"def _g(p):\n    yield {OPEN}\n" + USED % "return [*_g(p)]",
    "generator-in-a-loop": f"def _g(p):\n    yield {OPEN}\n" + USED % "for x in _g(p): use(x)",
    "awaited": f"async def _g(p):\n    return {OPEN}\nasync " + USED % "return await _g(p)",
    "expression-used-at-once": USED % "return any(p.open(on_race=print) for p in q)",
    "passed-on": "def f(p, *, on_race):\n    return p.open(on_race=on_race)\n",
}


def _rules(source: str) -> set[Rule]:
    return {each.rule for each in check_source("x.py", source.encode(), STRANGERS)}


@pytest.mark.parametrize("name", UNHANDLED)
def test_what_handles_nothing_is_reported(name: str) -> None:
    """TRUST §fence-4: a handler by name alone, and one that stands where nothing happens yet."""
    compile(UNHANDLED[name], name, "exec")
    assert _rules(UNHANDLED[name]) == {Rule.RACE}


@pytest.mark.parametrize("name", FINE)
def test_what_handles_it_is_not(name: str) -> None:
    """The same shapes, where they do what they seem to."""
    compile(FINE[name], name, "exec")
    assert not _rules(FINE[name])
