"""Python's project files (GUARD §extract-1): a dependency is a declared power with a line."""

import pytest

from tests.examine.dependencies.reading import read

PROJECT = """\
[build-system]
requires = ["setuptools", "no-such-builder>=1"]
build-backend = "backend"
backend-path = ["_build"]

[project]
name = "feeds"
dependencies = [
    "requests>=2.31; python_version < '3.13'",
    "feeds[extra]",
    "tool @ git+https://code.example.org/tool.git@v1",
]
scripts = {feeds = "feeds.cli:main"}

[project.optional-dependencies]
fast = ["httpx[http2]~=0.27"]

[dependency-groups]
dev = ["no-such-tester", {include-group = "docs"}]
"""


def test_dependencies_are_declared_powers() -> None:
    """GUARD §extract-1, T2: the network comes with `requests` and `httpx`, as declared."""
    found = read("pyproject.toml", PROJECT)
    assert ("connect", "") in found.declared
    assert found.lines_of("connect", "") == {9, 16}


def test_references_reach_their_host_and_are_not_known() -> None:
    """A dependency from an address counts with all of the address."""
    found = read("pyproject.toml", PROJECT)
    assert "code.example.org:443" in found.hosts
    assert "dependency git+https://code.example.org/tool.git@v1" in found.unknown


def test_unknown_names_are_unclassified_and_the_own_name_is_not() -> None:
    """Names that no table knows; the project itself with an extra is no dependency."""
    found = read("pyproject.toml", PROJECT)
    assert {"dependency pypi:no-such-builder", "dependency pypi:no-such-tester"} <= found.unknown
    assert "dependency pypi:feeds" not in found.unknown


def test_the_own_name_hides_nothing_in_other_places() -> None:
    """Taking the name of a library does not hide it as a requirement of the build."""
    text = '[project]\nname = "requests"\n[build-system]\nrequires = ["requests"]\n'
    assert "" in read("pyproject.toml", text).hosts


def test_a_back_end_of_the_tree_is_loaded_by_name() -> None:
    """GUARD §extract-dynamic: code of the tree runs when something is built."""
    found = read("pyproject.toml", PROJECT)
    assert ("load", "LIMITED") in found.powers


def test_a_newer_version_is_no_new_power() -> None:
    """Only names count: another version gives the same powers and the same unknowns."""
    one, two = (f'[project]\ndependencies = ["requests=={v}", "nope=={v}"]\n' for v in (1, 2))
    before, after = read("pyproject.toml", one), read("pyproject.toml", two)
    assert before.powers == after.powers
    assert before.unknown == after.unknown == {"dependency pypi:nope"}


def test_names_are_compared_as_the_index_does() -> None:
    """`Foo_Bar.baz` and `foo-bar-baz` are one."""
    text = '[project]\ndependencies = ["Foo_Bar.baz"]\n'
    assert read("pyproject.toml", text).unknown == {"dependency pypi:foo-bar-baz"}


@pytest.mark.parametrize(
    "text",
    [
        '[tool.poetry.dependencies]\npython = "^3.11"\nrequests = "*"\n',
        '[tool.poetry.group.dev.dependencies]\nrequests = {version = "^2", optional = true}\n',
        '[tool.poetry.dev-dependencies]\nrequests = "^2"\n',
        '[tool.pdm.dev-dependencies]\ntest = ["requests"]\n',
        '[tool.uv]\ndev-dependencies = ["requests"]\n',
        '[tool.uv]\noverride-dependencies = ["requests"]\n',
        '[tool.hatch.envs.test]\nextra-dependencies = ["requests"]\n',
        '[tool.hatch.build.targets.wheel]\ndependencies = ["requests"]\n',
        '[tool.setuptools.dynamic.dependencies]\nvalue = ["requests"]\n',
        "[tool.tox]\nlegacy_tox_ini = '''\n[testenv]\ndeps = requests\n'''\n",
    ],
)
def test_dependencies_of_tools(text: str) -> None:
    """Every tool's own place for dependencies counts."""
    assert read("pyproject.toml", text).declared == {("connect", "")}


