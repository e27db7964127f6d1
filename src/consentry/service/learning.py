"""Watches a command in a rehearsal, and writes the narrowest manifest that would do for it.

It may read and write the whole workspace and start any program, so that it gets as far as it can; what
it writes is kept as a rehearsal and reaches nothing by itself. It has no network unless the line names
hosts: what was sent cannot be taken back. A manifest that is there grows, and is never replaced.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, UsageProblem
from consentry.base.values import dataclass, replace
from consentry.declare.manifestmerge import Merged, merged
from consentry.declare.names import is_program, is_tool_name
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.enforce.configescapes import config_escapes
from consentry.enforce.layer import FileType
from consentry.enforce.native.streamends import Io
from consentry.service.binding import ANY, workspace_here
from consentry.service.commandline import RunWish
from consentry.service.execution import carry_out
from consentry.service.learned import Learned, Touched, learned_from, name_from
from consentry.service.placedfile import make_folders, place_new, replace_whole
from consentry.service.programsearch import find_program
from consentry.service.protection import protected_here
from consentry.service.runledger import Run
from consentry.service.surroundings import Surroundings
from consentry.service.takeover import Arrival
from consentry.service.userfiles import read_named
from consentry.surface.sensitive import sensitive_names

FOLDER: Final = ".consentry/tools"

_MOST_LOOKED_AT: Final = 20_000
_PASSED_OVER: Final = frozenset({".git", "node_modules", ".venv", "__pycache__"})


@dataclass(frozen=True, slots=True)
class LearnWish:
    """What is to be watched, and where the manifest goes; without `out`, into the workspace."""

    run: RunWish
    name: str | None = None
    out: str | None = None


@dataclass(frozen=True, slots=True)
class Lesson:
    """What was learned: the run, the draft, and the document; `file` is None where it was only made."""

    run: Run
    learned: Learned
    text: str
    file: Path | None
    added: tuple[str, ...]
    is_new: bool

    @property
    def would_change(self) -> bool:
        """Whether the rehearsal has anything to commit."""
        rehearsal = self.run.facts.impact.rehearsal
        return rehearsal is not None and any(dict(rehearsal.counts).values())


STANDARD_OUTPUT: Final = "-"


def learn(wish: LearnWish, around: Surroundings, io: Io, workspace: str | None = None) -> Lesson:
    """Runs it watched, and writes or extends its manifest; raises before the run where it cannot."""
    root = workspace_here(around, workspace)
    name = wish.name or name_from(_named_by(wish.run.words, around))
    if not is_tool_name(name):
        raise UsageProblem(
            Code.USAGE,
            f"`{name}` is not a name for a tool",
            help_line="use a to z, digits, `.`, `-` and `_`, at most 64",
        )
    if not is_program(wish.run.words[0]):
        raise UsageProblem(
            Code.USAGE,
            f"no manifest can name the program `{wish.run.words[0]}`",
            help_line="call it by a name without `*`, `?`, `=` and backslashes",
        )
    file = _file_of(wish, name, root, around)
    before = _before(file, around)
    sensitive = tuple(_sensitive_files(root))
    watched = replace(wish.run, write=(*wish.run.write, str(root)), execute=(ANY,))
    run = carry_out(watched, around, io, workspace=workspace, arrival=Arrival.WHEN_COMMITTED)
    learned = learned_from(
        run.entry,
        name=name,
        given=wish.run.environment,
        there=sensitive,
        touched=tuple(_touched(run, root)),
        command_of=_Naming(around).command,
    )
    if before is None:
        result = Merged(learned.draft.text(), ())
    else:
        result = merged(before, str(file), learned.draft, roots=protected_here(around))
    if file is not None and (before is None or result.added):
        _write(file, result.text.encode(), is_new=before is None)
    return Lesson(run, learned, result.text, file, result.added, is_new=before is None)


def _named_by(words: tuple[str, ...], around: Surroundings) -> str:
    """The script that an interpreter is given, or the program itself."""
    for word in words[1:]:
        if not word.startswith("-"):
            is_script = "\0" not in word and ((around.cwd or Path("/")) / word).is_file()
            return word if is_script else words[0]
    return words[0]


def _file_of(wish: LearnWish, name: str, root: Path, around: Surroundings) -> Path | None:
    if wish.out == STANDARD_OUTPUT:
        return None
    if wish.out is None:
        folder = root / FOLDER
        if folder.resolve() != root.resolve() / FOLDER:
            # The workspace may be a stranger's, links in it included.
            raise UsageProblem(
                Code.FILE_UNUSABLE,
                f"`{FOLDER}` is a link, or lies behind one, and leads elsewhere",
                help_line="name the file with --out",
            )
        return folder / f"{name}.yaml"
    named = (around.cwd or root) / wish.out
    if named.suffix not in (".yaml", ".yml"):
        raise UsageProblem(
            Code.FILE_UNUSABLE,
            f"`{wish.out}` is not the name of a YAML file",
            help_line="let it end in .yaml, or write `--out -`",
        )
    if not named.parent.is_dir():
        message = f"`{wish.out}`: there is no folder `{named.parent}`"
        raise UsageProblem(Code.FILE_UNUSABLE, message, help_line="make it first")
    return named


def _before(file: Path | None, around: Surroundings) -> bytes | None:
    """The document that is there, if it is one; said before anything runs."""
    if file is None or not os.path.lexists(file):
        return None
    content = read_named(str(file))
    read_tool_manifest(content, str(file), roots=protected_here(around))
    return content


def _sensitive_files(root: Path) -> Iterator[str]:
    """Files of the workspace with names that often hold secrets, as far as a look is cheap."""
    known, seen = sensitive_names(), 0
    for folder, folders, names in os.walk(root):
        if folder != str(root) and os.path.basename(folder) in _PASSED_OVER:  # noqa: PTH119 - as below
            folders.clear()  # what lies in it is looked at, what lies below it is not
        seen += len(names) + len(folders)
        if seen > _MOST_LOOKED_AT:
            return
        for name in names:
            inside = os.path.relpath(os.path.join(folder, name), root)  # noqa: PTH118 - many of them
            if known.why(inside) is not None and _is_text(inside):
                yield inside


def _touched(run: Run, root: Path) -> Iterator[Touched]:
    """Names of the workspace; what is there now was there before, because a rehearsal changes nothing.

    What may not be written is no need, though the layer took it.
    """
    for place in run.outcome.touched:
        inside = os.path.relpath(place, root)
        if _is_text(inside) and not Path(place).is_dir() and not _is_obeyed(inside):
            yield Touched(inside, was_there=os.path.lexists(place))


def _is_obeyed(path: str) -> bool:
    """Whether other programs obey that name, so that it is written only where a person spells it out."""
    names = os.fsencode(path).split(b"/")
    kinds = (FileType.FILE, FileType.FOLDER, FileType.LINK)
    return any(any(config_escapes().hits(names, kind)) for kind in kinds)


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Naming:
    """How programs are called in a document: by their names where these are found on PATH."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around

    def command(self, path: str, word: str) -> str:
        name = os.path.basename(word)  # noqa: PTH119 - what is typed is no Path yet
        for each in dict.fromkeys((name, os.path.basename(path))):  # noqa: PTH119 - as above
            with suppress(ConsentryError):
                if os.path.realpath(find_program(each, self._around)) == os.path.realpath(path):
                    return each
        return path


def _write(file: Path, content: bytes, *, is_new: bool) -> None:
    """A new file never replaces one; one that was read before is replaced whole or not at all."""
    if is_new:
        if file.parts[-3:-1] == tuple(FOLDER.split("/")):
            make_folders(file.parent, 0o777)
        place_new(str(file), content)
        return
    replace_whole(file, content)
