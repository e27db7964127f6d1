"""A tool manifest that is being written: what a tool needs, and how it is spelled.

The text is made for a person to go on with: a purpose that is not known says that it is to be filled in,
and remarks call out what deserves a look. Whatever comes from a run or from a project's files is a
stranger's text; it is spelled so that it can neither end a quotation nor a remark.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from consentry.base.values import dataclass
from consentry.declare.tool import RiskLevel

TO_FILL_IN: Final = "to fill in"
"""How a purpose or description begins that nobody has stated yet."""


@dataclass(frozen=True, slots=True)
class DraftPattern:
    """Files by a pattern; `seen` says what was seen of them, `remark` why they deserve a look."""

    pattern: str
    seen: str = ""
    remark: str | None = None
    stated: str | None = None

    @property
    def purpose(self) -> str:
        """As far as it is known."""
        return _purpose(self.stated, self.seen)


@dataclass(frozen=True, slots=True)
class DraftCommand:
    """A program that was started, or will be."""

    command: str
    seen: str = ""
    stated: str | None = None

    @property
    def purpose(self) -> str:
        """As far as it is known."""
        return _purpose(self.stated, self.seen)


def _purpose(stated: str | None, seen: str) -> str:
    return f"{TO_FILL_IN}: {seen}" if stated is None else stated


@dataclass(frozen=True, slots=True)
class ManifestDraft:
    """All that goes into the document; `refused` are remarks on what was not given, `heading` is one."""

    name: str
    command: str
    arguments: tuple[str, ...]
    folder: str = "."
    read: tuple[DraftPattern, ...] = ()
    write: tuple[DraftPattern, ...] = ()
    commands: tuple[DraftCommand, ...] = ()
    hosts: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    cpu_seconds: int | None = None
    memory_megabytes: int | None = None
    refused: tuple[str, ...] = ()
    description: str = f"{TO_FILL_IN}: what it is for"
    heading: tuple[str, ...] = ()

    @property
    def risk(self) -> RiskLevel:
        """By what it does: looks, changes files, or talks to others."""
        if self.hosts:
            return RiskLevel.HIGH
        return RiskLevel.MEDIUM if self.write or self.commands else RiskLevel.LOW

    def text(self) -> str:
        """The whole document."""
        return "\n".join(self._lines()) + "\n"

    def _lines(self) -> Iterator[str]:
        yield from (f"# {as_remark(line)}" for line in self.heading)
        yield "tool:"
        yield f"  name: {quoted(self.name)}"
        yield f"  description: {quoted(self.description)}"
        yield '  version: "0.1.0"'
        yield "  capabilities:"
        yield from _list("    fileRead", pattern_items(self.read, "      "))
        yield from _list("    fileWrite", pattern_items(self.write, "      "))
        yield from _list("    processExecution", command_items(self.commands, "      "))
        yield f"    networkAccess: {flow(self.hosts) if self.hosts else 'false'}"
        yield "    environmentVariables:"
        yield f"      read: {flow(self.environment)}"
        yield "      write: []"
        yield f"  riskLevel: {self.risk}"
        yield "  sandboxRequirements:"
        yield "    isolateFileSystem: true"
        yield "    restrictNetwork: true"
        if self.cpu_seconds is not None:
            yield f"    limitCPU: {self.cpu_seconds}s"
        if self.memory_megabytes is not None:
            yield f"    limitMemory: {self.memory_megabytes}MB"
        yield "  consentLevel: explicit"
        yield "  entrypoint:"
        yield f"    command: {quoted(self.command)}"
        yield f"    arguments: {flow(self.arguments)}"
        yield f"    workingDirectory: {quoted(self.folder)}"
        if self.refused:
            yield "# Refused while it was watched; name it on the line, and learn again, if it is needed:"
            yield from (f"#   {as_remark(each)}" for each in self.refused)


def pattern_items(entries: Sequence[DraftPattern], indent: str) -> Iterator[str]:
    """The lines of a list of patterns."""
    for each in entries:
        if each.remark is not None:
            yield f"{indent}# look at this: {as_remark(each.remark)}"
        yield f"{indent}- pattern: {quoted(each.pattern)}"
        yield f"{indent}  purpose: {quoted(each.purpose)}"


def command_items(entries: Sequence[DraftCommand], indent: str) -> Iterator[str]:
    """The lines of a list of programs."""
    for each in entries:
        yield f"{indent}- command: {quoted(each.command)}"
        yield f"{indent}  arguments: []"
        yield f"{indent}  purpose: {quoted(each.purpose)}"


def flow(items: Sequence[str]) -> str:
    """A list on one line."""
    return f"[{', '.join(map(quoted, items))}]"


def quoted(text: str) -> str:
    r"""A text in double quotes; what does not print, or would end the quotation, as `\x`, `\u`, `\U`."""
    return f'"{"".join(map(_letter, text))}"'


def as_remark(text: str) -> str:
    """A text on one line, with nothing in it that a reader could take for another one."""
    return "".join(letter if letter.isprintable() else _letter(letter) for letter in text)


def _letter(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    number = ord(letter)
    if number < 1 << 8:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"


def _list(key: str, items: Iterator[str]) -> Iterator[str]:
    lines = list(items)
    yield f"{key}:" if lines else f"{key}: []"
    yield from lines
