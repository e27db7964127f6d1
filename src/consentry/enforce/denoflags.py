"""The words that start Deno: what a set or a surface opens, as its flags say it.

Deno's paths are prefixes and its hosts have no holes, so what it cannot say exactly is rounded up for
it: the box around it holds the grant itself. What is always closed stands on every line: it asks
nobody, starts no program and loads no native library. A `deno.json`, `package.json` or lock file is a
stranger's and is not read; code from elsewhere is loaded only where the network is open.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.enforce.roots import OWN_FOLDERS, is_own, place_of
from consentry.surface.access import Access
from consentry.surface.dimensions import Level
from consentry.surface.entries import deepest_of
from consentry.surface.hosts import HostScope
from consentry.surface.lattice import Surface
from consentry.surface.patterns import PatternScope
from consentry.surface.permission_sets import PermissionSet, definition
from consentry.surface.targets import ANY_HOST, Target

RUN: Final = "run"
ALWAYS: Final = ("--no-prompt", "--deny-run", "--deny-ffi")
STRANGERS: Final = ("--no-config", "--no-lock", "--no-code-cache")
"""What keeps files of the workspace from having a say, and a cache from being written for one run."""
NOTHING_REMOTE: Final = ("--no-remote", "--no-npm")

CACHE: Final = "DENO_DIR"
OWN_VARIABLES: Final = {
    CACHE: "/dev/shm/deno",  # noqa: S108 - the box's own, which even `minimal` can write
    "DENO_NO_UPDATE_CHECK": "1",
    "DENO_NO_PROMPT": "1",
}
"""What Deno is told by its environment, whoever else would."""

_READ, _WRITE, _NET, _ENV = "--allow-read", "--allow-write", "--allow-net", "--allow-env"
_ALL: Final = "--allow-all"
_NEVER: Final = ("--allow-run", "--allow-ffi")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?", re.ASCII)
_MIB: Final = 1 << 20
# The rest is for what V8 keeps outside its heap, for the program itself, and for its threads.
_PARTS, _PARTS_OF_HEAP = 4, 3
_LEAST_HEAP_MIB: Final = 16
_IPV6: Final = 6


@dataclass(frozen=True, slots=True)
class FlagGround:
    """What the flags depend on besides the surface: where a run begins, and what names mean there."""

    workspace: Path
    folder: Path
    home: Path | None


def permission_flags(
    surface: Surface, permission_set: PermissionSet | None, ground: FlagGround
) -> tuple[str, ...]:
    """What is opened; with a set and nothing more, exactly the flags of the set."""
    said = {} if permission_set is None else _said_by(permission_set)
    if _ALL in said:
        return (_ALL,)
    flags = (
        # The run's own folders can be read where they can be written.
        _path_flag(_READ, said, surface.fs_read_roots | surface.fs_write_roots, ground),
        _path_flag(_WRITE, said, surface.fs_write_roots, ground),
        _net_flag(surface.net_access),
        _env_flag(surface.env_read),
    )
    return tuple(flag for flag in flags if flag is not None)


def deno_options(
    surface: Surface,
    permission_set: PermissionSet | None,
    ground: FlagGround,
    memory_bytes: int | None,
) -> tuple[str, ...]:
    """All options between `run` and the script."""
    is_closed = _net_flag(surface.net_access) is None
    heap = () if memory_bytes is None else (_heap(memory_bytes),)
    return (
        *STRANGERS,
        *(NOTHING_REMOTE if is_closed else ()),
        *heap,
        *permission_flags(surface, permission_set, ground),
        *ALWAYS,
    )


def require_confined(words: tuple[str, ...]) -> None:
    """Raises unless the words start Deno with what is always closed, and open none of it."""
    options = set(_options(words))
    is_complete = words[1:2] == (RUN,) and options.issuperset((*ALWAYS, *STRANGERS))
    if not is_complete or any(each.partition("=")[0] in _NEVER for each in options):
        raise Refused(
            Code.NOT_ENFORCEABLE,
            "the engine `deno` runs a script, and no program with words of its own",
            help_line="write `consentry exec --engine deno -- script.ts`",
        )


def _options(words: tuple[str, ...]) -> Iterator[str]:
    for word in words[2:]:
        if not word.startswith("-"):
            return
        yield word


def _heap(memory_bytes: int) -> str:
    most = memory_bytes * _PARTS_OF_HEAP // _PARTS // _MIB
    return f"--v8-flags=--max-old-space-size={max(_LEAST_HEAP_MIB, most)}"


def _said_by(name: PermissionSet) -> dict[str, tuple[str, ...]]:
    """The flags of a set with their values; none of these means all."""
    said = {}
    for flag in definition(name).deno_flags:
        option, _, values = flag.partition("=")
        said[option] = tuple(values.split(",")) if values else ()
    return said


def _path_flag(
    option: str, said: dict[str, tuple[str, ...]], scope: PatternScope, ground: FlagGround
) -> str | None:
    if said.get(option) == ():
        return option
    first = [ground.workspace / each for each in said.get(option, ())]
    others = [place for place in _places(scope, ground) if not _is_among(place, first, ground)]
    words = [_spelled(place, ground) for place in (*first, *_outermost(others, ground))]
    return f"{option}={','.join(words)}" if words else None


def _places(scope: PatternScope, ground: FlagGround) -> Iterator[Path]:
    """Where each entry begins: a prefix is all that Deno can be told."""
    for entry in scope.entries:
        place = place_of(deepest_of(entry), ground.workspace, ground.home)
        if place is not None:
            yield place if is_own(place) else Path(os.path.realpath(place))


def _outermost(places: Iterable[Path], ground: FlagGround) -> Iterator[Path]:
    kept: list[Path] = []
    for place in sorted(set(places), key=lambda each: each.parts):
        if not _is_among(place, kept, ground):
            kept.append(place)
            yield place


def _is_among(place: Path, roots: Iterable[Path], ground: FlagGround) -> bool:
    """Whether it needs no word of its own; the run's own `/tmp` says nothing of a workspace there."""
    is_ours = place.is_relative_to(ground.workspace)
    return any(
        place.is_relative_to(root) and not (is_ours and str(root) in OWN_FOLDERS) for root in roots
    )


