"""The digest that a tool is known by: what its manifest says, and the bytes of the programs it names.

It covers the manifest by its values, and each named program with the interpreters and the script that
go with it, by their bytes and in their order. Where those files lie is no part of it, so that the same
tool has the same digest in another folder. Shared libraries and modules that a program loads are not
covered.
"""

from collections.abc import Sequence
from typing import Final

from consentry.base.canonical import Digest, Json, digest_json

_KIND: Final = "tool/v1"


def tool_digest(manifest: Digest, programs: Sequence[Sequence[Digest]]) -> Digest:
    """Over the manifest's own digest and those of the files of each program.

    Args:
        manifest: over the values of the manifest, description included and formatting not.
        programs: for each program that the manifest names, in its order: the program's file, its
            interpreters, its script.
    """
    files: list[Json] = [list(each) for each in programs]
    return digest_json({"kind": _KIND, "manifest": manifest, "programs": files})
