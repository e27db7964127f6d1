"""Notebooks: the cells that are code, with the lines that are no Python.

    !ls -l   x = !ls          a command line
    %%bash  %%sh  %%script    the whole cell is a script
    %run other.py  %load_ext  loads code; %pip and %conda install; %env sees; %%writefile writes
    %%javascript  %%html      code of the page that shows the notebook
    %time  %%timeit  ...      what follows is code as usual

All cells together are one program: a name from one is used in the next.
"""

import re
from typing import Final, TypeAlias

from consentry.declare.nodes import Items, Node
from consentry.examine.atoms import loading, writing
from consentry.examine.constanttargets import path_atoms, variable_atom
from consentry.examine.dependencies.codeparts import add_javascript, add_script
from consentry.examine.dependencies.findings import (
    COMPUTED_WORD,
    Findings,
    language_key,
    large_reader,
)
from consentry.examine.dependencies.jsontext import json_document
from consentry.examine.dependencies.nodewalk import ANY_ONE, scalars_in, text_at, values_at
from consentry.examine.dependencies.packages import shown
from consentry.surface.dimensions import LoadLevel

_Line: TypeAlias = tuple[str, int]

_COMMAND: Final = re.compile(r"(\s*)(?:[\w.,\s\[\]'\"]+=\s*)?!{1,2}(.*)")
_MAGIC: Final = re.compile(r"(\s*)(?:[\w.,\s]+=\s*)?%(\w+)\s*(.*)")
_CELL: Final = re.compile(r"\s*%%(!|\w+)\s*(.*)")
_PARAMETER: Final = re.compile(r"(?<!\{)\{[^{}\n]*\}(?!\})")
_SHELL_CELLS: Final = ("bash", "sh", "!", "sx", "system", "script")
_CODE_CELLS: Final = (
    "time",
    "timeit",
    "capture",
    "prun",
    "python",
    "python3",
    "pypy",
    "px",
    "memit",
)
_TEXT_CELLS: Final = ("markdown", "latex", "svg")
_RUNNING: Final = ("run", "load", "loadpy", "load_ext", "reload_ext", "macro", "recall", "rerun", "rep", "store", "alias_magic", "autoload", "edit", "ed", "cython")  # fmt: skip
_INSTALLING: Final = ("pip", "conda", "mamba", "uv", "micromamba")
_STARTING: Final = ("system", "sx", "sc", "bash", "sh", "cmd")
_TIMED: Final = ("time", "timeit", "prun", "memit", "mprun", "lprun", "debug", "px")


@large_reader
def extract_notebook(text: str, findings: Findings) -> None:
    """Reads `.ipynb`."""
    root = json_document(text)
    if not isinstance(next(values_at(root, "cells"), None), Items) and not list(
        values_at(root, "worksheets")
    ):
        raise ValueError("it is no notebook")
    language = (
        text_at(root, "metadata", "language_info", "name")
        or text_at(root, "metadata", "kernelspec", "language")
        or "python"
    )
    cells = (
        *values_at(root, "cells", ANY_ONE),
        *values_at(root, "worksheets", ANY_ONE, "cells", ANY_ONE),
    )
    program: list[_Line] = []
    for cell in cells:
        if text_at(cell, "cell_type") in ("markdown", "raw", "heading"):
            continue
        source = _source(cell)
        if language.lower() not in ("python", "python3", "ipython"):
            key = language_key("\n".join(line for line, _ in source).encode())
            findings.unknown(key, cell.mark.line, f"a cell in {shown(language)}")
        else:
            program += _add_cell(source, findings)
    if program:
        from consentry.examine.python.extract import extract_python  # noqa: PLC0415 - heavy

        code = "".join(f"{line}\n" for line, _ in program)
        findings.include_at(extract_python(code.encode()), [number for _, number in program])


