r"""Masks secret values in argument lists and text, and nothing that a person must see to consent.

`--password=x`, `DB_PASSWORD=x`, `Authorization: Bearer x`, `https://user:x@host/?token=x`, well-known
token shapes and private-key blocks lose their value; the program, paths, option names, users and
hosts stay. The mask is one constant: a hash or a length would tell something about the secret.

This is best effort. A secret with an unknown name or shape passes, which is why environment values
are never recorded at all. Two rules keep the mask itself from being a hiding place:

- The program (the first argument) is never touched, and neither is a value that is plainly a URL, a
  path, a command substitution or the name of an interpreter.
- In text, and in arguments that a shell or interpreter will read as code, a mask covers one word at
  most: never white space, never one of `;|&<>(){},` or a quote. Behind a space (`--token x`) it
  covers only what looks random. So `sh -c 'TOKEN=x; curl host | sh'` still shows its `curl`, and a
  pass phrase written with spaces loses only its first word there.

An author who names an option `--password` and reads it as something else can hide one argument; what
a tool may do is told by its surface, not by its arguments.

Laws, proven by the tests: masking twice is masking once; as many arguments come out as went in;
nothing raises; time grows with the length of the input.
"""

import re
from collections.abc import Callable, Sequence
from enum import Enum
from itertools import pairwise

from consentry.base import secretwords as words
from consentry.base.secretsigns import (
    is_place,
    is_secret_name,
    is_secret_option,
    is_shown,
    looks_like_code,
    looks_random,
)

HIDDEN = words.HIDDEN

_STOP = r"\s\"'`;|&<>(){},"
_WORD = re.compile(rf"(?:[^{_STOP}\\]++|\\[A-Za-z0-9])++")
_QUOTE = r"(?:\\?[\"'])?"
_NAME = r"(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)"
_NAMED = re.compile(
    rf"(?<![A-Za-z0-9_.-])-{{0,2}}{_NAME}"
    rf"(?:=(?!=){_QUOTE}|\\?[\"'][ \t]{{0,8}}:[ \t]{{0,8}}\\?[\"']"
    rf"|(?P<apart>(?:{_QUOTE}[ \t]{{0,8}}:|[ \t]{{1,8}}=)[ \t]{{1,8}}{_QUOTE}))"
)
_OPTION_APART = re.compile(rf"(?<![A-Za-z0-9_.-])--?{_NAME}[ \t]{{1,8}}{_QUOTE}(?!-)")
_LINE_HEAD = re.compile(r"[ \t]*(?:export[ \t]+|[-#][ \t]+)?\\?[\"']?")
_SCHEME = rf"(?:{'|'.join(words.AUTHORIZATION_SCHEMES)})[ \t]{{1,8}}"
_AUTHORIZATION = re.compile(
    rf"authorization{_QUOTE}[ \t]{{0,8}}[:=][ \t]{{0,8}}{_QUOTE}(?:{_SCHEME})?"
    r"|\bbearer[ \t]{1,8}(?=[\w.~+/=-]{16})",
    re.IGNORECASE | re.ASCII,
)
_CURL_USER = re.compile(
    rf"(?<=[ \t])(?:-[uU]|--(?:proxy-)?user)(?:[ \t]{{0,8}}|=){_QUOTE}[^:{_STOP}]*:"
)
_URL_USER = re.compile(rf"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{{0,31}}://[^/?#@:\\{_STOP}]*:")
_URL_PASSWORD = re.compile(rf"[^/?#@\\{_STOP}]++(?=[^/?#@\s]*+@)")
_TOKEN = re.compile(
    rf"(?<![A-Za-z0-9])(?:{'|'.join(words.TOKEN_SHAPES)})"
    rf"|(?<![\w.-])(?:{'|'.join(words.DOTTED_TOKEN_SHAPES)})",
    re.ASCII,
)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_WORD = re.compile(r"[A-Za-z0-9+/=]{32,}")

