"""Names in documents: of tools, profiles, versions, variables and programs."""

import re

from consentry.declare.nodes import clipped
from consentry.declare.values import Value

_TOOL = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_PROFILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_PROGRAM = re.compile(r"[^*?\\=]{1,4096}")
_NUMBER = r"(?:0|[1-9][0-9]{0,17})"
_BEFORE = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_BUILD = r"[0-9A-Za-z-]+"
_SEMVER = re.compile(
    rf"(?=.{{1,128}}\Z){_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    rf"(?:-{_BEFORE}(?:\.{_BEFORE})*)?(?:\+{_BUILD}(?:\.{_BUILD})*)?"
)


def tool_name(value: Value) -> str | None:
    """The id of a tool, which is also the name of a file."""
    return value.matching(
        _TOOL, "a name for a tool", "use a to z, digits, `.`, `-` and `_`, at most 64"
    )


def is_tool_name(text: str) -> bool:
    """Whether a tool may be called so."""
    return _TOOL.fullmatch(text) is not None


def is_program(text: str) -> bool:
    """Whether a document can name this program."""
    return _PROGRAM.fullmatch(text) is not None


def profile_name(value: Value) -> str | None:
    """The name of a profile; `:` is left to those that are compiled from a manifest."""
    return value.matching(
        _PROFILE, "a name for a profile", "use letters, digits, `-` and `_`, at most 64"
    )


def version(value: Value) -> str | None:
    """A semantic version (SemVer 2.0.0)."""
    return value.matching(_SEMVER, "a version", "write three numbers such as 1.0.0")


def variable(value: Value) -> str | None:
    """The name of an environment variable, without wildcards."""
    return value.matching(_VARIABLE, "the name of a variable", "name each variable by itself")


def program(value: Value) -> str | None:
    """A program by its name, or by its path; without wildcards."""
    found = value.text()
    if found is None or is_program(found):
        return found
    value.refuse(f"`{clipped(found)}` names no single program", "name each program by itself")
    return None
