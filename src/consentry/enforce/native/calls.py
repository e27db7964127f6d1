"""System calls that the standard library lacks, each raising `OSError` with what was tried.

Loaded by the bare interpreter of the launcher, so it imports next to nothing. Numbers are those of
x86_64 and of the generic table (aarch64, riscv64); newer calls have one number everywhere.
"""

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)
# Keeps the interpreter's lock, as a call that duplicates the process must.
_locked = ctypes.PyDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long
_locked.syscall.restype = ctypes.c_long

MACHINE = os.uname().machine
_GENERIC = MACHINE in ("aarch64", "riscv64")

SYS_CLONE = 220 if _GENERIC else 56
SYS_RT_SIGACTION = 134 if _GENERIC else 13
SYS_PIVOT_ROOT = 41 if _GENERIC else 155
SYS_CAPSET = 91 if _GENERIC else 126
SYS_SECCOMP = 277 if _GENERIC else 317
SYS_CLOSE_RANGE = 436
SYS_OPEN_TREE = 428
SYS_MOVE_MOUNT = 429
SYS_PIDFD_GETFD = 438
SYS_OPENAT2 = 437
SYS_MOUNT_SETATTR = 442
SYS_LANDLOCK_CREATE = 444
SYS_LANDLOCK_ADD = 445
SYS_LANDLOCK_RESTRICT = 446

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x20000, 0x4000000, 0x8000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
CLONE_NEWCGROUP = 0x2000000
CLONE_FS, CLONE_FILES = 0x200, 0x400

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_NOSYMFOLLOW, MS_BIND, MS_REC = 32, 256, 4096, 16384
MS_PRIVATE, MS_SLAVE = 1 << 18, 1 << 19
MNT_DETACH = 2

AT_FDCWD = -100
AT_EMPTY_PATH = 0x1000
AT_RECURSIVE = 0x8000
OPEN_TREE_CLONE = 1
OPEN_TREE_CLOEXEC = os.O_CLOEXEC
MOVE_MOUNT_F_EMPTY_PATH = 4
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV, MOUNT_ATTR_NOEXEC = 1, 2, 4, 8
MOUNT_ATTR_IDMAP = 0x100000

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECUREBITS = 1, 4, 28
PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 24, 38, 47
PR_SET_CHILD_SUBREAPER = 36
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_SECUREBITS_LOCKED = 0b1010_1111  # no root by uid, no set-id fix-up, kept and raised by nobody

RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH, RESOLVE_IN_ROOT = 2, 4, 8, 16

_IN_DELETE_SELF = 0x400

_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_NEW_LISTENER, _SECCOMP_WAIT_KILLABLE = 8, 32


def failed(what: str) -> OSError:
    """The error that the last call left, with what was tried in its place for a file name."""
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), what)


def checked(result: int, what: str) -> int:
    """The result of a call, or its error."""
    if result < 0:
        raise failed(what)
    return result


def clone(flags: int) -> int:
    """A new process in new namespaces: 0 in the child, its pid in the caller, as `os.fork`."""
    _locked.PyOS_BeforeFork()
    pid = _locked.syscall(SYS_CLONE, ctypes.c_ulong(flags | 17), 0, 0, 0, 0)
    if pid == 0:
        _locked.PyOS_AfterFork_Child()
        return 0
    problem = failed("clone") if pid < 0 else None
    _locked.PyOS_AfterFork_Parent()
    if problem is not None:
        raise problem
    return int(pid)


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """`mount(2)`."""
    result = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        data.encode() or None,
    )
    checked(result, f"mount {kind or 'bind'} at {target}")


def umount(target: str, flags: int) -> None:
    """`umount2(2)`."""
    checked(_libc.umount2(os.fsencode(target), flags), f"umount {target}")


def pivot_root(new: str, old: str) -> None:
    """`pivot_root(2)`."""
    checked(_syscall(SYS_PIVOT_ROOT, os.fsencode(new), os.fsencode(old)), "pivot_root")


def open_tree(folder: int, path: str, flags: int) -> int:
    """A detached copy of a mount, as a descriptor."""
    return checked(_syscall(SYS_OPEN_TREE, folder, os.fsencode(path), flags), f"open_tree {path}")


def move_mount(tree: int, target: str) -> None:
    """Attaches a detached mount."""
    result = _syscall(
        SYS_MOVE_MOUNT, tree, b"", AT_FDCWD, os.fsencode(target), MOVE_MOUNT_F_EMPTY_PATH
    )
    checked(result, f"move_mount to {target}")


def mount_setattr(
    tree: int,
    path: str,
    set_bits: int,
    flags: int,
    userns: int = 0,
    *,
    clear_bits: int = 0,
    spreads: int = 0,
) -> None:
    """Changes what a mount, or with AT_RECURSIVE everything below it, allows.

    `spreads` says what becomes of mounts that are made there later, by the words of `mount(2)`.
    """
    attributes = (ctypes.c_uint64 * 4)(set_bits, clear_bits, spreads, userns)
    result = _syscall(
        SYS_MOUNT_SETATTR, tree, os.fsencode(path), flags, ctypes.byref(attributes), 32
    )
    checked(result, f"mount_setattr {path}")