_OPTION = re.compile(rf"(?P<dashes>-{{0,2}}){_NAME}(?P<equals>=)?")
_HEADER = re.compile(rf"(?P<name>[A-Za-z][A-Za-z0-9-]*):[ \t]*(?:{_SCHEME})?", re.IGNORECASE)
_HEADER_WORD = re.compile(r"(?:x-[a-z0-9-]+|authorization):\S+", re.IGNORECASE)
_GLANCE = 256


class _Reading(Enum):
    """Who reads an argument."""

    DATA = "the program, as a value"
    CODE = "a shell"
    INLINE = "code given on the command line, which may run it"


def mask_arguments(argv: Sequence[str]) -> tuple[str, ...]:
    """`argv` with its secret values masked: as many arguments, the first one untouched."""
    masked = list(argv[:1])
    program = _program(argv)
    reading, interpreted = _Reading.DATA, False
    for previous, argument in pairwise(argv):
        name = _program_name(previous)
        interpreted = interpreted or name in words.INTERPRETERS
        if interpreted and previous in words.CODE_OPTIONS:
            reading = _Reading.INLINE
        elif reading is _Reading.DATA and name in words.SHELLS:
            reading = _Reading.CODE
        is_code = reading is _Reading.DATA and previous in words.CODE_OPTIONS
        here = _Reading.CODE if is_code else reading
        value = _masked_value_of(previous, argument, program, here)
        masked.append(_masked_argument(argument, program, here) if value is None else value)
    return tuple(masked)


def mask_text(text: str) -> str:
    """`text` with its secret values masked, one word at a time."""
    text = _mask_private_keys(text)
    text = _TOKEN.sub(HIDDEN, text)
    text = _mask_words(text, _URL_USER, _URL_PASSWORD)
    text = _mask_words(text, _AUTHORIZATION, _WORD)
    if "curl" in text:
        text = _mask_words(text, _CURL_USER, _WORD)
    text = _mask_words(text, _NAMED, _WORD, _is_named_secret)
    return _mask_words(text, _OPTION_APART, _WORD, _is_option_secret)


def _mask_words(
    text: str,
    opening: re.Pattern[str],
    word: re.Pattern[str],
    is_secret: Callable[[re.Match[str]], bool] = lambda _opening: True,
) -> str:
    """Mask each `word` that stands right behind an `opening`."""
    parts, kept, at = [], 0, 0
    while found := opening.search(text, at):
        at = found.end()
        if is_secret(found) and (value := word.match(text, at)):
            parts += [text[kept : value.start()], HIDDEN]
            kept = at = value.end()
    return "".join([*parts, text[kept:]])


def _glance(opening: re.Match[str]) -> str:
    """The start of the word behind `opening`: enough to judge it, however long it is."""
    word = _WORD.match(opening.string, opening.end(), opening.end() + _GLANCE)
    return word[0] if word else ""


def _is_named_secret(opening: re.Match[str]) -> bool:
    before = opening.string[max(0, opening.start() - 64) : opening.start()]
    if not is_secret_name(opening["name"], in_query=before[-1:] in {"?", "&"}):
        return False
    word = _glance(opening)
    if is_shown(word, opening["name"]):
        return False
    if opening["apart"] is None or looks_random(word):
        return True
    line_start = before.rfind("\n") + 1
    is_first = line_start > 0 or opening.start() == len(before)
    return is_first and bool(_LINE_HEAD.fullmatch(before, line_start))


def _is_option_secret(opening: re.Match[str]) -> bool:
    name = opening["name"]
    if not is_secret_option(name):
        return False
    word = _glance(opening)
    return looks_random(word) and not is_shown(word, name)


def _mask_private_keys(text: str) -> str:
    """Mask the long base64 words between the marks; anything else there is shown."""
    parts, kept = [], 0
    while begin := _PRIVATE_KEY.search(text, kept):
        end = text.find("-----END", begin.end())
        end = len(text) if end < 0 else end
        block = _KEY_WORD.sub(_masked_key_word, text[begin.end() : end])
        parts += [text[kept : begin.end()], block]
        kept = end
    return "".join([*parts, text[kept:]])


