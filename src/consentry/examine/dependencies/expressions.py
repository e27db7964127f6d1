"""Expressions of GitHub workflows: the secrets and variables they fill in, and a stranger's words.

An expression is filled in before a script is started, so that it is a word of the script that
nobody knows. Where strangers write it, it is code that strangers write.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, Final

from consentry.examine.atoms import ANYTHING, loading, seeing
from consentry.examine.constanttargets import variable_atom
from consentry.examine.dependencies.findings import COMPUTED_WORD, Findings
from consentry.examine.dependencies.packages import shown
from consentry.surface.dimensions import LoadLevel

_TABLE: Final = "expressions.toml"
_EXPRESSION: Final = re.compile(r"\$\{\{((?:[^}$]|\}(?!\})|\$(?!\{\{))*+)\}\}")
_STRING: Final = re.compile(r"'(?:[^']|'')*+'")
_INDEX: Final = re.compile(r"\[\s*'([\w.-]+)'\s*\]")


def add_expressions(text: str, line: int, findings: Findings) -> None:
    """Adds the variables that the expressions in a text see."""
    for found in _EXPRESSION.finditer(text):
        at = line + text.count("\n", 0, found.start())
        add_expression(found[1], at, findings)


def add_expression(expression: str, line: int, findings: Findings) -> None:
    """Adds the variables of one expression."""
    plain = _STRING.sub("''", _INDEX.sub(r".\1", expression))
    table = _table()
    for context in table["variables"]:
        for named in re.finditer(
            rf"(?<![\w.-]){context}\b\s*(\.\s*([\w-]+|\*))?", plain, re.IGNORECASE
        ):
            name = named[2]
            is_all = name is None or name == "*"
            atom = seeing(ANYTHING) if is_all else variable_atom(name)
            findings.power(atom, line, shown(f"${{{{{expression}}}}}"))
    for value, name in table["same"].items():
        if re.search(rf"(?<![\w.-]){re.escape(value)}\b", plain, re.IGNORECASE):
            findings.power(variable_atom(name), line, value)


def script_of(text: str, line: int, findings: Findings) -> str:
    """A script with a word that is computed for each expression; adds what strangers write in it."""
    strangers = _strangers()
    for found in _EXPRESSION.finditer(text):
        if strangers.search(_INDEX.sub(r".\1", found[1])):
            at = line + text.count("\n", 0, found.start())
            reason = f"strangers write {shown(found[1].strip())}"
            findings.power(loading(LoadLevel.ANY), at, reason)
    return _EXPRESSION.sub(COMPUTED_WORD, text)


@cache
def _strangers() -> re.Pattern[str]:
    values = _table()["written_by_strangers"]["values"]
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, values))})\b", re.IGNORECASE)


@cache
def _table() -> dict[str, Any]:
    source = files("consentry.examine.dependencies").joinpath(_TABLE)
    table: dict[str, Any] = tomllib.loads(source.read_text(encoding="utf-8"))
    return table
