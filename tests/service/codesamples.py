"""Code and archives for tests, made by hand where they lie in wait."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from consentry.service.codeplace import find_code
from consentry.service.surfaces import Examined, Means, examine_source

FETCHES = (
    "import requests\n\n\ndef fetch():\n    return requests.get('https://feeds.example.org/a')\n"
)
STARTS = "import subprocess\n\n\ndef start():\n    return subprocess.run(['git', 'status'])\n"
COUNTS = "def count(words):\n    return len(words)\n"


def examined(given: Path | str, **options: str) -> Examined:
    """What code can do, read in this process."""
    return examine_source(find_code(str(given), **options), Means(workers=1))


def write_tree(top: Path, files: Mapping[str, str]) -> Path:
    """A folder with these files."""
    for name, content in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return top


def write_zip(path: Path, files: Mapping[str, str]) -> Path:
    """A zip archive with these members."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def write_wheel(folder: Path, version: str, files: Mapping[str, str], requires: str = "") -> Path:
    """A wheel as `pip` would take it."""
    info = f"app-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: app\nVersion: {version}\n{requires}\nText.\n"
    wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    names = [*files, f"{info}/METADATA", f"{info}/WHEEL", f"{info}/RECORD"]
    parts = {
        **files,
        f"{info}/METADATA": metadata,
        f"{info}/WHEEL": wheel,
        f"{info}/RECORD": "".join(f"{name},,\n" for name in names),
    }
    return write_zip(folder / f"app-{version}-py3-none-any.whl", parts)


def tar_member(name: str, content: str = "", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    """A member of a tar archive, with these fields."""
    member = tarfile.TarInfo(name)
    data = content.encode()
    member.size = len(data)
    for field, value in fields.items():
        setattr(member, field, value)
    return member, data


def write_tar(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    """A packed tar archive with these members."""
    with tarfile.open(path, "w:gz") as archive:
        for member, data in members:
            archive.addfile(member, io.BytesIO(data))
    return path


def write_sdist(folder: Path, version: str, files: Mapping[str, str]) -> Path:
    """An sdist with its folder around everything."""
    members = [tar_member(f"app-{version}/{name}", content) for name, content in files.items()]
    return write_tar(folder / f"app-{version}.tar.gz", *members)


def pack(path: Path, content: bytes) -> Path:
    """Bytes as gzip has them."""
    path.write_bytes(gzip.compress(content))
    return path
