"""The capability fence as tests of pytest: one for each path that is asked for, and none otherwise.

`--consentry-fence PATH`, or `consentry_fence = PATH …` in the configuration of pytest, adds a test that
fails with every finding below that path, as `consentry fence` prints them. `consentry_fence_homes` names
files that may make tokens, and `consentry_fence_tests` folders that may do anything. Not asked, it
only tells pytest about its options; whatever reads source is imported when a test runs.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

OPTION = "--consentry-fence"
PATHS, HOMES, TESTS = "consentry_fence", "consentry_fence_homes", "consentry_fence_tests"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option, and what the configuration may say."""
    group = parser.getgroup("consentry", "capability fence")
    group.addoption(
        OPTION,
        action="append",
        default=[],
        metavar="PATH",
        help="report where source below PATH makes tokens, pushes or leaves a race unhandled",
    )
    parser.addini(PATHS, "files and folders that the fence is run over", "paths", default=[])
    parser.addini(HOMES, "files that may make tokens", "paths", default=[])
    parser.addini(TESTS, "folders in which only unreadable files are reported", "paths", default=[])


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """One test more for each path."""
    start = config.invocation_params.dir
    asked = [start / each for each in config.getoption(OPTION)]
    asked += [Path(each) for each in config.getini(PATHS)]
    for path in dict.fromkeys(asked):
        shown = _shown(path, start)
        items.append(FenceItem.from_parent(session, name=f"consentry-fence[{shown}]", of=shown))


def _shown(path: Path, start: Path) -> str:
    return str(path.relative_to(start)) if path.is_relative_to(start) else str(path)


class Fenced(Exception):
    """What the fence has to say about a path."""


class FenceItem(pytest.Item):
    """The fence over one path."""

    def __init__(self, *, of: str, **given: Any) -> None:
        super().__init__(**given)
        self.of = of

    def runtest(self) -> None:
        """Fails with the findings."""
        from consentry.base.errors import ConsentryError  # noqa: PLC0415 - only where it is asked for
        from consentry.base.safetext import safe_line  # noqa: PLC0415 - as above
        from consentry.service.fencing import fence_over, pardon_of  # noqa: PLC0415 - as above
        from consentry.service.races import recorded  # noqa: PLC0415 - as above

        named = {name: list(map(str, self.config.getini(name))) for name in (HOMES, TESTS)}
        try:
            report = fence_over([self.of], pardon_of(named[HOMES], named[TESTS]), recorded)
        except ConsentryError as problem:
            raise Fenced(str(safe_line(str(problem)))) from problem
        if report.findings:
            raise Fenced("\n".join(_lines(report.findings, safe_line)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], **_: Any) -> Any:  # type: ignore[override] # only the lines
        """Only the findings: how they were found is nobody's concern."""
        if isinstance(excinfo.value, Fenced):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, None, str]:
        """What pytest calls it."""
        return Path(self.of), None, self.name


def _lines(findings: Sequence[Any], safe_line: Any) -> list[str]:
    return [
        f"{safe_line(each.path)}:{each.line}:{each.column}: {each.rule.value}: "
        f"{safe_line(each.message)}; {each.help_line}"
        for each in findings
    ]
