r"""Masks secret values in text and code, one word at a time. The reading half of `secretfilter`.

`secretfilter` states the rules; this module keeps those for text: a mask covers one word, never white
space, never one of `;|&<>(){},` or a quote. A word is shown, not masked, when a shell or an interpreter
could make more of it than it says: when it holds a `$`, a backslash escape or `://`, or when the same
text uses the name it is given to (`TOKEN=x; $TOKEN`).
"""

import re
from collections.abc import Callable, Collection

from consentry.base import secretwords as words
from consentry.base.secretsigns import (
    ValueAt,
    expanded_names,
    is_host,
    is_place_in_key,
    is_secret_name,
    is_secret_option,
    is_shown,
    looks_random,
    secret_value_of,
)

HIDDEN = words.HIDDEN

_STOP = r"\s\"'`;|&<>(){},"
# The two ways to go on begin with different characters, so this never has to try again; a possessive
# group would say so, but the first releases of Python 3.11 match those wrongly.
_WORD = re.compile(rf"(?:[^{_STOP}\\]|\\(?![nr])[A-Za-z0-9])+")
_ESCAPE = re.compile(r"\\[^nr\"']")
_QUOTE = r"(?:\\?[\"'])?"
_OPENING_QUOTE = re.compile(_QUOTE)
_NAME = r"(?P<name>[A-Za-z_][A-Za-z0-9_.-]*)"
_NAMED = re.compile(
    rf"(?<![A-Za-z0-9_.-])(?P<dashes>-{{0,2}}){_NAME}"
    rf"(?:=(?!=){_QUOTE}|\\?[\"'][ \t]{{0,8}}:[ \t]{{0,8}}\\?[\"']"
    rf"|(?P<apart>(?:{_QUOTE}[ \t]{{0,8}}:|[ \t]{{1,8}}=)[ \t]{{1,8}}{_QUOTE}))"
)
_OPTION_APART = re.compile(rf"(?<![A-Za-z0-9_.-])--?{_NAME}[ \t]{{1,8}}{_QUOTE}(?!-)")
_LINE_HEAD = re.compile(r"[ \t]*(?:export[ \t]+|[-#][ \t]+)?\\?[\"']?")
SCHEME = rf"(?:{'|'.join(words.AUTHORIZATION_SCHEMES)})[ \t]{{1,8}}"
_AUTHORIZATION = re.compile(
    rf"authorization{_QUOTE}[ \t]{{0,8}}(?::(?!//)|=)[ \t]{{0,8}}{_QUOTE}(?:{SCHEME})?"
    r"|\bbearer[ \t]{1,8}(?=[\w.~+/=-]{16})",
    re.IGNORECASE | re.ASCII,
)
_URL = r"(?<![A-Za-z0-9+.-])(?P<scheme>[A-Za-z][A-Za-z0-9+.-]{0,31})://"
_URL_USER = re.compile(rf"{_URL}[^/?#@:\\{_STOP}]*:")
_URL_PASSWORD = re.compile(rf"[^/?#@\\{_STOP}]++(?=[^/?#@\s]*+@)")
_URL_TOKEN = re.compile(rf"(?P<before>{_URL})(?P<token>[^/?#@:\\{_STOP}]++)(?=@)")
_PORT = re.compile(r"[0-9]*(?:,[\w.-]+:[0-9]*){0,8}(?:[/?#\\]|$)", re.ASCII)
_URL_END = re.compile(r"[\s`]|\$\(|://")
_STRICT_URL_END = re.compile(r"[\s`/?#]|\$\(|://")
_TOKEN = re.compile(
    rf"(?<![A-Za-z0-9])(?:{'|'.join(words.TOKEN_SHAPES)})"
    rf"|(?<![\w.-])(?:{'|'.join(words.DOTTED_TOKEN_SHAPES)})",
    re.ASCII,
)
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_WORD = re.compile(r"[A-Za-z0-9+/=]{32,}")
_PROGRAM = re.compile(
    r"(?<![\w.-])(?:"
    + "|".join(sorted(map(re.escape, words.PROGRAMS), key=len, reverse=True))
    + r")(?=[ \t])"
)
_ARGUMENT = re.compile(rf"[ \t]+{_QUOTE}(?P<word>[^\s\"'`;|&<>()\\]+){_QUOTE}")
_MOST_ARGUMENTS = 16
_GLANCE = 256


def mask_text(text: str) -> str:
    """`text` with its secret values masked, one word at a time."""
    return _mask(text, frozenset(), is_code=False)


def mask_code(code: str, used: Collection[str]) -> str:
    """The same for what a shell or interpreter reads, where the names `used` elsewhere are shown."""
    return _mask(code, used, is_code=True)


def mask_data(text: str, used: Collection[str]) -> str:
    """The same for an argument that nobody reads as code: a password in a URL may hold anything."""
    return _mask(_mask_url_passwords(text), used, is_code=False)


def split_first_word(code: str, name: str) -> tuple[str, str]:
    """The first word of `code`, masked as the value of `name`, and the rest, which is not; or all of it."""
    start = _end_of_quote(code)
    word = _WORD.match(code, start)
    if word is None or is_shown(word[0], name) or _expands(code, start, word.end()):
        return "", code
    return code[:start] + HIDDEN, code[word.end() :]


