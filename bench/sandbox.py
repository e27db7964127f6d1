"""How long a confined run takes, beside a bare start and beside other sandboxes, all in one run.

Every run of ours goes through the library: decided, permitted, confined, committed and durably
recorded. Others record nothing. All of it in turns, so that a busy moment hits all. What is slow has
a table of its own with fewer rounds, in which ours takes part again.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import consentry
from bench import crowd
from bench.peers import UNCONFINED, Ground, Peer, gathered, open_port
from bench.processes import status_of
from bench.report import Sample, interleaved
from bench.sheet import Sheet, Target
from consentry.service.library import library_of_this_process

SNIPPET = Target(0.35)
TRUE = Target(1.2)
AHEAD = Target(1.0)
IMPORTS = Target(1.35)
GCC = Target(1.5)
WORK = Target(1.03)
# Those that ours must be ahead of; bwrap has a target of its own, and sandlock none.
_AHEAD_OF = ("firejail", "codex", "srt, library", "srt", "docker")

_TRUE = "/usr/bin/true"
_PYTHON = "/usr/bin/python3"
_COMPILER = "/usr/bin/gcc"
_IMPORTS = "import json, http.client, sqlite3"
_WORK = "n = 0\nfor each in range(25_000_000): n += each & 3"
_HELLO = "int main(void) { return 0; }\n"


@dataclass(frozen=True, slots=True)
class Size:
    """How many rounds of each kind."""

    quick: int = 60
    programs: int = 50
    slow: int = 12
    work: int = 12
    crowds: int = 5


SMALL = Size(quick=6, programs=4, slow=3, work=2, crowds=1)


def run(size: Size | None = None) -> bool:
    """Prints the tables; returns whether every target is met."""
    return not measured(size or Size()).missed


def measured(size: Size) -> Sheet:
    """All of it."""
    sheet = Sheet()
    before = os.environ.copy()
    with ExitStack() as stack:
        stack.callback(_restore, before)
        ground = stack.enter_context(_ground())
        os.environ["CONSENTRY_STATE"] = str(ground.folder / "state")
        stack.callback(library_of_this_process().close)
        with ExitStack() as peers:
            found, missing = gathered(ground, peers)
            _starts(sheet, ground, found, missing, size)
        _snippets(sheet, ground, size)
        _programs(sheet, ground, size)
        crowd.measure(sheet, ground.project, size.crowds)
    return sheet


@contextmanager
def _ground() -> Iterator[Ground]:
    """A project that a box and a bare program tell apart from what lies beside it."""
    # Not among temporary files: no workspace may lie there.
    parent = Path.cwd() / ".cache"
    parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-", dir=parent) as name, open_port() as port:
        ground = Ground.made_in(Path(name), port)
        if status_of(ground.probe()) != UNCONFINED:
            raise RuntimeError("the probe does not notice that nothing confines it")
        yield ground


def _starts(
    sheet: Sheet, ground: Ground, peers: dict[str, Peer], missing: dict[str, str], size: Size
) -> None:
    ours = partial(_ours, ground.project, _TRUE)
    held = consentry.exec(ground.probe(), workspace=ground.project, programs=["any"])
    if held.exit_code != 0:
        raise RuntimeError(f"the probe in our own box ended with {held.exit_code}")
    quick = {name: peer for name, peer in peers.items() if not peer.is_slow}
    slow = {name: peer for name, peer in peers.items() if peer.is_slow}
    sheet.section(
        f"Starting `true` ({size.quick} rounds)",
        "Ours is warm, with its full durable record. Every other sandbox reads the same folder and "
        "has no network, shown by a probe before it is measured, and records nothing.",
    )
    samples = interleaved(
        size.quick,
        bare=partial(_must, _TRUE),
        ours=ours,
        **{name: partial(_in, peer, _TRUE) for name, peer in quick.items()},
    )
    sheet.time("`true`, fork and exec", samples["bare"])
    for name in quick:
        sheet.time(f"`true` in {name}", samples[name])
    _beside(sheet, samples["ours"], {name: samples[name] for name in quick})
    for name, peer in peers.items():
        sheet.note(f"{name}: {peer.version}")
    for name, reason in missing.items():
        sheet.note(f"{name}: not measured, {reason}")
    if slow:
        _slow_starts(sheet, ground, slow, size)


def _snippets(sheet: Sheet, ground: Ground, size: Size) -> None:
    """In turns with bare Python alone, and again with programs in boxes in between."""
    sheet.section(
        f"Starting a snippet ({size.quick} rounds each)",
        "A warm worker, with full confinement and the full durable record, beside a bare start of "
        "the same interpreter. The second row has a program in a box before each snippet: the "
        "launcher makes the next box while the snippet starts.",
    )
    bare = partial(_must, sys.executable, "-I", "-c", "pass")
    snippet = partial(consentry.run_code, "1", workspace=ground.project)
    alone = interleaved(size.quick, bare=bare, snippet=snippet)
    sheet.time("`python3 -I -c pass`, bare", alone["bare"])
    sheet.ratio("snippet, ours", alone["snippet"], alone["bare"], "bare python", SNIPPET)
    program = partial(_ours, ground.project, _TRUE)
    mixed = interleaved(size.quick, bare=bare, program=program, snippet=snippet)
    sheet.ratio(
        "snippet, ours, after a program", mixed["snippet"], mixed["bare"], "bare python", None
    )


def _slow_starts(sheet: Sheet, ground: Ground, slow: dict[str, Peer], size: Size) -> None:
    sheet.section(
        f"Starting `true` beside slower ones ({size.slow} rounds)",
        "As above. `srt` is its command; `srt, library` is its library in one process of Node.",
    )
    samples = interleaved(
        size.slow,
        ours=partial(_ours, ground.project, _TRUE),
        **{name: partial(_in, peer, _TRUE) for name, peer in slow.items()},
    )
    for name in slow:
        sheet.time(f"`true` in {name}", samples[name])
    _beside(sheet, samples["ours"], {name: samples[name] for name in slow})


def _beside(sheet: Sheet, ours: Sample, others: dict[str, Sample]) -> None:
    for name, other in others.items():
        target = TRUE if name == "bwrap" else AHEAD if name in _AHEAD_OF else None
        sheet.ratio("`true`, ours", ours, other, name, target)


def _programs(sheet: Sheet, ground: Ground, size: Size) -> None:
    """Real programs, everything on, beside the same without a sandbox."""
    sheet.section(
        f"Real programs ({size.programs} rounds; {size.work} of the long one)",
        "Through the library, everything on, hash cache warm, beside the same program without a box.",
    )
    project = ground.project
    source = project / "hello.c"
    source.write_text(_HELLO)
    python = [_PYTHON, "-c", _IMPORTS]
    _pair(sheet, project, "python with three imports", IMPORTS, size.programs, python)
    # Inside, /tmp is the box's own and goes with it.
    boxed = [_COMPILER, "-o", "/tmp/hello", str(source)]  # noqa: S108
    bare = [_COMPILER, "-o", str(ground.folder / "hello"), str(source)]
    _pair(sheet, project, "gcc hello.c", GCC, size.programs, boxed, bare)
    work = [_PYTHON, "-I", "-c", _WORK]
    _pair(sheet, project, "python, a loop that only counts", WORK, size.work, work)


def _pair(
    sheet: Sheet,
    project: Path,
    name: str,
    target: Target,
    rounds: int,
    boxed: Sequence[str],
    bare: Sequence[str] | None = None,
) -> None:
    if not Path(boxed[0]).exists():
        sheet.note(f"{name}: not measured, `{boxed[0]}` is not installed")
        return
    samples = interleaved(
        rounds,
        bare=partial(_must, *(bare or boxed)),
        ours=partial(_ours, project, *boxed, programs=["any"]),
    )
    sheet.time(f"{name}, bare", samples["bare"])
    sheet.ratio(f"{name}, ours", samples["ours"], samples["bare"], "bare", target)


def _must(*words: str) -> None:
    if status_of(words) != 0:
        raise RuntimeError(f"`{words[0]}` fails without a box")


def _in(peer: Peer, *words: str) -> None:
    if peer.run(words) != 0:
        raise RuntimeError(f"`{words[0]}` fails in {peer.version}")


def _ours(project: Path, *words: str, programs: Sequence[str] = ()) -> None:
    result = consentry.exec(words, workspace=project, programs=programs)
    if result.exit_code != 0:
        raise RuntimeError(result.stderr.decode(errors="replace"))


def _restore(before: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(before)
