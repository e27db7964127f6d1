"""What the engine `deno` adds to Deno's own start, for a tiny script of JavaScript and of TypeScript.

Bare is the same program with the same flags and a warm cache; ours goes through the library: decided,
permitted, confined, recorded, and with an empty cache of its own in each run. Between them stand the
same line as an ordinary program in the native box, and this engine without a decision and a record. Where
the time goes is told from these and from `true` in the same kind of box.
"""
# ruff: noqa: SLF001 - a run without a permit is nobody's but ours

import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import consentry
from bench.report import Sample, heading, interleaved, row, shown
from consentry.declare.profile import EngineName
from consentry.enforce.denoflags import ALWAYS, NOTHING_REMOTE, STRANGERS
from consentry.enforce.denoprogram import find_deno
from consentry.enforce.engine import Ending
from consentry.enforce.engines.deno import DenoEngine
from consentry.enforce.native.disklayer import let_go_of
from consentry.enforce.native.streamends import Io
from consentry.enforce.sealing import seal
from consentry.service.commandline import RunWish, bind_wish
from consentry.service.library import library_of_this_process
from consentry.service.surroundings import look_around
from consentry.surface.protected import protected_roots

ROUNDS = 30
TARGET_RATIO, TARGET_NANOSECONDS = 1.15, 4_000_000
_TRUE = "/usr/bin/true"
_AHEAD = 2
"""As many boxes as the library builds before they are needed."""

_SCRIPTS = {
    "one.js": "console.log(1);\n",
    "one.ts": "const one: number = 1;\nconsole.log(one);\n",
}


def run() -> bool:
    """Prints the table; returns whether the target is met."""
    heading(f"deno ({ROUNDS} starts of each, in turns)")
    deno = find_deno(os.environ.get("PATH", ""))
    if deno is None:
        print("no `deno` on this host: nothing to measure")
        return True
    before = os.environ.copy()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        project = Path(folder, "project")
        project.mkdir()
        project.chmod(0o755)
        os.environ["CONSENTRY_STATE"] = f"{folder}/state"
        try:
            met = [_measured(name, deno, project, Path(folder)) for name in _SCRIPTS]
            return all(met)
        finally:
            library_of_this_process().close()
            os.environ.clear()
            os.environ.update(before)


def _measured(name: str, deno: Path, project: Path, folder: Path) -> bool:
    script = project / name
    script.write_text(_SCRIPTS[name])
    words = [str(deno), "run", *STRANGERS, *NOTHING_REMOTE, *ALWAYS, str(script)]
    environ = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(folder),
        "DENO_DIR": f"{folder}/cache",
        "DENO_NO_UPDATE_CHECK": "1",
    }
    engine = DenoEngine(None, protected_roots(), path=os.environ.get("PATH", ""), ahead=_AHEAD)
    with closing(engine):
        taken = interleaved(
            ROUNDS,
            bare=_bare(words, environ),
            boxed=_ours(words, project, "native"),
            unrecorded=_unrecorded(
                engine, RunWish((str(script),), engine=EngineName.DENO), project
            ),
            ours=_ours([str(script)], project, "deno"),
            bare_true=_bare([_TRUE], environ),
            boxed_true=_unrecorded(engine, RunWish((_TRUE,)), project),
        )
    bare = taken["bare"]
    row(f"{name}, bare", bare)
    row(f"{name}, the same words, engine native", taken["boxed"], bare)
    row(f"{name}, engine deno, without its record", taken["unrecorded"], bare)
    is_met = _last_row(name, bare, taken["ours"])
    box = taken["boxed_true"].p50 - taken["bare_true"].p50
    watched = taken["unrecorded"].p50 - bare.p50 - box
    recorded = taken["ours"].p50 - taken["unrecorded"].p50
    print(
        f"{'':<44} of it the box, by `true`: {_added(box)}; Deno in it, watched: {_added(watched)};"
        f" decision and record: {_added(recorded)}"
    )
    return is_met


def _bare(words: list[str], environ: Mapping[str, str]) -> Callable[[], object]:
    return lambda: subprocess.run(words, env=environ, check=True, capture_output=True)


def _ours(words: list[str], project: Path, engine: str) -> Callable[[], object]:
    def started() -> None:
        ended = consentry.exec(words, engine=engine, workspace=project)
        if ended.exit_code != 0:
            raise RuntimeError(ended.stderr.decode(errors="replace"))

    return started


def _unrecorded(engine: DenoEngine, wish: RunWish, project: Path) -> Callable[[], object]:
    """In the box that the engine keeps, without a permit, which nothing but a decision makes."""
    wanted = bind_wish(wish, project, look_around(os.environ)).confinement
    plan = engine._native.compile(wanted)

    def started() -> None:
        sealed = [seal(path) for path in wanted.program.copies]
        try:
            outcome = engine._native._held_run(plan, sealed, Io(keeps=True))
        finally:
            for each in sealed:
                each.close()
        if outcome.layer is not None:
            let_go_of(outcome.layer)
        if outcome.ending is not Ending.SUCCESS:
            raise RuntimeError(outcome.stderr.decode(errors="replace"))

    return started


def _last_row(name: str, bare: Sample, ours: Sample) -> bool:
    row(f"{name}, engine deno", ours, bare)
    added = ours.p50 - bare.p50
    is_met = ours.p50 <= bare.p50 * TARGET_RATIO or added <= TARGET_NANOSECONDS
    print(
        f"{'':<44} added {_added(added):>7}  target <= {TARGET_RATIO} x or"
        f" + {shown(TARGET_NANOSECONDS)}: {'met' if is_met else 'NOT MET'}"
    )
    return is_met


def _added(nanoseconds: float) -> str:
    """Medians of different things: what is small may come out as less than nothing."""
    return shown(nanoseconds) if nanoseconds > 0 else "nothing"
