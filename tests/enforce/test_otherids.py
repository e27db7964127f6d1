"""The numbers behind a root caller's program belong to nobody on the host."""

import os
import pwd
from pathlib import Path

import pytest

from consentry.enforce.facts import HostView
from consentry.enforce.native.otherids import COUNT, FIRST, ids_behind_root
from consentry.enforce.native.parent import Running
from tests.enforce.boxes import run_in_box
from tests.enforce.conftest import MakeHost

WHOLE = "         0          0 4294967295\n"
MAPS = {"proc/self/uid_map": WHOLE, "proc/self/gid_map": WHOLE}


def _found(make_host: MakeHost, **files: str) -> int:
    named = {f"etc/{name}": text for name, text in files.items()}
    return ids_behind_root(make_host({**MAPS, **named}))


def test_on_most_hosts_they_are_always_the_same(make_host: MakeHost) -> None:
    """Users, and the ranges that are usually set aside for their containers, are far below."""
    assert _found(make_host) == FIRST
    passwd = "root:x:0:0:root:/root:/bin/sh\nme:x:1000:1000::/home/me:/bin/sh\n"
    found = _found(make_host, passwd=passwd, subuid="me:100000:65536\n", subgid="me:100000:65536\n")
    assert found == FIRST


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("passwd", f"far:x:{FIRST}:9::/:/bin/sh\n"),
        ("passwd", f"far:x:9:{FIRST + COUNT - 1}::/:/bin/sh\n"),
        ("group", f"far:x:{FIRST + 5}:\n"),
        ("subuid", f"me:{FIRST - 10}:11\n"),
        ("subgid", f"me:{FIRST + COUNT - 1}:1\n"),
        ("subgid", f"# a remark\n\nme:no:number\nme:{FIRST}:65536\n"),
    ],
)
def test_a_block_that_somebody_touches_is_not_taken(
    make_host: MakeHost, file: str, text: str
) -> None:
    """Not by a single number at either end; the next block is."""
    assert _found(make_host, **{file: text}) == FIRST + COUNT


def test_a_wide_range_is_passed_over(make_host: MakeHost) -> None:
    """All the blocks that it touches."""
    assert _found(make_host, subuid=f"me:0:{FIRST + 3 * COUNT + 1}\n") == FIRST + 4 * COUNT


def test_where_numbers_are_few_those_at_the_end_are_taken(make_host: MakeHost) -> None:
    """In a container that has a part of them, and of that part what is nobody's."""
    few = {"proc/self/uid_map": "0 1000000 1000000000\n", "proc/self/gid_map": "0 1000000 900000\n"}
    assert ids_behind_root(make_host(few)) == 900_000 // COUNT * COUNT - COUNT
    taken = {**few, "etc/subuid": "me:800000:50000\n"}
    assert ids_behind_root(make_host(taken)) == 800_000 // COUNT * COUNT - COUNT


def test_where_there_are_none_the_kernel_has_the_last_word(make_host: MakeHost) -> None:
    """A container with no numbers to spare cannot be given any."""
    none = {"proc/self/uid_map": "0 100000 65536\n", "proc/self/gid_map": "0 100000 65536\n"}
    assert ids_behind_root(make_host(none)) == FIRST


@pytest.mark.skipif(os.getuid() != 0, reason="an ordinary user stays what they are")
def test_a_program_of_root_has_a_number_that_the_host_does_not_know(tmp_path: Path) -> None:
    """Seen from outside: the user of its process."""
    seen: list[int] = []

    def watch(running: Running) -> None:
        for pid in _read(f"/proc/{running.pid}/task/{running.pid}/children").split():
            status = _read(f"/proc/{pid}/status")
            if status.startswith("Name:\tsleep\n"):
                seen.append(int(status.partition("Uid:")[2].split()[0]))
                running.end_now()

    run_in_box(["sleep", "25"], workspace=tmp_path, watch=watch)
    assert set(seen) == {ids_behind_root(HostView())}
    with pytest.raises(KeyError):
        pwd.getpwuid(seen[0])


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""
