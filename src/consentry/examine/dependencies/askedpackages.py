"""Packages and images that command lines ask for by name: `npx -y x`, `pip install x`, `docker run x`.

Which words of a command are names is data (`launchers.toml`). What the programs themselves do is the
shell extractor's to say; this only adds the packages. A command line that hides its words (a variable,
a file that is run) is not seen through here, and its program counts all the same.
"""

import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final

from consentry.base.ownfiles import own_bytes
from consentry.base.values import dataclass
from consentry.examine.dependencies.findings import Findings
from consentry.examine.dependencies.packages import (
    add_image,
    add_npm_argument,
    add_unknown,
    shown,
)
from consentry.examine.dependencies.requirementtext import add_requirement

_TABLE: Final = "launchers.toml"
_MOST_LINE: Final = 16_384
_SEPARATORS: Final = re.compile(r"\|\||&&|[|;&()\n]|\$\(|`")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_PYTHON: Final = re.compile(r"python[\d.]*|py")
_BEFORE: Final = frozenset(("sudo", "env", "exec", "time", "nohup", "command", "doas", "then", "do", "else", "if", "!", "{", "RUN"))  # fmt: skip
_RUNNERS: Final = (
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("cmd", "/c"),
)


@dataclass(frozen=True, slots=True)
class _Launcher:
    words: tuple[str, ...]
    index: str
    takes: str
    packages: frozenset[str]
    valued: frozenset[str] | None
    flags: frozenset[str]
    addresses: frozenset[str]

    def has_value(self, option: str) -> bool:
        """Whether the next word belongs to that option."""
        if self.valued is None:
            return option not in self.flags
        return option in self.valued


def packages_in_shell(text: str, line: int, findings: Findings) -> None:
    """Adds the packages that the lines of a script ask for."""
    for offset, command in _commands(text):
        if _first_words().search(command) is not None:
            _add_words(_words(command), line + offset, findings)


def _commands(text: str) -> Iterator[tuple[int, str]]:
    """Simple commands with the number of lines before each, as far as splitting tells."""
    joined = ""
    began = 0
    for number, raw in enumerate(text.split("\n")):
        if not joined:
            began = number
        stripped = raw.rstrip()
        if stripped.endswith("\\"):
            joined += stripped[:-1] + " "
            continue
        whole, joined = joined + stripped, ""
        for part in _SEPARATORS.split(whole[:_MOST_LINE]):
            if part.strip() and not part.lstrip().startswith("#"):
                yield began, part
    if joined.strip():
        yield began, joined[:_MOST_LINE]


@cache
def _first_words() -> re.Pattern[str]:
    words = sorted({launcher.words[0] for launcher in _launchers()})
    return re.compile(rf"(?:{'|'.join(map(re.escape, words))})\b")


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command, comments=True)
    except ValueError:
        return [word.strip("\"'") for word in command.split()]


def _add_words(words: list[str], line: int, findings: Findings) -> None:
    words = _without_prefixes(words)
    launcher = _launcher_of(words)
    if launcher is None:
        return
    add = _ADD[launcher.index]
    rest = iter(words[len(launcher.words) :])
    has_name = False
    for word in rest:
        option, has_sign, value = word.partition("=")
        if word == "--":
            continue
        if not word.startswith("-") or word == "-":
            if launcher.takes == "all" or (launcher.takes == "first" and not has_name):
                _add_name(add, launcher, word, line, findings)
            has_name = True
            if launcher.takes != "all":
                return
        elif option in launcher.packages or option in launcher.addresses:
            value = value if has_sign else next(rest, "")
            if option in launcher.packages:
                _add_name(add, launcher, value, line, findings)
                has_name = launcher.index == "npm" or option in ("--from", "--spec") or has_name
            else:
                findings.address(value, line, f"{option} {shown(value)}")
        elif not has_sign and launcher.has_value(option):
            next(rest, None)


def _add_name(
    add: Callable[[str, int, Findings], None],
    launcher: _Launcher,
    name: str,
    line: int,
    findings: Findings,
) -> None:
    if "$" in name or not name:
        add_unknown(f"{launcher.index}:{name or '?'}", line, findings)
    elif name.rstrip("/") != ".":
        add(name, line, findings)


def _without_prefixes(words: list[str]) -> list[str]:
    at = 0
    while at < len(words):
        word = words[at]
        if word in _BEFORE:
            at += 1
            while at < len(words) and words[at].startswith("-") and word in ("sudo", "env"):
                at += 1
        elif _ASSIGNMENT.match(word):
            at += 1
        elif tuple(words[at : at + 2]) in _RUNNERS or (
            _PYTHON.fullmatch(word.rpartition("/")[2]) and words[at + 1 : at + 2] == ["-m"]
        ):
            at += 2
        else:
            break
    rest = words[at:]
    return [rest[0].rpartition("/")[2], *rest[1:]] if rest else rest


def _launcher_of(words: list[str]) -> _Launcher | None:
    for launcher in _launchers():
        if tuple(words[: len(launcher.words)]) == launcher.words:
            return launcher
    return None


def _add_pypi_argument(text: str, line: int, findings: Findings) -> None:
    name, at, _ = text.partition("@")
    is_versioned = bool(at) and bool(re.fullmatch(r"[\w.\[\]-]+", name)) and "://" not in text
    add_requirement(name if is_versioned else text, line, findings)


_ADD: Final[dict[str, Callable[[str, int, Findings], None]]] = {
    "npm": add_npm_argument,
    "pypi": _add_pypi_argument,
    "image": add_image,
}


@cache
def _launchers() -> tuple[_Launcher, ...]:
    """Those of most words first, so that the most exact one counts."""
    source = own_bytes("consentry.examine.dependencies", _TABLE)
    table: dict[str, Any] = tomllib.loads(source.decode())
    launchers = [
        _Launcher(
            tuple(words.split()),
            row["index"],
            row["takes"],
            frozenset(row["packages"]),
            frozenset(row["valued"]) if "valued" in row else None,
            frozenset(row.get("flags", ())),
            frozenset(row["addresses"]),
        )
        for row in table["launcher"]
        for words in row["words"]
    ]
    return tuple(sorted(launchers, key=lambda each: (-len(each.words), each.words)))
