"""The questions the secret filter asks: does this name announce a secret, and is this value one?

The answers are guesses, and they err in a chosen direction: what could be a place, a program or a
command is shown, because a mask over it would hide what a person is asked to allow.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from consentry.base import secretwords as words

_WORD_OF_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_URL = r"[A-Za-z][A-Za-z0-9+.-]{0,31}(?:://|%3[Aa]%2[Ff]%2[Ff])"
_NEAR_PATH = r"@?(?:\.{1,2}|~[\w.-]*)/"
_PLACE = re.compile(
    rf"{_URL}|{_NEAR_PATH}|@?/"
    r"|\$(?:$|[({]|[A-Z_][A-Z0-9_]*$)|(?:file|env|fd):|(?:id|type|src)=|stdin$|-$"  # a reference
)
_KNOWN_PLACE = re.compile(
    rf"{_URL}|{_NEAR_PATH}|@?/(?:{'|'.join(words.ROOT_FOLDERS)})(?:/|$)",
)
_HOST = re.compile(
    r"(?:(?:[A-Za-z0-9_-]{1,63}+\.){1,12}[A-Za-z]{2,24}|[0-9]{1,3}(?:\.[0-9]{1,3}){3}|localhost)\.?"
    r"(?::[0-9]{1,5})?(?:/.*)?",
    re.DOTALL,
)
_FILE = re.compile(r"[\w.~-]*(?:/[\w.-]+)+|[\w-]+\.[A-Za-z]{2,5}", re.ASCII)
_COMMAND = re.compile(r"[\n`]|\$\(|://|[\s,;&][A-Za-z_][\w.-]*=")
_SEPARATOR, _SPACE = re.compile(r"[;|&<>]"), re.compile(r"\s")
_FIRST_PART = re.compile(r"[^=\[]{0,256}")
_EXPANDED = re.compile(
    r"\$(?:\{[!#]?|env:)?(?P<shell>[A-Za-z_]\w*+)"
    r"|(?:\(\[|[({,])[ \t]?(?P<other>[A-Za-z_]\w*+(?:\.\w+){0,4})(?=[ \t]?[)}\],.+\[])",
    re.ASCII,
)
_SHORTEST_RANDOM, _LONG = 8, 20


def is_secret_name(name: str, *, in_query: bool = False) -> bool:
    """Whether the value of an option, variable, header or parameter of this name is a secret."""
    parts = _parts(name)
    if not parts or name in words.FOLDER_NAMES or _names_a_command(name, parts):
        return False
    return (
        "".join(parts).endswith(words.SECRET_ENDINGS)
        or parts[-1] in words.SECRET_LAST_WORDS
        or (in_query and parts[-1] in words.SECRET_QUERY_WORDS)
    )


def is_secret_option(name: str) -> bool:
    """Whether the argument behind an option of this name is a secret: a switch takes none."""
    if name.lower() in words.FOLDER_OPTIONS:
        return False
    return is_secret_name(name) and _parts(name)[0] not in words.SWITCH_WORDS


def is_secret_setting(name: str) -> bool:
    """Whether a NAME given as an argument of its own announces a secret: `//host/:_authToken`."""
    last = re.split(r"[/:]", name)[-1]
    return is_secret_name(last) or is_secret_name(last.partition(".")[0])


def is_place(value: str) -> bool:
    """Whether a value is plainly a URL, a path, or a reference to where a secret is kept."""
    return bool(_PLACE.match(value))


def is_place_in_key(word: str) -> bool:
    """Whether a word between the marks of a key is plainly a place: a slash alone says nothing there."""
    return bool(_KNOWN_PLACE.match(word))


def is_host(value: str) -> bool:
    """Whether a value reads like the name or address of a host, with or without port and path."""
    return bool(_HOST.fullmatch(value))


def is_shown(value: str, name: str) -> bool:
    """Whether a value is plainly something else than a secret, whatever its name says."""
    value = value.replace(words.HIDDEN, "x")  # what is masked inside must not change the answer
    if value.startswith("!") or value in words.INTERPRETERS or is_place(value) or is_host(value):
        return True
    return "".join(_parts(name)).endswith(words.OFTEN_FILES) and bool(_FILE.fullmatch(value))


def looks_like_code(value: str) -> bool:
    """Whether a shell could read more than one word in a value, or a program more than one setting."""
    if words.HIDDEN in value or _COMMAND.search(value):
        return True
    return bool(_SEPARATOR.search(value) and _SPACE.search(value))


def looks_random(value: str) -> bool:
    """Whether no program or file is likely to be called so, judged by what stands before any `=`."""
    part = _FIRST_PART.match(value)
    start = part[0] if part else ""
    has_digit = any(char.isdigit() for char in start)
    is_long = len(start) >= _LONG or (len(start) >= _SHORTEST_RANDOM and start.lower() != start)
    return has_digit and is_long


def expanded_names(code: str) -> frozenset[str]:
    """The names, in lower case, whose values `code` uses: `$NAME`, `${NAME}`, `run(name)`."""
    names: set[str] = set()
    for use in _EXPANDED.finditer(code):
        name = (use["shell"] or use["other"]).lower()
        names.add(name)
        while "." in name:  # at most four times
            name = name.rpartition(".")[0]
            names.add(name)
    return frozenset(names)


class ValueAt(NamedTuple):
    """Where in an argument the value of its option starts; at its end: in the next argument."""

    start: int
    option: words.SecretOption


def secret_value_of(commands: Iterable[str], argument: str) -> ValueAt | None:
    """Whether `argument` is, for one of the `commands`, an option that takes a secret."""
    for command in commands:
        switches = words.SWITCHES.get(command, "")
        skipped = 0
        if argument[:1] == "-":
            while argument[skipped + 1 : skipped + 2] and argument[skipped + 1] in switches:
                skipped += 1
        short = "-" + argument[skipped + 1 :] if skipped else argument
        for name, option in words.OPTIONS.get(command, {}).items():
            if short == name and option.next:
                return ValueAt(len(argument), option)
            if name.startswith("--"):
                name += "="  # noqa: PLW2901 a long option is joined to its value by this alone
            elif not option.joined:
                continue
            if short.startswith(name) and len(short) > len(name):
                return ValueAt(skipped + len(name), option)
    return None


def _names_a_command(name: str, parts: tuple[str, ...]) -> bool:
    is_section = name.lower().startswith(words.COMMAND_SECTIONS)
    return is_section or "".join(parts).endswith(words.COMMAND_ENDINGS)


@lru_cache(maxsize=256)
def _parts(name: str) -> tuple[str, ...]:
    parts = [part.lower() for part in _WORD_OF_NAME.findall(name)]
    while parts and (parts[-1].isdigit() or parts[-1] in words.QUALIFIERS):
        parts.pop()
    return tuple(parts)
