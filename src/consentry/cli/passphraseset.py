"""`consentry passphrase set` and `remove`; the words are typed unseen, at the terminal alone."""

import os
from collections.abc import Callable
from typing import TypeAlias

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import Refused
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.cli.terminal import Cancelled, Terminal, TerminalGone, open_terminal
from consentry.service.ledgers import ledger_place, make_state_folder
from consentry.service.passphrase import Passphrase
from consentry.service.surroundings import look_around

Change: TypeAlias = Callable[[Terminal, Passphrase], None]

_STATUSES = (
    ("0", "done"),
    ("2", "wrong usage"),
    ("126", "wrong words, too many tries, typed differently, or no terminal"),
)
SET_PAGE = Page(
    summary="Set the passphrase that every yes needs, or another one in its place.",
    paragraphs=("It is typed twice; where there is one already, that one is asked for first.",),
    examples=(("consentry passphrase set", "set it"),),
    statuses=_STATUSES,
)
REMOVE_PAGE = Page(
    summary="Remove the passphrase, for whoever knows it.",
    examples=(("consentry passphrase remove", "no yes needs it any more"),),
    statuses=_STATUSES,
)


@click.pass_context
def _set(ctx: click.Context) -> ExitStatus:
    def change(terminal: Terminal, kept: Passphrase) -> None:
        before = _unseen(terminal, "the passphrase as it is") if kept.is_set else None
        words = _unseen(terminal, "a new passphrase, of 8 characters or more")
        if _unseen(terminal, "the same once more") != words:
            raise Refused(Code.PASSPHRASE_REFUSED, "it was typed differently the second time")
        kept.set(words, before)

    return _changed(output_of(ctx), change, "set")


@click.pass_context
def _remove(ctx: click.Context) -> ExitStatus:
    def change(terminal: Terminal, kept: Passphrase) -> None:
        if kept.is_set:
            kept.remove(_unseen(terminal, "the passphrase as it is"))

    return _changed(output_of(ctx), change, "removed")


def _changed(output: Output, change: Change, word: str) -> ExitStatus:
    place = ledger_place(look_around(os.environ))
    make_state_folder(place)
    try:
        with open_terminal() as terminal:
            if terminal is None:
                raise TerminalGone
            change(terminal, Passphrase(place.folder, SystemClock()))
    except TerminalGone:
        raise Refused(
            Code.TERMINAL_MISSING, "there is no terminal to type a passphrase at"
        ) from None
    except Cancelled:
        raise KeyboardInterrupt from None
    if output.json:
        output.document("passphrase", {"passphrase": word})
    elif not output.quiet:
        output.text(f"the passphrase is {word}")
    return ExitStatus.DONE


def _unseen(terminal: Terminal, question: str) -> str:
    with terminal.unseen():
        typed = terminal.ask(question, lambda: False)
    terminal.write("\n")
    return typed


set_ = PlainCommand("set", SET_PAGE, _set)
remove = PlainCommand("remove", REMOVE_PAGE, _remove)
