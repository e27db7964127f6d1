"""What the commands about keys have in common: where they lie, how one is shown, and its passphrase."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager

import click

from consentry.base.clock import Instant, SystemClock
from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.ids import Uuid7Ids
from consentry.base.safetext import safe_line
from consentry.base.units import Duration
from consentry.cli.command import Text
from consentry.cli.terminal import Cancelled, Terminal, TerminalGone, open_terminal
from consentry.declare.trustedkeys import TrustedKey
from consentry.record.signingkey import fingerprint_lines
from consentry.service.ledgers import state_folder
from consentry.service.sessions import journal_here
from consentry.service.signingkeys import KeyDesk
from consentry.service.surroundings import Surroundings, look_around

_MOST_WORDS = 4096


@contextmanager
def key_desk() -> Iterator[KeyDesk]:
    """Where keys are made, accepted and revoked, for the person at this terminal."""
    around = look_around(os.environ)
    clock = SystemClock()
    journal = journal_here(around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        yield KeyDesk(around, state_folder(around), journal)


def expires_option() -> click.Option:
    """For how long a key is good."""
    return click.Option(
        ["--expires"], type=Text(), metavar="TIME", help="Good for so long, such as 365d."
    )


def passphrase_options(what: str) -> list[click.Parameter]:
    """Where the words come from; a fresh list, because click keeps it."""
    return [
        click.Option(
            ["--passphrase-fd"],
            type=click.IntRange(min=0),
            metavar="N",
            help=f"Read {what} from this open file, not from the terminal.",
        )
    ]


def life_of(expires: str | None) -> Duration | None:
    """How long that is."""
    if expires is None:
        return None
    life = Duration.parse(expires)
    if life.milliseconds <= 0:
        raise UsageProblem(Code.USAGE, "a key that is good for no time is no key")
    return life


def words_from(descriptor: int) -> str:
    """The passphrase that somebody wrote to an open file, up to the end of the line."""
    try:
        content = b""
        while b"\n" not in content and len(content) <= _MOST_WORDS:
            part = os.read(descriptor, _MOST_WORDS)
            if not part:
                break
            content += part
        words = content.partition(b"\n")[0]
        if len(words) > _MOST_WORDS:
            # How much of it was read would depend on how it came.
            raise UsageProblem(
                Code.USAGE,
                f"a passphrase has at most {_MOST_WORDS} bytes, and a line's end after it",
            )
        return words.decode("utf-8")
    except (OSError, UnicodeDecodeError) as wrong:
        raise UsageProblem(
            Code.USAGE, f"no passphrase can be read from file descriptor {descriptor}"
        ) from wrong


def new_words(descriptor: int | None, *, asks: bool) -> str | None:
    """A passphrase for a new key: from the open file, typed twice, or none."""
    if descriptor is not None:
        return words_from(descriptor)
    if not asks:
        return None
    with _terminal() as terminal:
        words = _unseen(terminal, "a passphrase for the new key, of 8 characters or more")
        if _unseen(terminal, "the same once more") != words:
            raise Refused(Code.PASSPHRASE_REFUSED, "it was typed differently the second time")
    return words


def words_for(key: TrustedKey, descriptor: int | None, *, sealed: bool) -> str | None:
    """The passphrase of a key that has one."""
    if not sealed:
        return None
    if descriptor is not None:
        return words_from(descriptor)
    with _terminal() as terminal:
        return _unseen(terminal, f"the passphrase of the key of {safe_line(key.name)}")


def key_lines(key: TrustedKey, now: Instant, *, is_own: bool) -> Iterator[str]:
    """One key for a person."""
    yield f"signer       {safe_line(key.name)}"
    yield f"algorithm    {key.key.algorithm}"
    yield f"fingerprint  {fingerprint_lines(key.key_id)[:35]}"
    yield f"             {fingerprint_lines(key.key_id)[36:]}"
    yield f"made         {key.made_at.shown()}"
    yield f"expires      {'never' if key.expires_at is None else key.expires_at.shown()}"
    yield f"state        {state_of(key, now)}{', its private half is here' if is_own else ''}"
    if key.endorsed_by is not None:
        yield f"endorsed by  {key.endorsed_by}"


def state_of(key: TrustedKey, now: Instant) -> str:
    """How it stands, in words."""
    if key.revoked_at is not None:
        return f"revoked at {key.revoked_at.shown()}: {safe_line(key.revoked_why or '')}"
    if now < key.made_at:
        return "of a time that has not come"
    return "good" if key.is_usable(now) else "expired"


def key_document(key: TrustedKey, now: Instant, *, is_own: bool) -> dict[str, object]:
    """The same for a script."""
    return {
        "name": key.name,
        "key_id": key.key_id,
        "algorithm": key.key.algorithm,
        "public": key.key.pem,
        "made_at": str(key.made_at),
        "expires_at": None if key.expires_at is None else str(key.expires_at),
        "trusted_at": str(key.trusted_at),
        "endorsed_by": key.endorsed_by,
        "revoked_at": None if key.revoked_at is None else str(key.revoked_at),
        "revoked_why": key.revoked_why,
        "usable": key.is_usable(now),
        "own": is_own,
    }


def around_here() -> Surroundings:
    """What the command was started in."""
    return look_around(os.environ)


@contextmanager
def _terminal() -> Iterator[Terminal]:
    try:
        with open_terminal() as terminal:
            if terminal is None:
                raise TerminalGone
            yield terminal
    except TerminalGone:
        raise Refused(
            Code.TERMINAL_MISSING, "there is no terminal to type a passphrase at"
        ) from None
    except Cancelled:
        raise KeyboardInterrupt from None


def _unseen(terminal: Terminal, question: str) -> str:
    with terminal.unseen():
        typed = terminal.ask(question, lambda: False)
    terminal.write("\n")
    return typed
