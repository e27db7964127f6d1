"""`consentry tokens list` and `show`: which were minted, how often they were used, what is left."""

import json
import os

import click

from consentry.base.clock import Instant, SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.table import Page
from consentry.decide.budgets import BudgetLine
from consentry.service.ledgers import ledger_for_reading
from consentry.service.surroundings import look_around
from consentry.service.tokenlist import (
    ListedToken,
    Standing,
    Use,
    budget_lines,
    listed_tokens,
    token_named,
    uses_of,
)

_READING = (
    ("5", "the ledger cannot be read"),
    ("126", "the state directory is not safe to use"),
)
LIST_PAGE = Page(
    summary="List the capability tokens that were minted, the oldest first.",
    paragraphs=("Those that have expired, or whose consent was revoked, are left out.",),
    examples=(
        ("consentry tokens list", "those that are good"),
        ("consentry tokens list --all --workflow build-42", "all that one workflow ever had"),
        ("consentry tokens list --quiet", "the bare ids, one on a line"),
    ),
    statuses=(("0", "listed; an empty list is an answer, too"), ("2", "wrong usage"), *_READING),
)
SHOW_PAGE = Page(
    summary="Show one token: what it is for, every use of it, and its workflow's budget.",
    arguments=(("ID", "A token's id, or the beginning of one."),),
    examples=(("consentry tokens show token-0198c2f4-…", "all of it"),),
    statuses=(("0", "shown"), ("2", "wrong usage, or no token has that id"), *_READING),
)


@click.pass_context
def _list(ctx: click.Context, *, over_too: bool, workflow: str | None) -> ExitStatus:
    output = output_of(ctx)
    history = ledger_for_reading(look_around(os.environ))
    found = [
        each
        for each in listed_tokens(history, SystemClock().now(), workflow)
        if over_too or each.standing is Standing.GOOD
    ]
    if output.json:
        output.document("token-list", {"tokens": [each.to_json() for each in found]})
    elif output.quiet:
        if found:
            output.text("\n".join(each.told.token.token_id for each in found))
    else:
        output.text("\n".join(map(_line, found)) or "no token is good now")
    return ExitStatus.DONE


@click.pass_context
def _show(ctx: click.Context, *, named: str) -> ExitStatus:
    output = output_of(ctx)
    history = ledger_for_reading(look_around(os.environ))
    found = token_named(history, named, SystemClock().now())
    uses: list[Use] = []
    budget: list[BudgetLine] = []
    if history is not None:
        uses = uses_of(history, found.told.token.token_id)
        budget = budget_lines(history, found.told.token.workflow)
    if output.json:
        document = {
            "token": found.to_json(),
            "uses": [each.to_json() for each in uses],
            "budget": [each.to_json() for each in budget],
        }
        output.document("token", document)
    elif output.quiet:
        output.text(found.standing.value)
    else:
        output.text("\n".join(_lines(found, uses, budget)))
    return ExitStatus.DONE


def _line(listed: ListedToken) -> str:
    token = listed.told.token
    said = f"{token.token_id}  {token.capability}  {safe_line(token.workflow)}"
    said += f"  used {listed.told.uses} times"
    if listed.standing is Standing.GOOD:
        return f"{said}  until {token.expires_at.shown()}"
    return f"{said}  {listed.standing.value}"


def _lines(listed: ListedToken, uses: list[Use], budget: list[BudgetLine]) -> list[str]:
    token = listed.told.token
    rows = {
        "scope": safe_line(json.dumps(token.scope, ensure_ascii=False)),
        "workspace": safe_line(token.workspace),
        "tool": safe_line(token.tool or "none"),
        "ground": token.consent_id or token.grant_id or "none",
        "part of": token.part_of or "none",
        "minted": token.minted_at.shown(),
        "expires": token.expires_at.shown(),
        "digest": token.digest,
    }
    return [
        _line(listed),
        *(f"  {name:<10} {value}" for name, value in rows.items()),
        *(f"  {'budget':<10} {_budget(each)}" for each in budget),
        *(f"  {'used':<10} {_use(each)}" for each in uses),
    ]


def _budget(line: BudgetLine) -> str:
    if line.most is None:
        return f"{line.kind.value}: {line.uses} done, no limit"
    return f"{line.kind.value}: {line.uses} of {line.most} done, {line.left} left"


def _use(use: Use) -> str:
    at = Instant.parse(use.at).shown()
    return f"{at}  {use.kind}  {safe_line(use.operation)} {safe_line(use.target or '')}".rstrip()


list_ = PlainCommand(
    "list",
    LIST_PAGE,
    _list,
    [
        click.Option(["--all", "over_too"], is_flag=True, help="Also those that are over."),
        click.Option(["--workflow"], type=Text(), metavar="NAME", help="Only those of this one."),
    ],
)
show = PlainCommand(
    "show", SHOW_PAGE, _show, [click.Argument(["named"], type=Text(), metavar="ID")]
)
