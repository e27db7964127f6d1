"""Other analysers of Python, each in an environment of its own, as extractors of our dimensions.

They are installed once, under `.cache`, by their names in the package index, and run without network:
as their commands are, with what they need to read every file and tell every place. One that cannot be
had here, or does not run, is left out with its reason.
"""

import json
import os
import re
import resource
import subprocess
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from bench.installing import Absent, from_wheel, said_by
from consentry.surface.dimensions import Dimension

ENVIRONMENTS = Path(".cache/guardpeers")
_RULES = Path(__file__).with_name("guardrules.yaml")
_SECONDS = 3600
_ADDRESS = re.compile(r"\w+://\S+")
# Nothing listens there: whatever a peer would fetch, it does not.
_NOWHERE = "http://127.0.0.1:9"

Findings = Iterator[tuple[str, Dimension]]
Words = Sequence[str]


class Failed(Exception):
    """A peer that ran and had no answer."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One analyser; `about` says how it is run where that is not its plain command.

    `labelled` is how it is run on the samples, where that must be another way.
    """

    name: str
    package: str
    command: Words
    read: Callable[[str], Findings] | None
    about: str = ""
    is_slow: bool = False
    is_beaten: bool = False
    labelled: Words = ()

    def installed(self) -> tuple[Path, str]:
        """The folder of its programs, and its version; raises `Absent`."""
        folder = ENVIRONMENTS / self.package
        mark = folder / "complete"
        if not mark.exists():
            from_wheel(folder, self.package)
            mark.touch()
        programs = (folder / "bin").absolute()
        asked = f"import importlib.metadata as m; print(m.version({self.package!r}))"
        return programs, said_by([str(programs / "python"), "-c", asked])

    def run(self, programs: Path, folder: Path, scratch: Path) -> float:
        """Processor seconds for reading a folder; raises `Failed`."""
        return processor_seconds(_in(programs, self.command), folder, scratch)

    def found(
        self, programs: Path, folder: Path, scratch: Path
    ) -> Mapping[str, frozenset[Dimension]]:
        """The dimensions that it names for each file."""
        if self.read is None:
            return {}
        processor_seconds(_in(programs, self.labelled or self.command), folder, scratch)
        answer = (scratch / "answer").read_text(encoding="utf-8")
        found: dict[str, set[Dimension]] = {}
        for name, dimension in self.read(answer):
            found.setdefault(Path(name).name, set()).add(dimension)
        return {name: frozenset(each) for name, each in found.items()}


def _in(programs: Path, command: Words) -> Words:
    return [str(programs / command[0]), *command[1:]]


def processor_seconds(words: Words, folder: Path, scratch: Path) -> float:
    """What a command and those that it started used of a processor; its output is the answer."""
    home = scratch / "home"
    home.mkdir(exist_ok=True)
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY", "HTTP_PROXY"), _NOWHERE)
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8", **proxies}
    answer = scratch / "answer"
    answer.unlink(missing_ok=True)
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    with answer.open("wb") as output, (scratch / "said").open("wb") as said:
        try:
            done = subprocess.run(
                words,
                cwd=folder,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=said,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise Failed(type(problem).__name__) from problem
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1) or answer.stat().st_size == 0:
        last = ((scratch / "said").read_text(errors="replace").strip() or "no words").splitlines()
        raise Failed(f"ended with {done.returncode}: {_ADDRESS.sub('…', last[-1])}")
    return ended.ru_utime - began.ru_utime + ended.ru_stime - began.ru_stime


def rules_for_semgrep() -> tuple[int, int]:
    """How many rules of ours it runs, and of how many patterns."""
    text = _RULES.read_text(encoding="utf-8")
    return text.count("- id: "), text.count("- pattern: ")


@cache
def _meanings(peer: str) -> Mapping[str, tuple[Dimension, ...]]:
    """The dimensions of each finding that has any."""
    table = tomllib.loads(files("bench").joinpath("guardpeers.toml").read_text(encoding="utf-8"))
    found: dict[str, tuple[Dimension, ...]] = {}
    for dimension, words in table[peer].items():
        for word in words:
            found[word] = (*found.get(word, ()), Dimension[dimension])
    return found


def _numbered(rows: Sequence[Mapping[str, Any]], key: str) -> Findings:
    for row in rows:
        for dimension in _meanings("numbered").get(str(row[key] or "")[1:], ()):
            yield row["filename"], dimension