def openat2(folder: int, path: bytes, flags: int, resolve: int) -> int:
    """`openat2(2)`; the error names the path."""
    how = (ctypes.c_uint64 * 3)(flags | os.O_CLOEXEC, 0, resolve)
    result = _syscall(SYS_OPENAT2, folder, path, ctypes.byref(how), 24)
    if result < 0:
        raise failed(os.fsdecode(path))
    return int(result)


def openat2_quickly(folder: int, path: bytes, how: object) -> int:
    """The same with flags that were made ready; an error is its number below zero."""
    result = _syscall(SYS_OPENAT2, folder, path, how, 24)
    return int(result) if result >= 0 else -ctypes.get_errno()


def set_file_user(uid: int, gid: int) -> None:
    """Whose files this process makes and may open from here on; capabilities over files follow."""
    _libc.setfsgid(gid)
    _libc.setfsuid(uid)


def setns(descriptor: int, kind: int) -> None:
    """Enters a namespace."""
    checked(_libc.setns(descriptor, kind), "setns")


def unshare(kinds: int) -> None:
    """Leaves namespaces for new ones."""
    checked(_libc.unshare(kinds), "unshare")


def prctl(option: int, value: int = 0, what: str = "prctl") -> None:
    """`prctl(2)` with one argument."""
    zero = ctypes.c_ulong(0)
    checked(_libc.prctl(option, ctypes.c_ulong(value), zero, zero, zero), what)


def drop_bounding_set() -> None:
    """No program that is started from here on can be given a capability."""
    for capability in range(64):
        if _libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) < 0:
            break  # one past the last that this kernel knows
    prctl(PR_SET_SECUREBITS, _SECUREBITS_LOCKED, "lock the securebits")


def drop_capabilities() -> None:
    """Gives up every capability that this process has."""
    prctl(PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, "clear ambient capabilities")
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    checked(_syscall(SYS_CAPSET, header, (ctypes.c_uint32 * 6)()), "capset")


def landlock_ruleset(fs: int, net: int, scoped: int, abi: int) -> int:
    """A ruleset that handles these rights, as far as the kernel's ABI knows them."""
    attributes = (ctypes.c_uint64 * 3)(fs, net, scoped)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8  # noqa: PLR2004 - ABI versions
    return checked(
        _syscall(SYS_LANDLOCK_CREATE, ctypes.byref(attributes), size, 0), "landlock_create_ruleset"
    )


def landlock_abi() -> int:
    """Which Landlock the kernel has; 0 for none."""
    return max(0, int(_syscall(SYS_LANDLOCK_CREATE, None, 0, 1)))


def landlock_allow(ruleset: int, rights: int, path: int) -> None:
    """Allows these rights on and below an opened path."""
    rule = rights.to_bytes(8, "little") + path.to_bytes(4, "little", signed=True)
    checked(_syscall(SYS_LANDLOCK_ADD, ruleset, 1, rule, 0), "landlock_add_rule")


def landlock_allow_port(ruleset: int, rights: int, port: int) -> None:
    """Allows these rights on one TCP port."""
    rule = rights.to_bytes(8, "little") + port.to_bytes(8, "little")
    checked(_syscall(SYS_LANDLOCK_ADD, ruleset, 2, rule, 0), "landlock_add_rule")


def landlock_restrict(ruleset: int, flags: int) -> None:
    """Gives up what the ruleset does not allow."""
    checked(_syscall(SYS_LANDLOCK_RESTRICT, ruleset, flags), "landlock_restrict_self")


def seccomp(program: bytes, *, listening: bool) -> int:
    """Installs a filter; with `listening`, returns the descriptor its notifications come by."""
    instructions = ctypes.create_string_buffer(program, len(program))
    header = len(program) // 8
    prog = header.to_bytes(8, "little") + ctypes.addressof(instructions).to_bytes(8, "little")
    flags = _SECCOMP_NEW_LISTENER | _SECCOMP_WAIT_KILLABLE if listening else 0
    return checked(_syscall(SYS_SECCOMP, _SECCOMP_SET_MODE_FILTER, flags, prog), "seccomp")


def pidfd_getfd(pidfd: int, number: int) -> int:
    """A copy of another process's descriptor."""
    return checked(_syscall(SYS_PIDFD_GETFD, pidfd, number, 0), "pidfd_getfd")


def tell_when_unmounted(bell: int, path: str) -> None:
    """Of the file system at that name, to whoever reads the bell, when it is gone for good."""
    if _libc.inotify_add_watch(bell, os.fsencode(path), _IN_DELETE_SELF) < 0:
        raise failed("inotify_add_watch")


def default_signal(number: int) -> None:
    """As the kernel has it in a fresh process; the C library hides two of its own from everybody."""
    nothing = ctypes.create_string_buffer(32)
    checked(_syscall(SYS_RT_SIGACTION, number, nothing, None, 8), "rt_sigaction")


def close_from(first: int, last: int = 0xFFFFFFFF) -> None:
    """Closes every descriptor of that range."""
    if first <= last and _syscall(SYS_CLOSE_RANGE, first, last, 0) < 0:
        os.closerange(first, min(last, 1 << 20) + 1)
