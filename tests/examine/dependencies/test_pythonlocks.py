"""Lock files and environments of Python (GUARD §extract-1)."""

import pytest

from tests.examine.dependencies.reading import read

UV = """\
version = 1
[[package]]
name = "requests"
version = "2.31"
source = { registry = "https://i.example/simple" }
sdist = { url = "https://files.example/r.tar.gz", hash = "sha256:aa" }
[[package]]
name = "mine"
source = { editable = "." }
[[package]]
name = "forked"
source = { git = "https://g.example/forked?rev=aa#aa" }
"""
POETRY = """\
[[package]]
name = "requests"
version = "2.31"
[package.source]
type = "legacy"
url = "https://i.example/simple"
reference = "x"
[[package]]
name = "forked"
[package.source]
type = "git"
url = "https://g.example/forked.git"
"""
PDM = """\
[[package]]
name = "requests"
version = "2"
[[package]]
name = "forked"
git = "https://g.example/forked.git"
revision = "aa"
[[package]]
name = "here"
path = "./sub"
"""
PYLOCK = """\
lock-version = "1.0"
[[packages]]
name = "requests"
index = "https://i.example/simple"
wheels = [{url = "https://files.example/r.whl", hashes = {sha256 = "aa"}}]
[[packages]]
name = "forked"
[packages.vcs]
type = "git"
url = "https://g.example/forked.git"
"""


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("uv.lock", UV),
        ("poetry.lock", POETRY),
        ("pdm.lock", PDM),
        ("pylock.toml", PYLOCK),
        ("pylock.dev.toml", PYLOCK),
    ],
)
def test_locks_in_toml(path: str, text: str) -> None:
    """Names are dependencies, places are hosts, repositories are not known."""
    found = read(path, text)
    assert ("connect", "") in found.declared
    assert "g.example:443" in found.hosts
    assert len(found.unknown) == 1
    assert "g.example/forked" in found.unknown.pop()
    assert path == "pdm.lock" or "i.example:443" in found.hosts


def test_another_host_for_the_same_package_shows() -> None:
    """A lock whose files come from elsewhere has a host that it had not."""
    moved = UV.replace("files.example", "evil.example")
    assert read("uv.lock", moved).hosts - read("uv.lock", UV).hosts == {"evil.example:443"}


def test_pipfile() -> None:
    """Packages of all categories, sources and scripts."""
    text = (
        '[[source]]\nurl = "https://i.example/simple"\n[packages]\nrequests = "*"\n'
        'g = {git = "https://g.example/g.git"}\n[custom]\nnope = "*"\n[requires]\n'
        'python_version = "3.11"\n[scripts]\nx = "fetch-it now"\n'
    )
    found = read("Pipfile", text)
    assert {"", "i.example:443", "g.example:443"} <= found.hosts
    assert "dependency pypi:nope" in found.unknown
    assert "fetch-it" in found.programs


def test_pipfile_lock() -> None:
    """Both of two entries with the same key count."""
    text = (
        '{"_meta": {"sources": [{"url": "https://i.example/simple"}]},\n'
        '"default": {"requests": {"version": "==2"}},\n"default": {"nope": {}}}'
    )
    found = read("Pipfile.lock", text)
    assert found.hosts == {"", "i.example:443"}
    assert found.unknown == {"dependency pypi:nope"}


def test_conda() -> None:
    """Packages with channel and version, those of pip, and channels that are not known."""
    text = (
        "channels: [conda-forge, strange, 'https://c.example/x']\ndependencies:\n"
        "  - python=3.11\n  - conda-forge::requests>=2\n  - pip:\n    - httpx==1\n    - nope\n"
    )
    found = read("environment.yml", text)
    assert found.lines_of("connect", "") == {4, 6}
    assert "c.example:443" in found.hosts
    assert found.unknown == {"dependency pypi:nope", "dependency conda-channel:strange"}


def test_requirements_inside_a_script() -> None:
    """A single file may ask for dependencies in a comment."""
    text = '#!/usr/bin/env -S uv run\n# /// script\n# dependencies = ["requests", "nope"]\n# ///\n'
    found = read("tool.py", text + "print(1)\n")
    assert found.lines_of("connect", "") == {3}
    assert "dependency pypi:nope" in found.unknown


@pytest.mark.parametrize("path", ["uv.lock", "Pipfile.lock", "environment.yml", "Pipfile"])
def test_what_cannot_be_read(path: str) -> None:
    """GUARD §extract-closed."""
    assert read(path, b"{{{[[[\x80").is_unreadable
