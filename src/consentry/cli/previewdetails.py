"""What stands behind a preview: the impact analysis, and the details with nothing left out.

The impact is about what is there now and could be lost, what can be taken back, and what cannot. The
details list every pattern by itself with files it matches, every limit, the whole description, and in
one sentence the very powers that would be remembered.
"""

from typing import Final

from consentry.cli.boxdrawing import Row, Section
from consentry.cli.previewtext import (
    PreviewText,
    counted,
    size_in_words,
    with_note,
)
from consentry.decide.previewfiles import Extent, FileUse
from consentry.declare.tool import ConsentLevel
from consentry.surface.dimensions import Level
from consentry.surface.modes import View, Writes
from consentry.surface.sentence import in_words

MOST_LARGEST: Final = 5


def impact_section(text: PreviewText, most: int = MOST_LARGEST) -> Section:
    """What could be lost and what could be taken back; nothing where it was not asked for."""
    preview, impact = text.preview, text.preview.impact
    if impact is None:
        return []
    rows = [Row("Impact Analysis:", is_heading=True)]
    if impact.files or impact.extent is not Extent.WHOLE:
        least = "" if impact.extent is Extent.WHOLE else "at least "
        files = "1 existing file" if impact.files == 1 else f"{impact.files:,} existing files"
        size = size_in_words(impact.bytes)
        said = text.own_item(f"{least}{files} ({size}) could be changed or deleted:")
        rows += [Row(row.text, is_heading=True) for row in said]
        for each in impact.largest[:most]:
            rows += text.box.rows(
                "       ", f"{text.plain(each.path)} ({size_in_words(each.bytes)})"
            )
        if impact.files > min(most, len(impact.largest)):
            left = impact.files - min(most, len(impact.largest))
            rows += text.box.rows("       ", f"and {left:,} more")
    elif preview.write:
        rows += text.own_item("no file that exists now could be changed or deleted")
    else:
        rows += text.own_item("it can change nothing")
    if preview.write:
        rows += text.own_item(_undo(text))
    if preview.level is ConsentLevel.STRICT and preview.writes is Writes.LAYER:
        rows += text.own_item(
            "a yes runs it apart: you see the real effect, and it lands with a second yes"
        )
    if preview.surface.net_access.level is not Level.NONE:
        rows += text.own_item(
            "what it sends over the network cannot be undone, not even by a no later"
        )
    return rows


def _undo(text: PreviewText) -> str:
    impact = text.preview.impact
    if text.preview.writes is Writes.DIRECT:
        return "nothing of it can be undone: it writes to the files at once"
    if impact is None or impact.kept_for is None:
        return "how long it can be undone is not known"
    return f"`consentry undo` takes it back for {impact.kept_for} afterwards"


def detail_sections(text: PreviewText) -> list[Section]:
    """Everything, each thing by itself."""
    preview = text.preview
    return [
        [
            *text.box.rows("Tool: ", f"{text.plain(preview.tool)} {text.plain(preview.version)}"),
            *text.box.rows("Name: ", text.purpose(preview.display_name)),
            *text.box.rows("Digest: ", preview.digest),
            *text.box.rows("Manifest: ", text.plain(preview.source.file)),
            *text.description(None),
        ],
        _level(text),
        text.news(),
        _listed(text, "Reads:", preview.read, is_read=True),
        _listed(text, "Writes, and reads again:", preview.write, is_read=False),
        _places(text, "System files, for reading:", preview.system_files),
        _places(text, "Closed, whatever opens it:", preview.closed),
        text.commands(),
        text.powers(),
        _places(text, "May hand on these variables:", preview.environment_write),
        _box(text),
        impact_section(text, len(preview.impact.largest) if preview.impact else 0),
        text.duration(),
        _sentence(text),
    ]


def _level(text: PreviewText) -> Section:
    rows = [Row(f"Asked at level {text.preview.level}, because:", is_heading=True)]
    for reason in text.preview.level_reasons:
        rows += text.item(text.safe(reason))
    return rows if text.preview.level_reasons else []


def _listed(
    text: PreviewText, heading: str, uses: tuple[FileUse, ...], *, is_read: bool
) -> Section:
    if not uses:
        return []
    rows = [Row(heading, is_heading=True)]
    for use in uses:
        found = use.found
        fact = text.plain(use.pattern) + counted(found, use.pattern, is_read=is_read)
        rows += text.item(with_note(fact, text.purpose(use.purpose)))
        if found.examples == (use.pattern,):
            continue
        for each in found.examples:
            rows += text.box.rows("       ", text.plain(each))
        if found.files > len(found.examples):
            rows += text.box.rows("       ", f"and {found.files - len(found.examples):,} more")
    return rows


def _places(text: PreviewText, heading: str, places: tuple[str, ...]) -> Section:
    if not places:
        return []
    return [
        Row(heading, is_heading=True),
        *(row for each in places for row in text.item(text.plain(each))),
    ]


def _box(text: PreviewText) -> Section:
    preview = text.preview
    view = {
        View.PRIVATE: "what is not listed does not exist for it",
        View.VISIBLE: "it can see the names of files that it cannot open",
    }
    writes = {
        Writes.LAYER: "what it writes is taken over when it ends",
        Writes.DIRECT: "what it writes is in the files at once",
    }
    return [
        *text.box.rows("Profile: ", text.plain(preview.profile)),
        *text.box.rows("View: ", f"{preview.view}; {view[preview.view]}"),
        *text.box.rows("Writes: ", f"{preview.writes}; {writes[preview.writes]}"),
    ]


def _sentence(text: PreviewText) -> Section:
    words = in_words(text.preview.surface, text.letters)
    return [Row("What a remembered yes would cover:", is_heading=True), *text.item(words)]
