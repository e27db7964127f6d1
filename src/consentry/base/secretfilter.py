r"""Masks secret values in argument lists and text, and nothing that a person must see to consent.

`--password=x`, `DB_PASSWORD=x`, `Authorization: Bearer x`, `https://user:x@host/?token=x`, well-known
token shapes and private-key blocks lose their value; the program, paths, option names, users and
hosts stay. The mask is one constant: a hash or a length would tell something about the secret.

This is best effort. A secret with an unknown name or shape passes, which is why environment values
are never recorded at all. These rules keep the mask itself from being a hiding place:

- The program (the first argument) is never touched, and neither is a value that is plainly a URL, an
  absolute or relative path, a host name, a command substitution or the name of an interpreter, one
  that starts with `!`, or one given to a setting that holds a command (`core.askPass`, `alias.x`).
- In text, and in arguments that a shell or interpreter will read as code, a mask covers one word at
  most: never white space, never one of `;|&<>(){},` or a quote. Behind a space (`--token x`) it
  covers only what looks random. So `sh -c 'TOKEN=x; curl host | sh'` still shows its `curl`, and a
  pass phrase written with spaces loses only its first word there.
- There, a word that holds `$`, a backslash escape or `://` is shown, and so is the value of a name
  that the code uses: `TOKEN=x; $TOKEN` hides nothing. An honest secret written so is shown as well.

An author who names an option `--password` and reads it as something else can hide the argument behind
each such option; code that finds a value without writing its name can hide one word. What a tool may
do is told by its surface, not by its arguments.

Laws, proven by the tests: masking twice is masking once; as many arguments come out as went in;
nothing raises; time grows with the length of the input.
"""

import re
from collections.abc import Sequence
from enum import Enum
from itertools import pairwise

from consentry.base import secretwords as words
from consentry.base.secretsigns import (
    expanded_names,
    is_secret_name,
    is_secret_option,
    is_secret_setting,
    is_shown,
    looks_like_code,
    looks_random,
    secret_value_of,
)
from consentry.base.secrettext import SCHEME, mask_code, mask_data, mask_text, split_first_word
from consentry.base.values import dataclass

__all__ = ["HIDDEN", "mask_arguments", "mask_text"]

HIDDEN = words.HIDDEN

_OPTION = re.compile(r"(?P<dashes>-{0,2})(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)(?P<equals>=)?")
_HEADER = re.compile(rf"(?P<name>[A-Za-z][A-Za-z0-9-]*):[ \t]*(?:{SCHEME})?", re.IGNORECASE)
_HEADER_WORD = re.compile(r"(?:x-[a-z0-9-]+|authorization):(?!//)\S+", re.IGNORECASE)
_SLASH_LOGIN = re.compile(
    r"(?P<user>[A-Za-z][\w$#-]*/)(?P<password>[^\s/][^\s]*?)(?P<place>@[^@]*)?"
)


class _Reading(Enum):
    """Who reads an argument."""

    DATA = "the program, as a value"
    CODE = "a shell"
    INLINE = "code given on the command line, which may run it"


def mask_arguments(argv: Sequence[str]) -> tuple[str, ...]:
    """`argv` with its secret values masked: as many arguments, the first one untouched."""
    readings = _readings(argv)
    read = zip(argv[1:], readings, strict=False)
    code = (argument for argument, reading in read if reading is not _Reading.DATA)
    used = expanded_names("\n".join(code))
    masked = list(argv[:1])
    program_index = _program_index(argv)
    commands: tuple[str, ...] = ()
    takes_last = False
    for index, reading in enumerate(readings, start=1):
        previous, argument = argv[index - 1], argv[index]
        if index - 1 == program_index:
            commands = (_program_name(previous),)
        elif commands and f"{commands[0]} {previous}" in words.COMMANDS - set(commands):
            commands = (*commands, f"{commands[0]} {previous}")
        takes_last = takes_last or _announces_last(commands, previous)
        here = _Argument(reading, commands, used)
        if takes_last and index == len(readings) and not argument.startswith("-"):
            masked.append(here.as_password(argument))
        else:
            masked.append(here.masked(previous, argument))
    return tuple(masked)


def _readings(argv: Sequence[str]) -> list[_Reading]:
    """Who reads each argument but the first."""
    readings = []
    reading, interpreted = _Reading.DATA, False
    for previous, _argument in pairwise(argv):
        name = _program_name(previous)
        interpreted = interpreted or name in words.INTERPRETERS
        if interpreted and previous in words.CODE_OPTIONS:
            reading = _Reading.INLINE
        elif reading is _Reading.DATA and name in words.SHELLS:
            reading = _Reading.CODE
        is_code = reading is _Reading.DATA and previous in words.CODE_OPTIONS
        readings.append(_Reading.CODE if is_code else reading)
    return readings


