"""An image that the user names: what a container is made from where the host's own files cannot be.

It is resolved once, to its id, which is the digest of all that is in it; from then on only the id
counts. Nothing is pulled. The programs in it are the image's: they are found in it, by its own PATH,
and nobody hashes them one by one; id and path say together which bytes run.
"""

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.values import dataclass
from consentry.enforce.engines.container.daemon import FileThere

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}", re.ASCII)
_ID: Final = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)
_MACHINES: Final = {"amd64": "x86_64", "arm64": "aarch64"}
_USUAL_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_MOST_LINKS: Final = 40

LookInto = Callable[[str], FileThere | None]


@dataclass(frozen=True, slots=True)
class NamedImage:
    """An image as it was when it was resolved.

    `machine` is None where our filter is not written for it. `variables` and `volumes` are what it
    adds to every container, and what is therefore taken away again.
    """

    name: str
    digest: Digest
    machine: str | None
    path: str
    variables: tuple[str, ...]
    volumes: tuple[str, ...]

    @classmethod
    def of(cls, name: str, told: Mapping[str, Any]) -> "NamedImage":
        """From what its keeper says of it; raises where that is no image of Linux."""
        system, config = told.get("Os"), told.get("Config") or {}
        if system != "linux":
            message = f"the image `{name}` is for `{system}`, and only Linux's are run"
            raise Refused(Code.NOT_ENFORCEABLE, message)
        found = str(told.get("Id", ""))
        if _ID.fullmatch(found) is None:
            raise Refused(Code.ENGINE_FAILED, f"the image `{name}` has no id that is a digest")
        given = [str(each).partition("=") for each in config.get("Env") or ()]
        variables = {key: value for key, _, value in given}
        return cls(
            name=name,
            digest=Digest(found),
            machine=_MACHINES.get(str(told.get("Architecture"))),
            path=variables.get("PATH") or _USUAL_PATH,
            variables=tuple(variables),
            volumes=tuple(sorted(config.get("Volumes") or ())),
        )


def require_image_name(name: str) -> str:
    """The name itself, when it can be one."""
    if _NAME.fullmatch(name) is None or ".." in name:
        raise UsageProblem(
            Code.USAGE,
            f"`{name}` is not the name of an image",
            help_line="name one that `docker images` lists, or its id",
        )
    return name


def no_such_image(name: str) -> Refused:
    """Nothing is pulled: it has to be there."""
    return Refused(
        Code.NOT_ENFORCEABLE,
        f"the daemon has no image `{name}`, and none is pulled",
        help_line=f"look at what it is, and `docker pull {name}` yourself",
    )


@dataclass(frozen=True, slots=True)
class FoundInImage:
    """A program by the name that it is started by, which it may go by, and the file behind that."""

    path: str
    real: str


def find_in_image(image: NamedImage, word: str, look: LookInto) -> FoundInImage:
    """Where the image has the program that a line names; raises when it has none."""
    if "/" in word and not word.startswith("/"):
        raise UsageProblem(
            Code.PROGRAM_UNKNOWN,
            f"`{word}` is no program of the image `{image.name}`",
            help_line="name a program of the image, and give it the file: `sh ./script`",
        )
    tries = [word] if "/" in word else [posixpath.join(each, word) for each in _folders(image.path)]
    is_there = False
    for place in tries:
        path = posixpath.normpath(place)
        real, found = _followed(path, look)
        is_there = is_there or found is not None
        if found is not None and found.is_program:
            return FoundInImage(path, real)
    if is_there:
        message = f"`{word}` of the image `{image.name}` is not an executable file"
        raise Refused(Code.PROGRAM_UNSTARTABLE, message)
    raise UsageProblem(
        Code.PROGRAM_UNKNOWN,
        f"the image `{image.name}` has no program `{word}`",
        help_line="programs are found in the image, not on this host",
    )


def _folders(path: str) -> list[str]:
    return [each for each in path.split(":") if each.startswith("/")]


def _followed(path: str, look: LookInto) -> tuple[str, FileThere | None]:
    """The file that a name leads to, every folder on the way looked at as well."""
    left = _MOST_LINKS
    reached, names = "/", [each for each in path.split("/") if each]
    found: FileThere | None = None
    while names:
        name = names.pop(0)
        place = posixpath.normpath(posixpath.join(reached, name))
        found = look(place)
        if found is None or left == 0:
            return place, None
        if found.leads_to:
            left -= 1
            leads = posixpath.normpath(posixpath.join(reached, found.leads_to))
            reached, names = "/", [*(each for each in leads.split("/") if each), *names]
        else:
            reached = place
    return reached, found