def _spelled(place: Path, ground: FlagGround) -> str:
    """Relative where Deno takes it from the workspace, as the sets have it; else absolute."""
    text = str(place)
    if ground.folder == ground.workspace and place.is_relative_to(ground.workspace):
        names = place.relative_to(ground.workspace).parts
        text = "./" + "/".join(names) if names else "."
    if "," in text:
        raise Refused(
            Code.NOT_ENFORCEABLE,
            f"`{place}` has a comma in it, which Deno's flags cannot spell",
            help_line="rename it, or grant the folder above it",
        )
    return text


def _net_flag(access: Access[HostScope]) -> str | None:
    if access.level is Level.NONE or (access.level is Level.ALLOWLIST and not access.targets):
        return None
    if access.level is Level.ANY:
        return _NET
    hosts = [_host(target) for target in access.targets.entries]
    return _NET if None in hosts else f"{_NET}={','.join(filter(None, hosts))}"


def _host(target: Target) -> str | None:
    """As Deno spells it; None for what it has no word for, which is then left to the box."""
    if target.host == ANY_HOST:
        return None
    if target.network is not None and target.network.version == _IPV6:
        is_single = target.network.prefixlen == target.network.max_prefixlen
        port = "" if target.port is None else f":{target.port}"
        return f"[{target.host}]{port}" if is_single else None
    return str(target)


def _env_flag(access: Access[PatternScope]) -> str | None:
    if access.level is Level.NONE or (access.level is Level.ALLOWLIST and not access.targets):
        return None
    names = sorted(access.targets)
    if access.level is Level.ANY or any(_VARIABLE.fullmatch(each) is None for each in names):
        return _ENV
    return f"{_ENV}={','.join(names)}"
