"""What a process of the box gives up for good: its user, and files that no rule allows.

Runs in the first processes of the new namespaces, after the root was built and before anything of
the program runs.
"""

import errno
import os

from consentry.enforce.native import calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_KIND, _FOLDER, _FILE = 0o170000, 0o040000, 0o100000
_SIGKILL = 9
_READ_DIR = 0x8  # Landlock's right that only folders have


def enter_user_namespace(uid: int, gid: int) -> None:
    """Maps the caller's own ids, and no others."""
    for name, content in (
        ("setgroups", b"deny"),
        ("uid_map", b"%d %d 1" % (uid, uid)),
        ("gid_map", b"%d %d 1" % (gid, gid)),
    ):
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY | os.O_CLOEXEC)
        os.write(descriptor, content)
        os.close(descriptor)


def become(uid: int, gid: int) -> None:
    """Root becomes an ordinary user that owns nothing on the host, groups and all."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def spaces_of(program: int, wish: "Mapping[str, Any]") -> "list[tuple[int, int]]":
    """The namespaces that the program's box has of its own, held open while the program waits."""
    kinds = [("mnt", calls.CLONE_NEWNS)]
    if not wish["is_root"]:
        kinds.insert(0, ("user", calls.CLONE_NEWUSER))
    spaces: list[tuple[int, int]] = []
    try:
        for name, kind in kinds:
            spaces.append((os.open(f"/proc/{program}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC), kind))
    except OSError as problem:
        let_go(spaces)
        if problem.errno == errno.ENOENT:
            raise ProcessLookupError(problem.errno, problem.strerror) from None
        raise
    return spaces


def let_go(spaces: "list[tuple[int, int]]") -> None:
    """Closes them."""
    for space, _ in spaces:
        os.close(space)


def stand_in_box(
    spaces: "list[tuple[int, int]]", wish: "Mapping[str, Any]", kept: "tuple[int, ...]"
) -> None:
    """A process of the launcher becomes one of the program's box, and has not a right more.

    Of its descriptors only those in `kept` stay, and the first three.
    """
    for space, kind in spaces:
        calls.setns(space, kind)
    os.chdir("/")
    first = 3
    for number in sorted(kept):
        calls.close_from(first, number - 1)
        first = number + 1
    calls.close_from(first)
    calls.drop_bounding_set()
    if wish["is_root"]:
        become(*wish["ids"])
        calls.prctl(calls.PR_SET_PDEATHSIG, _SIGKILL)
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    calls.drop_capabilities()
    calls.prctl(calls.PR_SET_DUMPABLE, 0)
    restrict_files(wish["landlock"])


def restrict_files(rules: "Mapping[str, Any] | None") -> None:
    """Landlock: what is not allowed here stays refused, also by mounts that would allow it."""
    if rules is None:
        return
    ruleset = calls.landlock_ruleset(rules["fs"], rules["net"], rules["scoped"], rules["abi"])
    for path, rights in rules["paths"]:
        try:
            opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        calls.landlock_allow(ruleset, rights, opened)
        os.close(opened)
    for path, rights in rules["picked"]:
        _allow_picked(ruleset, path, rights)
    mark = rules.get("mark")
    if mark is not None:
        descriptor = os.open("/proc/self/comm", os.O_WRONLY | os.O_CLOEXEC)
        os.write(descriptor, mark.encode())
        os.close(descriptor)
    calls.landlock_restrict(ruleset, rules["flags"])
    os.close(ruleset)
    if mark is not None:
        _knock()


def _knock() -> None:
    """Is refused once, so that the kernel writes about this run whatever the program does."""
    try:
        os.close(os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    except PermissionError:
        return


def _allow_picked(ruleset: int, path: str, rights: int) -> None:
    """A rule on a name that was found in a tree, if there is still a thing of that kind.

    One that is gone, closed to this user, or a link by now is not open, and stops nothing.
    """
    try:
        opened = calls.openat2(
            calls.AT_FDCWD, os.fsencode(path), os.O_PATH, calls.RESOLVE_NO_SYMLINKS
        )
    except OSError:
        return
    kind = os.fstat(opened).st_mode & _KIND
    if kind == (_FOLDER if rights & _READ_DIR else _FILE):
        calls.landlock_allow(ruleset, rights, opened)
    os.close(opened)
