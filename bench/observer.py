"""What it costs to be observed: the time that one open takes in a box, with and without the observer.

A small loop in C opens one file thousands of times inside two boxes that differ in nothing else; the
difference is what the observer adds to a call when it also finds out what the name leads to, and
whether that is there. The loop is compiled when the bench runs.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from bench.report import Sample, heading, shown
from consentry.enforce.confinement import Confinement, Program
from consentry.enforce.engines.native import Io, NativeEngine, NativePlan
from consentry.enforce.native import calls
from consentry.enforce.native.seccompfilter import FilterWish, compile_filter
from consentry.enforce.programfiles import look_at_program
from consentry.surface.lattice import Surface
from consentry.surface.protected import protected_roots

TURNS, ROUNDS, OPENS = 3, 5, 4000
TARGET_NANOSECONDS = 30_000

_LOOP = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(int count, char **words) {
    int rounds = atoi(words[2]), opens = atoi(words[3]);
    for (int round = 0; round < rounds; round++) {
        struct timespec begun, ended;
        clock_gettime(CLOCK_MONOTONIC, &begun);
        for (int i = 0; i < opens; i++) {
            int file = open(words[1], O_RDONLY);
            if (file >= 0) close(file);
        }
        clock_gettime(CLOCK_MONOTONIC, &ended);
        long long took = (ended.tv_sec - begun.tv_sec) * 1000000000LL
                         + (ended.tv_nsec - begun.tv_nsec);
        printf("%lld\n", took / opens);
    }
    return 0;
}
"""


class _Observed(NativeEngine):
    """Boxes as every run has them."""

    def opens(self, project: Path, name: str) -> tuple[int, ...]:
        """Nanoseconds for one open of that name, once a round."""
        loop = project / "loop"
        words = ("loop", name, str(ROUNDS), str(OPENS))
        program = Program(loop, words, project, startable=look_at_program(loop).files)
        wanted = Confinement(Surface.of(read=["./"]), project, program, {})
        done = self._held_run(self.compile(wanted), (), Io(keeps=True))
        if done.exit_code != 0:
            raise RuntimeError(done.stderr.decode(errors="replace"))
        return tuple(int(line) for line in done.stdout.split())


class _Unobserved(_Observed):
    """The same boxes, in which the kernel asks nobody."""

    def _request(self, plan: NativePlan, given: int, *, has_terminal: bool) -> dict[str, Any]:
        bare = compile_filter(calls.MACHINE, FilterWish(observed=False, memory_files=False))
        asked = super()._request(plan, given, has_terminal=has_terminal)
        return {**asked, "filter": bare, "listens": False}


def run() -> bool:
    """Prints the table; returns whether the target is met."""
    heading(f"observer ({OPENS} opens x {ROUNDS}, in turns)")
    compiler = shutil.which("gcc")
    if compiler is None:
        print("gcc is not installed: nothing to measure with")
        return True
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        project = Path(folder)
        project.chmod(0o755)
        (project / "loop.c").write_text(_LOOP)
        (project / "file.txt").write_text("content\n")
        subprocess.run([compiler, "-O2", "-o", "loop", "loop.c"], cwd=project, check=True)
        return all([*_table(project)])


def _table(project: Path) -> Iterator[bool]:
    with (
        closing(_Observed(None, protected_roots())) as seen,
        closing(_Unobserved(None, protected_roots())) as unseen,
    ):
        for what, name in (
            ("a file by its whole name", str(project / "file.txt")),
            ("a file by a relative name", "file.txt"),
            ("a file of the runtime", "/usr/bin/env"),
            ("a name that is nowhere", str(project / "nowhere")),
        ):
            with_it: list[int] = []
            without: list[int] = []
            for _ in range(TURNS):
                with_it += seen.opens(project, name)
                without += unseen.opens(project, name)
            yield _row(what, Sample("", tuple(with_it)), Sample("", tuple(without)))


def _row(what: str, observed: Sample, bare: Sample) -> bool:
    added = observed.p50 - bare.p50
    is_met = added <= TARGET_NANOSECONDS
    print(
        f"{what:<28} bare {shown(bare.p50):>9}  observed {shown(observed.p50):>9}  added"
        f" {shown(added):>9}  target <= {shown(TARGET_NANOSECONDS)}:"
        f" {'met' if is_met else 'NOT MET'}"
    )
    return is_met
