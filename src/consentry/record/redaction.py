"""Redacted events: what happened stays readable, whose words and places they were does not.

Shown: the envelope, types, ids, times, decisions, codes, counts, digests of tools and files. Replaced
by `redacted:<16 hexadecimal digits>`: names of users and hosts, the home part of paths, arguments,
reasons and every other free text, code, previews, hosts, and whatever field the table
(`redaction.toml`) does not know. So a new field is hidden until somebody lists it.

The digits are an HMAC under a key that is drawn for one export and then forgotten: equal values look
equal within one export, and nobody can try out guesses against them. The event's own `hash` and
`prev` are replaced, too: they are over the event as it was, and would let anybody try out whatever is
short enough to guess. A redacted event says so (`"redacted": true`) and cannot be verified; find the
original by its `eventId`.

What it does not do: numbers are kept, a secret that somebody wrote as the name of a tool or of a
folder outside home stays, and digests of files are shown, which confirm a guess about a whole file.
"""

import hashlib
import hmac
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from consentry.base.canonical import canonical_json
from consentry.base.errors import BadInput
from consentry.base.secretfilter import mask_text
from consentry.base.values import dataclass
from consentry.record.eventline import is_damaged

MARK: Final = "redacted"
KEY_BYTES: Final = 32

_TABLE = "redaction.toml"
_DIGITS = 16
_MOST_DEPTH = 32
_MOST_LENGTH = 4096

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
_WORD = r"[A-Za-z][A-Za-z0-9_.-]{0,63}"
_EXACT: Final = {
    "id": re.compile(rf"[a-z][a-z0-9]{{1,15}}-{_UUID}", re.ASCII),
    "machine": re.compile(r"machine-[0-9a-f]{32}", re.ASCII),
    "store": re.compile(r"store-[0-9a-f]{32}", re.ASCII),
    "digest": re.compile(r"sha256:[0-9a-f]{64}", re.ASCII),
    "time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z", re.ASCII),
    "amount": re.compile(r"\d{1,16}(\.\d{1,6})?[A-Za-z]{1,8}", re.ASCII),
    "version": re.compile(r"\d{1,9}(\.\d{1,9}){0,3}(-[0-9A-Za-z.-]{1,32})?", re.ASCII),
    "witness": re.compile(r"[a-z]+://[a-z_]+/[a-z0-9_]+#sha256:[0-9a-f]{64}", re.ASCII),
}
_PLAIN: Final = {
    "word": re.compile(_WORD, re.ASCII),
    "tag": re.compile(rf"{_WORD}(:{_WORD})?|ed25519:[0-9a-f]{{16}}", re.ASCII),
    "name": re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}", re.ASCII),
}
_LOCAL = re.compile(r"local:(?P<uid>\d{1,10}):(?P<name>.+)@(?P<host>[^@]+)", re.ASCII | re.DOTALL)
_POLICY = re.compile(r"policy:(sha256:)?[0-9a-f]{64}", re.ASCII)
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_HOMES = frozenset({"home", "homes", "users"})
_WILD = re.compile(r"[*?]+")


@dataclass(frozen=True, slots=True)
class RedactionTable:
    """Which fields are shown in which form; places are dotted, lists add nothing to a place."""

    envelope: Mapping[str, str]
    anywhere: Mapping[str, str]
    payload: Mapping[str, Mapping[str, str]]
    kinds: frozenset[str]
    names: frozenset[str]

    def form_of(self, event_type: str, place: tuple[str, ...]) -> str | None:
        """The form of a field of a payload; None when nobody has listed it."""
        rows = self.payload.get(event_type, {})
        listed = rows.get(".".join(place)) or rows.get(".".join((*place[:-1], "*")))
        return listed or self.anywhere.get(place[-1])


@lru_cache(maxsize=1)
def redaction_table() -> RedactionTable:
    """The table as shipped."""
    text = files("consentry.record").joinpath(_TABLE).read_text(encoding="utf-8")
    table = tomllib.loads(text)
    rows = [(each["types"], each["fields"]) for each in table["payload"]]
    places = [place for _, row in rows for place in row]
    return RedactionTable(
        envelope=table["envelope"],
        anywhere=table["anywhere"],
        payload={event_type: row for types, row in rows for event_type in types},
        kinds=frozenset(table["kinds"]["known"]),
        names=frozenset(
            (
                *table["names"]["known"],
                *table["envelope"],
                *table["anywhere"],
                *".".join(places).split("."),
            )
        ),
    )


