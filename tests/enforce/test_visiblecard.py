"""The score-card in a box that shows the host's tree."""

import functools
import json

import pytest

from consentry.enforce.attackcard import ATTACKS
from consentry.enforce.scorecard import Verdict
from tests.enforce import hosts
from tests.enforce.shownfolders import made_folder, shown_folder

pytestmark = pytest.mark.skipif(
    shown_folder() is None, reason="this user can write no folder it shows"
)
# What the attacks find in a tree that is shown, and Landlock alone refuses.
HELD_BY_LANDLOCK = {"hidden-file"}


@functools.cache
def card(uid: int, *, with_landlock: bool) -> dict[str, tuple[str, str]]:
    """How every attack went for that user."""
    with made_folder(uid) as folder:
        script = (
            "from tests.enforce.cards import print_visible_card\n"
            f"print_visible_card({str(folder)!r}, with_landlock={with_landlock})"
        )
        told = json.loads(hosts.run_as(uid, script))
    return {name: (verdict, said) for name, (verdict, said) in told.items()}


@pytest.mark.parametrize("uid", hosts.users())
@pytest.mark.parametrize("name", [attack.name for attack in ATTACKS])
def test_stopped_in_a_box_that_shows_the_tree(uid: int, name: str) -> None:
    """No attack reaches its goal there either, though the files it is aimed at are in sight."""
    verdict, said = card(uid, with_landlock=True)[name]
    assert verdict != Verdict.OPEN, said
    assert said


@pytest.mark.parametrize("uid", hosts.users())
def test_without_landlock_files_in_sight_are_read(uid: int) -> None:
    """And nothing else than what only Landlock holds: writing, sockets and secrets stay closed."""
    found = card(uid, with_landlock=False)
    opened = {name for name, (verdict, _) in found.items() if verdict == Verdict.OPEN}
    assert opened >= HELD_BY_LANDLOCK
    assert not opened & {"outside-file", "host-socket", "shadow", "denied-inside", "secret"}
