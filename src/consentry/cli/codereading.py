"""How commands read code: with what was read before, on every core, telling a terminal how far it is."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from consentry.examine.addedrules import AddedRules
from consentry.service.codeplace import find_code
from consentry.service.pluginglance import rules_if_any
from consentry.service.surfaces import Examined, Means, examine_source

if TYPE_CHECKING:
    from consentry.service.extractioncache import ExtractionCache

_STANDARD_ERROR = 2


def examined_code(given: str, site: str | None, *, quiet: bool) -> Examined:
    """What the code that somebody named can do."""
    rules = rules_if_any(os.environ)
    source = find_code(given, site)
    with _means(given, rules, quiet=quiet) as means:
        return examine_source(source, means)


@contextmanager
def _means(given: str, rules: AddedRules, *, quiet: bool) -> Iterator[Means]:
    def kept() -> "ExtractionCache":
        return _kept(given, rules)

    if quiet or not os.isatty(_STANDARD_ERROR):
        yield Means(kept, rules=rules)
        return
    from consentry.cli.guardprogress import ReadingLine  # noqa: PLC0415 - at terminals only

    line = ReadingLine()
    try:
        yield Means(kept, progress=line, rules=rules)
    finally:
        line.close()


def _kept(given: str, rules: AddedRules) -> "ExtractionCache":
    """What was read before; asked for only where there is much to read."""
    from consentry.service.guardplaces import kept_extractions  # noqa: PLC0415 - as above
    from consentry.service.surroundings import look_around  # noqa: PLC0415 - as above

    folder = Path(given) if os.path.isdir(given) else None  # noqa: PTH112 - as it was typed
    return kept_extractions(look_around(os.environ), folder, rules.digest)
