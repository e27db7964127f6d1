"""Recipes of images: what they build on, what they run and fetch while building, and what they start.

Paths in them are those of the image, which is made from nothing else than what the recipe says: they
are no paths of the tree or the machine, and are left out. Copying from the tree adds nothing. What is
run, fetched, seen or loaded counts as it does anywhere.
"""

import re
from collections.abc import Iterator
from typing import Final

from consentry.base.values import dataclass
from consentry.declare.nodes import Items
from consentry.examine.atoms import ANYTHING, Extraction, starting
from consentry.examine.constanttargets import variable_atom
from consentry.examine.dependencies.codeparts import add_python, add_script, add_words
from consentry.examine.dependencies.findings import Findings, language_key, reader
from consentry.examine.dependencies.jsontext import json_document
from consentry.examine.dependencies.nodewalk import scalars_in
from consentry.examine.dependencies.packages import add_image, shown
from consentry.surface.dimensions import Dimension

_ESCAPE: Final = re.compile(r"#\s*escape\s*=\s*(\S)", re.IGNORECASE)
_SYNTAX: Final = re.compile(r"#\s*syntax\s*=\s*(\S+)", re.IGNORECASE)
_HEREDOC: Final = re.compile(r"<<(-?)([\"']?)([A-Za-z_][\w.]*)\2")
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)(?::[-+]([^{}]*))?\}|(\w+))")
_SET: Final = re.compile(r"(?:^|\s)([A-Za-z_]\w*)(?:=|\s|$)")
_ADDRESS: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*://|git@)", re.IGNORECASE)
_FILES: Final = (Dimension.FS_READ_ROOTS, Dimension.FS_WRITE_ROOTS)
_SHELLS: Final = ("sh", "bash", "ash", "dash", "zsh", "ksh")


@dataclass(frozen=True, slots=True)
class _Instruction:
    word: str
    rest: str
    line: int
    bodies: tuple[str, ...]
    """The texts of the here-documents that follow it."""
    behind: str
    """Those texts with the lines that end them, as a shell would read them."""


@reader
def extract_dockerfile(text: str, findings: Findings) -> None:
    """Reads `Dockerfile` and `Containerfile`."""
    inner = Findings()
    recipe = _Recipe(inner)
    recipe.read(text)
    part = inner.extraction()
    own = {variable_atom(name) for name in recipe.variables}
    outside = tuple(
        found
        for found in part.found
        if found.atom.dimension not in _FILES and found.atom not in own
    )
    findings.include(Extraction(outside, part.unclassified, part.imports))


