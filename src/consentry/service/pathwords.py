"""What the product says about one path: is it protected, by which rule, and why.

The path is looked at as it is spelled and with links resolved, because a grant is bound to what a
link leads to. Whether it exists does not matter for the answer; nothing is opened.
"""

import os
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import BadInput, UsageProblem
from consentry.service.places import is_folder
from consentry.service.protection import protected_here
from consentry.service.surroundings import Surroundings, own_home, resolved
from consentry.service.words import Word, WordKind
from consentry.surface.pattern import Anchor, Pattern, Wildcard
from consentry.surface.protected import ProtectedRoot, ProtectedRoots

_SHOWN = 8


def is_path(text: str) -> bool:
    """Whether a word is meant as a path: absolute, or below the own home folder."""
    return text.startswith(("/", "~/")) or text == "~"


def explain_path(text: str, around: Surroundings) -> Word:
    """The path as a word.

    Raises `UsageProblem` when `~` is used and no home folder is known, and for a path whose
    spelling as a pattern is longer than a pattern may be; a `*` in a name takes two characters.
    """
    spelled = _expanded(text, around)
    real = resolved(spelled)
    for path in (spelled, real):
        _check_nameable(path)
    table = protected_here(around, spelled, real)
    details: list[tuple[str, str]] = []
    if real != spelled:
        details.append(("leads to", str(real)))
    row = table.over(_exactly(spelled)) or table.over(_exactly(real))
    if row is not None:
        summary, more = _protected(table, row, real)
    elif is_folder(real):
        # The homes of other accounts would only make the list long.
        usual = protected_here(around)
        summary, more = _folder(usual.within(_and_below(real)))
    else:
        summary, more = _OPEN, []
    return Word(text, WordKind.PATH, summary, (*details, *more, _source(table)))


_OPEN = "in no protected root; a grant may open it"


def _expanded(text: str, around: Surroundings) -> Path:
    if text.startswith("~"):
        home = own_home(around).path
        if home is None:
            message = f"`{text}` is below your home folder, and none is known"
            raise UsageProblem(
                Code.SETTING_VALUE, message, help_line="set HOME to an absolute path"
            )
        text = f"{home}{text[1:]}"
    # `..` is removed as it stands; where it would cross a link, the resolved path tells.
    return Path("/" + os.path.normpath(text).lstrip("/"))


def _check_nameable(path: Path) -> None:
    try:
        _and_below(path)
    except BadInput as problem:
        # The text may be a megabyte: its length says more than itself.
        message = f"a path of {len(str(path))} characters is too long to be judged"
        help_line = "explain a folder above it: what protects a folder protects all that is below"
        raise UsageProblem(Code.USAGE, message, help_line=help_line) from problem


def _exactly(path: Path) -> Pattern:
    return Pattern.literal(Anchor.ABSOLUTE, path.parts[1:])


def _and_below(path: Path) -> Pattern:
    return Pattern.literal(Anchor.ABSOLUTE, path.parts[1:], and_below=Wildcard.FOLDERS)


def _protected(
    table: ProtectedRoots, row: ProtectedRoot, real: Path
) -> tuple[str, list[tuple[str, str]]]:
    details = [("rule", row.pattern.text), ("why", row.why)]
    exception = table.exception_for(_exactly(real))
    if exception is None:
        return "in a protected root; no grant ever opens it", details
    details += [("exception", exception.pattern.text), ("why the exception", exception.why)]
    return "protected, but provided by the engine to read; no grant opens it", details


def _folder(inside: tuple[ProtectedRoot, ...]) -> tuple[str, list[tuple[str, str]]]:
    if not inside:
        return _OPEN, []
    names = list(dict.fromkeys(row.pattern.text for row in inside))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    summary = f"in no protected root, but {len(names)} lie in it; a grant must leave them hidden"
    return summary, [("hidden in it", ", ".join(names[:_SHOWN]) + more)]


def _source(table: ProtectedRoots) -> tuple[str, str]:
    return ("table", f"{table.identity}, version {table.version}")
