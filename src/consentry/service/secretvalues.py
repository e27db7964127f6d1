"""Gets the secrets that a line or the user's own configuration names, and keeps them from the run.

A secret is in a file that nobody but its owner may read, or in a variable that the run is not given.
It goes to the proxy and nowhere else: whatever would also show it to the program, or put it on record,
is refused, and no message here says more of it than for which host it is.
"""

import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused, UsageProblem
from consentry.declare.secretentry import FILE, SecretEntry
from consentry.enforce.confinement import Confinement
from consentry.enforce.egress.rules import Rules
from consentry.enforce.egress.secrets import LEAST, Secret, Source
from consentry.enforce.ownership import stranger_over_file, stranger_over_folder
from consentry.enforce.roots import is_own, place_of
from consentry.service.programsearch import is_system
from consentry.service.surroundings import Surroundings, own_home

MOST: Final = 8192
"""How many letters a secret has at most."""

_MOST_VOUCHERS: Final = 4 << 20
_FOR_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_AS_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def secrets_for(
    entries: Iterable[SecretEntry],
    vouchers: str | None,
    confinement: Confinement,
    around: Surroundings,
) -> tuple[Secret, ...]:
    """Each of them with its value; raises where one cannot be used, or could reach the program."""
    named = tuple(entries)
    if not named:
        if vouchers is not None:
            raise _unusable("certificates are named, and no secret that they are for")
        return ()
    _require_different(named)
    trusted = None if vouchers is None else _certificates(Path(vouchers), confinement, around)
    found = tuple(_found(each, trusted, confinement, around) for each in named)
    _require_nowhere_else(found, confinement)
    return found


def read_entries(written: Iterable[str]) -> Iterator[SecretEntry]:
    """As they were typed."""
    for text in written:
        try:
            yield SecretEntry.parse(text)
        except BadInput as problem:
            raise UsageProblem(problem.code, problem.message, help_line=problem.help_line) from None


def _require_different(entries: tuple[SecretEntry, ...]) -> None:
    seen: set[tuple[str, int, str]] = set()
    for each in entries:
        key = each.host, each.port, each.header.lower().replace("_", "-")
        if key in seen:
            raise _unusable(f"`{each.header}` for `{each.place}` is named twice")
        seen.add(key)


def _found(
    entry: SecretEntry, vouchers: str | None, confinement: Confinement, around: Surroundings
) -> Secret:
    _require_granted(entry, confinement)
    if entry.kind == FILE:
        value = _from_file(entry, confinement, around)
    else:
        value = _from_variable(entry, confinement, around)
    if not LEAST <= len(value) <= MOST or _VALUE.fullmatch(value) is None:
        raise _unusable(
            f"the secret for `{entry.place}` is not one line of {LEAST} to {MOST} plain characters"
        )
    source = Source(entry.kind)
    return Secret(entry.host, entry.port, entry.header, source, value, vouchers)


def _require_granted(entry: SecretEntry, confinement: Confinement) -> None:
    if not Rules(confinement.surface.net_access).by_name(entry.place).is_allowed:
        raise UsageProblem(
            Code.SECRET_UNUSABLE,
            f"there is a secret for `{entry.place}`, which the run may not reach",
            help_line=f"grant it with --net {entry.place}, or leave the secret out",
        )


def _from_variable(entry: SecretEntry, confinement: Confinement, around: Surroundings) -> str:
    name = entry.kept_in
    if name in confinement.environment:
        raise _unusable(
            f"the variable `{name}` is a secret for `{entry.place}`, and given to the run"
        )
    value = next((value for known, value in around.environ.items() if known == name), "")
    if not value:
        raise _unusable(f"the secret for `{entry.place}`: there is no variable `{name}` here")
    return value


def _from_file(entry: SecretEntry, confinement: Confinement, around: Surroundings) -> str:
    path = _placed(entry.kept_in, around)
    what = f"the secret for `{entry.place}`: `{entry.kept_in}`"
    _require_out_of_reach(path, what, confinement, around)
    content, found = _read(path, what, MOST + 2)
    if found.st_uid != around.uid:
        raise _unusable(f"{what} is not yours")
    if found.st_mode & _FOR_OTHERS:
        raise _unusable(f"{what} can be used by others than you; its mode must be 0600")
    if found.st_nlink != 1:
        raise _unusable(f"{what} has another name somewhere, where the run might read it")
    reason = stranger_over_folder(path.parent, around.uid)
    if reason is not None:
        raise _unusable(f"{what} could be swapped: {reason}")
    return content.decode("latin-1").removesuffix("\n").removesuffix("\r")


def _certificates(path: Path, confinement: Confinement, around: Surroundings) -> str:
    place = _placed(str(path), around)
    what = f"the certificates `{path}`"
    _require_outside(place, what, confinement)
    content, _ = _read(place, what, _MOST_VOUCHERS)
    reason = stranger_over_file(place, around.uid)
    if reason is not None:
        raise _unusable(f"{what} could be swapped: {reason}")
    if b"-----BEGIN CERTIFICATE-----" not in content or not content.isascii():
        raise _unusable(f"{what} are none: a file in PEM form is needed")
    return content.decode("ascii")


def _placed(spelling: str, around: Surroundings) -> Path:
    """Where a name leads, links followed: what counts is where the secret really is."""
    return Path(os.path.realpath((around.cwd or Path("/")) / spelling))


def _read(path: Path, what: str, most: int) -> tuple[bytes, os.stat_result]:
    try:
        descriptor = os.open(path, _AS_FILE)
    except OSError as problem:
        raise _unusable(f"{what}: {(problem.strerror or 'cannot be read').lower()}") from None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise _unusable(f"{what} is no plain file")
        content = file.read(most + 1)
    if len(content) > most:
        raise _unusable(f"{what} is too long")
    return content, found


def _require_outside(path: Path, what: str, confinement: Confinement) -> None:
    """A workspace is a stranger's, and readable."""
    if path.is_relative_to(os.path.realpath(confinement.workspace)):
        raise _unusable(f"{what} lies in the workspace")


def _require_out_of_reach(
    path: Path, what: str, confinement: Confinement, around: Surroundings
) -> None:
    """Whatever is opened to the run, or would be rounded up to, must not hold it."""
    _require_outside(path, what, confinement)
    surface, home = confinement.surface, own_home(around).path
    program = confinement.program
    own = (Path(sys.prefix), Path(sys.base_prefix))  # which snippets run in
    opened = [*program.prefixes, *program.copies, *program.startable, *own]
    for scope in (surface.fs_read_roots, surface.fs_write_roots):
        for pattern in (each for entry in scope.entries for each in entry):
            place = place_of(pattern, confinement.workspace, home)
            if place is not None and not is_own(place):
                opened.append(place)
    if is_system(path):
        raise _unusable(f"{what} lies among the system's own files, which every run may read")
    for place in opened:
        if path.is_relative_to(os.path.realpath(place)):
            raise _unusable(f"{what} lies in `{place}`, which is open to the run")


def _require_nowhere_else(secrets: tuple[Secret, ...], confinement: Confinement) -> None:
    words = (word for step in confinement.program.steps for word in step.words)
    shown = (*words, *confinement.environment.values())
    for each in secrets:
        for word in each.telling_words:
            if any(word in text for text in shown):
                place = f"`{each.host}:{each.port}`"
                raise Refused(
                    Code.SECRET_UNUSABLE,
                    f"the secret for {place} stands in the arguments or variables of the run",
                    help_line="leave it out there; the proxy adds it",
                )


def _unusable(message: str) -> UsageProblem:
    return UsageProblem(Code.SECRET_UNUSABLE, message)
