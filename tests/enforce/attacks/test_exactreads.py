"""Names that change under the observer's eyes: what `reads: exact` holds, and nothing else does.

A second thread changes one byte of a name while the program opens it. An observer that looks and lets
the call go on can be wrong each time; where the file is opened for the program, it cannot. There are
several pairs of names, each counted by itself: in one count alone, as many may be missed as are made up.
"""

import json
from collections.abc import Callable

from tests.enforce.attacks.attackers import Attacker

PAIRS = "0123456789"
FLIPPING = """
import threading, time
sys.setswitchinterval(1e-5)
first, second = (each.encode() for each in sys.argv[1:3])
name, last, is_over = ctypes.create_string_buffer(first), len(first) - 1, False
flips = 0
def flip():
    global flips
    now, then = first[-1:], second[-1:]
    while not is_over:
        # Once a turn: it is between turns that the other thread gets its own.
        now, then = then, now
        name[last] = now
        flips += 1
thread = threading.Thread(target=flip)
thread.start()
seen = {}
each = int(sys.argv[3])
for turn in range(10 * each):
    name[last - len("/name1")] = b"0123456789"[turn // each]
    seen_flips = flips
    while flips == seen_flips:
        time.sleep(0)  # on a busy machine the other thread may have had no turn since the last one
    file = libc.open(name, os.O_RDONLY)
    word = os.read(file, 99).decode() if file >= 0 else "refused"
    if file >= 0:
        os.close(file)
    seen[word] = seen.get(word, 0) + 1
is_over = True
thread.join()
print(json.dumps(seen))
"""


def _put_pairs(attacker: Attacker, put_second: Callable[[str], object]) -> None:
    for pair in PAIRS:
        attacker.put(f"ws/{pair}/name1", f"FIRST{pair}")
        put_second(f"ws/{pair}/name2")


def _flipped(
    attacker: Attacker, *without: str, reads: str = "exact"
) -> tuple[list[int], list[int], int]:
    """How often each first file was read, how often that was noted, and how often one was refused."""
    # Who is slow lets the names flip each time: it does not take as many turns as with who is not.
    each = 10 if "promptness" in without else 30
    words = [*(str(attacker.ws / "0" / name) for name in ("name1", "name2")), str(each)]
    wish = {"reads": reads, "words": words, "read": ["./"], "write": ["/tmp/"]}
    told = attacker.runs(FLIPPING, without=list(without), **wish)
    assert told.status == 0, told.err
    seen = json.loads(told.out)
    assert sum(seen.values()) == len(PAIRS) * each
    kind = "opened" if reads == "exact" and "mediation" not in without else "read"
    noted = [told.times.get(f"{kind} {attacker.ws / pair / 'name1'}", 0) for pair in PAIRS]
    return [seen.get(f"FIRST{pair}", 0) for pair in PAIRS], noted, seen.get("refused", 0)


def test_the_list_is_right_about_two_files_that_flip(attacker: Attacker) -> None:
    """Whichever of the two was opened, that one is noted, every time; both were granted."""
    _put_pairs(attacker, lambda name: attacker.put(name, "SECOND"))
    read, noted, refused = _flipped(attacker)
    assert (read, refused) == (noted, 0)


def test_without_mediation_the_list_is_wrong(attacker: Attacker) -> None:
    """The same program, seen by an observer that lets calls go on, and is slow to."""
    _put_pairs(attacker, lambda name: attacker.put(name, "SECOND"))
    read, noted, refused = _flipped(attacker, "mediation", "promptness")
    assert read != noted
    assert refused == 0


def _put_links_to_a_device(attacker: Attacker) -> None:
    def put_link(name: str) -> None:
        link = attacker.place / name
        link.symlink_to("/dev/null")
        attacker.own(link)

    _put_pairs(attacker, put_link)


def test_what_is_left_to_the_kernel_reads_no_granted_file(attacker: Attacker) -> None:
    """A name that led to a device when it was looked at, and to a file when the kernel followed it."""
    _put_links_to_a_device(attacker)
    read, noted, refused = _flipped(attacker, "promptness")
    assert read == noted
    assert refused > 0


