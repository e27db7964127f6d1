"""Blocks for type checkers are passed over, and nothing else that has their name."""

import pytest

from tests.examine.python.resolving import gathered_from

BLOCK = "if {}:\n    import hidden\n"
TYPING = "import typing\nfrom typing import TYPE_CHECKING\n"


def is_walked(code: str) -> bool:
    """Whether the import in a block counts."""
    return "hidden" in [module for module, *_ in gathered_from(code).imports]


@pytest.mark.parametrize(
    "code",
    [
        TYPING + BLOCK.format("TYPE_CHECKING"),
        TYPING + BLOCK.format("typing.TYPE_CHECKING"),
        TYPING + BLOCK.format("TYPE_CHECKING and other"),
        "import typing as t\n" + BLOCK.format("t.TYPE_CHECKING"),
        "from typing_extensions import TYPE_CHECKING\n" + BLOCK.format("TYPE_CHECKING"),
        "TYPE_CHECKING = False\n" + BLOCK.format("TYPE_CHECKING"),
    ],
)
def test_blocks_that_never_run(code: str) -> None:
    """What is imported for annotations alone gives nothing."""
    assert not is_walked(code)


@pytest.mark.parametrize(
    "code",
    [
        TYPING + BLOCK.format("not TYPE_CHECKING"),
        TYPING + BLOCK.format("TYPE_CHECKING or other"),
        TYPING + "if TYPE_CHECKING:\n    pass\nelse:\n    import hidden\n",
        BLOCK.format("TYPE_CHECKING"),
        "TYPE_CHECKING = True\n" + BLOCK.format("TYPE_CHECKING"),
        "from mine import TYPE_CHECKING\n" + BLOCK.format("TYPE_CHECKING"),
        "import mine\n" + BLOCK.format("mine.TYPE_CHECKING"),
        TYPING + "TYPE_CHECKING = True\n" + BLOCK.format("TYPE_CHECKING"),
        TYPING + "TYPE_CHECKING += 1\n" + BLOCK.format("TYPE_CHECKING"),
        TYPING + "for TYPE_CHECKING in (1,): pass\n" + BLOCK.format("TYPE_CHECKING"),
        TYPING + "def f():\n    global TYPE_CHECKING\n    TYPE_CHECKING = 1\n"
        "f()\n" + BLOCK.format("TYPE_CHECKING"),
        TYPING + "typing.TYPE_CHECKING = True\n" + BLOCK.format("typing.TYPE_CHECKING"),
        TYPING + "setattr(typing, 'TYPE_CHECKING', True)\n" + BLOCK.format("TYPE_CHECKING"),
        TYPING + "setattr(typing, computed, True)\n" + BLOCK.format("typing.TYPE_CHECKING"),
        TYPING + "globals()['TYPE_CHECKING'] = 1\n" + BLOCK.format("TYPE_CHECKING"),
        TYPING + "globals()[computed] = 1\n" + BLOCK.format("TYPE_CHECKING"),
        TYPING + "globals().update(TYPE_CHECKING=1)\n" + BLOCK.format("TYPE_CHECKING"),
        TYPING + "import sys\nsys.modules['typing'].x = 1\n" + BLOCK.format("TYPE_CHECKING"),
        TYPING + "from .mine import *\n" + BLOCK.format("TYPE_CHECKING"),
        "TYPE_CHECKING = True\nif TYPE_CHECKING:\n    if TYPE_CHECKING:\n        import hidden\n",
        TYPING + "def f(TYPE_CHECKING):\n    if TYPE_CHECKING:\n        import hidden\n",
    ],
)
def test_blocks_that_may_run(code: str) -> None:
    """GUARD §extract-1: the name alone hides nothing."""
    assert is_walked(code)