def _read_bandit(answer: str) -> Findings:
    return _numbered(json.loads(answer)["results"], "test_id")


def _read_ruff(answer: str) -> Findings:
    return _numbered(json.loads(answer), "code")


def _read_semgrep(answer: str) -> Findings:
    for row in json.loads(answer)["results"]:
        yield row["path"], Dimension[row["check_id"].rpartition(".")[2]]


def _read_hexora(answer: str) -> Findings:
    for line in filter(None, answer.splitlines()):
        row = json.loads(line)
        known = dict(_meanings("hexora"))
        if row["rule"] == "HX5010":
            top = str(row["label"]).partition(".")[0]
            known["HX5010"] = _meanings("hexora_imports").get(top, ())
        for dimension in known.get(row["rule"], ()):
            yield row["path"], dimension


def _read_guarddog(answer: str) -> Findings:
    begins = _meanings("guarddog")
    for name, rules in json.loads(answer.splitlines()[-1]).items():
        for rule in rules:
            longest = max((each for each in begins if rule.startswith(each)), key=len, default="")
            for dimension in begins.get(longest, ()):
                yield name, dimension


# Its rules stop at their first hits in a package; here they go on, as the others do.
_GUARDDOG_ALL = """\
import json, sys
from guarddog.analyzer import analyzer
from guarddog.ecosystems import ECOSYSTEM
rules = analyzer.get_sourcecode_rules
def unbounded(*given, **named):
    for rule in rules(*given, **named):
        rule.max_hits = None
        yield rule
analyzer.get_sourcecode_rules = unbounded
found = analyzer.Analyzer(ECOSYSTEM.PYPI).analyze_sourcecode(sys.argv[1])
print(json.dumps({name: len(each) for name, each in found["results"].items()}))
"""
# Each sample is a package of its own: it drops what another file of the package says, too.
_GUARDDOG_EACH = """\
import functools, json, pathlib, sys, tempfile
import yara
yara.compile = functools.cache(yara.compile)
from guarddog.analyzer.analyzer import Analyzer
from guarddog.ecosystems import ECOSYSTEM
analyzer = Analyzer(ECOSYSTEM.PYPI)
found = {}
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.py")):
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, path.name).write_bytes(path.read_bytes())
        results = analyzer.analyze_sourcecode(folder)["results"]
        found[path.name] = sorted(rule for rule, each in results.items() if each)
print(json.dumps(found))
"""

_BANDIT = ("bandit", "-q", "-r", "-f", "json", "--ignore-nosec", ".")
_RUFF = (
    *("ruff", "check", "--isolated", "--no-cache", "--preview", "--exit-zero", "--quiet"),
    *("--select", "S", "--ignore-noqa", "--output-format", "json", "."),
)
_SEMGREP = (
    *("semgrep", "scan", "--metrics", "off", "--disable-version-check", "--quiet", "--json"),
    *("--no-git-ignore", "--disable-nosem", "--max-target-bytes", "0", "--jobs", "1"),
    *("--config", str(_RULES), "."),
)
_SEMGREP_ABOUT = "{} rules of our own with {} patterns, one for each dimension; one job"

PEERS = (
    Peer("bandit", "bandit", _BANDIT, _read_bandit, is_beaten=True),
    Peer(
        "semgrep",
        "semgrep",
        _SEMGREP,
        _read_semgrep,
        about=_SEMGREP_ABOUT.format(*rules_for_semgrep()),
        is_slow=True,
        is_beaten=True,
    ),
    Peer("ruff", "ruff", _RUFF, _read_ruff, about="the rules S, those in preview, too"),
    Peer(
        "guarddog",
        "guarddog",
        ("python", "-c", _GUARDDOG_ALL, "."),
        _read_guarddog,
        about="its rules for source code, each told to go on after its first hit in a package",
        is_beaten=True,
        labelled=("python", "-c", _GUARDDOG_EACH, "."),
    ),
    Peer(
        "guarddog, as it comes",
        "guarddog",
        ("guarddog", "pypi", "scan", "./", "--output-format", "json", "--no-sandbox"),
        None,
        about="each rule stops at its first hits, so that most rules do not read most files",
    ),
    Peer("hexora", "hexora", ("hexora", "audit", "--output-format", "json", "."), _read_hexora),
)

__all__ = ["PEERS", "Absent", "Failed", "Peer", "processor_seconds"]
