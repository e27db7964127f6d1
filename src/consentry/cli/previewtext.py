"""The sections of a preview as rows: what is ours in our words, what is the author's between quotes.

Facts stand first and come from the surface. An author's purpose stands behind them in double quotes
that it cannot close, so that `(7 files)` without quotes is always ours; a pattern or argument with
anything but plain letters in it stands in quotes of its own. Patterns, programs, arguments and hosts
are never shortened: they are what the answer is about.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from consentry.base.safetext import LEAST_WIDTH, safe_block, safe_line
from consentry.cli.boxdrawing import Box, Row, Section
from consentry.cli.estimatetext import estimate_in_words
from consentry.cli.layout import columns_of
from consentry.decide.preview import Preview
from consentry.decide.previewfiles import Extent, FileUse, Found
from consentry.decide.previewparts import CommandPart, CommandUse
from consentry.declare.profile import DeclaredLimits
from consentry.declare.tool import Origin
from consentry.surface.access import Access
from consentry.surface.dimensions import Level
from consentry.surface.hosts import HostScope
from consentry.surface.patterns import PatternScope
from consentry.surface.quoting import quoted_one
from consentry.surface.sentence import gain_in_words

MOST_PURPOSE: Final = 80
MOST_DESCRIPTION_ROWS: Final = 8

_PLAIN = re.compile(r"[A-Za-z0-9._/*?~+@=-]+")
_PLAIN_ARGUMENT = re.compile(r"[A-Za-z0-9._/*?~+@=:,%-]+")
_KILO: Final = 1024
_PAIR: Final = 2
_APART: Final = "   "


class PreviewText:
    """The sections of one preview, for one box."""

    def __init__(self, preview: Preview, box: Box) -> None:
        self.preview = preview
        self.box = box
        self.letters = box.glyphs.letters

    def tool(self) -> Section:
        """Its name and version, and what its author says it does."""
        preview = self.preview
        name = f"{self.plain(preview.tool)} {self.plain(preview.version)}"
        return [*self.box.rows("Tool: ", name), *self.description(MOST_DESCRIPTION_ROWS)]

    def description(self, most: int | None) -> list[Row]:
        """The author's words in a frame of their own, which says where they come from."""
        heading = "Description: "
        # Beside its heading where there is room for a frame, else below it.
        start = heading if self.box.room - len(heading) >= LEAST_WIDTH else ""
        block = safe_block(
            self.preview.description,
            origin=self.preview.source.file,
            width=self.box.room - len(start),
            rows=most,
            letters=self.letters,
        )
        # Each row of the frame begins with its bar; the row that only ends it says nothing more.
        first, *rows = block.split("\n")[:-1]
        opened = [Row(start + first)] if start else [Row(heading, is_heading=True), Row(first)]
        return [*opened, *(Row(" " * len(start) + row) for row in rows)]

    def news(self) -> Section:
        """Why it is asked, and what is new since a person last agreed."""
        preview, last = self.preview, self.preview.last_consent
        rows = [
            row
            for why in preview.asked_because
            for row in self.box.rows("Asked because: ", self.safe(why))
        ]
        if last is None:
            return rows
        rows.append(Row("New since the last consent:", is_heading=True))
        if last.version != preview.version:
            before, now = self.plain(last.version), self.plain(preview.version)
            rows += self.item(f"version {now}, it was {before}")
        elif last.digest != preview.digest:
            rows += self.own_item("its manifest or its programs, at the same version")
        gains = preview.gains or ()
        for gain in gains:
            rows += self.item(f"may {gain_in_words(gain, self.letters)}")
        return rows if gains else [*rows, *self.own_item("no power that was not agreed to")]

    def reading(self) -> Section:
        """Files to be read."""
        return self._files(f"{self.box.glyphs.reading}Files to be Read:", self.preview.read)

    def writing(self) -> Section:
        """Files to be written."""
        heading = f"{self.box.glyphs.writing}Files to be Written/Modified:"
        return self._files(heading, self.preview.write)

    def _files(self, heading: str, uses: Sequence[FileUse]) -> Section:
        if not uses:
            return [Row(f"{heading} none")]
        is_read = uses is self.preview.read
        rows = [Row(heading, is_heading=True)]
        for group in _grouped(uses):
            folder = group[0].pattern.rpartition("/")[0]
            names = [
                group[0].pattern,
                *(use.pattern.removeprefix(f"{folder}/") for use in group[1:]),
            ]
            shown = [
                f"{self.plain(name)}{counted(use.found, name, is_read=is_read)}"
                for use, name in zip(group, names, strict=True)
            ]
            rows += self.item(with_note(", ".join(shown), self.purpose(group[0].purpose)))
        return rows

    def commands(self) -> Section:
        """Programs with their arguments."""
        preview = self.preview
        heading = f"{self.box.glyphs.commands}External Commands:"
        is_any = preview.surface.proc_exec.level is Level.ANY
        if not (preview.commands or is_any):
            return [Row(f"{heading} none")]
        rows = [Row(heading, is_heading=True)]
        for use in preview.commands:
            rows += self.item(self.command(use))
        return [*rows, *self.item("any program")] if is_any else rows

    def command(self, use: CommandUse) -> str:
        """One program with its arguments, on one line."""
        words = " ".join(map(self.argument, (use.program, *use.arguments)))
        line = words if use.part is CommandPart.STARTED else f"may start {words}"
        return line if use.purpose is None else with_note(line, self.purpose(use.purpose))

    def powers(self) -> Section:
        """Network, environment, limits and risk, a line each."""
        preview, surface = self.preview, self.preview.surface
        rows = self.box.rows("Network: ", self._targets(surface.net_access, "any host"))
        for secret in preview.secrets:
            rows += self.box.rows("  with your secret: ", self.safe(secret))
        rows = self._joined(
            rows,
            self.box.rows("Environment: ", self._targets(surface.env_read, "every variable")),
        )
        rows += self.box.own("Limits: ", limits_in_words(preview.limits))
        said = f"{preview.risk} (its author's word), level {preview.level}, {self._trust()}"
        return [*rows, *self.box.own("Risk: ", said)]

    def _joined(self, rows: list[Row], others: list[Row]) -> list[Row]:
        """On one row, where each has one and both fit."""
        texts = [row.text for row in (*rows, *others)]
        is_short = len(texts) == _PAIR and columns_of(_APART.join(texts)) <= self.box.room
        return [Row(_APART.join(texts))] if is_short else [*rows, *others]

    def _trust(self) -> str:
        source = self.preview.source
        if source.origin is Origin.OWN:
            return "your own manifest"
        return "accepted manifest" if source.is_accepted else "manifest not accepted"

    def _targets(self, access: Access[HostScope] | Access[PatternScope], anything: str) -> str:
        if access.level is Level.ANY:
            return anything
        return ", ".join(map(self.argument, access.targets)) or "none"

    def duration(self) -> Section:
        """How long it took before."""
        words = estimate_in_words(self.preview.estimate)
        return [Row(f"{self.box.glyphs.duration}Estimated Duration: {words}")]

    def item(self, text: str) -> list[Row]:
        """One point of a list."""
        return self.box.rows(f"   {self.box.glyphs.bullet} ", text)

    def named(self, name: str, said: str) -> list[Row]:
        """One fact behind its name."""
        return self.box.rows(f"{name}: ", self.safe(said))

    def own_item(self, text: str) -> list[Row]:
        """One point that is all our own words."""
        return self.box.own(f"   {self.box.glyphs.bullet} ", text)

    def safe(self, text: str) -> str:
        """Any text on one line."""
        return safe_line(text, letters=self.letters)

    def plain(self, text: str) -> str:
        """A name as it is, or between backticks where it is not plain."""
        return text if _PLAIN.fullmatch(text) else f"`{quoted_one(text, self.letters)}`"

    def argument(self, text: str) -> str:
        """A word of a command as it is, or between quotes where that is needed to see its end."""
        if _PLAIN_ARGUMENT.fullmatch(text):
            return text
        inside = self.safe(text).replace("'", "\\u{27}")
        return f"'{inside}'"

    def purpose(self, text: str | None) -> str:
        """What for, in the author's words; ours where a profile opens it."""
        if text is None:
            return "opened by the profile"
        shown = safe_line(text, limit=MOST_PURPOSE, letters=self.letters)
        return '"' + shown.replace('"', "\\u{22}") + '"'


