"""How long a confined run takes, beside a bare start and beside other sandboxes, all in one run.

Every run of ours goes through the library: decided, permitted, confined, committed and durably
recorded. Peers are measured where they are installed, with the same roots, no network and nothing
recorded; what is not installed is said to be so. All of it in turns, so that a busy moment hits all.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import consentry
from bench.report import Sample, heading, interleaved, row

ROUNDS = 60
SNIPPET_TARGET = 0.35
TRUE_TARGET = 1.2
IMPORTS_TARGET = 1.35
GCC_TARGET = 1.5

_TRUE = "/usr/bin/true"
_PYTHON = "/usr/bin/python3"
_IMPORTS = "import json, http.client, sqlite3"
_HELLO = "int main(void) { return 0; }\n"
_BWRAP = (
    "--ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 "
    "--proc /proc --dev /dev --tmpfs /tmp --unshare-all --die-with-parent"
)


def run() -> bool:
    """Prints the tables; returns whether every target is met."""
    heading("sandbox (native engine, private view, full record)")
    before = os.environ.copy()
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        project = Path(folder, "project")
        project.mkdir()
        (project / "hello.c").write_text(_HELLO)
        os.environ["CONSENTRY_STATE"] = str(Path(folder, "state"))
        os.environ["PATH"] = "/usr/bin:/bin"
        try:
            return all([_starts(project), _work(project)])
        finally:
            os.environ.clear()
            os.environ.update(before)


def _starts(project: Path) -> bool:
    peers_here = {name: partial(_bare, *words, _TRUE) for name, words in _peers().items()}
    samples = interleaved(
        ROUNDS,
        true=partial(_bare, _TRUE),
        python=partial(_bare, sys.executable, "-I", "-c", "pass"),
        ours=partial(_ours, project, _TRUE),
        snippet=partial(consentry.run_code, "1", workspace=project),
        **peers_here,
    )
    row("fork and exec of `true`, bare", samples["true"])
    row("`python -I -c pass`, bare", samples["python"])
    peers = {name: samples[name] for name in _peers()}
    for name, sample in peers.items():
        row(f"`true` in {name}", sample)
    for name in ("bwrap", "firejail"):
        if name not in peers:
            print(f"`true` in {name}: not installed")
    met = _against(samples["ours"], peers)
    return met & row("snippet, warm", samples["snippet"], samples["python"], SNIPPET_TARGET)


def _against(ours: Sample, peers: dict[str, Sample]) -> bool:
    bwrap = peers.get("bwrap")
    met = row("`true`, ours, with its record", ours, bwrap, TRUE_TARGET if bwrap else None)
    firejail = peers.get("firejail")
    if firejail is not None:
        met &= row("  the same beside firejail", ours, firejail, 1.0)
    return met


def _work(project: Path) -> bool:
    """Real programs, everything on, beside the same without a sandbox."""
    met = True
    if Path(_PYTHON).exists():
        met &= _beside(
            project, "python with three imports", IMPORTS_TARGET, _PYTHON, "-c", _IMPORTS
        )
    if shutil.which("gcc") is not None:
        words = ["gcc", "-o", "/tmp/hello", "hello.c"]  # noqa: S108 - the box's own
        met &= _beside(project, "gcc hello.c", GCC_TARGET, *words)
    else:
        print("gcc hello.c: gcc is not installed")
    return met


def _beside(project: Path, name: str, target: float, *words: str) -> bool:
    samples = interleaved(
        ROUNDS // 2,
        bare=lambda: _bare(*words, cwd=project),
        ours=lambda: _ours(project, *words),
    )
    row(f"{name}, bare", samples["bare"])
    return row(f"{name}, ours", samples["ours"], samples["bare"], target)


def _bare(*words: str, cwd: Path | None = None) -> None:
    subprocess.run(words, check=True, cwd=cwd, stdout=subprocess.DEVNULL)


def _ours(project: Path, *words: str) -> None:
    result = consentry.exec(words, workspace=project, programs=["any"])
    if result.exit_code != 0:
        raise RuntimeError(result.stderr.decode(errors="replace"))


def _peers() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    bwrap, firejail = shutil.which("bwrap"), shutil.which("firejail")
    if bwrap is not None:
        found["bwrap"] = [bwrap, *_BWRAP.split()]
    if firejail is not None:
        found["firejail"] = [firejail, "--quiet", "--noprofile", "--net=none", "--private"]
    return found
