"""The guard: how fast it reads, beside plain parsing and other analysers, and how much it sees.

Everything is read that Python's own library has, on this machine, in this run. Peers are brought by
name into environments of their own (`bench.guardpeers`); what they find is translated into our
dimensions by a table that is data (`guardpeers.toml`), and held against labels that we wrote.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.guardcorpus import Reading, library_in, samples_in
from bench.guardpage import GuardPage
from bench.guardpeers import PEERS, Absent, Failed, Peer, processor_seconds
from bench.guardscores import Named, Score, caught, scored
from bench.guardtimes import (
    CONSENTRY,
    cold,
    first_and_second,
    most_memory,
    parsing_and_extracting,
    prepared_change,
)
from bench.report import shown
from bench.sheet import Target
from consentry.examine.filekinds import FileKind
from consentry.service.extracting import read_one
from tests.examine.corpus.reader import LABELLED, Sample

_PARSING = Target(0.35, is_least=True)
_AHEAD = Target(1.0, is_least=True)
_SECOND_RUN = Target(5.0, is_least=True)
_COLD = Target(10.0)


@dataclass(frozen=True, slots=True)
class Size:
    """How much is read, and how often."""

    every: int = 1
    rounds: int = 3
    starts: int = 40


SMALL = Size(every=20, rounds=1, starts=6)


def measured(size: Size) -> GuardPage:
    """All tables, printed as they come."""
    page = GuardPage()
    with TemporaryDirectory(prefix="guard-") as name:
        ground = Path(name)
        library = library_in(ground / "library", size.every)
        _beside_parsing(page, library, size)
        _second_runs(page, library, size)
        _cold_starts(page, ground, size)
        _memory(page, ground, library)
        peers = _installed(page)
        _beside_peers(page, ground, library, size, peers)
        _seen(page, ground, peers)
    return page


def _beside_parsing(page: GuardPage, library: Reading, size: Size) -> None:
    page.part(
        "Reading Python's own library on one core",
        "Each file in turns: parsed by `ast.parse`, and extracted, which parses it, too. Processor "
        "time. The ratio is one of speeds.",
    )
    read = parsing_and_extracting(library.contents(), size.rounds)
    parsing, extracting = read.parsing.p50, read.extracting.p50
    page.row("files, lines", f"{len(library.files):,}, {library.lines:,}")
    page.row("`ast.parse`", _speed(library, parsing))
    page.ratio(
        "extraction", _speed(library, extracting), parsing / extracting, "`ast.parse`", _PARSING
    )
    page.note(f"files that cannot be judged: {len(read.unclassified)}")
    for reason in sorted(set(read.unclassified)):
        page.note(f"{read.unclassified.count(reason)}: {reason}")


def _second_runs(page: GuardPage, library: Reading, size: Size) -> None:
    page.part(
        "A second run",
        "The same files with an empty cache, and once more with what the first run left. Wall time.",
    )
    for workers, words in ((os.cpu_count() or 1, "every core"), (1, "one core")):
        first, second = first_and_second(library, workers, size.rounds)
        page.row(f"first run, {words}", shown(first.p50))
        page.ratio(
            f"second run, {words}",
            shown(second.p50),
            first.p50 / second.p50,
            "as fast as the first",
            _SECOND_RUN,
        )


def _cold_starts(page: GuardPage, ground: Path, size: Size) -> None:
    change = prepared_change(ground)
    page.part(
        f"A change of {change.lines} lines, from a cold process",
        f"Whole commands in turns with a bare start of the same interpreter, wall time, median of "
        f"{size.starts}. Five modules; the change passes.",
    )
    samples = cold(change, _own_environ(ground / "cold"), size.starts)
    bare = samples["bare"]
    page.row("`python -I -c pass`", shown(bare.p50))
    rows = {
        "bundle": "`consentry guard`, a bundle",
        "range": "`consentry guard`, two commits",
        "json": "`consentry guard --json`, two commits",
    }
    for name, words in rows.items():
        sample = samples[name]
        page.ratio(words, shown(sample.p50), sample.p50 / bare.p50, "bare python", _COLD)


def _memory(page: GuardPage, ground: Path, library: Reading) -> None:
    page.part(
        "Memory",
        "The most that the command and its workers hold at one time while they read all of the "
        "library; a page that several share is split between them.",
    )
    words = [CONSENTRY, "surface", str(library.folder), "--json"]
    most, status = most_memory(words, _own_environ(ground / "memory"))
    page.row("`consentry surface`, every core", f"{most / (1 << 20):,.0f} MiB")
    page.row("the files themselves", f"{library.size / (1 << 20):,.0f} MiB")
    if status != 0:
        page.note(f"the command ended with {status}")


def _installed(page: GuardPage) -> dict[Peer, tuple[Path, str]]:
    found: dict[Peer, tuple[Path, str]] = {}
    page.part(
        "Beside other analysers",
        "Processor time of whole processes that read the same files, start-up and all, without "
        "network; those that use several cores are counted for all of them. The ratio is how many "
        "times as fast ours is. They answer other questions than the guard does.",
        ("what", "lines a second", "ours is faster by", "target", ""),
    )
    for peer in PEERS:
        print(f"preparing {peer.name}", flush=True)
        try:
            found[peer] = peer.installed()
        except Absent as reason:
            page.note(f"{peer.name}: not measured, {reason}")
    return found


def _beside_peers(
    page: GuardPage,
    ground: Path,
    library: Reading,
    size: Size,
    peers: Mapping[Peer, tuple[Path, str]],
) -> None:
    scratch = ground / "peers"
    scratch.mkdir()
    top = Path.cwd()
    one = [sys.executable, "-m", "bench.guardone", str(library.folder)]
    seconds: dict[str, list[float]] = {}
    failed: dict[str, str] = {}
    for number in range(size.rounds):
        seconds.setdefault("ours", []).append(processor_seconds(one, top, scratch))
        for peer, (programs, _) in peers.items():
            if peer.name in failed or (peer.is_slow and number > 0):
                continue
            print(f"running {peer.name}", flush=True)
            try:
                taken = peer.run(programs, library.folder, scratch)
            except Failed as reason:
                failed[peer.name] = str(reason)
            else:
                seconds.setdefault(peer.name, []).append(taken)
    ours = median(seconds["ours"])
    page.row("ours, one core, nothing kept", f"{library.lines / ours:,.0f}")
    for peer, (_, version) in peers.items():
        about = f"{peer.package} {version}" + (f": {peer.about}" if peer.about else "")
        if peer.name in failed:
            page.note(f"{peer.name}: did not run: {failed[peer.name]}")
            continue
        theirs = median(seconds[peer.name])
        goal = verdict = ""
        if peer.is_beaten:
            is_met = _AHEAD.is_met_by(theirs / ours)
            goal, verdict = str(_AHEAD), "met" if is_met else "not met"
            if not is_met:
                page.missed.append(f"ahead of {peer.name}")
        page.row(
            peer.name, f"{library.lines / theirs:,.0f}", f"{theirs / ours:.2f} x", goal, verdict
        )
        page.note(about)


def _seen(page: GuardPage, ground: Path, peers: Mapping[Peer, tuple[Path, str]]) -> None:
    reading, labels = samples_in(ground / "samples")
    named: dict[str, Named] = {"ours": _ours(reading)}
    failed: dict[str, str] = {}
    scratch = ground / "seen"
    scratch.mkdir()
    for peer, (programs, _) in peers.items():
        if peer.read is None:
            continue
        print(f"asking {peer.name}", flush=True)
        try:
            named[peer.name] = peer.found(programs, reading.folder, scratch)
        except Failed as reason:
            failed[peer.name] = str(reason)
    page.part(
        f"What is seen of {len(labels)} labelled samples",
        "Recall and precision. The samples are ours, were written to be hard, and were at hand when "
        "the guard was made: what it scores here is a floor that is kept, no forecast. Peers were made "
        "for other purposes, and their findings count as the dimension that `bench/guardpeers.toml` "
        "says. Evasions: of how many at least one power is named.",
        ("", *named),
    )
    _print_scores(page, labels, named)
    for name, why in failed.items():
        page.note(f"{name}: did not run: {why}")


def _print_scores(
    page: GuardPage, labels: Mapping[str, Sample], named: Mapping[str, Named]
) -> None:
    scores = {name: scored(labels, each) for name, each in named.items()}
    for dimension in LABELLED:
        page.row(f"`{dimension.value}`", *(str(each[dimension]) for each in scores.values()))
    together = [sum(each.values(), Score(0, 0, 0)) for each in scores.values()]
    page.row("all", *map(str, together))
    evasions = [caught(labels, each) for each in named.values()]
    page.row("evasions", *(f"{seen} of {hidden}" for seen, hidden in evasions))


def _ours(reading: Reading) -> Named:
    return {
        path.name: frozenset(
            each.atom.dimension for each in read_one(FileKind.PYTHON, path.read_bytes()).found
        )
        for path in reading.files
    }


def _own_environ(folder: Path) -> dict[str, str]:
    folder.mkdir()
    return {**os.environ, "HOME": str(folder), "CONSENTRY_STATE": str(folder / "state")}


def _speed(library: Reading, nanoseconds: float) -> str:
    return f"{library.lines / nanoseconds * 1e9:,.0f} lines/s"
