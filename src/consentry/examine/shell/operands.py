"""Words behind a program and what they are to it, by the kinds that the table of commands has."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from consentry.examine.atoms import ANYTHING, connecting, reading, seeing, starting, writing
from consentry.examine.constanttargets import variable_atom
from consentry.examine.shell import targets
from consentry.examine.shell.arguments import Arguments
from consentry.examine.shell.code import Code
from consentry.examine.shell.commandtable import CommandRow
from consentry.examine.shell.findings import Findings
from consentry.examine.shell.places import Place
from consentry.examine.shell.words import COMPUTED, Word

_CODE: Final = frozenset({"shell", "python", "javascript", "awk", "sed", "perl", "other"})
_COMMANDS: Final = frozenset({"command", "assign-command", "joined-command"})
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_TESTS_OF_FILES: Final = re.compile(r"-[abcdefghkprstuwxGLNOS]")
_GIT_RUNS: Final = re.compile(
    r"(?:alias\.|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|askpass|gitproxy|attributesfile)"
    r"|filter\.|diff\.|merge\.|difftool|mergetool|credential|gpg\.|pager\.|sequence\.editor|uploadpack"
    r"|ssh\.|sendemail|include|protocol\.ext)",
    re.IGNORECASE,
)
_SSH_RUNS: Final = re.compile(
    r"(?:proxycommand|localcommand|knownhostscommand|match)\b", re.IGNORECASE
)
_SOCAT_RUNS: Final = re.compile(r"(?:exec|system|shell):(.*)", re.IGNORECASE | re.DOTALL)
_NETWORK_MODULES: Final = frozenset(
    {"pip", "http.server", "ensurepip", "smtpd", "twine", "pipx", "uv"}
)

Run = Callable[[list[Word], Place, int], None]


class Operands:
    """Adds what words are to a program to the findings of a script."""

    def __init__(self, findings: Findings, code: Code, run: Run) -> None:
        self._findings = findings
        self._code = code
        self._run = run
        self._others: dict[str, Callable[[Word, Place], None]] = {
            "dd": self._copied,
            "data": self._posted,
            "git-config": self._configured,
            "git-key": self._key,
            "ssh-option": self._ssh_option,
            "python-module": self._module,
            "socat": self._connected,
            "env": self._variable,
            "load": self._load,
            "any-command": self._anything,
        }

    def apply(self, row: CommandRow, told: Arguments, place: Place, wrapped: int) -> bool:
        """All operands; whether one of them names a place of the network."""
        kinds = list(row.operands)
        if kinds and row.script_options and told.has(row.script_options):
            kinds.pop(0)
        if row.in_place and told.has(row.in_place):
            kinds = ["both*" if kind == "read*" else kind for kind in kinds]
        has_target = False
        for at, kind, word in _paired(kinds, told.operands):
            if kind in _COMMANDS:
                self._command(kind, told.operands[at:], place, wrapped, row)
                return has_target
            if kind == "remote":
                has_target |= self._remote(word, place, is_last=at == len(told.operands) - 1)
            elif kind == "host" and "port" in kinds:
                self._host_and_port(word, told.operands[at + 1 : at + 2], place)
                has_target = True
            else:
                has_target |= self.value(kind, word, place)
        return has_target

    def _command(
        self, kind: str, words: list[Word], place: Place, wrapped: int, row: CommandRow
    ) -> None:
        if kind == "command":
            self._run(words, place, wrapped + 1)
        elif kind == "assign-command":
            self._assigned(words, place, wrapped, row)
        else:
            self._joined(words, place)

    def _host_and_port(self, word: Word, after: list[Word], place: Place) -> None:
        port = after[0].text if after and after[0].is_whole else ""
        number = int(port) if re.fullmatch(r"[0-9]{1,5}", port) else None
        self._findings.power((targets.host(word, number),), place.line, place.reason)

    def value(self, kind: str, word: Word, place: Place) -> bool:
        """One word of a kind; whether it names a place of the network."""
        line, reason = place.line, place.reason
        if kind in _CODE:
            self._code.text(kind, word, line, reason)
        elif kind.endswith("-file"):
            if word.text != "-":
                self._code.file(kind.removesuffix("-file"), word, line, reason)
        elif kind in ("command-line", "maybe-command-line"):
            self._command_line(kind, word, place)
        elif kind in _FILES:
            self._findings.power(_FILES[kind](word), line, reason)
        elif kind in ("url", "host", "ssh-host"):
            make = {"url": targets.address, "host": targets.host, "ssh-host": targets.ssh_host}[
                kind
            ]
            self._findings.power((make(word),), line, reason)
            return True
        elif kind in self._others:
            self._others[kind](word, place)
        return False

    def tested(self, words: list[Word], place: Place) -> None:
        """`test -f FILE`: files that are constants are looked at."""
        for at, word in enumerate(words[:-1]):
            after = words[at + 1]
            if (
                _TESTS_OF_FILES.fullmatch(word.text)
                and after.is_whole
                and after.text not in ("]", "")
            ):
                self._findings.power(targets.paths(reading, after), place.line, place.reason)

    # ---- words that are commands -------------------------------------------------------------

    def _assigned(self, words: list[Word], place: Place, wrapped: int, row: CommandRow) -> None:
        while words and _ASSIGNMENT.match(words[0].text):
            words = words[1:]
        if words and words[0].text == "--":
            words = words[1:]
        if words:
            self._run(words, place, wrapped + 1)
        elif row.alone:
            self._findings.power((seeing(ANYTHING),), place.line, place.reason)

    def _joined(self, words: list[Word], place: Place) -> None:
        """Programs that make one line of shell code from their words."""
        known = [word.text for word in words if word.is_whole]
        if len(known) == len(words):
            self._code.text("shell", Word(" ".join(known)), place.line, place.reason)
        else:
            self._run(words, place, 1)
            self._findings.load(place.line, place.reason)

    def _command_line(self, kind: str, word: Word, place: Place) -> None:
        if kind == "maybe-command-line" and not (word.is_whole and " " in word.text):
            if not word.is_whole:
                self._findings.power((starting(ANYTHING),), place.line, place.reason)
            return
        self._code.text("shell", word, place.line, place.reason)

    # ---- words of certain programs -----------------------------------------------------------

    def _remote(self, word: Word, place: Place, *, is_last: bool) -> bool:
        host = targets.remote_host(word)
        if host is not None:
            self._findings.power((host,), place.line, place.reason)
            return True
        make = writing if is_last else reading
        self._findings.power(targets.paths(make, word), place.line, place.reason)
        return False

    def _copied(self, word: Word, place: Place) -> None:
        name, _, path = word.text.partition("=")
        make = {"if": reading, "of": writing}.get(name)
        if make is not None:
            self._findings.power(
                targets.paths(make, Word(path, word.is_whole)), place.line, place.reason
            )

    def _posted(self, word: Word, place: Place) -> None:
        """`@file` as data, alone or behind `name=`."""
        found = re.match(r"(?:[^=@\s]*=)?[@<](.*)", word.text, re.DOTALL)
        if found is not None and found[1]:
            file = Word(found[1].partition(";")[0], word.is_whole)
            self._findings.power(targets.paths(reading, file), place.line, place.reason)

    def _configured(self, word: Word, place: Place) -> None:
        if not word.is_whole or _GIT_RUNS.match(word.text):
            self._findings.power((starting(ANYTHING),), place.line, place.reason)

    def _key(self, word: Word, place: Place) -> None:
        if word.is_whole and _GIT_RUNS.match(word.text):
            self._findings.power((starting(ANYTHING),), place.line, place.reason)

    def _ssh_option(self, word: Word, place: Place) -> None:
        if not word.is_whole or _SSH_RUNS.match(word.text):
            self._findings.power((starting(ANYTHING),), place.line, place.reason)

    def _module(self, word: Word, place: Place) -> None:
        if not word.is_whole:
            self._findings.load(place.line, place.reason)
        elif word.text in _NETWORK_MODULES:
            self._findings.power(_NETWORK, place.line, place.reason)

    def _connected(self, word: Word, place: Place) -> None:
        found = _SOCAT_RUNS.match(word.text)
        if found is not None or not word.is_whole:
            text = (
                Word(found[1].partition(",")[0])
                if found is not None and word.is_whole
                else COMPUTED
            )
            self._code.text("shell", text, place.line, place.reason)

    def _variable(self, word: Word, place: Place) -> None:
        self._findings.power((variable_atom(word.constant),), place.line, place.reason)

    def _anything(self, _: Word, place: Place) -> None:
        self._findings.power((starting(ANYTHING),), place.line, place.reason)

    def _load(self, word: Word, place: Place) -> None:
        self._findings.load(place.line, f"{place.reason} {word.text}")


def _paired(kinds: list[str], words: list[Word]) -> Iterator[tuple[int, str, Word]]:
    """Each word with its kind; `x*` takes all but the last ones, which the kinds behind it take."""
    star = next((at for at, kind in enumerate(kinds) if kind.endswith("*")), None)
    if star is None:
        yield from (
            (at, kind, word) for at, (kind, word) in enumerate(zip(kinds, words, strict=False))
        )
        return
    behind = len(kinds) - star - 1
    for at, word in enumerate(words):
        if at < star:
            yield at, kinds[at], word
        elif behind and at >= len(words) - behind and at > 0:
            yield at, kinds[len(kinds) - (len(words) - at)], word
        else:
            yield at, kinds[star][:-1], word


_FILES: Final = {
    "read": lambda word: targets.paths(reading, word),
    "write": lambda word: targets.paths(writing, word),
    "both": targets.both,
}
_NETWORK: Final = (connecting(),)