@pytest.mark.parametrize(
    ("text", "host", "unknown"),
    [
        ('y = {git = "https://g.example/y.git"}', "g.example:443", "https://g.example/y.git"),
        ('y = {url = "https://u.example/y.whl"}', "u.example:443", "https://u.example/y.whl"),
        ('y = {git = "git@g.example:a/y.git"}', "g.example:22", "git@g.example:a/y.git"),
    ],
)
def test_tables_of_poetry_with_a_place(text: str, host: str, unknown: str) -> None:
    """A place beside a name is where the package comes from."""
    found = read("pyproject.toml", f"[tool.poetry.dependencies]\n{text}\n")
    assert found.hosts == {host}
    assert found.unknown == {f"dependency {unknown}"}


@pytest.mark.parametrize(
    "text",
    [
        '[[tool.uv.index]]\nurl = "https://i.example/simple"\n',
        '[tool.uv]\nextra-index-url = ["https://i.example/simple"]\n',
        '[[tool.poetry.source]]\nname = "x"\nurl = "https://i.example/simple"\n',
        '[[tool.pdm.source]]\nurl = "https://i.example/simple"\n',
    ],
)
def test_indexes_are_hosts(text: str) -> None:
    """Where packages are fetched from is a host that installing reaches."""
    assert read("pyproject.toml", text).hosts == {"i.example:443"}


@pytest.mark.parametrize(
    "text",
    [
        "[tool.hatch.build.hooks.custom]\n",
        '[tool.hatch.build.targets.wheel.hooks.custom]\npath = "hook.py"\n',
        '[tool.poetry.build]\nscript = "build.py"\n',
        '[tool.setuptools.cmdclass]\nbuild_py = "own.Build"\n',
        '[tool.pdm.build]\ncustom-hook = "x.py"\n',
        '[tool.hatch.version]\nsource = "code"\n',
    ],
)
def test_build_hooks_load_code(text: str) -> None:
    """GUARD §extract-dynamic: a hook of the tree runs when something is built."""
    assert ("load", "LIMITED") in read("pyproject.toml", text).powers


@pytest.mark.parametrize(
    "text",
    [
        '[tool.hatch.envs.test.scripts]\nrun = "fetch-it now"\n',
        '[tool.pdm.scripts]\nx = "fetch-it now"\n',
        '[tool.pdm.scripts]\nx = {cmd = ["fetch-it", "now"]}\n',
        '[tool.poe.tasks]\nx = "fetch-it now"\n',
        '[tool.taskipy.tasks]\nx = "fetch-it now"\n',
        '[tool.cibuildwheel]\nbefore-all = "fetch-it now"\n',
        '[tool.cibuildwheel.linux]\nbefore-build = ["fetch-it now"]\n',
        '[tool.tox.env_run_base]\ncommands = [["fetch-it", "now"]]\n',
    ],
)
def test_tasks_start_programs(text: str) -> None:
    """GUARD §extract-proc: tasks are command lines."""
    assert "fetch-it" in read("pyproject.toml", text).programs


def test_settings_of_linters_add_nothing() -> None:
    """Most of such a file is no power at all."""
    text = '[tool.ruff]\nline-length = 100\n[tool.mypy]\nstrict = true\n[project]\nname = "x"\n'
    found = read("pyproject.toml", text)
    assert found.powers == set()
    assert found.unknown == set()


@pytest.mark.parametrize(
    "content",
    [
        b"[project\n",
        b"\xff\xfe",
        b"a = 1\x00",
        b"a = " + b"[" * 5000,
        b"a" + b".a" * 50_000 + b" = 1\n",
        b"x = 1\nx = 2\n",
    ],
)
def test_what_is_no_toml_is_unreadable(content: bytes) -> None:
    """GUARD §extract-closed: nothing is raised, and nothing passes for harmless."""
    assert read("pyproject.toml", content).is_unreadable
