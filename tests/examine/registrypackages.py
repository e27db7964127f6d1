"""Packages from the index that pip is set up for, fetched and read without running anything of theirs.

Which index that is, only pip knows: wheels are downloaded by it, and for source archives it is asked
what it found. It would build those to learn their names, so they are fetched here, and held against
the digest that the index gives.
"""

import hashlib
import re
import ssl
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.error import URLError
from urllib.parse import unquote, urldefrag
from urllib.request import urlopen

_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input")
_SECONDS = 240
_LINK = re.compile(r"^\s*Found link (\S+)", re.MULTILINE)
_ADDRESS = re.compile(r"\w+://\S+")
MOST_FILE = 8 << 20
"""Larger files of a package are data."""


class Unreachable(Exception):
    """A package that cannot be had here, and why; no address of an index is in the words."""


def wheel_of(name: str, folder: Path) -> Path:
    """The newest wheel of a project that fits this machine."""
    _pip("download", "--quiet", "--no-deps", "--only-binary=:all:", f"--dest={folder}", name)
    return next(folder.glob("*.whl"))


def source_of(name: str, version: str, folder: Path) -> Path:
    """The source archive of one release."""
    wanted = f"{name}-{version}.tar.gz"
    for link in _links(name):
        address, digest = urldefrag(link)
        if _plain(unquote(address.rpartition("/")[2])) != _plain(wanted):
            continue
        content = _fetched(address)
        kind, _, expected = digest.partition("=")
        if kind and hashlib.new(kind, content).hexdigest() != expected:
            raise Unreachable(f"{wanted} is not what the index says")
        path = folder / wanted
        path.write_bytes(content)
        return path
    raise Unreachable(f"the index has no {wanted}")


def files_in(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Its files by path, a source archive's without the folder that all of them lie in."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            for entry in opened.infolist():
                if not entry.is_dir() and entry.file_size <= MOST_FILE:
                    yield entry.filename, opened.read(entry)
        return
    with tarfile.open(archive, "r:gz") as opened:
        for member in opened:
            content = opened.extractfile(member) if member.isfile() else None
            if content is not None and member.size <= MOST_FILE:
                yield member.name.partition("/")[2], content.read()


@cache
def _links(name: str) -> tuple[str, ...]:
    """Every file that pip finds for a project."""
    return tuple(_LINK.findall(_pip("-vv", "index", "versions", name)))


def _fetched(address: str) -> bytes:
    """A file of the index."""
    try:
        with urlopen(address, timeout=_SECONDS, context=_trusted()) as answer:  # noqa: S310 - pip named it
            content: bytes = answer.read()
            return content
    except (URLError, OSError) as problem:
        raise Unreachable(f"a file of the index cannot be fetched: {_told(problem)}") from None


@cache
def _trusted() -> ssl.SSLContext:
    """Whoever pip trusts."""
    try:
        authorities = _pip("config", "get", "global.cert").strip()
    except Unreachable:
        authorities = ""
    return ssl.create_default_context(cafile=authorities or None)


def _pip(*words: str) -> str:
    """All that pip says; raises `Unreachable` with its last words."""
    try:
        done = subprocess.run(
            [*_PIP, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Unreachable(f"`pip {words[0]}` took longer than {_SECONDS} s") from None
    if done.returncode != 0:
        last = (done.stdout.strip() or "no words").splitlines()[-1]
        raise Unreachable(f"pip: {_told(last)}")
    return done.stdout


def _told(words: object) -> str:
    return _ADDRESS.sub("…", str(words))


def _plain(name: str) -> str:
    """Names of files are written with `-`, `_` or `.`, as each release likes."""
    return re.sub(r"[-_.]+", "-", name).lower()
