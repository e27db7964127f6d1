"""Reads what a tool asks for: the block `capabilities` of its manifest (CONSENT §manifest)."""

from functools import partial

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.declare.names import program, variable
from consentry.declare.nodes import Kind
from consentry.declare.pathentries import GrantCheck, PathEntry
from consentry.declare.repeats import without_repeats
from consentry.declare.tool import Capabilities, Command, FileNeed
from consentry.declare.values import Value
from consentry.surface.access import Access
from consentry.surface.dimensions import Level
from consentry.surface.hosts import HostScope
from consentry.surface.lattice import NOTHING, host_access
from consentry.surface.pattern import Anchor, Pattern, Vocabulary
from consentry.surface.targets import Target

_KEYS = ("fileRead", "fileWrite", "processExecution", "networkAccess", "environmentVariables")


class CapabilityReading:
    """The reading of one manifest's capabilities, against the roots that are never granted."""

    def __init__(self, grants: GrantCheck) -> None:
        self._grants = grants

    def capabilities(self, value: Value) -> Capabilities | None:
        """The whole block; what is not there is not asked for."""
        fields = value.fields(_KEYS)
        if fields is None:
            return None
        variables = fields.may("environmentVariables", _variables, ((), ()))
        return Capabilities(
            file_read=fields.may("fileRead", self._needs, ()),
            file_write=fields.may("fileWrite", self._needs, ()),
            commands=fields.may("processExecution", self._commands, ()),
            network=fields.may("networkAccess", network_access, NOTHING.net_access),
            env_read=variables[0],
            env_write=variables[1],
        )

    def command(self, value: Value) -> str | None:
        """A program that is not in a place which is never granted."""
        found = program(value)
        pattern = None if found is None else value.parsed(_command_pattern)
        if found is None or pattern is None:
            return None
        if pattern.anchor is not Anchor.COMMAND:
            self._grants.check(value, PathEntry(pattern, found, value.where))
        return found

    def _needs(self, value: Value) -> tuple[FileNeed, ...] | None:
        return without_repeats(value, self._need, lambda need: need.entry)

    def _need(self, value: Value) -> FileNeed | None:
        fields = value.fields(("pattern", "purpose"))
        if fields is None:
            return None
        purpose = fields.need("purpose", Value.text, "")
        entry = fields.need("pattern", self._pattern, None)
        return None if entry is None else FileNeed(entry, purpose)

    def _pattern(self, value: Value) -> PathEntry | None:
        pattern = value.parsed(_file_pattern)
        if pattern is None:
            return None
        entry = PathEntry(pattern, value.text() or "", value.where)
        self._grants.check(value, entry)
        return entry

    def _commands(self, value: Value) -> tuple[Command, ...] | None:
        # The same command may stand there twice: `run` starts them in order, and LaTeX needs that.
        return value.each(self._command)

    def _command(self, value: Value) -> Command | None:
        fields = value.fields(("command", "arguments", "purpose"))
        if fields is None:
            return None
        purpose = fields.need("purpose", Value.text, "")
        words = fields.may("arguments", arguments, ())
        found = fields.need("command", self.command, None)
        return None if found is None else Command(found, words, purpose, value.where)


def arguments(value: Value) -> tuple[str, ...] | None:
    """A list of texts, each of which may be empty."""
    return value.each(Value.words)


def network_access(value: Value) -> Access[HostScope] | None:
    """`false`, `true`, or a list of targets; an empty list opens nothing."""
    if value.is_list():
        return host_list(value)
    if value.is_kind(Kind.FLAG):
        return host_access(Level.ANY if value.flag() else Level.NONE)
    value.refuse_kind(
        "true, false or a list of hosts", "write false, or a list such as [example.com:443]"
    )
    return None


def host_list(value: Value) -> Access[HostScope] | None:
    """A list of targets; an empty one opens nothing."""
    targets = without_repeats(value, partial(Value.parsed, parse=Target.parse), lambda each: each)
    if not targets:
        return None if targets is None else host_access(Level.NONE)
    return Access(Level.ALLOWLIST, HostScope.of(targets))


def _variables(value: Value) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    fields = value.fields(("read", "write"))
    if fields is None:
        return None
    names = partial(without_repeats, read=variable, key=lambda name: name)
    return fields.may("read", names, ()), fields.may("write", names, ())


def _file_pattern(text: str) -> Pattern:
    pattern = Pattern.parse(text)
    if pattern.anchor is Anchor.MARK:
        raise BadInput(
            Code.SURFACE_PATTERN,
            f"`{text}` stands for any absolute path, which no tool may ask for",
            help_line=f"name the path, or write `./{text}` for a file of that name",
        )
    return pattern


def _command_pattern(text: str) -> Pattern:
    return Pattern.parse(text, Vocabulary.COMMAND)
