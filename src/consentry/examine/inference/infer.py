"""From code to a permission set: read it, weigh its powers, and say how sure that is.

The bands are those of the contract. What no set opens lowers the confidence below the threshold, so
that the code runs as `minimal` until a person has decided; so does everything that could be anything.
"""

from collections.abc import Sequence
from typing import Final

from consentry.base.values import dataclass
from consentry.examine.extracted import surface_of
from consentry.examine.inference.inferred import UNREADABLE, Inferred, Language
from consentry.examine.inference.patterns import kept_patterns, pattern_of
from consentry.examine.inference.powers import Power, Powers, powers_of
from consentry.examine.inference.tables import tables
from consentry.examine.inference.toolcalls import Called, tool_calls
from consentry.surface.permission_sets import PermissionSet, least_sets_covering

NO_POWERS: Final = 0.95
ONE_EXACT: Final = 0.95
ONE_ANYWHERE: Final = 0.90
"""One power whose target is computed, where the set opens every such target."""

SEVERAL_OF_ONE_KIND: Final = 0.95
COMPUTED_PATH: Final = 0.75
"""Of one kind, with a path that the code does not say: it may lie outside of what is opened."""

TWO_KINDS: Final = 0.80
MORE_OR_COMPUTED: Final = 0.75
MORE_AND_COMPUTED: Final = 0.70
UNCOVERED: Final = 0.60
"""Something that no set opens; the rest is what the set is for."""

UNKNOWN: Final = 0.50
"""Calls of tools, packages that no table knows, code made of data: these may do anything."""

_TWO: Final = 2


@dataclass(frozen=True, slots=True)
class Read:
    """Code that could be read: what it does, and what its calls say besides."""

    powers: Powers
    tools: frozenset[str]
    machine: frozenset[str] = frozenset()
    """What it asks of the machine itself, which no set opens."""


def infer(code: str, language: Language) -> Inferred:
    """The answer for one piece of code; raises only where an extractor does."""
    read = _read(code, language)
    if read is None:
        return UNREADABLE
    powers = read.powers
    tools = {f"tool:{name}" for name in read.tools}
    uncovered = {pattern_of(each.atom) for each in powers.held if each.opened_by is None}
    machine = {f"sys:{name}" for name in read.machine}
    patterns = kept_patterns(uncovered | machine | tools, powers.patterns)
    if tools or powers.is_unknown:
        return Inferred(PermissionSet.MCP_STANDARD, UNKNOWN, patterns)
    covered = [each for each in powers.held if each.opened_by is not None]
    confidence = UNCOVERED if machine else _confidence(powers)
    return Inferred(_least_set(covered), confidence, patterns)


def _least_set(powers: Sequence[Power]) -> PermissionSet:
    # A set that opens one power of each group opens all of them, and there are few groups.
    groups = {each.opened_by: each.atom for each in powers}
    sets = least_sets_covering(surface_of(groups.values()), PermissionSet.MINIMAL)
    return sets[0] if groups else PermissionSet.MINIMAL


def _confidence(powers: Powers) -> float:
    held = powers.held
    if powers.is_native or any(each.opened_by is None for each in held):
        return UNCOVERED
    if not held:
        return NO_POWERS
    kinds = {each.kind for each in held}
    is_computed = any(each.is_path_computed for each in held)
    if len(kinds) > 1:
        is_more = len(kinds) > _TWO
        if is_more and is_computed:
            return MORE_AND_COMPUTED
        return MORE_OR_COMPUTED if is_more or is_computed else TWO_KINDS
    if is_computed:
        return COMPUTED_PATH
    if len(held) > 1:
        return SEVERAL_OF_ONE_KIND
    return ONE_EXACT if held[0].is_exact else ONE_ANYWHERE


def _read(code: str, language: Language) -> Read | None:
    """None for what does not parse."""
    try:
        content = code.encode()
    except UnicodeEncodeError:
        return None
    return _read_python(content) if language is Language.PYTHON else _read_script(content, language)


def _read_python(content: bytes) -> Read | None:
    from consentry.examine.inference.pythoncalls import calls_of_python  # noqa: PLC0415 - by language
    from consentry.examine.python.extract import extract_python  # noqa: PLC0415 - by language
    from consentry.examine.python.source import parsed  # noqa: PLC0415 - by language

    tree = parsed(content)
    if isinstance(tree, str):
        return None
    powers = powers_of(extract_python(content), tables().harmless)
    return Read(powers, tool_calls(calls_of_python(tree), tables().python))


def _read_script(content: bytes, language: Language) -> Read | None:
    from consentry.examine.inference.javascriptcalls import calls_of_javascript  # noqa: PLC0415 - by language
    from consentry.examine.javascript.extract import (  # noqa: PLC0415 - by language
        Dialect,
        extract_javascript,
        tree_of,
    )

    dialect = Dialect(language.value)
    tree = tree_of(content, dialect)
    if tree is None or tree.problem_line is not None:
        return None
    calls = tuple(calls_of_javascript(tree))
    tools = tool_calls(calls, tables().javascript)
    machine = {call.path[1] for call in calls if _is_about_machine(call)}
    return Read(powers_of(extract_javascript(content, dialect)), tools, frozenset(machine))


def _is_about_machine(call: Called) -> bool:
    is_deno = call.path[0] == "Deno" and not call.is_bound
    return is_deno and len(call.path) > 1 and call.path[1] in tables().machine
