"""The effects of the tables: what calling, naming or importing something gives, as parsed values.

    net@0/url            a power and the argument that names its target
    crypto=rsa@1/key     a constant target that an argument completes
    load=any ?/pickle=True   a condition on an argument
    -> socket.socket     what it returns

The form is described in docs/reference/guard-tables.md. A table with a row that does not have it is
refused when the tables are compiled, so that what is read here is well-formed.
"""

import re
from enum import StrEnum
from functools import cache
from typing import Final

from consentry.base.values import dataclass


class Power(StrEnum):
    """The words that an effect begins with."""

    READ = "read"
    WRITE = "write"
    OPEN = "open"
    NET = "net"
    PROC = "proc"
    ENV = "env"
    LOAD = "load"
    CRYPTO = "crypto"
    TOOL = "tool"
    RETURNS = "->"


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call by position or keyword, or the path that its object was made with."""

    position: int | None
    keyword: str | None
    is_self: bool = False


@dataclass(frozen=True, slots=True)
class Condition:
    """Holds for an argument that is one of the values, or is none of them where `negated`."""

    argument: Argument
    values: tuple[str, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect; `is_any` is the highest rung, whatever the target."""

    power: Power
    constant: str | None = None
    is_any: bool = False
    arguments: tuple[Argument, ...] = ()
    condition: Condition | None = None


_ARGUMENT: Final = r"(?:self|\d+(?:/\w+)?|/\w+)"
_FORM: Final = re.compile(
    r"(?P<power>read|write|open|net|proc|env|load|crypto|tool)"
    r"(?:=(?P<constant>[^@\s?][^@\s]*))?(?P<any>:any)?"
    rf"(?:@(?P<arguments>{_ARGUMENT}(?:,{_ARGUMENT})*))?"
    rf"(?:\s+\?(?P<tested>{_ARGUMENT})(?P<compared>!?=)(?P<values>[^\s]+))?"
)
_RETURNS: Final = re.compile(rf"->\s*(?P<constant>[\w.]+)(?:@(?P<arguments>{_ARGUMENT}))?")


@cache
def parse_effect(text: str) -> Effect:
    """Reads one effect; raises `ValueError` for what has not the form."""
    found = _RETURNS.fullmatch(text)
    if found is not None:
        return Effect(Power.RETURNS, found["constant"], arguments=_arguments(found["arguments"]))
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"`{text}` is not an effect")
    condition = None
    if found["tested"]:
        (argument,) = _arguments(found["tested"])
        values = tuple(found["values"].split("|"))
        condition = Condition(argument, values, negated=found["compared"] == "!=")
    return Effect(
        Power(found["power"]),
        found["constant"],
        found["any"] is not None,
        _arguments(found["arguments"]),
        condition,
    )


def _arguments(text: str | None) -> tuple[Argument, ...]:
    return tuple(map(_argument, text.split(","))) if text else ()


def _argument(text: str) -> Argument:
    if text == "self":
        return Argument(None, None, is_self=True)
    position, _, keyword = text.partition("/")
    return Argument(int(position) if position else None, keyword or None)
