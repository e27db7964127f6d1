"""Ways to look at one value of a module package, and to say what is wrong with it.

A value is taken as it is: `true` is not 1, `1.0` is not 1, `null` is not the same as a missing key. Which
code a refusal carries is said by whoever asks, because it depends on the place.
"""

import json
from collections.abc import Collection, Mapping
from typing import TypeGuard

from consentry.declare.nodes import clipped


def first_unknown(document: Mapping[str, object], known: Collection[str]) -> str | None:
    """The first key by code point that is not one of those known."""
    return min(document.keys() - known, default=None)


def is_one(value: object) -> bool:
    """Whether it is the whole number 1, written so."""
    return type(value) is int and value == 1


def is_name(value: object) -> TypeGuard[str]:
    """Whether it is a text with something in it besides white space."""
    return isinstance(value, str) and bool(value.strip())


def key_path(path: str, key: str) -> str:
    """`path.key`, where a key that was not expected is clipped as in a message."""
    return f"{path}.{clipped(key)}"


def shown(value: object) -> str:
    """A single value in backticks, clipped; that it is an object or an array, where it is one."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return f"`{clipped(value if isinstance(value, str) else json.dumps(value))}`"


def found(document: Mapping[str, object], key: str, meant: str) -> str:
    """What is wrong with the value of a key: that it is not there, or what it is instead."""
    if key not in document:
        return f"this is missing, and {meant} is meant"
    return f"{shown(document[key])} is not {meant}"
