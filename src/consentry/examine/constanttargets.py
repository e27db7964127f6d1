"""Constants of code as targets of powers: a path, an address, a command line, a variable's name.

All extractors make their targets here, so that the same constant is the same target in every
language. `None` stands for a value that is computed: then the target is whatever it may be. What a
constant cannot mean (a host that is no host) counts as computed, too.
"""

import posixpath
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.examine.atoms import (
    ANYTHING,
    SOMEWHERE,
    Atom,
    connecting,
    encrypting,
    seeing,
    starting,
)
from consentry.surface.pattern import ABSOLUTE_PATH_MARK, Pattern, Vocabulary
from consentry.surface.targets import Target

DEFAULT_PORTS: Final = {
    "http": 80,
    "https": 443,
    "ws": 80,
    "wss": 443,
    "ftp": 21,
    "ftps": 990,
    "ssh": 22,
    "sftp": 22,
    "git": 9418,
    "smtp": 25,
    "redis": 6379,
    "rediss": 6379,
    "postgres": 5432,
    "postgresql": 5432,
    "mysql": 3306,
    "mongodb": 27017,
    "amqp": 5672,
    "amqps": 5671,
    "ldap": 389,
    "ldaps": 636,
}
MOST_TARGET: Final = 1024
"""A longer constant is not taken apart: it counts as computed."""

MOST_NORMALISED: Final = 1 << 16
"""A longer path may lead anywhere."""

_URL = re.compile(
    r"([a-zA-Z][a-zA-Z0-9+.-]*)://(?:[^/@?#]*@)?(\[[^\]/]*\]|[^/:?#]*)(?::([0-9]{1,5}))?(?=[/?#]|$)"
)
_AMBIGUOUS = re.compile(r"[\s\\\x00-\x20\x7f-\xa0]")
_SEPARATORS = re.compile(r"\|\||&&|[|;&\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_WILD = re.compile(r"[*?\\]")
_EXPANSIONS = ("$", "`")


def path_atoms(make: Callable[[str], Atom], path: str | None) -> tuple[Atom, ...]:
    """`make` is `reading` or `writing`; an absolute path adds the mark for absolute paths."""
    if path is None:
        return (make(SOMEWHERE),)
    pattern = path_pattern(path)
    if pattern is None:
        return (make(SOMEWHERE),)
    if pattern == ABSOLUTE_PATH_MARK:
        # How far up it leads is not known: at the worst to the root.
        rest = posixpath.normpath(path.replace("\\", "/")).lstrip("./~")
        outside = path_pattern(f"/{rest}") if rest and len(rest) < MOST_TARGET else None
        return (make(ABSOLUTE_PATH_MARK), *(() if outside is None else (make(outside),)))
    if pattern.startswith(("/", "~")):
        return (make(pattern), make(ABSOLUTE_PATH_MARK))
    return (make(pattern),)


@lru_cache(maxsize=4096)
def path_pattern(path: str) -> str | None:
    """The pattern that matches exactly this path; the mark where it leaves the workspace."""
    path = path.removeprefix("file://")
    if len(path) > MOST_NORMALISED:
        return ABSOLUTE_PATH_MARK  # nobody can tell where it leads
    if len(path) > MOST_TARGET:
        path = posixpath.normpath(path)
    if not path or "\0" in path:
        return None
    if len(path) > MOST_TARGET:
        return ABSOLUTE_PATH_MARK if path.startswith(("/", "~")) else None
    written = _WILD.sub(lambda found: "\\" + found[0], path)
    if re.match(r"[A-Za-z]:[\\/]", path) or path.startswith("\\\\"):
        return ABSOLUTE_PATH_MARK
    if path == ABSOLUTE_PATH_MARK:
        written = f"./{written}"
    if written.startswith("~") and not written.startswith("~/") and written != "~":
        return ABSOLUTE_PATH_MARK  # somebody's home
    try:
        return Pattern.parse(written).text
    except BadInput as problem:
        return ABSOLUTE_PATH_MARK if problem.code is Code.SURFACE_PATTERN_LEAVES else None


def host_atom(address: str | None, port: int | None = None) -> Atom:
    """The target of a URL, `host:port` or host; with a port apart where the code has it so."""
    target = None if address is None else host_target(address, port)
    return connecting(ANYTHING if target is None else target)


def host_target(address: str, port: int | None = None) -> str | None:
    """`host:port`, or the host where no port is known; None for what is no address."""
    if len(address) > MOST_TARGET or is_ambiguous(address):
        return None
    found = _URL.match(address)
    host = address
    if found is not None:
        host = found[2]
        port = int(found[3]) if found[3] else DEFAULT_PORTS.get(found[1].lower(), port)
    elif "://" in address:
        return None
    elif port is None and address.count(":") == 1:
        host, _, number = address.partition(":")
        if host.lower() in DEFAULT_PORTS or not re.fullmatch(r"[0-9]{1,5}", number):
            return None  # `http:80` is an address without its slashes
        port = int(number)
    if not host:
        return None
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    try:
        return str(Target.parse(host.lower() if port is None else f"{host.lower()}:{port}"))
    except BadInput:
        return None


def is_ambiguous(address: str) -> bool:
    """Whether readers of addresses differ on where its host ends, or leave out some of it."""
    return _AMBIGUOUS.search(address) is not None


def program_atom(program: str | None) -> Atom:
    """The program that is started."""
    if not program or len(program) > MOST_TARGET or program.startswith(_EXPANSIONS):
        return starting(ANYTHING)
    try:
        written = _WILD.sub(lambda found: "\\" + found[0], program)
        return starting(Pattern.parse(written, Vocabulary.COMMAND).text)
    except BadInput:
        return starting(ANYTHING)


def command_atoms(line: str | None) -> tuple[Atom, ...]:
    """The programs of a command line, as far as splitting it at its separators tells."""
    if line is None or len(line) > 16 * MOST_TARGET:
        return (starting(ANYTHING),)
    return tuple(dict.fromkeys(_programs(line))) or (starting(ANYTHING),)


def _programs(line: str) -> Iterator[Atom]:
    for part in _SEPARATORS.split(line):
        words = part.split()
        while words and (_ASSIGNMENT.match(words[0]) or words[0] in ("env", "exec", "command")):
            words.pop(0)
        if words:
            yield program_atom(words[0].strip("\"'()"))
        if any(mark in part for mark in ("$(", "`")):
            yield starting(ANYTHING)


def variable_atom(name: str | None) -> Atom:
    """The variable of the environment that is read."""
    return seeing(_named(name))


def algorithm_atom(name: str | None) -> Atom:
    """The algorithm that is used, in lower case."""
    return encrypting(_named(None if name is None else name.lower().replace("_", "-")))


def _named(name: str | None) -> str:
    if not name or len(name) > MOST_TARGET:
        return ANYTHING
    try:
        written = _WILD.sub(lambda found: "\\" + found[0], name)
        return Pattern.parse(written, Vocabulary.NAME).text
    except BadInput:
        return ANYTHING
