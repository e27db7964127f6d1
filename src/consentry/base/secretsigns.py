"""The questions the secret filter asks: does this name announce a secret, and is this value one?

The answers are guesses, and they err in a chosen direction: what could be a place, a program or a
command is shown, because a mask over it would hide what a person is asked to allow.
"""

import re

from consentry.base import secretwords as words

_WORD_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PLACE = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{0,31}(?:://|%3[Aa]%2[Ff]%2[Ff])"  # a URL
    rf"|@?(?:\.{{1,2}}|~[\w.-]*)/|@?/(?:{'|'.join(words.ROOT_FOLDERS)})(?:/|$)"  # a path
    r"|\$(?:$|[({]|[A-Z_][A-Z0-9_]*$)|(?:file|env|fd):|(?:id|type|src)=|stdin$|-$"  # a reference
)
_FILE = re.compile(r"[\w.~-]*(?:/[\w.-]+)+|[\w-]+\.[A-Za-z]{2,5}", re.ASCII)
_COMMAND = re.compile(r"[\n`]|\$\(|://|[\s,;&][A-Za-z_][\w.-]*=")
_SEPARATOR, _SPACE = re.compile(r"[;|&<>]"), re.compile(r"\s")
_FIRST_PART = re.compile(r"[^=\[]{0,256}")
_SHORTEST_RANDOM, _LONG = 8, 20


def is_secret_name(name: str, *, in_query: bool = False) -> bool:
    """Whether the value of an option, variable, header or parameter of this name is a secret."""
    parts = _parts(name)
    if not parts or name in words.FOLDER_NAMES:
        return False
    return (
        "".join(parts).endswith(words.SECRET_ENDINGS)
        or parts[-1] in words.SECRET_LAST_WORDS
        or (in_query and parts[-1] in words.SECRET_QUERY_WORDS)
    )


def is_secret_option(name: str) -> bool:
    """Whether the argument behind an option of this name is a secret: a switch takes none."""
    return is_secret_name(name) and _parts(name)[0] not in words.SWITCH_WORDS


def is_place(value: str) -> bool:
    """Whether a value is plainly a URL, a path, or a reference to where a secret is kept."""
    return bool(_PLACE.match(value))


def is_shown(value: str, name: str) -> bool:
    """Whether a value is plainly something else than a secret, whatever its name says."""
    value = value.replace(words.HIDDEN, "x")  # what is masked inside must not change the answer
    if is_place(value) or value in words.INTERPRETERS:
        return True
    return "".join(_parts(name)).endswith(words.OFTEN_FILES) and bool(_FILE.fullmatch(value))


def looks_like_code(value: str) -> bool:
    """Whether a shell could read more than one word in a value, or a program more than one setting."""
    if value.startswith(words.HIDDEN) or _COMMAND.search(value):
        return True
    return bool(_SEPARATOR.search(value) and _SPACE.search(value))


def looks_random(value: str) -> bool:
    """Whether no program or file is likely to be called so, judged by what stands before any `=`."""
    part = _FIRST_PART.match(value)
    start = part[0] if part else ""
    has_digit = any(char.isdigit() for char in start)
    is_long = len(start) >= _LONG or (len(start) >= _SHORTEST_RANDOM and start.lower() != start)
    return has_digit and is_long


def _parts(name: str) -> list[str]:
    parts = [part.lower() for part in _WORD_OF_NAME.findall(name)]
    while parts and (parts[-1].isdigit() or parts[-1] in words.QUALIFIERS):
        parts.pop()
    return parts
