"""Tables that a plugin adds to ours: their form, and both read together.

The rows have the form of docs/reference/guard-tables.md, but for `safe`: a plugin calls nothing safe.
What a file gives is found with our tables alone and once more with both, and all of it counts, so that
a row can add powers and takes none away. It settles nothing either: a module that our tables do not
know stays unclassified, and has what the row gives besides.
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from consentry.base.canonical import Digest, digest_bytes
from consentry.examine.knowledge.effects import Power, parse_effect
from consentry.examine.knowledge.reader import Effects, Knowledge, Row, shipped_knowledge
from consentry.examine.knowledge.tables import NAMESPACE, BadTable, compile_tables
from consentry.surface.dimensions import LoadLevel

MOST_TABLES: Final = 1 << 18
"""Bytes of all tables together, compiled; each worker process is sent them with each file."""

_KINDS: Final = {
    "module": {"name", "import", "default", "members", "same", "twin"},
    "distribution": {"name", "modules"},
    "attribute": {"name", "effects"},
}
_NEEDED: Final = {"module": (), "distribution": ("modules",), "attribute": ("effects",)}
_LISTS: Final = ("import", "default", "modules", "effects")
_LOADS: Final = frozenset(level.value.lower() for level in LoadLevel)


def compile_added(sources: Mapping[str, bytes]) -> bytes:
    """The compact form of a plugin's tables by their names; raises `BadTable` for what has not the form."""
    texts = {name: _checked_text(name, content) for name, content in sources.items()}
    compiled = compile_tables(texts) if texts else b""
    if len(compiled) > MOST_TABLES:
        raise BadTable(f"the tables have more than {MOST_TABLES >> 10} KiB together")
    return compiled


class ExtendedKnowledge(Knowledge):
    """Our tables with those of plugins; where both have a row, each has its say."""

    def __init__(self, ours: Knowledge, added: tuple[bytes, ...]) -> None:
        self._added = tuple(map(Knowledge, added))
        super().__init__(ours.content)

    @property
    def digest(self) -> Digest:
        """Of all of them."""
        return digest_bytes(b"".join((self.content, *(each.content for each in self._added))))

    def modules_of(self, name: str) -> tuple[str, ...] | None:
        """The modules that a distribution installs."""
        listed = [super().modules_of(name), *(each.modules_of(name) for each in self._added)]
        known = [each for each in listed if each is not None]
        return tuple(dict.fromkeys(module for each in known for module in each)) if known else None

    def _find_row(self, module: str) -> Row | None:
        found = [super()._find_row(module), *(each._find_row(module) for each in self._added)]  # noqa: SLF001 - of the same kind
        rows = [row for row in found if row is not None]
        real = [row for row in rows if NAMESPACE not in row]
        if len(real) < 2:  # noqa: PLR2004 - nothing to join
            return real[0] if real else next(iter(rows), None)
        return _joined(real)

    def _find_attributes(self) -> Iterator[tuple[str, Effects]]:
        found: dict[str, Effects] = dict(super()._find_attributes())
        for each in self._added:
            for name, effects in each.attributes.items():
                found[name] = tuple(dict.fromkeys((*found.get(name, ()), *effects)))
        yield from found.items()


@lru_cache(maxsize=4)
def extended_knowledge(added: tuple[bytes, ...]) -> Knowledge:
    """The tables as shipped, and these."""
    return ExtendedKnowledge(shipped_knowledge(), added)


def _joined(rows: list[Row]) -> Row:
    """One row that says what all of them say; what an earlier one is a twin of, it stays."""
    made: Row = {}
    for row in rows:
        for key in ("import", "default", "safe"):
            if key in row:
                made[key] = list(dict.fromkeys((*made.get(key, ()), *row[key])))
        for member, effects in row.get("members", {}).items():
            members = made.setdefault("members", {})
            members[member] = list(dict.fromkeys((*members.get(member, ()), *effects)))
        if "same" in row:
            made["same"] = {**row["same"], **made.get("same", {})}
        if "twin" in row:
            made.setdefault("twin", row["twin"])
    return made


# ---- the form


def _checked_text(name: str, content: bytes) -> str:
    try:
        text = content.decode("utf-8")
        document = tomllib.loads(text)
    except (UnicodeDecodeError, ValueError, RecursionError) as problem:
        raise BadTable(f"{name}: {problem}") from None
    for kind, rows in document.items():
        if kind not in _KINDS:
            raise BadTable(f"{name}: `{kind}` is not one of {', '.join(_KINDS)}")
        if not isinstance(rows, list):
            raise BadTable(f"{name}: `{kind}` is not a list of rows; write `[[{kind}]]`")
        for number, row in enumerate(rows, 1):
            _check_row(f"{name}: {kind} {number}", kind, row)
    return text


def _check_row(place: str, kind: str, row: Any) -> None:
    if not isinstance(row, dict) or not _is_name(row.get("name")):
        raise BadTable(f"{place} has no name")
    where = f"{place} `{row['name']}`"
    if "safe" in row:
        raise BadTable(f"{where}: a plugin calls nothing safe")
    unknown = sorted(row.keys() - _KINDS[kind])
    if unknown:
        raise BadTable(f"{where}: `{unknown[0]}` is not a key of a {kind}")
    for key in _NEEDED[kind]:
        if key not in row:
            raise BadTable(f"{where}: `{key}` is missing")
    for key in _LISTS:
        _check_list(f"{where}: `{key}`", row.get(key, []), are_effects=key != "modules")
    members = row.get("members", {})
    if not isinstance(members, dict):
        raise BadTable(f"{where}: `members` is not a table")
    for member, effects in members.items():
        _check_list(f"{where}: `{member}`", effects, are_effects=True)
    same = row.get("same", {})
    if not isinstance(same, dict) or not all(map(_is_name, same.values())):
        raise BadTable(f"{where}: `same` is not a table of names")
    if "twin" in row and not _is_name(row["twin"]):
        raise BadTable(f"{where}: `twin` is not a name")


def _check_list(where: str, listed: Any, *, are_effects: bool) -> None:
    if not isinstance(listed, list) or not all(map(_is_name, listed)):
        raise BadTable(f"{where} is not a list of texts")
    for text in listed if are_effects else ():
        try:
            effect = parse_effect(text)
        except ValueError as problem:
            raise BadTable(f"{where}: {problem}") from None
        if effect.power is Power.LOAD and (effect.constant or "limited") not in _LOADS:
            raise BadTable(f"{where}: `{text}`: code is loaded `limited` or `any`")
        if effect.power is Power.TOOL and not effect.constant:
            raise BadTable(f"{where}: `{text}` names no class of tools")


def _is_name(text: object) -> bool:
    return isinstance(text, str) and bool(text) and text.isprintable()
