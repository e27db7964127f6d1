"""What the engine `deno` adds to Deno's own start, for a tiny script of JavaScript and of TypeScript.

Bare is the same program with the same flags and a warm cache; ours goes through the library: decided,
permitted, confined, recorded, and with an empty cache of its own in each run. Between them stands the
same line as an ordinary program in the native box: what is beyond that is this engine's.
"""

import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import consentry
from bench.report import Sample, heading, interleaved, row, shown
from consentry.enforce.denoflags import ALWAYS, NOTHING_REMOTE, STRANGERS
from consentry.enforce.denoprogram import find_deno
from consentry.service.library import library_of_this_process

ROUNDS = 30
TARGET_RATIO, TARGET_NANOSECONDS = 1.15, 4_000_000

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
    taken = interleaved(
        ROUNDS,
        bare=_bare(words, environ),
        boxed=_ours(words, project, "native"),
        ours=_ours([str(script)], project, "deno"),
    )
    row(f"{name}, bare", taken["bare"])
    row(f"{name}, the same words, engine native", taken["boxed"], taken["bare"])
    return _last_row(name, taken["bare"], taken["ours"])


def _bare(words: list[str], environ: Mapping[str, str]) -> Callable[[], object]:
    return lambda: subprocess.run(words, env=environ, check=True, capture_output=True)


def _ours(words: list[str], project: Path, engine: str) -> Callable[[], object]:
    def started() -> None:
        ended = consentry.exec(words, engine=engine, workspace=project)
        if ended.exit_code != 0:
            raise RuntimeError(ended.stderr.decode(errors="replace"))

    return started


def _last_row(name: str, bare: Sample, ours: Sample) -> bool:
    row(f"{name}, engine deno", ours, bare)
    added = ours.p50 - bare.p50
    is_met = ours.p50 <= bare.p50 * TARGET_RATIO or added <= TARGET_NANOSECONDS
    print(
        f"{'':<44} added {shown(added) if added > 0 else 'nothing':>7}  target <= {TARGET_RATIO} x or"
        f" + {shown(TARGET_NANOSECONDS)}: {'met' if is_met else 'NOT MET'}"
    )
    return is_met