def _mask(text: str, used: Collection[str], *, is_code: bool) -> str:
    text = _mask_private_keys(text)
    text = _TOKEN.sub(HIDDEN, text)
    text = _URL_TOKEN.sub(_masked_url_token, text)
    text = _mask_url_words(text, is_code=is_code)
    text = _mask_words(text, _AUTHORIZATION, lambda _opening: True)
    text = _mask_options_of_programs(text)
    names = {*used, *expanded_names(text)}
    text = _mask_words(
        text,
        _NAMED,
        lambda opening: opening["name"].lower() not in names and _is_named_secret(opening),
    )
    return _mask_words(text, _OPTION_APART, _is_option_secret)


def _end_of_quote(text: str) -> int:
    quote = _OPENING_QUOTE.match(text)
    return quote.end() if quote else 0


def _last_expansion(text: str, start: int, end: int) -> int:
    """Where the last thing in a word stands that could make more of the word than it says, or -1."""
    if _ESCAPE.match(text, end):
        return end
    return max(text.rfind(sign, start, end) for sign in ("$", "\\", "://"))


def _expands(text: str, start: int, end: int) -> bool:
    return _last_expansion(text, start, end) >= 0


def _mask_words(
    text: str, opening: re.Pattern[str], is_secret: Callable[[re.Match[str]], bool]
) -> str:
    """Mask each word right behind an `opening`, unless it expands."""
    parts, kept, at, end, expansion = [], 0, 0, 0, -1
    while found := opening.search(text, at):
        at = found.end()
        if at >= end:  # else still in the word seen last: looking again would take quadratic time
            word = _WORD.match(text, at)
            end = word.end() if word else at
            expansion = _last_expansion(text, at, end)
        if at < end and expansion < at and is_secret(found):
            parts += [text[kept:at], HIDDEN]
            kept = at = end
    return "".join([*parts, text[kept:]])


def _glance(opening: re.Match[str]) -> str:
    """The start of the word behind `opening`: enough to judge it, however long it is."""
    word = _WORD.match(opening.string, opening.end(), opening.end() + _GLANCE)
    return word[0] if word else ""


def _is_named_secret(opening: re.Match[str]) -> bool:
    name = opening["name"]
    before = opening.string[max(0, opening.start() - 64) : opening.start()]
    if opening["dashes"] and name.lower() in words.FOLDER_OPTIONS:
        return False
    if not is_secret_name(name, in_query=before[-1:] in {"?", "&"}):
        return False
    word = _glance(opening)
    if is_shown(word, name):
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


def _mask_url_words(text: str, *, is_code: bool) -> str:
    parts, kept, at = [], 0, 0
    while found := _URL_USER.search(text, at):
        at = found.end()
        value = _URL_PASSWORD.match(text, at)
        if value and not (is_code and "$" in value[0]):
            parts += [text[kept:at], HIDDEN]
            kept = at = value.end()
    return "".join([*parts, text[kept:]])


def _mask_url_passwords(text: str) -> str:
    """Mask each password up to the last `@` of its URL, unless a host name stands before that."""
    parts, kept, at = [], 0, 0
    while found := _URL_USER.search(text, at):
        at = found.end()
        is_strict = found["scheme"].lower() in words.STRICT_SCHEMES
        stop = (_STRICT_URL_END if is_strict else _URL_END).search(text, at)
        stop_at = stop.start() if stop else len(text)
        end = text.rfind("@", at, stop_at)
        if end > at and not _PORT.match(text, at, stop_at) and not _has_host(text[at:end]):
            parts += [text[kept:at], HIDDEN]
            kept = at = end
    return "".join([*parts, text[kept:]])


def _has_host(password: str) -> bool:
    return any(map(is_host, password.split("@")[1:]))


def _masked_url_token(url: re.Match[str]) -> str:
    return url["before"] + HIDDEN if looks_random(url["token"]) else url[0]


def _mask_options_of_programs(text: str) -> str:
    """Mask what known programs take as a password: `mysql -px`, `curl -u me:x`."""
    parts, kept = [], 0
    for program in _PROGRAM.finditer(text):
        commands, at = [program[0]], program.end()
        waiting: ValueAt | None = None
        for _ in range(_MOST_ARGUMENTS):
            argument = _ARGUMENT.match(text, at)
            if argument is None:
                break
            start, at = argument.start("word"), argument.end()
            if f"{program[0]} {argument['word']}" in words.OPTIONS:
                commands.append(f"{program[0]} {argument['word']}")
            found = waiting or secret_value_of(commands, argument["word"])
            is_next, waiting = waiting is not None, None
            if found and not is_next and found.start == len(argument["word"]):
                waiting = found
            elif found:
                start += 0 if is_next else found.start
                word = _password_at(text, start, argument.end("word"), found, is_next=is_next)
                if word and word.start() >= kept:
                    parts += [text[kept : word.start()], HIDDEN]
                    kept = word.end()
    return "".join([*parts, text[kept:]])


def _password_at(
    text: str, start: int, end: int, found: ValueAt, *, is_next: bool
) -> re.Match[str] | None:
    separator = found.option.separator
    if separator:
        at = text.find(separator, start, end)
        if at < 0 or text.startswith("://", at):
            return None
        start = at + 1
    word = _WORD.match(text, start)
    if word is None or is_shown(word[0], "") or _expands(text, start, word.end()):
        return None
    return word if separator or not is_next or looks_random(word[0]) else None


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
    return HIDDEN if is_mixed and not is_place_in_key(word[0]) else word[0]
