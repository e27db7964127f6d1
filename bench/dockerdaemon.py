"""A Docker daemon of one's own, for the bench and the tests: started and removed without a trace.

It lives in a mount and a pid namespace of its own, so that ending its first process ends all of it;
its data, socket and settings lie in a folder. The image is one static program.
"""

import os
import shutil
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.installing import Absent, said_by, unpacked
from bench.processes import status_of

_IMAGE = "bench"
_SECONDS = 60
_LINKS = ("usr/bin/true", "bin/sh", "bin/cat", "bin/nc")
# What it keeps below /run and /etc regardless of its options is its own to see.
_START = """
mount -t tmpfs tmpfs /run &&
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$1/etc,workdir=$1/work" /etc &&
shift && exec "$@"
"""


@contextmanager
def docker_run(folder: Path, project: Path) -> Iterator[tuple[str, Callable[[Sequence[str]], int]]]:
    """Its version, and how to run words in a container that reads one folder."""
    if os.geteuid() != 0:
        raise Absent("its daemon needs root")
    if shutil.which("unshare") is None:
        raise Absent("`unshare` is not installed")
    needs = {"dockerd": "docker.io"}  # the Debian package
    environ = unpacked(folder / "debian", needs, always=["busybox-static"])
    environ |= daemon_variables(folder)
    program = shutil.which("docker", path=environ["PATH"])
    busybox = shutil.which("busybox", path=environ["PATH"])
    if program is None or busybox is None:
        raise Absent("its packages lack a program")
    with own_daemon(folder, environ):
        said_by([program, "import", str(_image(folder, Path(busybox))), _IMAGE], environ)
        volume = f"{project}:{project}:ro"
        words = [program, "run", "--rm", "--network", "none", "--volume", volume, _IMAGE]
        version = said_by([program, "version", "--format", "{{.Server.Version}}"], environ)
        yield f"docker {version}", lambda command: status_of([*words, *command], environ)


def daemon_variables(folder: Path) -> dict[str, str]:
    """What leads the command to the daemon of that folder."""
    return {"DOCKER_HOST": f"unix://{folder}/sock", "DOCKER_CONFIG": str(folder)}


@contextmanager
def own_daemon(folder: Path, environ: dict[str, str]) -> Iterator[None]:
    """A daemon that answers; raises `Absent` with its last words where none comes up."""
    program = shutil.which("docker", path=environ["PATH"]) or "docker"
    variables = {**environ, **daemon_variables(folder)}
    with _daemon(folder, variables) as daemon:
        _wait(daemon, [program, "version"], variables, folder / "log")
        yield


@contextmanager
def _daemon(folder: Path, environ: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    group = f"consentry-docker-{os.getpid()}"
    apart = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    daemon = ["dockerd", "--iptables=false", "--bridge=none", "--storage-driver=vfs"]
    daemon += [f"--data-root={folder}/data", f"--exec-root={folder}/exec"]
    daemon += [f"--pidfile={folder}/pid", f"--host=unix://{folder}/sock"]
    daemon += [f"--cgroup-parent=/{group}"]
    for name in ("etc", "work"):
        (folder / name).mkdir()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [*apart, "sh", "-c", _START, "sh", str(folder), *daemon],
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # an interrupt is ours to handle
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        _remove_groups(group)


def _wait(
    daemon: subprocess.Popen[bytes], words: Sequence[str], environ: dict[str, str], log: Path
) -> None:
    late = time.monotonic() + _SECONDS
    while status_of(words, environ) != 0:
        if daemon.poll() is not None or time.monotonic() > late:
            lines = log.read_text(errors="replace").strip().splitlines() or ["no words"]
            raise Absent(f"its daemon does not come up: {lines[-1]}")
        time.sleep(0.1)


def _image(folder: Path, busybox: Path) -> Path:
    path = folder / "image.tar"
    with tarfile.open(path, "w") as archive:
        archive.add(busybox, "bin/busybox")
        for name in _LINKS:
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, "/bin/busybox"
            archive.addfile(link)
    return path


def _remove_groups(name: str) -> None:
    """Those of containers that the daemon had no time to remove, and the one above them."""
    late = time.monotonic() + _SECONDS
    while time.monotonic() < late:
        tops = [*Path("/sys/fs/cgroup").glob(f"*/{name}"), Path("/sys/fs/cgroup", name)]
        left = [each for each in tops if each.is_dir()]
        if not left:
            return
        for top in left:
            below = [Path(place) for place, _, _ in os.walk(top)]
            for each in sorted(below, reverse=True):
                with suppress(OSError):
                    each.rmdir()
        time.sleep(0.05)
