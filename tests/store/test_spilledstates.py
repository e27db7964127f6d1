"""Records of which few are in memory: what is kept is what was put, in the order in which it came."""

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import LedgerProblem
from consentry.record.signoffstates import States, StatesInMemory
from consentry.store.spilledstates import SpilledStates

_keys = st.text(max_size=3) | st.sampled_from(["a", "b", "\ud800", "\0", "'"])
_states = st.dictionaries(st.text(max_size=2), st.none() | st.integers() | st.lists(st.text()))


@given(st.lists(st.tuples(_keys, _states)), st.integers(2, 6))
def test_it_keeps_what_a_dictionary_would(puts: list[tuple[str, Any]], held: int) -> None:
    """Whatever the keys are: looked up at any moment, counted, and walked through in the same order."""
    plain = StatesInMemory()
    with SpilledStates(held) as places:
        spilled, other = places.make("one"), places.make("other")
        other.put("a", {"of": "another"})
        for at, (key, state) in enumerate(puts):
            for kept in (plain, spilled):
                kept.put(key, dict(state))
            looked_for = puts[at // 2][0]
            assert spilled.get(looked_for) == plain.get(looked_for)
            assert spilled.get("nothing of that name") is None
        for _ in range(2):
            assert list(spilled.pairs()) == list(plain.pairs())
        assert len(spilled) == len(plain)
        assert list(other.pairs()) == [("a", {"of": "another"})]


def _is_of_the_protocol(states: States) -> States:
    return states


def test_both_are_what_a_fold_asks_for() -> None:
    """And a change takes effect when it is put."""
    with SpilledStates(2) as places:
        for states in (_is_of_the_protocol(StatesInMemory()), _is_of_the_protocol(places.make(""))):
            states.put("a", {"n": 1})
            found = states.get("a")
            assert found is not None
            states.put("a", {**found, "n": 2})
            for name in "bcdef":
                states.put(name, {})
            assert states.get("a") == {"n": 2}
            assert next(iter(states.pairs())) == ("a", {"n": 2})


_FILL = """
import sys
from consentry.store.spilledstates import SpilledStates
with SpilledStates() as places:
    states = places.make("many")
    for number in range(int(sys.argv[1])):
        states.put(f"key-{number}", {"about": "x" * 200, "number": number})
    assert sum(1 for _ in states.pairs()) == int(sys.argv[1]) == len(states)
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def _peak(number: int) -> int:
    words = [sys.executable, "-c", _FILL, str(number)]
    return int(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def test_memory_does_not_grow_with_the_records() -> None:
    """Ten times as many take the room of a few: what a dictionary would add is told apart."""
    few, many = _peak(10_000), _peak(100_000)
    in_a_dictionary = 100_000 * 300 // 1024
    assert many - few < in_a_dictionary // 5


def test_nothing_is_left_on_disk(tmp_path: Path) -> None:
    """The file has no name, also while it is in use, and cannot be opened by anybody else."""
    script = (
        "import os, sys\n"
        "from consentry.store.spilledstates import SpilledStates\n"
        "with SpilledStates(10) as places:\n"
        "    states = places.make('')\n"
        "    for n in range(50_000): states.put(str(n), {'x': 'y' * 200})\n"
        "    print(os.listdir(sys.argv[1]))\n"
        "    print(any('(deleted)' in os.readlink(f'/proc/self/fd/{fd}')\n"
        "              for fd in os.listdir('/proc/self/fd') if os.path.islink(f'/proc/self/fd/{fd}')))\n"
    )
    environ = {**os.environ, "SQLITE_TMPDIR": str(tmp_path), "TMPDIR": str(tmp_path)}
    words = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=environ)
    assert done.stdout.splitlines() == ["[]", "True"]
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    """One error that says what to do, and not a wrong count; the limit stands in for the disk."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))

    script = (
        "from consentry.store.spilledstates import SpilledStates\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from consentry.base.errors import LedgerProblem\n"
        "states = SpilledStates(10).make('')\n"
        "try:\n"
        "    for n in range(100_000): states.put(str(n), {'x': 'y' * 200})\n"
        "except LedgerProblem as problem: print(problem.help_line)\n"
    )
    environ = {**os.environ, "SQLITE_TMPDIR": str(tmp_path)}
    words = [sys.executable, "-c", script]
    done = subprocess.run(
        words, check=True, capture_output=True, text=True, env=environ, preexec_fn=limit
    )
    assert done.stdout.startswith("make room in the folder for temporary files")


def test_what_is_closed_says_so() -> None:
    """No count comes of records that are gone."""
    places = SpilledStates(2)
    states = places.make("")
    for name in "abcd":
        states.put(name, {})
    places.close()
    with pytest.raises(LedgerProblem):
        list(states.pairs())
