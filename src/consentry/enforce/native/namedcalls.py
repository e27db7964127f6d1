"""The calls that name a place: what each does, and which of its arguments are the names."""

# For each call: what it is, which argument is the folder (or none), and which the name.
NAMED = {
    "open": ("open", None, 0),
    "creat": ("create", None, 0),
    "openat": ("open", 0, 1),
    "openat2": ("open", 0, 1),
    "execve": ("exec", None, 0),
    "execveat": ("exec", 0, 1),
    "unlink": ("delete", None, 0),
    "unlinkat": ("delete", 0, 1),
    "rmdir": ("delete", None, 0),
    "mkdir": ("create", None, 0),
    "mkdirat": ("create", 0, 1),
    "symlink": ("create", None, 1),
    "symlinkat": ("create", 1, 2),
    "link": ("create", None, 1),
    "linkat": ("create", 2, 3),
    "rename": ("rename", None, 0),
    "renameat": ("rename", 0, 1),
    "renameat2": ("rename", 0, 1),
    "truncate": ("change", None, 0),
}
TARGET = {"rename": (None, 1), "renameat": (2, 3), "renameat2": (2, 3)}
SOURCE = {"link": (None, 0), "linkat": (0, 1)}
EXCHANGE = 2
