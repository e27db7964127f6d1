"""Settings of tools that no name tells apart from plain data: what their keys start or load.

Any JSON, YAML, TOML or file of sections may be the settings of some tool. Which keys hold commands,
hooks, plug-ins, servers or images is data (`settingskeys.toml`); a document without such keys gives
nothing, and so does one that is not what its suffix says. A value under a key that only sometimes
holds a command counts where it looks like one. One pass over the document, without recursion.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final

from consentry.base.ownfiles import own_bytes
from consentry.declare.nodes import Items, Mapping, Mark, Node, Scalar, quoted_scalar
from consentry.examine.atoms import ANYTHING, Extraction, loading, reading, starting, writing
from consentry.examine.constanttargets import path_atoms
from consentry.examine.dependencies.agentsettings import add_server
from consentry.examine.dependencies.codeparts import add_python, add_script, add_words
from consentry.examine.dependencies.findings import (
    MOST_BYTES,
    MOST_LARGE_BYTES,
    Findings,
    text_of,
    unreadable_key,
)
from consentry.examine.dependencies.keyed import without_editor_words
from consentry.examine.dependencies.nodewalk import (
    ANY_ONE,
    all_nodes,
    entries_of,
    is_true,
    scalars_in,
    values_at,
)
from consentry.examine.dependencies.packages import add_image, shown
from consentry.examine.dependencies.requirementtext import add_requirement
from consentry.examine.shell.commandtable import command_row
from consentry.surface.dimensions import LoadLevel

_TABLE: Final = "settingskeys.toml"
_EVASIVE: Final = ("deeper", "more than", "that editors do not show")
_MOST_TEXT: Final = 1 << 16
_FIRST_WORD: Final = re.compile(r"\s*(?:[A-Za-z_]\w*=\S*\s+)*([^\s|;&<>()]+)")
_SHELL_SIGNS: Final = re.compile(r"[|;<>]|&&|\$[({A-Za-z]|`")
_PROGRAM: Final = re.compile(r"[a-z][\w.+-]*")
_CODE_FILE: Final = re.compile(r"[\w./-]+\.(?:py|js|mjs|cjs|ts|sh)(?::\w+)?")
_PLUGIN_OPTION: Final = re.compile(r"(?:^|\s)(?:-p\s*(?!no:)[\w.]+|--doctest-glob\S*)")
_PICTURE: Final = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|ico|avif)$", re.IGNORECASE)
_MOST_PLAIN_WORDS: Final = 3
_SENTENCE: Final = re.compile(r"\s*[A-Z][a-z]+(?:\s+[\w'`,]|[.:!?]?\s*$)")
_OPTIONS: Final = "addopts"
_PYTHON_VALUES: Final = ("args", "kwargs")
_LOGGING: Final = ("handler", "formatter")


def extract_settings_yaml(content: bytes) -> Extraction:
    """Reads YAML of any tool."""
    from consentry.examine.dependencies.yamltext import yaml_documents  # noqa: PLC0415 - heavy

    return _extracted(content, yaml_documents, MOST_BYTES)


def extract_settings_toml(content: bytes) -> Extraction:
    """Reads TOML of any tool."""
    from consentry.examine.dependencies.tomltext import toml_document  # noqa: PLC0415 - this kind

    return _extracted(content, lambda text: (toml_document(text),), MOST_LARGE_BYTES, _add_lists)


def extract_settings_json(content: bytes) -> Extraction:
    """Reads JSON of any tool, with comments."""
    from consentry.examine.dependencies.jsontext import json_document  # noqa: PLC0415 - this kind

    def read(text: str) -> Iterable[Node]:
        return (json_document(text, relaxed=True),)

    return _extracted(content, read, MOST_LARGE_BYTES)


def extract_settings_ini(content: bytes) -> Extraction:
    """Reads sections of `key = value` of any tool."""
    return _extracted(content, _sections, MOST_BYTES)


def _extracted(
    content: bytes,
    read: Callable[[str], Iterable[Node]],
    most_bytes: int,
    more: Callable[[Node, Findings], None] | None = None,
) -> Extraction:
    findings = Findings()
    try:
        for root in read(text_of(content, most_bytes)):
            _add(root, findings)
            if more is not None:
                more(root, findings)
    except (ValueError, RecursionError) as wrong:
        # What is no such document is plain data; what only this reader refuses may be one.
        if not isinstance(wrong, ValueError) or any(each in str(wrong) for each in _EVASIVE):
            findings.unknown(unreadable_key(content), 1, f"this cannot be read: {wrong}"[:200])
    return findings.extraction()


def _sections(text: str) -> Iterator[Node]:
    from consentry.examine.dependencies.initext import settings_in  # noqa: PLC0415 - this kind

    for each in settings_in(text):
        mark = Mark(each.line, 1)
        value: Node = quoted_scalar(mark, each.value.strip())
        if "\n" in each.value:
            lines = [
                quoted_scalar(Mark(each.line + number, 1), line)
                for number, line in enumerate(each.value.split("\n"))
                if line.strip()
            ]
            value = Items(mark, tuple(lines))
        inner = Mapping(mark, ((quoted_scalar(mark, each.key), value),))
        section = each.section.rpartition(":")[2] or each.section
        yield Mapping(mark, ((quoted_scalar(mark, section), inner),))


def _add(root: Node, findings: Findings) -> None:
    """Every key of the document, with the two keys around it."""
    waiting: list[tuple[Node, str, str]] = [(root, "", "")]
    while waiting:
        node, around, further = waiting.pop()
        if isinstance(node, Items):
            waiting += [(each, around, further) for each in node.items]
        elif isinstance(node, Mapping):
            keys = {_plain(key) for key, _, _ in entries_of(node)}
            for key, value, _ in entries_of(node):
                word = _plain(key)
                arguments = tuple(values_at(node, "args")) if word in _table()["words"] else ()
                if arguments and isinstance(value, Scalar | Items):
                    value = Items(value.mark, (value, *arguments))  # noqa: PLW2901 - one command
                _add_value(word, around, value, findings)
                if word in ("image", "privileged", "hostpath"):
                    _add_contained(word, value, {around, further}, keys, findings)
                waiting.append((value, word, around))


def _add_value(word: str, around: str, value: Node, findings: Findings) -> None:
    table = _table()
    programs = table["programs"]
    if word in table["python"] or (word in _PYTHON_VALUES and around.startswith(_LOGGING)):
        for scalar in scalars_in(value):
            add_python(scalar.text, scalar.mark.line, findings)
    elif word in table["servers"]:
        for server in values_at(value, ANY_ONE):
            if isinstance(server, Mapping):
                add_server(server, findings)
    elif word in table["plugins"] or around in table["plugin_sections"]:
        _add_plugins(value, findings)
    elif word in programs or word.endswith(tuple(f".{each}" for each in programs)):
        for scalar in scalars_in(value):
            add_words([without_editor_words(scalar.text)], scalar.mark.line, findings)
    elif word in table["hooks"] or word == _OPTIONS:
        _add_hooks(word, value, findings)
    else:
        _add_commands(word, value, findings)


def _add_hooks(word: str, value: Node, findings: Findings) -> None:
    for node in all_nodes(value):
        if not isinstance(node, Scalar):
            continue
        if word != _OPTIONS:
            _add_hook(node, findings)
        elif _PLUGIN_OPTION.search(node.text):
            findings.power(loading(LoadLevel.LIMITED), node.mark.line, shown(node.text))


def _add_commands(word: str, value: Node, findings: Findings) -> None:
    table = _table()
    is_words = word in table["words"]
    is_lines = (
        word in table["lines"]
        or word.endswith(tuple(table["endings"]))
        or word.startswith(tuple(table["beginnings"]))
    )
    if not (is_words or is_lines or word in table["perhaps"]):
        return
    if isinstance(value, Items) and (is_words or word in table["endings"]):
        words = [each.text for each in scalars_in(value)]
        if words and not _is_prose(words[0]):
            add_words([without_editor_words(each) for each in words], value.mark.line, findings)
        return
    for node in value.items if isinstance(value, Items) else (value,):
        if isinstance(node, Items):
            words = [each.text for each in scalars_in(node)]
            add_words([without_editor_words(each) for each in words], node.mark.line, findings)
        elif isinstance(node, Scalar):
            is_sure = (is_words or is_lines) and not _is_prose(node.text)
            is_one_word = len(node.text.split()) == 1
            if (
                _is_command(node.text)
                if is_one_word and is_sure
                else is_sure or _perhaps(node.text)
            ):
                _add_line(node, findings)
        elif isinstance(value, Mapping):
            for _, inner, _ in entries_of(value):
                if isinstance(inner, Scalar) and _perhaps(inner.text):
                    _add_line(inner, findings)


def _add_line(scalar: Scalar, findings: Findings) -> None:
    if not scalar.is_plain or scalar.text not in ("true", "false", "null", "~", ""):
        add_script(without_editor_words(scalar.text), scalar.mark.line, findings)


def _add_hook(scalar: Scalar, findings: Findings) -> None:
    if _CODE_FILE.fullmatch(scalar.text):
        findings.power(loading(LoadLevel.LIMITED), scalar.mark.line, shown(scalar.text))
    elif _perhaps(scalar.text):
        _add_line(scalar, findings)


def _add_plugins(value: Node, findings: Findings) -> None:
    """Names, alone or each first in a list with its options, or as the keys of a table."""
    for node in value.items if isinstance(value, Items) else (value,):
        first = node.items[0] if isinstance(node, Items) and node.items else node
        if isinstance(first, Scalar) and first.text.strip() and not _is_flag(first):
            findings.power(
                loading(LoadLevel.LIMITED), first.mark.line, f"plug-in {shown(first.text)}"
            )


def _is_flag(scalar: Scalar) -> bool:
    return scalar.is_plain and re.fullmatch(r"true|false|null|~|[\d.]+", scalar.text) is not None


def _add_contained(
    word: str, value: Node, around: set[str], beside: set[str], findings: Findings
) -> None:
    """An image, a right or a folder of a container, where it is one."""
    table = _table()
    if word == "hostpath":
        for node in values_at(value, "path"):
            for scalar in scalars_in(node):
                atoms = (*path_atoms(reading, scalar.text), *path_atoms(writing, scalar.text))
                findings.power(atoms, scalar.mark.line, shown(scalar.text))
    elif word == "privileged":
        if is_true(value) and (around & {"securitycontext", *table["containers"]}):
            findings.power(starting(ANYTHING), value.mark.line, "privileged")
    else:
        is_inside = bool(around & set(table["containers"]))
        is_beside = bool(beside & set(table["beside_images"]))
        named = (value, *values_at(value, "name"))
        for scalar in (each for node in named for each in scalars_in(node)):
            if not _is_flag(scalar):
                is_picture = _PICTURE.search(scalar.text) is not None
                if is_inside or (is_beside and not is_picture):
                    add_image(scalar.text, scalar.mark.line, findings)


def _add_lists(root: Node, findings: Findings) -> None:
    for node in all_nodes(root):
        for key, value, _ in entries_of(node):
            if _plain(key) in _table()["requirements"] and isinstance(value, Items):
                for scalar in scalars_in(value):
                    add_requirement(scalar.text, scalar.mark.line, findings)


def _is_command(text: str) -> bool:
    """Whether it looks like a command line: a known program, a path, options or signs of a shell."""
    found = _FIRST_WORD.match(text[:_MOST_TEXT])
    if found is None or _is_prose(text):
        return False
    first = found[1]
    if command_row(first) is not None:
        return True
    if first.startswith(("./", "../", "/", "~/", "$")):
        return True
    if _PROGRAM.fullmatch(first) is None:
        return False
    rest = text[found.end() : _MOST_TEXT]
    signs = _SHELL_SIGNS.search(rest) is not None or "://" in rest
    return signs or re.search(r"\s--?[A-Za-z]", rest) is not None


def _perhaps(text: str) -> bool:
    """The same where a value may as well be a word or a sentence: `time`, `make sure that it runs`."""
    words = text.strip().rstrip(".!?").split()
    if not words or not _is_command(text):
        return False
    is_path = words[0].startswith(("./", "../", "/", "~/", "$"))
    is_technical = re.search(r"[-/.:=$_|;<>]", " ".join(words[1:])) is not None
    return is_path or is_technical or 1 < len(words) <= _MOST_PLAIN_WORDS


def _is_prose(text: str) -> bool:
    """Whether it is a sentence, or begins with what is no name of a program."""
    found = _FIRST_WORD.match(text[:_MOST_TEXT])
    if found is None or "\n" in text.strip():
        return False
    if found[1].startswith(("@", "?", "#")):
        return True
    if command_row(found[1]) is not None or "/" in found[1] or "$" in found[1]:
        return False
    is_odd = ":" in found[1] or text[found.end() : found.end() + 1] in ("<", ">")
    return is_odd or _SENTENCE.match(text[:200]) is not None


def _plain(key: str) -> str:
    return re.sub(r"[-\s]", "_", key.strip().lower())


@cache
def _table() -> dict[str, tuple[str, ...]]:
    table = tomllib.loads(own_bytes("consentry.examine.dependencies", _TABLE).decode())
    return {key: tuple(rows) for key, rows in table.items() if key != "version"}
