"""`consentry trust`: shows what a workspace's configuration would loosen, and accepts it as it is."""

import os
from collections.abc import Iterator
from contextlib import closing

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import Code, ExitStatus
from consentry.base.ids import Uuid7Ids
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of, usage_problem
from consentry.cli.configoptions import configuration_options
from consentry.cli.confirming import TypedYes, require_typed_yes
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.decide.trust import Ignored
from consentry.service.acceptedhere import accepted_here
from consentry.service.identity import local_user
from consentry.service.places import Workspace, find_workspace
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings, look_around
from consentry.service.trusting import TrustView, require_something, view_trust
from consentry.store.acceptances import StoredAcceptances
from consentry.store.journal import Journal

_YES = TypedYes("trust", "accepting", Code.TRUST_REFUSED)

PAGE = Page(
    summary="Show what this workspace's configuration would loosen, and accept it as it is.",
    paragraphs=(
        (
            "Until then its files may only make things stricter. Accepted are these very bytes: "
            "when one of them changes, it is as if you had not accepted."
        ),
        "The answer is read from your terminal, never from a pipe.",
    ),
    examples=(
        ("consentry trust --show", "what accepting would change; changes nothing"),
        ("consentry trust", "see it, and accept it"),
        ("consentry trust --withdraw", "take it back"),
    ),
    statuses=(
        ("0", "accepted, withdrawn or shown"),
        ("2", "wrong usage, or a folder that cannot be used"),
        ("3", "a document that cannot be read"),
        ("4", "a plugin is not what its lock says"),
        ("5", "the ledger cannot be written, so nothing was accepted"),
        ("126", "you said no, there is no terminal, or nothing to accept"),
    ),
    read_on=("docs/explanation/trust.md in the source says what counts from whom.",),
)


@click.pass_context
def _trust(
    ctx: click.Context, *, show: bool, withdraw: bool, workspace: str | None, config: str | None
) -> ExitStatus:
    output = output_of(ctx)
    if show and withdraw:
        raise usage_problem("--show changes nothing, --withdraw does", "leave one of them out")
    around = look_around(os.environ)
    place = find_workspace(around, workspace)
    if show:
        with accepted_here(around) as known:
            _tell(output, view_trust(around, place, config, known))
        return ExitStatus.DONE
    clock = SystemClock()
    journal = journal_here(around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        kept = StoredAcceptances(journal.ledger, journal.ids, journal.clock, journal.context)
        if withdraw:
            return _withdraw(output, kept, journal, place, around)
        view = view_trust(around, place, config, kept)
        require_something(view)
        if not view.is_accepted:
            _ask(view, around, journal)
            kept.accept(view.workspace, view.files, local_user(around, journal.machine_id))
            view = view_trust(around, place, config, kept)
    if output.json:
        output.document("trust", _document(view))
    elif not output.quiet:
        output.text(_ending(view))
    return ExitStatus.DONE


def _ending(view: TrustView) -> str:
    if view.is_accepted:
        return f"accepted: {_count(view)} of {safe_line(view.workspace)}"
    return "accepted as shown; files have changed meanwhile, so they do not count now"


def _withdraw(
    output: Output,
    kept: StoredAcceptances,
    journal: Journal,
    place: Workspace,
    around: Surroundings,
) -> ExitStatus:
    # Taking back makes things stricter, so nobody has to be asked.
    withdrawn = kept.withdraw(str(place.path), local_user(around, journal.machine_id))
    if output.json:
        output.document("trust", {"workspace": str(place.path), "withdrawn": len(withdrawn)})
    elif not output.quiet:
        where = safe_line(str(place.path))
        output.text(f"withdrawn: {where}" if withdrawn else f"nothing was accepted in {where}")
    return ExitStatus.DONE


def _ask(view: TrustView, around: Surroundings, journal: Journal) -> None:
    """Returns when the person at the terminal has accepted, and raises otherwise."""
    lines = [*_lines(view), "", "let all of this count as if it were your own?"]
    require_typed_yes(lines, _YES, around, journal.clock)


def _tell(output: Output, view: TrustView) -> None:
    if output.json:
        output.document("trust", _document(view))
    elif not output.quiet:
        output.text("\n".join(_lines(view)))


def _lines(view: TrustView) -> Iterator[str]:
    yield f"workspace  {safe_line(view.workspace)}"
    if view.is_empty:
        yield "it has no configuration of its own"
        return
    yield f"files      {_count(view)}, {view.digest}"
    yield f"accepted   {_standing(view)}"
    yield from _section("would be asked for differently:", (_change(view)))
    yield from _section("would count once accepted:", map(_ignored, view.lowers))
    if not view.levels and not view.lowers and not view.plugins:
        yield "nothing in it loosens anything; it counts as it is"
    yield from _section("would not count even then:", map(_ignored, view.never))
    yield from _section("plugins that would be loaded:", _plugins(view))
    if view.changed and not view.is_accepted:
        yield from _section("changed since it was accepted:", map(safe_line, view.changed))
    yield from _section("accepted are:", map(safe_line, view.files))


def _section(title: str, rows: Iterator[str]) -> Iterator[str]:
    listed = list(rows)
    if listed:
        yield title
        yield from (f"  {row}" for row in listed)


def _change(view: TrustView) -> Iterator[str]:
    for each in view.levels:
        yield f"{safe_line(each.tool)}: {each.before} → {each.after}"


def _plugins(view: TrustView) -> Iterator[str]:
    """Each with its version, the digest of its tree, and what it brings."""
    for each in view.plugins:
        manifest = each.manifest
        yield safe_line(f"{each.name} {manifest.version}, {each.digest}")
        kinds = (
            ("tool", manifest.tools),
            ("policy", manifest.policies),
            ("table of rules", manifest.tables),
            ("Python rule, runs in your own process", manifest.python),
        )
        for what, files in kinds:
            yield from (f"  {what}: {safe_line(file)}" for file in files)


def _ignored(each: Ignored) -> str:
    return safe_line(f"{each.where}: {each.what}")


def _standing(view: TrustView) -> str:
    standing = view.standing
    if standing is None:
        return "never"
    since = f"{standing.accepted_at.shown()} by {safe_line(standing.accepted_by)}"
    return since if view.is_accepted else f"other files, {since}"


def _count(view: TrustView) -> str:
    return "1 file" if len(view.files) == 1 else f"{len(view.files)} files"


def _document(view: TrustView) -> dict[str, object]:
    standing = view.standing
    return {
        "workspace": view.workspace,
        "accepted": view.is_accepted,
        "digest": view.digest,
        "files": [{"path": path, "hash": digest} for path, digest in sorted(view.files.items())],
        "levels": [
            {"tool": each.tool, "before": each.before, "after": each.after} for each in view.levels
        ],
        "lowers": [{"where": str(each.where), "what": each.what} for each in view.lowers],
        "never": [{"where": str(each.where), "what": each.what} for each in view.never],
        "changed": list(view.changed),
        "plugins": [
            {
                "name": each.name,
                "version": each.manifest.version,
                "digest": each.digest,
                "tools": list(each.manifest.tools),
                "policies": list(each.manifest.policies),
                "tables": list(each.manifest.tables),
                "python": list(each.manifest.python),
            }
            for each in view.plugins
        ],
        "standing": None if standing is None else standing.to_json(),
    }


trust = PlainCommand(
    "trust",
    PAGE,
    _trust,
    [
        click.Option(["--show"], is_flag=True, help="Only show what accepting would change."),
        click.Option(["--withdraw"], is_flag=True, help="Take back what was accepted here."),
        *configuration_options(),
    ],
)
