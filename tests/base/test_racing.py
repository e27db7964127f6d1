"""A real swapper at full speed against every operation of a `SandboxedPath` (TRUST §path-3 to 5).

In threes: no try reaches what lies outside, while the same calls do their work in between; by name, with
the control taken away, the attack succeeds. As root and as an ordinary user, with the kernel's `openat2`
and with the walk. `make test` tries some thousand times, `make prove` a million times altogether.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

RACER = Path(__file__).with_name("racer.py")
NOBODY = 65534
IN_FILES, IN_FOLDERS = 5, 9
"""How many operations there are to try where the file is swapped, and where its folder is."""

SMALL = 150
MILLION = 1_000_000
WAYS = ("kernel", "walk")
USERS = (0, NOBODY) if os.geteuid() == 0 else (os.geteuid(),)
FULL = MILLION // (len(WAYS) * len(USERS) * (IN_FILES + IN_FOLDERS)) + 1


@pytest.fixture
def ground() -> Iterator[Path]:
    """A folder in memory where there is one: syncing is not what is tested."""
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with TemporaryDirectory(prefix="consentry-race-", dir=place) as folder:
        yield Path(folder)


def raced(ground: Path, swapped: str, tries: int, user: int, how: str) -> dict[str, dict[str, int]]:
    """What became of every operation, tried so often."""
    words = [sys.executable, str(RACER), str(ground), swapped, str(tries), str(user), how]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, dict[str, int]] = json.loads(done.stdout)
    return answer


def attack(ground: Path, swapped: str, tries: int, user: int, how: str) -> None:
    """Every operation was tried, met the link, did its work, and never left the jail."""
    tallies = raced(ground, swapped, tries, user, how)
    assert len(tallies) == (IN_FILES if swapped == "file" else IN_FOLDERS)
    for name, tally in tallies.items():
        assert tally["escapes"] == 0, (name, tally)
        assert tally["tries"] >= tries, (name, tally)
        assert tally["races"] > 0, (name, tally)
        assert tally["done"] > 0, (name, tally)


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_nothing_outside_is_ever_reached(swapped: str, user: int, how: str, ground: Path) -> None:
    """No read returns the secret, no write lands outside, and between the swaps all of it works."""
    attack(ground, swapped, SMALL, user, how)


@pytest.mark.prove
@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_nothing_outside_is_reached_in_a_million_tries(
    swapped: str, user: int, how: str, ground: Path
) -> None:
    """The same, a million times over all of these together."""
    attack(ground, swapped, FULL, user, how)


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("swapped", ["file", "folder"])
def test_without_the_control_the_attack_succeeds(swapped: str, user: int, ground: Path) -> None:
    """The same operations by name reach the secret, every one of them."""
    for name, tally in raced(ground, swapped, SMALL, user, "naive").items():
        assert tally["escapes"] > 0, (name, tally)
