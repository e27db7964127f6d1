"""Dependencies are pinned in the locks and explained in the docs; locks name no place."""

import pytest

from checks import dependencies

PROJECT = """
[project]
dependencies = ["click>=8.2", "PyYAML>=6"]
[project.optional-dependencies]
postgres = ["psycopg[binary]>=3.2"]
[dependency-groups]
dev = ["pytest>=8.3"]
"""
HASH = " \\\n    --hash=sha256:00\n    # via x\n"
RUN = f"# Made by `make lock`\nclick==8.5.1{HASH}pyyaml==6.0.3 ; sys_platform != 'win32'{HASH}"
DEV = f"{RUN}pytest==9.2.0{HASH}"
ALL = f"{DEV}psycopg==3.3.8{HASH}"
ROWS = "| dependency | for |\n|---|---|\n| `click` | a |\n| `PyYAML` | b |\n| `psycopg[binary]` | c |\n| `pytest` | d |\n"
GOOD = {
    "pyproject.toml": PROJECT,
    "requirements/run.lock": RUN,
    "requirements/dev.lock": DEV,
    "requirements/all.lock": ALL,
    "docs/dependencies.md": ROWS,
}


def found(plant, **changes):
    """The findings for the good tree with some files changed, None for removed."""
    names = {
        "run": "requirements/run.lock",
        "all_": "requirements/all.lock",
        "page": "docs/dependencies.md",
    }
    files = GOOD | {names[key]: text for key, text in changes.items()}
    kept = {name: text for name, text in files.items() if text is not None}
    return [(each.path, each.message) for each in dependencies.check(plant(kept))]


def test_a_tree_with_everything_pinned_and_explained_passes(plant):
    """Names are compared without regard to case and separators."""
    assert found(plant) == []


def test_a_dependency_that_is_not_pinned_is_found(plant):
    """A requirement of the base install must stand in run.lock."""
    [(path, message)] = found(plant, run=RUN.replace("pyyaml==6.0.3", "other==1"))
    assert path == "requirements/run.lock"
    assert "`PyYAML>=6` is not pinned" in message


def test_a_pin_that_is_not_allowed_is_found(plant):
    """A lock older than pyproject.toml fails."""
    [(path, message)] = found(plant, all_=ALL.replace("psycopg==3.3.8", "psycopg==3.1.0"))
    assert path == "requirements/all.lock"
    assert "pins 3.1.0" in message


def test_a_missing_lock_or_page_is_found(plant):
    """Neither can be left out."""
    assert [path for path, _ in found(plant, run=None, page=None)] == [
        "requirements/run.lock",
        "docs/dependencies.md",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://packages.example/simple",
        "--find-links ../wheels",
        "-e .",
        "click @ file:///x.whl",
        "https://packages.example/click.whl",
    ],
)
def test_a_lock_that_names_a_place_is_found(plant, line):
    """Whoever installs decides where packages come from; the hashes decide what they are."""
    [(path, message)] = found(plant, run=f"{line}\n{RUN}")
    assert path == "requirements/run.lock"
    assert "no place" in message


def test_a_dependency_without_a_reason_is_found(plant):
    """A row for every requirement."""
    [(_, message)] = found(plant, page=ROWS.replace("| `pytest` | d |\n", ""))
    assert "`pytest` has no row" in message


def test_a_reason_without_a_dependency_is_found(plant):
    """A row whose dependency is gone."""
    [(_, message)] = found(plant, page=ROWS + "| `attrs` | e |\n")
    assert "`attrs` is explained" in message
