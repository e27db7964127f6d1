"""System-call gaps: other tables of numbers, newer calls for old powers, and arguments with tricks."""

import platform

import pytest

from tests.enforce.attacks.attackers import Attacker

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of x86_64")

SETUP = r"""
import mmap
NEWUSER, CHILD = 0x10000000, 17
def cloned(flags):
    pid = call(56, ctypes.c_ulong(flags | CHILD), 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "done"
def cloned3(flags):
    wanted = flags.to_bytes(8, "little").ljust(32, b"\0") + CHILD.to_bytes(8, "little")
    pid = call(435, ctypes.create_string_buffer(wanted.ljust(64, b"\0"), 64), 64)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "done"
def in_own_namespace(act):
    try:
        return act()
    except OSError as problem:
        if libc.syscall(272, NEWUSER | 0x20000) < 0:
            raise problem
    return act()
def mounted():
    try:
        call(165, b"none", b"/", b"no-such-kind", 0, None)
    except OSError as problem:
        if problem.errno != errno.ENODEV:
            raise
    return "done"
def handle():
    space = ctypes.create_string_buffer(140)
    space[0:4] = (128).to_bytes(4, "little")
    call(303, -100, b"/usr", space, ctypes.create_string_buffer(4), 0)
    return "done"
def memory_of(pid):
    mine = ctypes.create_string_buffer(8)
    class Vector(ctypes.Structure):
        _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))
    local, remote = Vector(ctypes.addressof(mine), 8), Vector(id(None), 8)
    call(310, pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, ctypes.c_ulong(0))
    return "done"
def taken_from(pid):
    return "done" if call(438, os.pidfd_open(pid), 0, 0) >= 0 else ""
def int80():
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b"\xb8\x14\0\0\0\xcd\x80\xc3")
    place = ctypes.addressof(ctypes.c_char.from_buffer(page))
    answer = ctypes.CFUNCTYPE(ctypes.c_int)(place)()
    return "done" if answer == os.getpid() else "ENOSYS"
def typed(request):
    master, terminal = os.openpty()
    os.setsid()
    call(16, terminal, ctypes.c_ulong(0x540E), 0)
    call(16, terminal, ctypes.c_ulong(request), ctypes.create_string_buffer(b"x"))
    return "done"
def family(number, kind):
    socket.socket(number, kind).close()
    return "done"
def segment(size):
    call(29, 0, ctypes.c_size_t(size), 0o11600)
    return "done"
other = os.fork()
if other == 0:
    import time
    time.sleep(20)
    os._exit(0)
"""
ATTACKS = {
    "io_uring": "call(425, 4, ctypes.create_string_buffer(256)) and 'done'",
    "clone into a user namespace": "cloned(NEWUSER)",
    "clone3 into a user namespace": "cloned3(NEWUSER)",
    "unshare": "call(272, NEWUSER) or 'done'",
    "mount": "in_own_namespace(mounted)",
    "fsopen": "in_own_namespace(lambda: call(430, b'tmpfs', 0) and 'done')",
    "open_tree": "call(428, -100, b'/usr', 0) and 'done'",
    "name_to_handle_at": "handle()",
    "process_vm_readv": "memory_of(other)",
    "pidfd_getfd": "taken_from(other)",
    "ptrace": "call(101, 0x4206, other, 0, 0) or 'done'",
    "i386 numbers": "int80()",
    "type": "typed(0x5412)",
    "type with a high bit": "typed(0x5412 | 1 << 32)",
    "netlink": "family(16, socket.SOCK_RAW)",
    "a key": "call(248, b'user', b'attack', b'x', 1, -2) and 'done'",
    "userfaultfd": "call(323, 1) and 'done'",
    "a large segment": "segment(1 << 20)",
    "a segment of a size with high bits": "segment(1 << 32)",
}
EXPECTED = {
    **dict.fromkeys(ATTACKS, "EPERM"),
    "clone3 into a user namespace": "ENOSYS",
    "i386 numbers": "SIGSYS",
    "netlink": "EAFNOSUPPORT",
    "a large segment": "EINVAL",
    "a segment of a size with high bits": "EINVAL",
}
ORDINARY = {
    "a thread's clone": "cloned(0)",
    "openat2": "call(437, -100, b'/usr', (ctypes.c_uint64 * 3)(0, 0, 0), 24) and 'done'",
    "truncate": "os.truncate('mine', 0) or 'done'",
    "a pair of sockets": "socket.socketpair() and 'done'",
    "the size of a terminal": "os.get_terminal_size(os.openpty()[1]) and 'done'",
    "a small segment": "segment(64 << 10)",
    "a datagram": "family(socket.AF_INET, socket.SOCK_DGRAM)",
}


def test_no_gap_is_found(attacker: Attacker) -> None:
    """Each call is refused by the filter itself, whatever number or argument asks for it."""
    found = attacker.tries(ATTACKS, setup=SETUP + "os.kill(other, 0)\n")
    assert found == EXPECTED


def test_numbers_of_x32_end_the_program(attacker: Attacker) -> None:
    """They would slip by a list of the usual numbers."""
    assert attacker.tries({"x32": "call(0x40000000 | 39)"}) == {"x32": "SIGSYS"}


def test_what_programs_need_works(attacker: Attacker) -> None:
    """The filter refuses powers, not programming."""
    attacker.put("ws/mine")
    found = attacker.tries(ORDINARY, setup=SETUP)
    assert found == dict.fromkeys(ORDINARY, "done")


def test_without_the_filter_the_calls_are_carried_out(attacker: Attacker) -> None:
    """Those that the host has for everybody."""
    found = attacker.tries(ATTACKS, setup=SETUP, without=["filter", "landlock"])
    beaten = {name for name, word in found.items() if word == "done"}
    on_every_host = {"clone into a user namespace", "clone3 into a user namespace", "unshare"}
    on_every_host |= {"name_to_handle_at", "process_vm_readv", "pidfd_getfd", "ptrace", "netlink"}
    on_every_host |= {"mount", "fsopen", "open_tree", "a key", "a large segment"}
    # These are settings of a kernel, and some hosts have none of them for anybody.
    on_some = {"io_uring", "userfaultfd", "i386 numbers", "type", "type with a high bit"}
    on_some |= {"a segment of a size with high bits"}
    assert on_every_host <= beaten
    assert set(ATTACKS) - beaten <= on_some


def test_changed_files_of_others_through_calls_that_take_no_descriptor(attacker: Attacker) -> None:
    """`truncate`, `chmod` and `rename` by name change the layer, and nothing on the host."""
    mine, outside = attacker.put("ws/mine"), attacker.put("outside")
    calls = {
        "truncate": "os.truncate('mine', 0)",
        "chmod": "os.chmod('mine', 0o777)",
        "outside": f"os.truncate({str(outside)!r}, 0)",
        "rename": "os.rename('mine', 'other')",
    }
    found = attacker.tries(calls)
    assert found == {"truncate": "None", "chmod": "None", "outside": "ENOENT", "rename": "None"}
    assert mine.read_text(encoding="utf-8") == "SECRET"
    assert mine.stat().st_mode & 0o777 == 0o644
    changed = attacker.tries(
        calls, without=["layer", "filter", "landlock"], shown=[str(attacker.place)]
    )
    assert set(changed.values()) == {"None"}
    assert outside.read_text(encoding="utf-8") == ""
