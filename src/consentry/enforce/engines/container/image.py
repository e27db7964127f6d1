"""The image that boxes start from: folders to mount on, the host's own links, and nothing else.

All that a program needs comes from the host, read-only; nothing is pulled from anywhere, and an image
holds no program that nobody looked at. Its name has the digest of its content, which is the same
bytes for the same links, so that an image of that name is never another one's.
"""

import hashlib
import io
import tarfile
from pathlib import Path
from typing import Final

from consentry.base.values import dataclass

NAME: Final = "localhost/consentry-box"
LABEL: Final = "consentry.box"
_FOLDERS: Final = ("dev", "etc", "home", "proc", "run", "sys", "tmp", "usr")
_LEAD_INTO_USR: Final = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


@dataclass(frozen=True, slots=True)
class Image:
    """Its name, and the archive that it is imported from."""

    name: str
    archive: bytes


def image_for(root: Path = Path("/")) -> Image:
    """The image for the host with that root."""
    links = {
        name: str((root / name).readlink()) for name in _LEAD_INTO_USR if (root / name).is_symlink()
    }
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in _FOLDERS:
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(folder)
        for name, target in sorted(links.items()):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
    content = held.getvalue()
    return Image(f"{NAME}:{hashlib.sha256(content).hexdigest()[:32]}", content)
