"""Brings another sandbox into a folder of its own, by its package's name, and changes nothing else.

Packages of Debian are unpacked, not installed; those of Python and Node go where they are told to.
Where packages come from is the machine's own setting.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

_SECONDS = 300


class Absent(Exception):
    """A sandbox that cannot be measured here, and why."""


def unpacked(folder: Path, wanted: Mapping[str, str], always: Sequence[str] = ()) -> dict[str, str]:
    """The environment in which programs are found; those not installed are brought by Debian.

    `wanted` names the package for each program, `always` packages that no other may stand in for.
    """
    folder.mkdir(parents=True, exist_ok=True)
    packages = [wanted[name] for name in wanted if shutil.which(name) is None]
    packages += always
    if packages:
        steps = _run("apt-get", "-s", "--no-install-recommends", "install", *packages)
        missing = [line.split()[1] for line in steps.splitlines() if line.startswith("Inst ")]
        if missing:
            _run("apt-get", "download", *missing, cwd=folder)
        for package in folder.glob("*.deb"):
            _run("dpkg-deb", "-x", str(package), str(folder))
            package.unlink()
    environ = dict(os.environ)
    programs = [folder / name for name in ("usr/bin", "usr/sbin", "bin", "sbin")]
    environ["PATH"] = _joined(programs, f"{environ['PATH']}:/usr/sbin:/sbin")
    libraries = [each for name in ("usr/lib", "lib") for each in folder.glob(f"{name}/*-linux-gnu")]
    if libraries:
        environ["LD_LIBRARY_PATH"] = _joined(libraries, environ.get("LD_LIBRARY_PATH"))
    return environ


def from_node(folder: Path, package: str) -> Path:
    """Where the modules are that a Node package and what it needs consist of."""
    folder.mkdir(parents=True, exist_ok=True)
    keeping = ["--prefix", str(folder), "--cache", str(folder / "npm")]
    quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
    _run("npm", "install", *keeping, *quiet, package, cwd=folder)
    return folder / "node_modules"


def from_wheel(folder: Path, package: str) -> Path:
    """The interpreter of an environment in which a Python package is installed."""
    _run(sys.executable, "-m", "venv", str(folder))
    python = folder / "bin/python"
    quiet = ["--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    _run(str(python), "-m", "pip", "install", *quiet, "--only-binary=:all:", package)
    return python


def said_by(words: Sequence[str], environ: Mapping[str, str] | None = None) -> str:
    """The first line that a program prints, such as its version."""
    return (_run(*words, environ=environ).splitlines() or [""])[0].strip()


def _run(*words: str, cwd: Path | None = None, environ: Mapping[str, str] | None = None) -> str:
    """What a step prints; its own last words are the reason if it fails."""
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Absent(f"`{words[0]}` could not be run: {type(problem).__name__}") from problem
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no words").splitlines()[-1]
        raise Absent(f"`{' '.join(words[:2])}` failed with {done.returncode}: {last}")
    return done.stdout


def _joined(folders: Sequence[Path], rest: str | None) -> str:
    return ":".join([*(str(each) for each in folders), *([rest] if rest else [])])
