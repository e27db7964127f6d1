"""Where the links of a plugin lead, told from their texts alone.

Nothing is asked of the file system: the links were read once, and what they lead to is worked out among
the names that were read with them. A link must lead to a file or folder of the same plugin. A link to a
folder from which one comes back to the link is a cycle, also where every link on the way leads somewhere:
whoever follows links would never be done with it.
"""

from collections.abc import Collection, Mapping
from typing import Final

from consentry.examine.pluginproblems import Rejection, VerificationError

_MOST_STEPS: Final = 40
"""Links that lead to links, as many as the kernel follows."""
MOST_NAMES: Final = 2_000_000
"""In the texts of all links that are followed, each time that one is: a few links can make long ways."""


def check_links(
    plugin: str, folders: Collection[str], links: Mapping[str, str], files: Collection[str]
) -> None:
    """Raises `VerificationError` for the first link, by name, that does not lead to a place inside.

    Args:
        plugin: Its name, for the error.
        folders: The folders by their paths; the plugin's own is the empty one.
        links: The text of each link by the link's path.
        files: The plain files.
    """
    resolve = _Resolve(plugin, folders, links, files)
    leads_to = {path: resolve.target(path) for path in sorted(links)}
    ways: dict[str, list[str]] = {}
    for path, target in leads_to.items():
        if target in folders:
            ways.setdefault(_above(path), []).append(target)
    if ways:
        _check_circles(plugin, folders, ways)


class _Resolve:
    """Follows texts of links from name to name."""

    def __init__(
        self,
        plugin: str,
        folders: Collection[str],
        links: Mapping[str, str],
        files: Collection[str],
    ) -> None:
        self._plugin = plugin
        self._folders = folders
        self._links = links
        self._files = files
        self._names = 0

    def target(self, link: str) -> str:
        """The path of the file or folder that a link leads to in the end."""
        place, ahead = _above(link), list(reversed(self._parts(link, link)))
        steps = 1
        while ahead:
            part = ahead.pop()
            if part == ".":
                continue
            if part == "..":
                if not place:
                    raise self._refused(Rejection.LINK_LEAVES, link, "leaves the plugin")
                place = _above(place)
                continue
            path = f"{place}/{part}" if place else part
            if path in self._links:
                steps += 1
                if steps > _MOST_STEPS:
                    raise self._refused(Rejection.LINK_CYCLE, link, "leads in a circle")
                ahead += reversed(self._parts(path, link))
            elif path in self._folders or (path in self._files and not ahead):
                place = path
            else:
                raise self._refused(Rejection.LINK_DANGLES, link, "leads to nothing")
        return place

    def _parts(self, path: str, link: str) -> list[str]:
        text = self._links[path]
        if text.startswith("/"):
            raise self._refused(Rejection.LINK_LEAVES, link, "leaves the plugin")
        self._names += text.count("/") + 1
        if self._names > MOST_NAMES:
            raise self._refused(
                Rejection.TOO_LARGE, link, f"and those before it go over {MOST_NAMES:,} names"
            )
        parts = [part for part in text.split("/") if part not in ("", ".")]
        # What ends so asks for a folder: a file before it is not enough.
        return [*parts, "."] if text.endswith(("/", "/.")) else parts

    def _refused(self, reason: Rejection, link: str, what: str) -> VerificationError:
        message = f"the link `{link}` {what}: its text is `{self._links[link]}`"
        return VerificationError(reason, self._plugin, message)


def _check_circles(plugin: str, folders: Collection[str], ways: Mapping[str, list[str]]) -> None:
    """Refuses a way from a folder, down or along links, that comes back to it."""
    inside: dict[str, list[str]] = {}
    for folder in sorted(folders):
        if folder:
            inside.setdefault(_above(folder), []).append(folder)
    done: set[str] = set()
    open_: set[str] = {""}
    way = [("", iter([*inside.get("", ()), *ways.get("", ())]))]
    while way:
        folder, onward = way[-1]
        inner = next(onward, None)
        if inner is None:
            way.pop()
            open_.discard(folder)
            done.add(folder)
        elif inner in open_:
            message = f"links lead from `{folder or '.'}` back to `{inner or '.'}`, in a circle"
            raise VerificationError(Rejection.LINK_CYCLE, plugin, message)
        elif inner not in done:
            open_.add(inner)
            way.append((inner, iter([*inside.get(inner, ()), *ways.get(inner, ())])))


def _above(path: str) -> str:
    return path.rpartition("/")[0]
