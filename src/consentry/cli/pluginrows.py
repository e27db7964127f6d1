"""Rows and documents about what differs between plugins and their lock; every name in them is a stranger's."""

from collections.abc import Iterator

from consentry.base.safetext import safe_line
from consentry.cli.hanging import LONGEST, hanging
from consentry.cli.output import Output
from consentry.examine.pluginproblems import TreeChanges, VerificationError
from consentry.service.pluginverify import KnownBy, PluginState

MOST_ROWS = 200
_STYLES = {"changed": "yellow", "added": "green", "missing": "red"}
_DIGEST_SHOWN = 19


def change_rows(
    output: Output, changes: TreeChanges | None, *, indent: int, prefix: str = ""
) -> Iterator[str]:
    """One row for each name, as many as a person reads; the JSON document has all of them."""
    if changes is None:
        return
    rows = [
        (word, path)
        for word, paths in (
            ("changed", changes.changed),
            ("added", changes.added),
            ("missing", changes.missing),
        )
        for path in paths
    ]
    margin = " " * indent
    for word, path in rows[:MOST_ROWS]:
        start = f"{margin}{output.paint(f'{word:<8}', _STYLES[word])} {prefix}"
        width = indent + 9 + len(prefix)
        yield from hanging(start, safe_line(path, limit=LONGEST), width_of_start=width)
    if len(rows) > MOST_ROWS:
        yield f"{margin}and {len(rows) - MOST_ROWS} more; --json lists all of them"


def changes_document(changes: TreeChanges | None) -> dict[str, object]:
    """The same for a script."""
    found = changes or TreeChanges()
    return {
        "changed": list(found.changed),
        "added": list(found.added),
        "missing": list(found.missing),
    }


def state_document(state: PluginState) -> dict[str, object]:
    """One plugin for a script."""
    problem = state.problem
    return {
        "name": state.name,
        "version": state.version,
        "state": "verified" if problem is None else "rejected",
        "digest": state.digest,
        "expected": state.digest if problem is None else problem.expected,
        "known_by": state.known_by,
        "hashed_at": None if state.hashed_at is None else str(state.hashed_at),
        "reason": None if problem is None else problem.reason,
        "message": None if problem is None else problem.message,
        "help": None if problem is None else problem.help_line,
        **changes_document(None if problem is None else problem.changes),
    }


def state_rows(output: Output, state: PluginState, widest: int) -> Iterator[str]:
    """One plugin for a person: how it stands, and how that is known."""
    name = f"{safe_line(state.name):<{widest}}"
    if state.problem is None:
        digest = (state.digest or "")[:_DIGEST_SHOWN]
        start = f"{output.paint('verified', 'green')}  {name}  "
        said = f"{state.version}  {digest}…  {_known(state)}"
        yield from hanging(start, said, width_of_start=widest + 12)
        return
    start = f"{output.paint('rejected', 'red')}  {name}  "
    said = f"{state.problem.reason}: {_said(state.problem)}"
    yield from hanging(start, safe_line(said, limit=LONGEST), width_of_start=widest + 12)


def _said(problem: VerificationError) -> str:
    """The message, or numbers in place of the files that it names: they follow one by one."""
    if problem.changes is None:
        return problem.message
    found = problem.changes
    counts = (
        (len(found.changed), "changed"),
        (len(found.added), "added"),
        (len(found.missing), "missing"),
    )
    return "not the files of the lock: " + ", ".join(
        f"{count} {word}" for count, word in counts if count
    )


def _known(state: PluginState) -> str:
    if state.known_by is KnownBy.STAT and state.hashed_at is not None:
        return f"unchanged since it was hashed at {state.hashed_at.shown()}, by stat"
    return "hashed"
