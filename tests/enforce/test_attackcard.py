"""The score-card: stopped in a box, reached without one, and reached where its control was taken away.

Each card is made once, in a process of its own, by root and by an ordinary user where the tests run
as root.
"""

import functools
import json

import pytest

from consentry.enforce.attackcard import ATTACKS, WORKS
from consentry.enforce.engine import Control
from consentry.enforce.scorecard import ScoreCard, Verdict
from tests.docs.blocks import DOCS
from tests.docs.tables import table_with_head
from tests.enforce import hosts
from tests.enforce.cards import WEAKENINGS

# What any host lets an ordinary process do; the others depend on its settings.
ALIVE = {
    "hidden-file", "descriptors", "outside-file", "granted-file", "denied-inside", "host-network",
    "host-socket", "abstract-socket", "secret", "host-processes", "other-program", "loader",
    "written-program", "memfd", "af-netlink", "ptrace", "capabilities", "set-user-id", "big-file",
    "much-written", "many-processes", "much-memory",
}  # fmt: skip
NAMES = [attack.name for attack in ATTACKS]
USERS = hosts.users()


@functools.cache
def card(uid: int, taken: str) -> dict[str, tuple[str, str]]:
    """How every attack went for that user, with this taken away."""
    script = f"from tests.enforce.cards import print_card; print_card({taken!r})"
    told = json.loads(hosts.run_as(uid, script))
    return {name: (verdict, said) for name, (verdict, said) in told.items()}


@pytest.mark.parametrize("uid", USERS)
@pytest.mark.parametrize("name", NAMES)
def test_stopped_in_a_box(uid: int, name: str) -> None:
    """No attack reaches its goal."""
    verdict, said = card(uid, "none")[name]
    assert verdict != Verdict.OPEN, said
    assert said


@pytest.mark.parametrize("uid", USERS)
@pytest.mark.parametrize("name", NAMES)
def test_reached_without_a_box(uid: int, name: str) -> None:
    """The same program, as an ordinary process: the attack is a real one."""
    verdict, said = card(uid, "box")[name]
    if name not in ALIVE and verdict != Verdict.OPEN:
        pytest.skip(f"this host stops it for everybody: {said}")
    assert verdict == Verdict.OPEN, said


@pytest.mark.parametrize("uid", USERS)
@pytest.mark.parametrize(
    ("taken", "name"),
    [(taken, name) for taken, each in WEAKENINGS.items() for name in sorted(each.opens)],
)
def test_reached_when_its_control_is_taken_away(uid: int, taken: str, name: str) -> None:
    """In a box that is whole but for that: it is this control, and no other, that stops it."""
    if card(uid, "box")[name][0] != Verdict.OPEN:
        pytest.skip(f"this host stops it for everybody: {card(uid, 'box')[name][1]}")
    verdict, said = card(uid, taken)[name]
    assert verdict == Verdict.OPEN, said


@pytest.mark.parametrize(
    ("taken", "name"),
    [(taken, name) for taken, each in WEAKENINGS.items() for name in sorted(each.opens_to_root)],
)
def test_reached_by_root_when_its_control_is_taken_away(taken: str, name: str) -> None:
    """What only root can reach at all."""
    if USERS[0] != 0:
        pytest.skip("an ordinary user cannot reach it anyhow")
    verdict, said = card(0, taken)[name]
    assert verdict == Verdict.OPEN, said


@pytest.mark.parametrize("uid", USERS)
@pytest.mark.parametrize("taken", WEAKENINGS)
def test_what_else_is_held_stays_held(uid: int, taken: str) -> None:
    """Taking one control away opens nothing that another one holds."""
    others = {
        name
        for other, each in WEAKENINGS.items()
        if other not in (taken, "filter and landlock")
        for name in each.opens
    }
    mine = WEAKENINGS[taken].opens
    if taken == "filter and landlock":
        others -= WEAKENINGS["filter"].opens
    if taken == "files":
        others -= WEAKENINGS["programs"].opens  # Landlock holds those, too
    opened = {name for name, (verdict, _) in card(uid, taken).items() if verdict == Verdict.OPEN}
    assert not (others - mine) & opened


def test_the_page_has_every_attack_and_none_is_open() -> None:
    """The published card names them all in their own words, each stopped for both kinds of user."""
    rows = table_with_head(DOCS / "explanation" / "score-card.md", "attack", "tries to")
    assert [row[:3] for row in rows] == [
        [f"`{attack.name}`", attack.what, f"`{attack.control}`"] for attack in ATTACKS
    ]
    assert all(cell.startswith("blocked (") for row in rows for cell in row[5:])


def test_the_page_has_the_other_ways_too() -> None:
    """Every attack again; the one that is open is the one that is not promised."""
    rows = table_with_head(DOCS / "explanation" / "score-card.md", "in other ways")
    assert [row[0] for row in rows] == [f"`{attack.name}`" for attack in ATTACKS]
    opened = {row[0]: row[1:] for row in rows if any("open" in cell for cell in row[1:])}
    assert [*opened] == ["`much-written`"]
    assert all(cell.startswith("blocked (") for cell in opened["`much-written`"][:2])


def test_every_attack_is_on_a_control() -> None:
    """By the control's own name, and each attack once."""
    assert {attack.control for attack in ATTACKS} <= {control.value for control in Control}
    assert len(set(NAMES)) == len(NAMES)


def test_a_card_is_read_as_far_as_it_was_written() -> None:
    """A box that was ended for a limit answers the attack on that limit by ending."""
    lines = [{"name": each.name, "reached": True, "said": "x"} for each in WORKS]
    lines += [{"name": name, "reached": False, "said": "EPERM"} for name in NAMES[:-2]]
    printed = "\n".join(map(json.dumps, lines)).encode()
    read = ScoreCard.of(printed, "memory_bytes")
    assert [row.verdict for row in read.rows[-2:]] == [Verdict.UNTRIED, Verdict.BLOCKED]
    assert read.broken == ()
    assert [row.verdict for row in ScoreCard.of(printed).rows[-2:]] == [Verdict.UNTRIED] * 2


@pytest.mark.parametrize("printed", [b"", b"no card", b'{"name": "x"}\n'])
def test_what_is_no_card_is_refused(printed: bytes) -> None:
    """An empty or foreign answer is never read as a kept promise."""
    with pytest.raises(ValueError, match=r"."):
        ScoreCard.of(printed)
