"""An independent matcher, as plain as the rules read, to hold the decision procedure against.

It shares nothing with `consentry.surface`: it works on spellings and on lists of names.
"""

from functools import cache
from itertools import product


def all_paths(alphabet: str, longest: int) -> list[tuple[str, ...]]:
    """Every path over the alphabet (with `/`) up to a length, as names; the root is ()."""
    paths: set[tuple[str, ...]] = {()}
    for length in range(1, longest + 1):
        for letters in product(alphabet + "/", repeat=length):
            names = tuple("".join(letters).split("/"))
            if all(name and name not in (".", "..") for name in names):
                paths.add(names)
    return sorted(paths)


def path_matches(pattern: str, names: tuple[str, ...]) -> bool:
    """Whether a relative pattern, in any spelling, matches the path."""
    tree = pattern.endswith("/")
    segments = tuple(s for s in pattern.split("/") if s not in ("", "."))
    return _segments_match(segments + (("**",) if tree else ()), names)


@cache
def _segments_match(segments: tuple[str, ...], names: tuple[str, ...]) -> bool:
    if not segments:
        return not names
    if segments[0] == "**":
        return _segments_match(segments[1:], names) or (
            bool(names) and _segments_match(segments, names[1:])
        )
    return (
        bool(names)
        and name_matches(segments[0], names[0])
        and _segments_match(segments[1:], names[1:])
    )


@cache
def name_matches(pattern: str, name: str) -> bool:
    """Whether one name matches: `*` any run, `?` one character."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return name_matches(pattern[1:], name) or (bool(name) and name_matches(pattern, name[1:]))
    return bool(name) and pattern[0] in ("?", name[0]) and name_matches(pattern[1:], name[1:])