def _source(cell: Node) -> list[_Line]:
    """The lines of a cell, each with the line of the file that has it."""
    parts: list[_Line] = []
    for key in ("source", "input"):
        for node in values_at(cell, key):
            for each in scalars_in(node):
                parts += [(line, each.mark.line) for line in each.text.splitlines(keepends=True)]
    lines: list[_Line] = []
    is_open = False
    for part, number in parts:
        bare = part.rstrip("\r\n")
        if is_open:
            lines[-1] = (lines[-1][0] + bare, lines[-1][1])
        else:
            lines.append((bare, number))
        is_open = bare == part
    return lines


def _add_cell(source: list[_Line], findings: Findings) -> list[_Line]:
    """Adds what is no Python, and gives the lines that are."""
    while source and not source[0][0].strip():
        source = source[1:]
    head = _CELL.fullmatch(source[0][0]) if source else None
    if head is None:
        return [(_python_line(line, number, findings), number) for line, number in source]
    magic, words, first = head[1], head[2], source[0][1]
    rest = source[1:]
    if magic in _CODE_CELLS:
        timed = (
            [(words, first)] if magic in ("timeit", "prun") and words[:1] not in ("-", "") else []
        )
        return timed + _add_cell(rest, findings)
    body = "\n".join(line for line, _ in rest)
    line = rest[0][1] if rest else first
    if magic in _SHELL_CELLS:
        interpreter = words.split()[0] if magic == "script" and words.split() else "bash"
        if interpreter.rpartition("/")[2].startswith("python"):
            return _add_cell(rest, findings)
        if interpreter.rpartition("/")[2] in ("bash", "sh", "zsh", "dash", "ksh"):
            add_script(_filled_in(body), line, findings)
        else:
            _add_unknown_cell(body, magic, line, findings)
    elif magic in ("writefile", "file"):
        path = words.removeprefix("-a").strip().strip("\"'")
        findings.power(path_atoms(writing, path or None), first, f"%%{magic} {shown(path)}")
    elif magic in ("javascript", "js"):
        add_javascript(body, line, findings)
    elif magic == "html" and "<script" in body.lower():
        _add_unknown_cell(body, magic, line, findings)
    elif magic not in (*_TEXT_CELLS, "html"):
        _add_unknown_cell(f"%%{magic} {words}\n{body}", magic, line, findings)
    return []


def _add_unknown_cell(text: str, magic: str, line: int, findings: Findings) -> None:
    findings.unknown(language_key(text.encode()), line, f"a cell of %%{shown(magic)}")


def _python_line(line: str, number: int, findings: Findings) -> str:
    """The line as Python; what it starts otherwise is added."""
    command = _COMMAND.fullmatch(line)
    if command is not None:
        add_script(_filled_in(command[2]), number, findings)
        return f"{command[1]}pass"
    magic = _MAGIC.fullmatch(line)
    if magic is None:
        return line.rstrip("?") if line.rstrip().endswith("?") and "#" not in line else line
    indent, name, words = magic.groups()
    if name in _TIMED:
        return indent + (re.sub(r"^(?:-\w+\s*\d*\s*)+", "", words) or "pass")
    _add_magic(name, words, number, findings)
    return f"{indent}pass"


def _add_magic(name: str, words: str, number: int, findings: Findings) -> None:
    if name in _RUNNING:
        findings.power(loading(LoadLevel.ANY), number, f"%{name} {shown(words)}")
    elif name in _INSTALLING:
        add_script(f"{name} {_filled_in(words)}", number, findings)
    elif name in _STARTING:
        add_script(_filled_in(words), number, findings)
    elif name in ("env", "set_env"):
        target = re.split(r"[=\s]", words)[0] if words else ""
        if not words or "=" not in words:
            findings.power(variable_atom(target or None), number, f"%env {shown(words)}")


def _filled_in(text: str) -> str:
    """`{name}` in a command line is a value of the notebook."""
    return _PARAMETER.sub(COMPUTED_WORD, text)
