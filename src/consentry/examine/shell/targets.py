"""Words as targets of powers: paths, addresses, hosts."""

import re
from collections.abc import Callable
from typing import Final

from consentry.examine.atoms import ANYTHING, SOMEWHERE, Atom, connecting, reading, writing
from consentry.examine.constanttargets import host_atom, host_target, path_atoms
from consentry.examine.shell.commandtable import shell_words
from consentry.examine.shell.words import PIPE, Word

_SOCKET: Final = re.compile(r"/dev/(?:tcp|udp)/([^/]*)(?:/(.*))?")
_SCP: Final = re.compile(r"(?:[\w.+-]+@)?([\w.-]+|\[[^\]]*\]):(?!//)")
_HOST: Final = re.compile(r"(?:[^@/\s]+@)?([\w.-]+|\[[0-9a-fA-F:]+\])(?::\d+)?")
_SSH_PORT: Final = 22


def paths(make: Callable[[str], Atom], word: Word) -> tuple[Atom, ...]:
    """The file that a word names; a computed one is anywhere in its folder."""
    text = word.text
    socket = _SOCKET.match(text)
    if socket is not None or (not word.is_whole and text in ("/dev/tcp/", "/dev/udp/")):
        return (_socket(socket, word),)
    if is_nothing(word) or (word.is_whole and text in ("", "-")):
        return ()
    if word.is_whole:
        return path_atoms(make, text) if text not in (".", "./") else (make(SOMEWHERE),)
    folder = text.rpartition("/")[0]
    if folder or text.startswith("/"):
        return path_atoms(make, f"{folder}/")
    return (make(SOMEWHERE),) if text != "~" else path_atoms(make, "~/")


def is_nothing(word: Word) -> bool:
    """Whether it is a file that holds nothing and keeps nothing."""
    return word.text in shell_words().nothing or word.text.startswith(PIPE)


def _socket(found: re.Match[str] | None, word: Word) -> Atom:
    if found is None or not word.is_whole or not found[2] or not found[2].isdigit():
        return connecting(ANYTHING)
    return host_atom(found[1], int(found[2]))


def both(word: Word) -> tuple[Atom, ...]:
    """The file is read and written."""
    return (*paths(reading, word), *paths(writing, word))


def address(word: Word) -> Atom:
    """The host of an address; without a scheme, that of the web."""
    text = word.text
    if not word.is_whole:
        head, mark, rest = text.partition("://")
        is_known = mark and head and any(end in rest for end in "/?#") and host_target(text)
        return host_atom(text) if is_known else connecting(ANYTHING)
    if "://" in text:
        return host_atom(text)
    remote = _SCP.match(text)
    if remote is not None and not text[remote.end() :].partition("/")[0].isdigit():
        return host_atom(remote[1], _SSH_PORT)
    return host_atom(f"http://{text}")


def host(word: Word, port: int | None = None) -> Atom:
    """A host as `[user@]host[:port]`."""
    found = _HOST.fullmatch(word.text) if word.is_whole else None
    if "://" in word.text:
        return address(word)
    return connecting(ANYTHING) if found is None else host_atom(word.text.rpartition("@")[2], port)


def remote_host(word: Word) -> Atom | None:
    """The host of `host:path` or of an address; None for a file."""
    if "://" in word.text:
        return address(word)
    found = _SCP.match(word.text)
    return None if found is None else host_atom(found[1], _SSH_PORT)


def ssh_host(word: Word) -> Atom:
    """The host that a remote shell is asked of."""
    return host(word, _SSH_PORT)
