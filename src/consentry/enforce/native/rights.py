"""Landlock's rights: which exist in which version, and what a reader, a writer or a runner needs."""

from typing import Final

from consentry.base.values import dataclass

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 0x1, 0x2, 0x4, 0x8
REFER, TRUNCATE, IOCTL_DEV = 0x2000, 0x4000, 0x8000
_REMOVE = 0x10 | 0x20
_MAKE_PLAIN = 0x80 | 0x100 | 0x1000  # folders, files, links
_MAKE_AND_REMOVE = 0x10 | 0x20 | 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800 | 0x1000

READ: Final = READ_FILE | READ_DIR
WRITE: Final = READ | WRITE_FILE | TRUNCATE | REFER | _MAKE_AND_REMOVE
WRITE_AT_ONCE: Final = READ | WRITE_FILE | TRUNCATE | _REMOVE
"""In a folder of the host: new names are made there by somebody else."""
MAKE_NAMES: Final = WRITE_AT_ONCE | REFER | _MAKE_PLAIN
DEVICES: Final = READ | WRITE_FILE | TRUNCATE | IOCTL_DEV
_ON_A_FILE: Final = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV

_ABSTRACT_SOCKETS, _SIGNALS = 1, 2
_LOG_AFTER_EXEC: Final = 2
_HAS_REFER, _HAS_TRUNCATE, _HAS_IOCTL, _HAS_SCOPES, _HAS_LOGS = 2, 3, 5, 6, 7


@dataclass(frozen=True, slots=True)
class Handled:
    """What a ruleset of one version can refuse."""

    fs: int
    scoped: int
    flags: int

    @classmethod
    def by(cls, abi: int) -> "Handled":
        """All that this version knows."""
        fs = EXECUTE | WRITE_FILE | READ | _MAKE_AND_REMOVE
        fs |= REFER if abi >= _HAS_REFER else 0
        fs |= TRUNCATE if abi >= _HAS_TRUNCATE else 0
        fs |= IOCTL_DEV if abi >= _HAS_IOCTL else 0
        scoped = _ABSTRACT_SOCKETS | _SIGNALS if abi >= _HAS_SCOPES else 0
        return cls(fs, scoped, _LOG_AFTER_EXEC if abi >= _HAS_LOGS else 0)

    def on(self, rights: int, *, folder: bool) -> int:
        """Those of the rights that can be allowed on such a place."""
        return rights & self.fs & (self.fs if folder else _ON_A_FILE)
