"""The box that asks about a tool (CONSENT §prompt), from its preview alone, in pages for a terminal.

    Tool, description, why asked and what is new, files to be read, files to be written, commands,
    network, environment, limits, risk, impact, estimated duration; three buttons; what to remember

The prompt that reads the answer is elsewhere; here is only what is seen. It needs no colour.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from consentry.cli.boxdrawing import Box, Foot, Glyphs, Row, Section
from consentry.cli.dialogue import SPANS
from consentry.cli.previewdetails import detail_sections, impact_section
from consentry.cli.previewtext import PreviewText
from consentry.cli.promptpages import PromptOptions, PromptPages
from consentry.decide.preview import Preview

TITLE: Final = "Tool Execution Request"
BUTTONS: Final = ("Approve", "Deny", "Details")
DETAIL_BUTTONS: Final = ("Approve", "Deny", "Back")

_NO_PREVIEW: Final = "This level shows no preview; Details has all of it."


def prompt_text(
    preview: Preview,
    width: int,
    height: int,
    options: PromptOptions,
    glyphs: Glyphs,
    about: Mapping[str, str] = MappingProxyType({}),
) -> PromptPages:
    """What is shown of a tool in so many columns and lines: the box, or its details.

    `about` is what the details say of the question itself.
    """
    box = Box(width, glyphs)
    text = PreviewText(preview, box)
    title = f"{glyphs.tool}{TITLE}"
    if options.shows_details:
        asked = [row for name, said in about.items() for row in text.named(name, said)]
        sections, buttons = [asked, *detail_sections(text)], DETAIL_BUTTONS
    else:
        sections, buttons = _sections(text), BUTTONS
    foot = Foot(buttons, _remember(options), options.is_remembered)
    return PromptPages(box.pages(title, [each for each in sections if each], foot, height))


def _sections(text: PreviewText) -> list[Section]:
    if not text.preview.shows_preview:
        return [text.tool(), text.news(), [Row(_NO_PREVIEW)], impact_section(text), text.duration()]
    return [
        text.tool(),
        text.news(),
        text.reading(),
        text.writing(),
        text.commands(),
        text.powers(),
        impact_section(text),
        text.duration(),
    ]


def _remember(options: PromptOptions) -> str | None:
    return None if options.remember is None else f"Remember my choice {SPANS[options.remember]}"