def test_if_the_program_could_read_by_itself_the_list_would_miss_files(attacker: Attacker) -> None:
    """It is the kernel's refusal that makes the list whole."""
    _put_links_to_a_device(attacker)
    read, noted, refused = _flipped(attacker, "promptness", "closed reads")
    assert sum(read) > sum(noted)
    assert refused == 0


CHANGING = """
file = os.open(sys.argv[1], os.O_RDONLY)
print(json.dumps({
    "mode": attempt("os.fchmod(file, 0o777)"),
    "times": attempt("os.utime(file, (1, 1))"),
    "attribute": attempt("os.setxattr(file, 'user.mine', b'1')"),
    "again": attempt("os.open(f'/proc/self/fd/{file}', os.O_RDWR)"),
}))
"""


def test_what_was_handed_in_changes_nothing_outside(attacker: Attacker) -> None:
    """A descriptor to read from is not one to change the file's bits, times or attributes by."""
    file = attacker.put("ws/file")
    before = file.stat()
    wish = {"reads": "exact", "words": [str(file)], "write": ["/tmp/"]}
    told = attacker.runs(CHANGING, **wish)
    assert json.loads(told.out) == {
        "mode": "EROFS",
        "times": "EROFS",
        "attribute": "EROFS",
        "again": "EROFS",
    }
    assert file.stat() == before


def test_without_the_read_only_mount_it_would(attacker: Attacker) -> None:
    """The mount it is opened through holds this, in every mode."""
    file = attacker.put("ws/file")
    wish = {"reads": "exact", "words": [str(file)], "write": ["/tmp/"]}
    told = attacker.runs(CHANGING, shown=[str(attacker.ws)], **wish)
    assert json.loads(told.out)["mode"] == "None"
    assert file.stat().st_mode & 0o777 == 0o777


BESIDE = {"beside": "read(sys.argv[2])", "granted": "read(sys.argv[3])"}


def _beside(attacker: Attacker, *without: str) -> tuple[dict[str, str], int]:
    secret = attacker.put("ws/folder/secret")
    given = attacker.put("ws/folder/given", "GIVEN")
    code = f"print(json.dumps({{name: attempt(each) for name, each in {BESIDE!r}.items()}}))"
    told = attacker.runs(
        code,
        words=["", str(secret), str(given)],
        reads="exact",
        read=["./folder/given"],
        write=["./folder/given", "/tmp/"],
        without=list(without),
    )
    assert told.status == 0, told.err
    return json.loads(told.out), told.times.get(f"refused {secret}", 0)


def test_what_the_grants_refuse_is_not_opened_for_anybody(attacker: Attacker) -> None:
    """A file beside a granted one is in the box, and not to be read there; nor by the opener."""
    assert _beside(attacker) == ({"beside": "EACCES", "granted": "b'GIVEN'"}, 1)


def test_without_landlock_it_would_be(attacker: Attacker) -> None:
    """The opener holds itself to the same rules."""
    found, refused = _beside(attacker, "grants")
    assert found == {"beside": "b'SECRET'", "granted": "b'GIVEN'"}
    assert refused == 0


def test_an_opener_that_does_not_come_up_opens_nothing(attacker: Attacker) -> None:
    """The program is refused what it may not read by itself, and the record says it has gaps."""
    file = attacker.put("ws/file")
    code = "print(attempt('read(sys.argv[1])'), attempt('read(\"/etc/passwd\")')[:7])"
    told = attacker.runs(code, reads="exact", words=[str(file)], without=["opener"])
    assert told.out == "EACCES b'user:\n"
    assert told.notes["problems"] > 0
    assert "opened" not in {kind for kind, _ in told.noted}


def test_nobody_inside_sees_or_signals_the_opener(attacker: Attacker) -> None:
    """It is in no namespace of processes that the program is in."""
    file = attacker.put("ws/file")
    code = (
        "read(sys.argv[1])\n"
        "print(sorted(int(each) for each in os.listdir('/proc') if each.isdigit()) == "
        "[1, os.getpid()])"
    )
    told = attacker.runs(code, reads="exact", words=[str(file)])
    assert told.out == "True\n"
    assert told.times[f"opened {file}"] == 1