class Redactor:
    """Redacts the events of one export, under one key."""

    def __init__(self, key: bytes, homes: Iterable[str] = ()) -> None:
        self._key = key
        self._table = redaction_table()
        self._homes = tuple(sorted({home.rstrip("/") for home in homes} - {""}, key=len))[::-1]

    def redacted(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """The event as it may be passed on; a damaged one keeps its place only."""
        if is_damaged(event):
            place = {"writer": self._exact("machine", str(event["writer"])), "seq": event["seq"]}
            return {**place, "damaged": True, MARK: True}
        names = _names_in(event.get("actor"))
        shown: dict[str, Any] = {MARK: True}
        for name, value in event.items():
            if name == "payload":
                event_type = str(event.get("type"))
                shown[name] = self._value(_Place(event_type, (), names), value)
            elif isinstance(value, str):
                form = self._table.envelope.get(name)
                shown[self._field(name)] = self._text(form, value, names)
            else:
                scalar = value is None or isinstance(value, bool | int | float)
                shown[self._field(name)] = value if scalar else self._whole(value)
        return shown

    def token(self, text: str) -> str:
        """What stands in place of a text: the same for the same text, under this key."""
        mac = hmac.new(self._key, text.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"{MARK}:{mac.hexdigest()[:_DIGITS]}"

    def _value(self, place: "_Place", value: Any) -> Any:
        form = place.form(self._table)
        if value is not None and (form == "content" or len(place.path) > _MOST_DEPTH):
            return self._whole(value)
        if isinstance(value, str):
            return self._text(form, value, place.names)
        if isinstance(value, Mapping):
            return {
                self._field(name): self._value(place.below(name), item)
                for name, item in value.items()
            }
        if isinstance(value, Sequence):
            # A list adds nothing to a place, and would otherwise go down without end.
            flat = all(not isinstance(item, list) for item in value)
            return [self._value(place, item) for item in value] if flat else self._whole(value)
        return value

    def _whole(self, value: Any) -> str:
        try:
            return self.token(canonical_json(value).decode())
        except BadInput:
            # Nested deeper than can be followed: hidden all the same, like any other such value.
            return self.token("")

    def _field(self, name: str) -> str:
        return name if name in self._table.names else self.token(name)

    def _text(self, form: str | None, text: str, names: frozenset[str]) -> str:
        if form == "actor":
            return self._actor(text)
        if form == "path":
            return self._path(text, names)
        if form == "name":
            return self._name(text)
        if form == "type":
            return text if text in self._table.payload else self.token(text)
        if form in _EXACT:
            return self._exact(form, text)
        if form in _PLAIN:
            return text if _is_plain(form, text) else self.token(text)
        return self.token(text)

    def _exact(self, form: str, text: str) -> str:
        return text if _EXACT[form].fullmatch(text) else self.token(text)

    def _name(self, text: str) -> str:
        kind, colon, name = text.partition(":")
        if not colon or kind not in self._table.kinds:
            return text if _is_plain("name", text) else self.token(text)
        return f"{kind}:{name if _is_plain('name', name) else self.token(name)}"

    def _actor(self, text: str) -> str:
        local = _LOCAL.fullmatch(text)
        if local is not None:
            return f"local:{local['uid']}:{self.token(local['name'])}@{self.token(local['host'])}"
        if text.startswith("web:"):
            return f"web:{self.token(text.removeprefix('web:'))}"
        return text if text == "system" or _POLICY.fullmatch(text) else self.token(text)

    def _path(self, text: str, names: frozenset[str]) -> str:
        if len(text) > _MOST_LENGTH or _UNSHOWN.search(text) or _has_secret(text):
            return self.token(text)
        start, rest = "", text
        for home in self._homes:
            if text == home or text.startswith(f"{home}/"):
                parent, _, owner = home.rpartition("/")
                start, rest = f"{parent}/{self.token(owner)}", text.removeprefix(home)
                break
        parts = rest.split("/")
        if any(part in ("", ".", "..") for part in parts[1:-1]) or ".." in parts:
            return self.token(text)
        shown = [self._part(parts, index, names) for index in range(len(parts))]
        return start + "/".join(shown)

    def _part(self, parts: list[str], index: int, names: frozenset[str]) -> str:
        part = parts[index]
        is_owner = index > 0 and parts[index - 1].lower() in _HOMES and not _WILD.fullmatch(part)
        is_tilde = index == 0 and part.startswith("~") and part != "~"
        named = any(name in part.lower() for name in names)
        return self.token(part) if part and (is_owner or is_tilde or named) else part


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a payload a value stands, and which names the event has told so far."""

    event_type: str
    path: tuple[str, ...]
    names: frozenset[str]

    def form(self, table: RedactionTable) -> str | None:
        return table.form_of(self.event_type, self.path) if self.path else None

    def below(self, name: str) -> "_Place":
        return _Place(self.event_type, (*self.path, name), self.names)


def _is_plain(form: str, text: str) -> bool:
    """Whether a text has the form, and nothing in it looks like a password or a token."""
    return _PLAIN[form].fullmatch(text) is not None and not _has_secret(text)


@lru_cache(maxsize=4096)
def _has_secret(text: str) -> bool:
    return mask_text(text) != text


def _names_in(actor: object) -> frozenset[str]:
    """The user and the host, in small letters; a single letter would be found everywhere."""
    local = _LOCAL.fullmatch(actor) if isinstance(actor, str) else None
    if local is None:
        return frozenset()
    found = (local["name"].lower(), local["host"].lower())
    return frozenset(name for name in found if len(name) > 1)
