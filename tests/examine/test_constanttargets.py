"""Constants of code as targets: the same constant is the same target in every language."""

import pytest

from consentry.examine.atoms import ANYTHING, SOMEWHERE, reading, starting, writing
from consentry.examine.constanttargets import (
    MOST_TARGET,
    algorithm_atom,
    command_atoms,
    host_atom,
    host_target,
    path_atoms,
    path_pattern,
    program_atom,
    variable_atom,
)
from consentry.surface.pattern import ABSOLUTE_PATH_MARK


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("data/x.csv", "data/x.csv"),
        ("./data/../x", "x"),
        ("data/", "data/"),
        ("/etc/passwd", "/etc/passwd"),
        ("/etc/../etc//passwd", "/etc/passwd"),
        ("file:///etc/passwd", "/etc/passwd"),
        ("~", "~"),
        ("~/.ssh/id", "~/.ssh/id"),
        ("~/../../etc/passwd", ABSOLUTE_PATH_MARK),
        ("../outside", ABSOLUTE_PATH_MARK),
        ("data/../../outside", ABSOLUTE_PATH_MARK),
        ("C:\\Windows\\x", ABSOLUTE_PATH_MARK),
        ("c:/x", ABSOLUTE_PATH_MARK),
        ("\\\\server\\share", ABSOLUTE_PATH_MARK),
        ("~root/.ssh/id", ABSOLUTE_PATH_MARK),
        ("~somebody", ABSOLUTE_PATH_MARK),
        ("ABSOLUTE_PATH", "./ABSOLUTE_PATH"),
        ("", None),
        ("a\0b", None),
    ],
)
def test_paths(path: str, pattern: str | None) -> None:
    """GUARD §extract-absolute: what leaves the workspace has the mark; None may be anywhere."""
    assert path_pattern(path) == pattern


def test_a_name_with_wildcards_is_that_name() -> None:
    """A constant is one file, and no pattern that matches others."""
    assert path_pattern("data/*.csv") == "data/\\*.csv"
    assert path_pattern("/srv/?") == "/srv/\\?"


def test_an_absolute_path_gives_itself_and_the_mark() -> None:
    """GUARD §extract-absolute."""
    assert path_atoms(reading, "/srv/x") == (reading("/srv/x"), reading(ABSOLUTE_PATH_MARK))
    assert path_atoms(writing, "~/x") == (writing("~/x"), writing(ABSOLUTE_PATH_MARK))


def test_a_path_that_climbs_out_may_lead_to_the_root() -> None:
    """GUARD §extract-protected: how far up the workspace lies is not known."""
    assert path_atoms(reading, "../../etc/passwd") == (
        reading(ABSOLUTE_PATH_MARK),
        reading("/etc/passwd"),
    )


def test_a_computed_path_is_anywhere_in_the_workspace() -> None:
    """And so is one that nobody can open."""
    assert path_atoms(reading, None) == (reading(SOMEWHERE),)
    assert path_atoms(reading, "") == (reading(SOMEWHERE),)


def test_a_long_way_round_does_not_hide_where_a_path_leads() -> None:
    """GUARD §extract-protected: no length makes an absolute path one of the workspace."""
    assert path_pattern("/" + "x/../" * MOST_TARGET + "etc/passwd") == "/etc/passwd"
    assert path_pattern("/" + "x" * 2 * MOST_TARGET) == ABSOLUTE_PATH_MARK
    assert path_pattern("x" * 2 * MOST_TARGET) is None
    assert path_pattern("x/../" * (1 << 14) + "../outside") == ABSOLUTE_PATH_MARK


@pytest.mark.parametrize(
    ("address", "port", "target"),
    [
        ("https://Example.com/a?b", None, "example.com:443"),
        ("http://example.com:8080/", None, "example.com:8080"),
        ("https://user:secret@example.com/", None, "example.com:443"),
        ("postgresql://db/x", None, "db:5432"),
        ("https://[::1]/", None, "[::1]:443"),
        ("example.com", None, "example.com"),
        ("example.com:22", None, "example.com:22"),
        ("example.com", 25, "example.com:25"),
        ("::1", 80, "[::1]:80"),
        ("10.0.0.1", 80, "10.0.0.1:80"),
        ("https:///no-host", None, None),
        ("not a host", None, None),
        ("example.com:http", None, None),
        ("x" * 2 * MOST_TARGET, None, None),
    ],
)
def test_hosts(address: str, port: int | None, target: str | None) -> None:
    """GUARD §extract-allowlist: a target is `host:port`; what is no address counts as computed."""
    assert host_target(address, port) == target
    assert host_atom(address, port).target == (ANYTHING if target is None else target)


def test_a_computed_host_is_any() -> None:
    """CONTRACTS §7-allowlist."""
    assert host_atom(None).target == ANYTHING


@pytest.mark.parametrize(
    ("program", "target"),
    [
        ("git", "git"),
        ("/usr/bin/git", "/usr/bin/git"),
        ("./run.sh", "./run.sh"),
        ("$SHELL", ANYTHING),
        ("`which sh`", ANYTHING),
        ("", ANYTHING),
        (None, ANYTHING),
        ("x" * 2 * MOST_TARGET, ANYTHING),
    ],
)
def test_programs(program: str | None, target: str) -> None:
    """GUARD §extract-proc: what the shell would put in its place is not known."""
    assert program_atom(program).target == target


@pytest.mark.parametrize(
    ("line", "programs"),
    [
        ("git status", ["git"]),
        ("make && make install", ["make"]),
        ("cat x | grep y; ls", ["cat", "grep", "ls"]),
        ("A=1 env make", ["make"]),
        ("echo $(id)", ["echo", ANYTHING]),
        ("", [ANYTHING]),
        (None, [ANYTHING]),
    ],
)
def test_command_lines(line: str | None, programs: list[str]) -> None:
    """GUARD §extract-proc: every program of a line, as far as splitting it tells."""
    assert command_atoms(line) == tuple(map(starting, programs))


def test_names() -> None:
    """Variables keep their spelling; algorithms are compared without it."""
    assert variable_atom("Token").target == "Token"
    assert algorithm_atom("SHA_256").target == "sha-256"
    for computed in (None, "", "x" * 2 * MOST_TARGET):
        assert variable_atom(computed).target == ANYTHING
        assert algorithm_atom(computed).target == ANYTHING
