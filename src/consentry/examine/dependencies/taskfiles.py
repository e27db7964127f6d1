"""Small files of command lines: `justfile` and `Procfile`, read line by line."""

import re
from typing import Final

from consentry.examine.constanttargets import variable_atom
from consentry.examine.dependencies.codeparts import add_javascript, add_python, add_script
from consentry.examine.dependencies.findings import (
    COMPUTED_WORD,
    Findings,
    language_key,
    reader,
)
from consentry.examine.dependencies.packages import shown

_PROCESS: Final = re.compile(r"[A-Za-z0-9_-]+:\s*(.*)")
_FILLED_IN: Final = re.compile(r"\{\{[^{}]*\}\}")
_BACKTICKS: Final = re.compile(r"```(.*?)```|`([^`\n]*)`", re.DOTALL)
_ENVIRONMENT: Final = re.compile(r"\benv(?:_var|_var_or_default)?\(\s*['\"](\w+)['\"]")
_SETTING: Final = re.compile(r"set\s+(?:shell|script-interpreter|windows-shell)\s*:=\s*\[(.*)\]")
_SHELLS: Final = re.compile(r"(?:\S*/)?(?:ba|da|z|k|a)?sh")


@reader
def extract_procfile(text: str, findings: Findings) -> None:
    """Reads `Procfile`."""
    for number, line in enumerate(text.split("\n"), 1):
        found = _PROCESS.match(line.strip())
        if found is not None and not line.startswith("#"):
            add_script(found[1], number, findings)


@reader
def extract_justfile(text: str, findings: Findings) -> None:
    """Reads `justfile`: recipes by line or as scripts, and commands in back ticks."""
    lines = text.split("\n")
    body: list[str] = []
    began = 0
    for number, line in enumerate((*lines, ""), 1):
        is_last = number > len(lines)
        if not is_last and (line[:1] in (" ", "\t") or (body and not line.strip())):
            if not body:
                began = number
            body.append(line)
            continue
        if body:
            _add_body(body, began, findings)
            body = []
        _add_outside(line, number, findings)


def _add_outside(line: str, number: int, findings: Findings) -> None:
    if line.startswith("#"):
        return
    _add_variables(line, number, findings)
    for found in _BACKTICKS.finditer(line):
        add_script(found[1] or found[2] or "", number, findings)
    setting = _SETTING.match(line)
    if setting is not None:
        words = re.findall(r"['\"]([^'\"]*)['\"]", setting[1])
        if words and not _SHELLS.fullmatch(words[0]):
            findings.unknown(
                language_key(line.encode()), number, f"recipes are for {shown(words[0])}"
            )


def _add_variables(line: str, number: int, findings: Findings) -> None:
    for found in _ENVIRONMENT.finditer(line):
        findings.power(variable_atom(found[1]), number, found[0])


def _add_body(body: list[str], began: int, findings: Findings) -> None:
    for offset, line in enumerate(body):
        _add_variables(line, began + offset, findings)
    indents = [len(line) - len(line.lstrip()) for line in body if line.strip()]
    indent = min(indents, default=0)
    script = "\n".join(_FILLED_IN.sub(COMPUTED_WORD, line[indent:]) for line in body)
    if not script.startswith("#!"):
        plain = "\n".join(re.sub(r"^\s*[@-]{1,2}", "", line) for line in script.split("\n"))
        add_script(plain, began, findings)
        return
    words = script[2:].partition("\n")[0].split()
    programs = [word.rpartition("/")[2] for word in words if not word.startswith("-")]
    program = next((word for word in programs if word != "env"), "")
    if _SHELLS.fullmatch(program):
        add_script(script, began, findings)
    elif program.startswith("python"):
        add_python(script.replace(COMPUTED_WORD, "computed"), began, findings)
    elif program == "node":
        add_javascript(script.replace(COMPUTED_WORD, "computed"), began, findings)
    else:
        findings.unknown(language_key(script.encode()), began, f"a script for {shown(program)}")