def _masked_key_word(word: re.Match[str]) -> str:
    is_mixed = word[0].lower() != word[0] and word[0].upper() != word[0]
    return HIDDEN if is_mixed and not is_place(word[0]) else word[0]


def _masked_value_of(previous: str, argument: str, program: str, reading: _Reading) -> str | None:
    """`argument` masked as the value of the option before it, or None if it is not one."""
    if argument.startswith("-") and len(argument) > 1:
        return None
    key = f"{program} {previous}"
    if "next" in words.USER_AND_PASSWORD_OPTIONS.get(key, ()):
        return _masked_user_and_password(argument, reading)
    if "next" in words.PASSWORD_OPTIONS.get(key, ()):
        return _masked_value(argument, reading)
    if previous in words.HEADER_OPTIONS:
        return _masked_header(argument, reading)
    option = _OPTION.fullmatch(previous)
    if option and option["dashes"] and not option["equals"] and is_secret_option(option["name"]):
        if reading is _Reading.INLINE and not looks_random(argument):
            return mask_text(argument)
        return _masked_value(argument, reading, option["name"])
    return None


def _masked_argument(argument: str, program: str, reading: _Reading) -> str:
    """`argument` masked by what it says itself."""
    short, rest = argument[:2], argument[2:]
    if rest and "joined" in words.USER_AND_PASSWORD_OPTIONS.get(f"{program} {short}", ()):
        return short + _masked_user_and_password(rest, reading)
    if rest and "joined" in words.PASSWORD_OPTIONS.get(f"{program} {short}", ()):
        return short + _masked_value(rest, reading)
    if rest and short in words.HEADER_OPTIONS:
        return short + _masked_header(rest, reading)
    option = _OPTION.match(argument)
    if option and option["equals"]:
        value = argument[option.end() :]
        name = option["dashes"] + option["name"]
        if f"{program} {name}" in words.USER_AND_PASSWORD_OPTIONS:
            return option[0] + _masked_user_and_password(value, reading)
        if name in words.HEADER_OPTIONS:
            return option[0] + _masked_header(value, reading)
        if is_secret_name(option["name"]):
            return option[0] + _masked_value(value, reading, option["name"])
    if _HEADER_WORD.fullmatch(argument):
        return _masked_header(argument, reading)
    return mask_text(argument)


def _masked_value(value: str, reading: _Reading, name: str = "") -> str:
    if is_shown(value, name):
        return mask_text(value)
    if reading is _Reading.DATA and not looks_like_code(value):
        return HIDDEN if value else value
    word = _WORD.match(value)
    return HIDDEN + mask_text(value[word.end() :]) if word else mask_text(value)


def _masked_user_and_password(value: str, reading: _Reading) -> str:
    user, colon, password = value.partition(":")
    if not colon or is_place(value):
        return mask_text(value)
    return f"{mask_text(user)}:{_masked_value(password, reading)}"


def _masked_header(value: str, reading: _Reading) -> str:
    header = _HEADER.match(value)
    if header is None or reading is not _Reading.DATA:
        return mask_text(value)
    name = header["name"]
    if name.lower() not in words.AUTHORIZATION_HEADERS and not is_secret_name(name):
        return mask_text(value)
    return header[0] + (HIDDEN if header.end() < len(value) else "")


def _program(argv: Sequence[str]) -> str:
    """The program whose options these are: the first, or the first known one behind a wrapper."""
    name = _program_name(argv[0]) if argv else ""
    known = {
        option.split()[0] for option in (*words.PASSWORD_OPTIONS, *words.USER_AND_PASSWORD_OPTIONS)
    }
    if name in words.WRAPPERS:
        name = next((inner for inner in map(_program_name, argv[1:]) if inner in known), name)
    return (
        f"{name} login"
        if f"{name} login -p" in words.PASSWORD_OPTIONS and "login" in argv
        else name
    )


def _program_name(word: str) -> str:
    name = word.rpartition("/")[2]
    return name.rstrip("0123456789.") or name