class _Recipe:
    """What was said so far: arguments, names of stages, the shell."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._arguments: dict[str, str] = {}
        self._stages: set[str] = set()
        self.variables: set[str] = set()
        """Names that the recipe itself gives a value to: no variables of whoever builds."""
        self._shell: tuple[str, ...] = ("/bin/sh", "-c")

    def read(self, text: str) -> None:
        """All instructions, in order."""
        syntax = _directive(_SYNTAX, text)
        if syntax:
            add_image(syntax, 1, self._findings)
        for each in _instructions(text, _directive(_ESCAPE, text) or "\\"):
            self._take(each)

    def _take(self, each: _Instruction) -> None:
        match each.word:
            case "ONBUILD":
                word, _, rest = each.rest.strip().partition(" ")
                inner = _Instruction(word.upper(), rest, each.line, each.bodies, each.behind)
                if inner.word != each.word:
                    self._take(inner)
            case "FROM":
                self._take_from(each)
            case "ARG":
                name, has_value, value = each.rest.partition("=")
                self._arguments[name.strip()] = value.strip().strip("\"'") if has_value else ""
                self.variables.add(name.strip())
            case "ENV":
                self.variables.update(_SET.findall(each.rest))
            case "RUN" | "CMD" | "ENTRYPOINT":
                self._take_run(each, each.rest)
            case "HEALTHCHECK":
                _, has_command, command = each.rest.partition("CMD")
                if has_command:
                    self._take_run(each, command.strip())
            case "ADD" | "COPY":
                self._take_copy(each)
            case "SHELL":
                self._shell = _words_of(each.rest) or self._shell

    def _take_from(self, each: _Instruction) -> None:
        words = [word for word in each.rest.split() if not word.startswith("--")]
        if not words:
            return
        image = self._filled_in(words[0])
        if image.lower() not in self._stages:
            add_image(image, each.line, self._findings)
        if len(words) > 2 and words[1].lower() == "as":  # noqa: PLR2004 - image, `as`, name
            self._stages.add(words[2].lower())

    def _take_copy(self, each: _Instruction) -> None:
        for word in each.rest.split():
            option, _, value = word.partition("=")
            if option == "--from":
                source = self._filled_in(value)
                if source.lower() not in self._stages and not source.isdigit():
                    add_image(source, each.line, self._findings)
            elif each.word == "ADD" and _ADDRESS.match(self._filled_in(word)):
                url = self._filled_in(word)
                self._findings.address(url, each.line, f"ADD {shown(url)}")

    def _take_run(self, each: _Instruction, rest: str) -> None:
        command = rest
        while command.startswith("--"):
            option, _, command = command.partition(" ")
            self._take_option(option, each.line)
            command = command.lstrip()
        words = _words_of(command)
        if words:
            add_words(words, each.line, self._findings)
        elif each.bodies and _HEREDOC.fullmatch(command.strip()):
            self._take_script(each.bodies[0], each.line + 1)
        else:
            self._take_script(command + each.behind, each.line)

    def _take_option(self, option: str, line: int) -> None:
        if option == "--security=insecure":
            self._findings.power(starting(ANYTHING), line, option)
        settings = dict(part.partition("=")[::2] for part in option.partition("=")[2].split(","))
        source = settings.get("from")
        if option.startswith("--mount") and source and source.lower() not in self._stages:
            add_image(self._filled_in(source), line, self._findings)
        if settings.get("type") == "secret":
            name = settings.get("env") or settings.get("id")
            self._findings.power(variable_atom(name), line, f"secret {shown(name or '')}")

    def _take_script(self, script: str, line: int) -> None:
        shell = self._shell
        if script.startswith("#!"):
            shell = tuple(script[2:].partition("\n")[0].split())
        program = (shell[0] if shell else "sh").rpartition("/")[2]
        if program == "env" and len(shell) > 1:
            program = shell[1]
        if program in _SHELLS:
            add_script(script, line, self._findings)
        elif program.startswith("python"):
            add_python(script, line, self._findings)
        else:
            key = language_key(script.encode())
            self._findings.unknown(key, line, f"this is a script for {shown(program)}")

    def _filled_in(self, text: str) -> str:
        def value(found: re.Match[str]) -> str:
            known = self._arguments.get(found[1] or found[3] or "", "")
            return known or found[2] or found[0]

        return _VARIABLE.sub(value, text.strip("\"'"))


def _words_of(text: str) -> tuple[str, ...]:
    """The words of the form that is a list in JSON; nothing where it is not that form."""
    if not text.lstrip().startswith("["):
        return ()
    try:
        node = json_document(text.replace("\\\n", "\n"))
    except ValueError:
        return ()
    return tuple(each.text for each in scalars_in(node)) if isinstance(node, Items) else ()


def _directive(form: re.Pattern[str], text: str) -> str | None:
    """The value of a comment at the very top that is more than a comment."""
    for line in text.split("\n")[:10]:
        if not line.startswith("#"):
            return None
        found = form.match(line)
        if found is not None:
            return found[1]
    return None


def _instructions(text: str, escape: str) -> Iterator[_Instruction]:
    lines = [line.rstrip("\r") for line in text.split("\n")]
    at = 0
    while at < len(lines):
        began = at
        parts: list[str] = []
        while at < len(lines):
            line = lines[at]
            at += 1
            if line.lstrip().startswith("#") or (parts and not line.strip()):
                continue
            goes_on = line.rstrip().endswith(escape)
            parts.append(line.rstrip()[:-1] if goes_on else line)
            if not goes_on:
                break
        # A line break inside keeps the numbers of the lines that follow right.
        whole = " \\\n".join(parts).strip() if escape == "\\" else " ".join(parts).strip()
        if not whole:
            continue
        word, rest = (*whole.split(None, 1), "")[:2]
        bodies: list[str] = []
        behind: list[str] = []
        for found in (
            _HEREDOC.finditer(rest) if word.upper() in ("RUN", "COPY", "ADD", "ONBUILD") else ()
        ):
            ends = at
            while ends < len(lines) and _unindented(lines[ends], found[1]) != found[3]:
                ends += 1
            bodies.append("\n".join(_unindented(line, found[1]) for line in lines[at:ends]))
            behind += lines[at : ends + 1]
            at = ends + 1
        after = "".join(f"\n{line}" for line in behind)
        yield _Instruction(word.upper(), rest, began + 1, tuple(bodies), after)


def _unindented(line: str, dash: str) -> str:
    return line.lstrip("\t") if dash else line
