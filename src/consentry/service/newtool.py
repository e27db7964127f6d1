"""Writes the manifest of a new tool: one that asks for nothing yet, and says what is to be filled in."""

from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.declare.manifestdraft import ManifestDraft
from consentry.declare.names import is_program, is_tool_name
from consentry.declare.starters import Place
from consentry.declare.toolindex import usual_file
from consentry.service.beginning import put_together
from consentry.service.surroundings import Surroundings
from consentry.service.tooltable import INDEX_FILE

_HEADING = (
    "Asks for nothing yet: add what it reads, writes, starts and reaches, each with its purpose.",
    "`consentry schema tool` has the keys; `consentry learn` can watch it and fill them in.",
)


def write_new_tool(
    around: Surroundings,
    name: str,
    command: tuple[str, ...],
    place: Place,
    *,
    workspace_named: str | None = None,
) -> tuple[Path, bool]:
    """Writes it, and returns the file and whether an index there has yet to name it.

    Without a command, the tool is the program of the same name. Never overwrites.
    """
    words = command or (name,)
    if not is_tool_name(name):
        raise UsageProblem(
            Code.USAGE,
            f"`{name}` is not a name for a tool",
            help_line="use a to z, digits, `.`, `-` and `_`, at most 64",
        )
    if not is_program(words[0]):
        raise UsageProblem(
            Code.USAGE,
            f"no manifest can name the program `{words[0]}`",
            help_line="call it by a name without `*`, `?`, `=` and backslashes",
        )
    draft = ManifestDraft(name, words[0], words[1:], heading=_HEADING)
    folder = put_together(
        around, place, {usual_file(name): draft.text().encode()}, workspace_named=workspace_named
    )
    return folder / usual_file(name), (folder / INDEX_FILE).exists()
