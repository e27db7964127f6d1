"""Who this machine is: 128 random bits, made on first use in the state directory.

The id names the writer of a chain, so a copy of the state directory on a second machine would write
the same chain twice; moving state means moving this file, copying it means removing it.
"""

import os
import re
import secrets
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem

FILE_NAME = "machine-id"

_ID = re.compile(r"machine-[0-9a-f]{32}\n", re.ASCII)
_MOST_BYTES = 64


def machine_id(state: Path) -> str:
    """The id of this machine, made if there is none; processes that race agree on one."""
    path = state / FILE_NAME
    try:
        return _read(path)
    except FileNotFoundError:
        pass
    except OSError as problem:
        raise _unusable(path, problem) from problem
    fresh = state / f".{FILE_NAME}.{os.getpid()}.{secrets.token_hex(4)}"
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            os.write(descriptor, f"machine-{secrets.token_hex(16)}\n".encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        # A link appears whole or not at all, and fails when another process was first.
        try:
            os.link(fresh, path)
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
        _sync_folder(state)
        return _read(path)
    except OSError as problem:
        raise _unusable(path, problem) from problem


def known_machine_id(state: Path) -> str | None:
    """The id of this machine, or None where none was made yet; makes nothing."""
    path = state / FILE_NAME
    try:
        return _read(path)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise _unusable(path, problem) from problem


def _read(path: Path) -> str:
    # O_NONBLOCK: a pipe without a writer would hold us for ever.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        content = os.read(descriptor, _MOST_BYTES).decode("ascii", "replace")
    finally:
        os.close(descriptor)
    if _ID.fullmatch(content) is None:
        raise LedgerProblem(Code.LEDGER_CORRUPT, f"`{path}` does not hold the id of a machine")
    return content.strip()


def _unusable(path: Path, problem: OSError) -> LedgerProblem:
    said = (problem.strerror or "cannot be used").lower()
    return LedgerProblem(Code.LEDGER_UNWRITABLE, f"`{path}`: {said}")


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
