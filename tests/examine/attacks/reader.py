"""Reads attacks: changes that give code a power, written so that a guard may overlook it.

    == what is tried
    -- before app.py
    import os
    -- after app.py
    import os
    def run(m=None): m.system("id")
    run(os)

`before` and `after` are the touched files on both sides, `around` are files of the tree that nobody
touched; a file that is a link says so behind its name (`-- after x.py link`). Samples are judged and
never run.
"""

import re
from pathlib import Path

from consentry.base.values import dataclass, field
from consentry.declare.patchbundle import Blob
from consentry.examine.images import ImageChange
from consentry.examine.verdict import Verdict
from consentry.service.extracting import Extractor
from consentry.service.guarding import BlobTree, Change, Terms, check_change

FOLDER = Path(__file__).parent
NOT_READ = "unread "
"""How the key begins of what an extractor failed at."""

_TITLE = re.compile(r"== (.+)")
_FILE = re.compile(r"-- (before|after|around) (\S+)( link)?")
_MODES = {None: "100644", " link": "120000"}

Files = dict[str, Blob]


@dataclass(frozen=True, slots=True)
class Attack:
    """A change, and the files around it."""

    name: str
    before: Files = field(default_factory=dict)
    after: Files = field(default_factory=dict)
    around: Files = field(default_factory=dict)


def attacks(theme: str) -> list[Attack]:
    """The attacks of one theme, in the order they stand in."""
    found: list[Attack] = []
    for part in re.split(
        r"^(?=== )", (FOLDER / f"{theme}.txt").read_text("utf-8"), flags=re.MULTILINE
    ):
        title = _TITLE.match(part)
        if title is not None:
            found.append(_attack(title[1], part))
    assert found, theme
    return found


def _attack(name: str, part: str) -> Attack:
    sides: dict[str, Files] = {"before": {}, "after": {}, "around": {}}
    for piece in re.split(r"^(?=-- )", part, flags=re.MULTILINE)[1:]:
        head, _, content = piece.partition("\n")
        told = _FILE.fullmatch(head)
        assert told is not None, f"{name}: {head}"
        text = content.rstrip("\n") + ("" if told[3] else "\n")
        sides[told[1]][told[2]] = Blob(text.encode(), _MODES[told[3]])
    return Attack(name, sides["before"], sides["after"], sides["around"])


def change_of(attack: Attack) -> Change:
    """The attack as the guard is handed it."""
    files = tuple(
        ImageChange(
            path if path in attack.before else None,
            path if path in attack.after else None,
            attack.before.get(path),
            attack.after.get(path),
        )
        for path in sorted(attack.before.keys() | attack.after.keys())
    )
    trees = [BlobTree(attack.around, side) for side in (attack.before, attack.after)]
    return Change(files, *trees)


def judged(attack: Attack, terms: Terms | None = None) -> Verdict:
    """The verdict on it; without terms nothing is allowed."""
    return check_change(change_of(attack), Terms() if terms is None else terms, Extractor())


def failures(verdict: Verdict) -> list[str]:
    """What was not judged at all because an extractor failed, which is no defence."""
    return [
        f"{doubt.file}: {doubt.about.reason}"
        for doubt in verdict.delta.doubts
        if doubt.about.key.startswith(NOT_READ)
    ]
