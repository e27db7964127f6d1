"""`setup.cfg`, `setup.py`, `tox.ini` (GUARD §extract-1): read and never run."""

import pytest

from tests.examine.dependencies.reading import read


def test_lists_of_setup_cfg() -> None:
    """What is installed, and with which extra."""
    text = (
        "[metadata]\nname = x\n[options]\ninstall_requires =\n    requests>=2\n    nope; x\n"
        "[options.extras_require]\nfast = httpx\n[flake8]\nignore = E501\n"
    )
    found = read("setup.cfg", text)
    assert found.lines_of("connect", "") == {5, 8}
    assert found.unknown == {"dependency pypi:nope"}


@pytest.mark.parametrize(
    "arguments",
    [
        "install_requires=['requests']",
        "install_requires=('requests',)",
        "install_requires=NEEDED",
        "install_requires=['flask'] + NEEDED",
        "install_requires=[*NEEDED]",
        "extras_require={'x': ['requests']}",
        "setup_requires='requests'",
        "**dict(tests_require=['requests'])",
    ],
)
def test_constants_of_setup_py(arguments: str) -> None:
    """Lists that are constants are read from the tree of the code."""
    text = f"from setuptools import setup\nNEEDED = ['requests']\nsetup({arguments})\n"
    assert ("connect", "") in read("setup.py", text).declared


@pytest.mark.parametrize(
    "arguments",
    [
        "install_requires=lines('requirements.txt')",
        "install_requires=[name for name in x]",
        "install_requires=CHANGED",
        "install_requires=APPENDED",
        "install_requires=NOWHERE",
        "install_requires=LOOP",
    ],
)
def test_computed_lists_are_unclassified(arguments: str) -> None:
    """What cannot be read is not taken for nothing."""
    text = (
        "CHANGED = []\nCHANGED = ['x']\nAPPENDED = []\nAPPENDED.append('y')\nLOOP = LOOP\n"
        f"setup({arguments})\n"
    )
    keys = read("setup.py", text).unknown
    assert any(key.startswith("dependency computed sha256:") for key in keys)


def test_setup_py_is_code_as_well() -> None:
    """GUARD §extract-proc: what it does when it runs counts."""
    found = read("setup.py", "import os\nos.system('fetch-it')\n")
    assert "fetch-it" in found.programs


def test_tox() -> None:
    """Dependencies by factor, commands, and variables that are passed on."""
    text = (
        "[testenv]\ndeps =\n    nope\n    py311: requests\n    -r more.txt\n"
        "commands =\n    fetch-it {posargs}\n    - other-one {env:TOKEN}\npassenv = CI, AWS_*\n"
    )
    found = read("tox.ini", text)
    assert ("connect", "") in found.declared
    assert found.unknown == {"dependency pypi:nope"}
    assert {"fetch-it", "other-one"} <= found.programs
    assert {"CI", "*", "TOKEN"} <= found.variables


@pytest.mark.parametrize(
    "content", [b"def (", b"x = '\\ud800'\nsetup(install_requires=f(" + b"(" * 3000, b"\x00"]
)
def test_hostile_setup_py(content: bytes) -> None:
    """GUARD §extract-closed: what is no Python is unreadable."""
    assert read("setup.py", content).unknown
