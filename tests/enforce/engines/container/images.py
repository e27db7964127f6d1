"""Images for the tests, made from this host's own files: nothing is pulled, and nothing is pretended.

`parts_of_host` is a small system: a shell, a few tools, and a Python with its library where that is
wanted. It becomes an image by `docker import`, as anybody's own would.
"""

import io
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"
TOOLS = ("sh", "cat", "env", "sleep", "id", "ls", "stty", "true", "head", "mkdir", "touch", "yes")
_PYTHON = Path("/usr/bin/python3")
_MODULES = (
    "site, json, mmap, os, resource, select, signal, socket, time, ctypes, functools, typing, "
    "subprocess, struct, tempfile, pathlib, glob, encodings.idna, threading"
)


def made_image(
    name: str,
    variables: Mapping[str, str],
    *,
    python: bool,
    changes: Sequence[str] = (),
    tools: Sequence[str] = TOOLS,
) -> str:
    """Imports an image of that name into the daemon that the variables lead to; its id."""
    environ = {**os.environ, **variables, "PATH": PATH}
    words = ["docker", "import", *(f"--change={each}" for each in changes), "-", name]
    archive = parts_of_host(tools, python=python)
    made = subprocess.run(words, input=archive, env=environ, capture_output=True, check=True)
    return made.stdout.decode().strip()


def parts_of_host(tools: Sequence[str], *, python: bool) -> bytes:
    """An archive of a small system."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        paths = sorted(set(_files(tools, python=python)))
        above = {str(each)[1:] for path in paths for each in Path(path).parents} - {""}
        for folder in sorted({*above, "proc", "sys", "dev", "tmp", "etc", "home", "usr/sbin"}):
            made = tarfile.TarInfo(folder)
            made.type, made.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            archive.addfile(made)
        for link in ("bin", "lib", "lib64", "sbin"):
            if Path("/", link).is_symlink():
                archive.add(f"/{link}", link)
        other = tarfile.TarInfo("usr/bin/called-otherwise")
        other.type, other.linkname = tarfile.SYMTYPE, "sh"
        archive.addfile(other)
        for path in paths:
            # At its own place and at the one that it leads to.
            archive.add(os.path.realpath(path), path.lstrip("/"))
    return held.getvalue()


def _files(tools: Sequence[str], *, python: bool) -> Iterator[str]:
    programs = [found for name in tools if (found := shutil.which(name, path="/usr/bin:/bin"))]
    if python:
        programs.append(str(_PYTHON))
        for file in _modules():
            yield file
            if file.endswith(".so"):
                yield from _libraries(file)
    for program in programs:
        yield _in_usr(program)
        yield from _libraries(program)


def _modules() -> Iterator[str]:
    """The files of the library that these modules are made of, as the interpreter finds them."""
    told = (
        "print(*{m.__file__ for m in sys.modules.values() if getattr(m, '__file__', 0)}, sep='\\n')"
    )
    words = [str(_PYTHON), "-I", "-S", "-c", f"import sys, {_MODULES}; {told}"]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    yield from (line for line in said.splitlines() if line.startswith("/"))


def _libraries(program: str) -> Iterator[str]:
    said = subprocess.run(
        ["/usr/bin/ldd", program], capture_output=True, text=True, check=False
    ).stdout
    for path in re.findall(r"(/\S+)", said):
        yield _in_usr(path)


def _in_usr(path: str) -> str:
    """The name without a link of the root in front."""
    return str(Path(os.path.realpath(Path(path).parent), Path(path).name))
