"""Numbers of the system calls that the filter speaks of, on the two machines it is written for.

A name that a machine lacks (the old calls without `at`) has no number there and needs no rule.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as `typing` has it, which the launcher should not have to load
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Final

_X86_64: Final = {
    "open": 2, "creat": 85, "execve": 59, "connect": 42, "sendto": 44, "socket": 41,
    "socketpair": 53, "ioctl": 16, "clone": 56, "unlink": 87, "rename": 82, "mkdir": 83,
    "rmdir": 84, "symlink": 88, "link": 86, "truncate": 76, "openat": 257, "mkdirat": 258,
    "unlinkat": 263, "renameat": 264, "linkat": 265, "symlinkat": 266, "renameat2": 316,
    "execveat": 322, "memfd_create": 319, "sendmsg": 46, "sendmmsg": 307, "shmget": 29,
    "ptrace": 101, "syslog": 103, "uselib": 134, "ustat": 136, "sysfs": 139, "vhangup": 153,
    "modify_ldt": 154, "pivot_root": 155, "_sysctl": 156, "adjtimex": 159, "chroot": 161,
    "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168,
    "reboot": 169, "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173,
    "create_module": 174, "init_module": 175, "delete_module": 176, "get_kernel_syms": 177,
    "query_module": 178, "quotactl": 179, "nfsservctl": 180, "lookup_dcookie": 212,
    "clock_settime": 227, "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250,
    "migrate_pages": 256, "unshare": 272, "move_pages": 279, "perf_event_open": 298,
    "fanotify_init": 300, "name_to_handle_at": 303, "open_by_handle_at": 304,
    "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
    "chmod": 90, "fchmod": 91, "fchmodat": 268, "chown": 92, "fchown": 93, "lchown": 94,
    "fchownat": 260, "utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280,
    "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198,
    "fremovexattr": 199, "inotify_init": 253, "inotify_init1": 294, "fcntl": 72, "shmat": 30,
    "shmctl": 31, "semget": 64, "semop": 65, "semctl": 66, "semtimedop": 220, "msgget": 68,
    "msgsnd": 69, "msgrcv": 70, "msgctl": 71, "mq_open": 240, "mq_unlink": 241, "prlimit64": 302,
    "setpriority": 141, "ioprio_set": 251, "sched_setparam": 142, "sched_setscheduler": 144,
    "sched_setaffinity": 203, "sched_setattr": 314, "bind": 49, "listen": 50, "accept": 43,
    "accept4": 288, "fallocate": 285,
    "kcmp": 312, "finit_module": 313, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
}  # fmt: skip
_GENERIC: Final = {
    "execve": 221, "connect": 203, "sendto": 206, "socket": 198, "socketpair": 199, "ioctl": 29,
    "clone": 220, "truncate": 45, "openat": 56, "mkdirat": 34, "unlinkat": 35, "renameat": 38,
    "linkat": 37, "symlinkat": 36, "renameat2": 276, "execveat": 281, "memfd_create": 279,
    "sendmsg": 211, "sendmmsg": 269, "shmget": 194, "fallocate": 47,
    "ptrace": 117, "syslog": 116, "vhangup": 58, "pivot_root": 41, "adjtimex": 171, "chroot": 51,
    "acct": 89, "settimeofday": 170, "mount": 40, "umount2": 39, "swapon": 224, "swapoff": 225,
    "reboot": 142, "sethostname": 161, "setdomainname": 162, "init_module": 105,
    "delete_module": 106, "quotactl": 60, "nfsservctl": 42, "lookup_dcookie": 18,
    "clock_settime": 112, "kexec_load": 104, "add_key": 217, "request_key": 218, "keyctl": 219,
    "migrate_pages": 238, "unshare": 97, "move_pages": 239, "perf_event_open": 241,
    "fanotify_init": 262, "name_to_handle_at": 264, "open_by_handle_at": 265,
    "clock_adjtime": 266, "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271,
    "fchmod": 52, "fchmodat": 53, "fchown": 55, "fchownat": 54, "utimensat": 88, "setxattr": 5,
    "lsetxattr": 6, "fsetxattr": 7, "removexattr": 14, "lremovexattr": 15, "fremovexattr": 16,
    "inotify_init1": 26, "fcntl": 25, "shmat": 196, "shmctl": 195, "semget": 190, "semop": 193,
    "semctl": 191, "semtimedop": 192, "msgget": 186, "msgsnd": 189, "msgrcv": 188, "msgctl": 187,
    "mq_open": 180, "mq_unlink": 181, "prlimit64": 261, "setpriority": 140, "ioprio_set": 30,
    "sched_setparam": 118, "sched_setscheduler": 119, "sched_setaffinity": 122,
    "sched_setattr": 274, "bind": 200, "listen": 201, "accept": 202, "accept4": 242,
    "kcmp": 272, "finit_module": 273, "kexec_file_load": 294, "bpf": 280, "userfaultfd": 282,
}  # fmt: skip
_EVERYWHERE: Final = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433,
    "clone3": 435, "openat2": 437, "pidfd_getfd": 438, "process_madvise": 440,
    "fchmodat2": 452, "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447, "statmount": 457,
    "listmount": 458, "open_tree_attr": 467, "process_mrelease": 448, "setxattrat": 463,
    "removexattrat": 466, "file_setattr": 469,
}  # fmt: skip

NUMBERS: Final[Mapping[str, Mapping[str, int]]] = {
    "x86_64": {**_X86_64, **_EVERYWHERE},
    "aarch64": {**_GENERIC, **_EVERYWHERE},
}
AUDIT_ARCH: Final[Mapping[str, int]] = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
