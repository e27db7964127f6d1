"""Reads what a browser posts: the two encodings of HTML forms, bounded and strict.

Everything here is a stranger's input. A body has a stated length and no more than its route takes; a field
that comes twice, a part without a name or a text that is not UTF-8 is refused and not guessed at.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import TypeVar
from urllib.parse import parse_qsl

Value = TypeVar("Value")

MOST_FIELDS = 20
URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"


class BadForm(Exception):
    """A body that is not a form as the pages here send it."""


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of one form; files are bytes, and an empty one is not there."""

    fields: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """A field that must be there."""
        if name not in self.fields:
            raise BadForm(f"the field {name} is missing")
        return self.fields[name]


def read_form(content_type: str, body: bytes) -> Form:
    """The form in a body."""
    header = Message()
    header["content-type"] = content_type
    kind = header.get_content_type()
    if kind == URLENCODED:
        return _urlencoded(body)
    boundary = header.get_param("boundary")
    if kind == MULTIPART and isinstance(boundary, str) and boundary.isascii() and boundary:
        return _multipart(body, boundary.encode())
    raise BadForm("that is not a form")


def _urlencoded(body: bytes) -> Form:
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(body),
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except ValueError as problem:
        raise BadForm("the form cannot be read") from problem
    return Form(_each_once(pairs))


def _multipart(body: bytes, boundary: bytes) -> Form:
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary)
    if len(pieces) < 2 or pieces[0] or not pieces[-1].startswith(b"--"):  # noqa: PLR2004 - front, end
        raise BadForm("the form cannot be read")
    if len(pieces) > MOST_FIELDS:
        raise BadForm("the form has too many fields")
    texts: list[tuple[str, str]] = []
    files: list[tuple[str, bytes]] = []
    for piece in pieces[1:-1]:
        head, divider, content = piece.partition(b"\r\n\r\n")
        if not divider:
            raise BadForm("the form cannot be read")
        name, is_file = _named(head)
        try:
            texts += [] if is_file else [(name, content.decode())]
        except UnicodeDecodeError as problem:
            raise BadForm(f"the field {name} is not text") from problem
        files += [(name, content)] if is_file and content else []
    return Form(_each_once(texts), _each_once(files))


def _named(head: bytes) -> tuple[str, bool]:
    """The name of a part, and whether it is a file."""
    for line in head.decode("latin-1").split("\r\n"):
        key, _, value = line.partition(":")
        if key.strip().lower() == "content-disposition":
            header = Message()
            header["content-disposition"] = value.strip()
            name = header.get_param("name", header="content-disposition")
            file = header.get_param("filename", header="content-disposition")
            if isinstance(name, str) and name:
                return name, file is not None
    raise BadForm("a part of the form has no name")


def _each_once(pairs: list[tuple[str, Value]]) -> Mapping[str, Value]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadForm("a field of the form comes twice")
    return found