@dataclass(frozen=True, slots=True)
class _Argument:
    """What is known about an argument before it is read."""

    reading: _Reading
    commands: tuple[str, ...]
    """The program and its commands so far, as `secretwords` names them; none before the program."""
    used: frozenset[str]
    """The names that the code among the arguments uses."""

    def masked(self, previous: str, argument: str) -> str:
        """`argument` masked, first as the value of what stands before it, else by what it says."""
        value = self._as_value_of(previous, argument)
        return self._by_itself(argument) if value is None else value

    def as_password(self, value: str, name: str = "") -> str:
        """`value` masked where nothing but a secret is expected, if it does not look like one more."""
        if not value or HIDDEN in value or is_shown(value, name) or name.lower() in self.used:
            return self._text(value)
        if self.reading is _Reading.DATA and not looks_like_code(value):
            return HIDDEN
        first, rest = split_first_word(value, name)
        return first + self._text(rest)

    def _as_value_of(self, previous: str, argument: str) -> str | None:
        if argument.startswith("-") and len(argument) > 1:
            return None
        known = secret_value_of(self.commands, previous)
        if known and known.start == len(previous):
            is_setting = not previous.startswith("-") and _is_assignment(argument)
            return None if is_setting else self._known(argument, known.option.separator)
        if previous in words.HEADER_OPTIONS:
            return self._header(argument)
        if not previous.startswith("-"):
            is_pair = not words.PAIR_COMMANDS.isdisjoint(self.commands)
            is_secret = is_pair and is_secret_setting(previous)
            return self.as_password(argument, previous) if is_secret else None
        option = _OPTION.fullmatch(previous)
        if option and not option["equals"] and is_secret_option(option["name"]):
            if self.reading is _Reading.INLINE and not looks_random(argument):
                return self._text(argument)
            return self.as_password(argument, option["name"])
        return None

    def _by_itself(self, argument: str) -> str:
        known = secret_value_of(self.commands, argument)
        if known and known.start < len(argument):
            value = argument[known.start :]
            return argument[: known.start] + self._known(value, known.option.separator)
        if argument[2:] and argument[:2] in words.HEADER_OPTIONS:
            return argument[:2] + self._header(argument[2:])
        if not words.SLASH_LOGINS.isdisjoint(self.commands) and self.reading is _Reading.DATA:
            login = _SLASH_LOGIN.fullmatch(argument)
            if login:
                return login["user"] + self.as_password(login["password"]) + (login["place"] or "")
        option = _OPTION.match(argument)
        if option and option["equals"]:
            value = argument[option.end() :]
            if option["dashes"] + option["name"] in words.HEADER_OPTIONS:
                return option[0] + self._header(value)
            is_named = is_secret_name(option["name"]) and not _is_folder_option(option)
            if is_named and self._is_one_secret(value, option["name"]):
                return self._text(option[0]) + HIDDEN
        return self._header(argument) if _HEADER_WORD.fullmatch(argument) else self._text(argument)

    def _is_one_secret(self, value: str, name: str) -> bool:
        if self.reading is not _Reading.DATA or not value or name.lower() in self.used:
            return False
        return not is_shown(value, name) and not looks_like_code(value)

    def _known(self, value: str, separator: str) -> str:
        if not separator:
            return self.as_password(value)
        user, found, password = value.partition(separator)
        if not found or "://" in value:
            return self._text(value)
        return self._text(user) + separator + self.as_password(password)

    def _header(self, value: str) -> str:
        header = _HEADER.match(value)
        if header is None or self.reading is not _Reading.DATA:
            return self._text(value)
        name = header["name"]
        if name.lower() not in words.AUTHORIZATION_HEADERS and not is_secret_name(name):
            return self._text(value)
        return header[0] + (HIDDEN if header.end() < len(value) else "")

    def _text(self, text: str) -> str:
        if self.reading is _Reading.DATA:
            return mask_data(text, self.used)
        return mask_code(text, self.used)


def _is_assignment(argument: str) -> bool:
    option = _OPTION.match(argument)
    return bool(option and option["equals"])


def _is_folder_option(option: re.Match[str]) -> bool:
    return bool(option["dashes"]) and option["name"].lower() in words.FOLDER_OPTIONS


def _announces_last(commands: tuple[str, ...], argument: str) -> bool:
    """Whether a switch of the program makes its last argument a password."""
    switch = words.LAST_ARGUMENT_SWITCHES.get(commands[0]) if commands else None
    return switch is not None and argument[:1] == "-" and switch in argument


def _program_index(argv: Sequence[str]) -> int:
    """Where the program stands whose options these are: first, or a known one behind a wrapper."""
    name = _program_name(argv[0]) if argv else ""
    if name not in words.WRAPPERS and name not in words.SHELLS:
        return 0
    inner = (at for at, word in enumerate(argv) if at and _program_name(word) in words.PROGRAMS)
    return next(inner, 0)


def _program_name(word: str) -> str:
    name = word.rpartition("/")[2]
    return name.rstrip("0123456789.") or name
