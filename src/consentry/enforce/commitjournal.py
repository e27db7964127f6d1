"""What a commit has set out to do, in a form that a crash cannot lose: the journal and its spelling."""

import json
from enum import StrEnum
from typing import Any, Final

from consentry.base.values import dataclass, replace
from consentry.enforce.commitplan import Action, Seal

VERSION: Final = 1


class Direction(StrEnum):
    """Where an unfinished commit is going."""

    FORWARD = "forward"
    BACK = "back"


@dataclass(frozen=True, slots=True)
class Site:
    """A root of the host, and where its new files are staged: in its own tree, or in the state."""

    host: bytes
    inode: int
    staging: bytes
    is_in_root: bool


@dataclass(frozen=True, slots=True)
class Move:
    """A step that renames: what comes to the path, and what goes from it."""

    site: int
    number: int
    action: Action
    path: bytes
    new: Seal | None
    old: Seal | None


@dataclass(frozen=True, slots=True)
class ModeChange:
    """Modes of one file or folder: while the commit goes on, after it, and after it was undone.

    `is_wanted` marks those that the run itself asked for.
    """

    site: int
    path: bytes
    inode: int
    during: int | None
    after: int | None
    undone: int | None
    is_wanted: bool


@dataclass(frozen=True, slots=True)
class Journal:
    """Everything that is needed to finish a commit, or to undo it.

    `is_undo` marks one that was finished long ago and is being undone on request: then it is undone
    as a whole, or stays. `old_bytes` is the size of what it replaced.
    """

    run: str
    direction: Direction
    sites: tuple[Site, ...]
    moves: tuple[Move, ...]
    modes: tuple[ModeChange, ...]
    is_undo: bool = False
    old_bytes: int = 0

    def turned_back(self) -> "Journal":
        """The same, to be undone."""
        return replace(self, direction=Direction.BACK)

    def turned_forward(self) -> "Journal":
        """The same, to be finished."""
        return replace(self, direction=Direction.FORWARD)

    def to_be_undone(self) -> "Journal":
        """The same, finished long ago, to be undone on request."""
        return replace(self, direction=Direction.BACK, is_undo=True)

    def to_bytes(self) -> bytes:
        """As it is kept."""
        return _dump(
            {
                "version": VERSION,
                "run": self.run,
                "direction": self.direction.value,
                "undo": self.is_undo,
                "oldBytes": self.old_bytes,
                "sites": [_site_out(site) for site in self.sites],
                "moves": [
                    [
                        move.site,
                        move.number,
                        move.action.value,
                        _out(move.path),
                        *_seal_out(move.new),
                        *_seal_out(move.old),
                    ]
                    for move in self.moves
                ],
                "modes": [
                    [
                        each.site,
                        _out(each.path),
                        each.inode,
                        each.during,
                        each.after,
                        each.undone,
                        each.is_wanted,
                    ]
                    for each in self.modes
                ],
            }
        )

    @classmethod
    def from_bytes(cls, content: bytes) -> "Journal":
        """Reads it back; raises `ValueError` for what is none."""
        try:
            kept: dict[str, Any] = json.loads(content)
            if kept["version"] != VERSION:
                raise ValueError(f"version {kept['version']}")
            return cls(
                run=kept["run"],
                direction=Direction(kept["direction"]),
                sites=tuple(_site_in(site) for site in kept["sites"]),
                moves=tuple(
                    Move(site, number, Action(action), _in(path), _seal_in(*new), _seal_in(*old))
                    for site, number, action, path, *seals in kept["moves"]
                    for new, old in [(seals[:2], seals[2:])]
                ),
                modes=tuple(
                    ModeChange(site, _in(path), *rest) for site, path, *rest in kept["modes"]
                ),
                is_undo=kept["undo"],
                old_bytes=kept["oldBytes"],
            )
        except (KeyError, TypeError, AttributeError) as problem:
            raise ValueError(str(problem)) from problem


def intent_to_bytes(sites: tuple[Site, ...]) -> bytes:
    """Where staging folders are about to be made."""
    return _dump({"version": VERSION, "sites": [_site_out(site) for site in sites]})


def intent_from_bytes(content: bytes) -> tuple[Site, ...]:
    """Reads it back; raises `ValueError` for what is none."""
    try:
        return tuple(_site_in(site) for site in json.loads(content)["sites"])
    except (KeyError, TypeError, AttributeError) as problem:
        raise ValueError(str(problem)) from problem


# Names are bytes; json spells the half characters that stand for odd ones, and reads them back.
def _dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


def _out(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _in(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _site_out(site: Site) -> list[object]:
    return [_out(site.host), site.inode, _out(site.staging), site.is_in_root]


def _site_in(kept: list[Any]) -> Site:
    host, inode, staging, is_in_root = kept
    return Site(_in(host), inode, _in(staging), is_in_root)


def _seal_out(seal: Seal | None) -> tuple[int | None, str | None]:
    return (None, None) if seal is None else (seal.inode, seal.text)


def _seal_in(inode: int | None, text: str | None) -> Seal | None:
    return None if inode is None or text is None else Seal(inode, text)