def with_note(fact: str, note: str) -> str:
    """What for, in parentheses of its own behind the fact."""
    return f"{fact} ({note})"


def counted(found: Found, name: str, *, is_read: bool) -> str:
    """How many files a pattern matches, where that says something."""
    if found.extent is Extent.NOT_COUNTED:
        return " (not counted)" if _is_wild(name) else ""
    if not _is_wild(name):
        return " (not there now)" if is_read and not found.files else ""
    if found.extent is Extent.AT_LEAST:
        return f" (at least {found.files:,} files)"
    if not found.files:
        return " (no files)" if is_read else ""
    return " (1 file)" if found.files == 1 else f" ({found.files:,} files)"


def _is_wild(name: str) -> bool:
    return name.endswith("/") or "*" in name or "?" in name


def _grouped(uses: Sequence[FileUse]) -> Iterator[list[FileUse]]:
    """Neighbours in one folder and with one purpose together; no name that could be misread."""
    group: list[FileUse] = []
    for use in uses:
        if group and not (_is_like(group[0], use)):
            yield group
            group = []
        group.append(use)
    if group:
        yield group


def _is_like(one: FileUse, other: FileUse) -> bool:
    folder = one.pattern.rpartition("/")[0]
    return (
        one.purpose is not None
        and one.purpose == other.purpose
        and bool(folder)
        and folder == other.pattern.rpartition("/")[0]
        and not one.pattern.endswith("/")
        and not other.pattern.endswith("/")
        and all(_PLAIN.fullmatch(each.pattern) for each in (one, other))
    )


def limits_in_words(limits: DeclaredLimits) -> str:
    """Those that there are."""
    said = (
        ("of processor time", None if limits.cpu is None else limits.cpu.in_seconds()),
        ("of memory", limits.memory),
        ("processes", limits.processes),
        ("in one file", limits.file_size),
        ("written in all", limits.written),
        ("in all", limits.timeout),
    )
    found = [f"{value} {what}" for what, value in said if value is not None]
    return ", ".join(found) or "the engine's own"


def size_in_words(count: int) -> str:
    """Bytes as people read them: `240 KB`."""
    if count < _KILO:
        return "1 byte" if count == 1 else f"{count} bytes"
    size, unit = count / _KILO, "KB"
    for larger in ("MB", "GB"):
        if size >= _KILO:
            size, unit = size / _KILO, larger
    return f"{size:.1f} {unit}"
