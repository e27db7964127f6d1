"""Trees whose difference has every construct that a diff of git can have."""

from tests.examine.diff.gitdiffs import SUBMODULE_ONE, SUBMODULE_TWO, Entry, Tree

LINES = b"".join(b"line %d\n" % number for number in range(1, 61))
EDITED = LINES.replace(b"line 5\n", b"line five\n").replace(b"line 50\n", b"")
NOISE = bytes((number * 7919) % 256 for number in range(700))
MORE_NOISE = NOISE[:300] + b"\0inserted\0" + NOISE[300:]

BEFORE: Tree = {
    b"modified.py": Entry(LINES),
    b"deleted.py": Entry(b"print('gone')\n"),
    b"emptied.py": Entry(b"was here\n"),
    b"empty-gone": Entry(b""),
    b"old name.py": Entry(LINES + b"# renamed\n"),
    b"moved.py": Entry(LINES + b"# moved and changed\n"),
    b"script.sh": Entry(b"echo\n"),
    b"both.sh": Entry(b"echo 1\necho 2\n"),
    b"link": Entry(b"target", "120000"),
    b"turned": Entry(b"a file\n"),
    b"sub": Entry(SUBMODULE_ONE.encode(), "160000"),
    b"image.png": Entry(NOISE),
    b"gone.png": Entry(b"\0\1\2"),
    b"crlf.txt": Entry(b"one\r\ntwo\r\nthree\r\n"),
    b"no-newline": Entry(b"one\ntwo"),
    b"untouched": Entry(b"the same\n"),
}
AFTER: Tree = {
    b"modified.py": Entry(EDITED),
    b"added.py": Entry(b"import os\n\n\nprint(os.name)\n"),
    b"emptied.py": Entry(b""),
    b"empty-come": Entry(b""),
    b"new name.py": Entry(LINES + b"# renamed\n"),
    b"moved/there.py": Entry(LINES + b"# moved and really changed\n"),
    b"script.sh": Entry(b"echo\n", "100755"),
    b"both.sh": Entry(b"echo 1\necho 3\n", "100755"),
    b"link": Entry(b"elsewhere", "120000"),
    b"turned": Entry(b"a link", "120000"),
    b"sub": Entry(SUBMODULE_TWO.encode(), "160000"),
    b"image.png": Entry(MORE_NOISE),
    b"come.png": Entry(b"\0\3\4"),
    b"crlf.txt": Entry(b"one\r\n2\r\nthree\r\n"),
    b"no-newline": Entry(b"one\ntwo\nthree"),
    b"untouched": Entry(b"the same\n"),
    'ümläut\t"q"\\.py'.encode(): Entry(b"x = 1\n"),
    b"not-utf8-\xff.py": Entry(b"x = 2\n"),
    b"a name with spaces.py": Entry(b"x = 3\n"),
}  # fmt: skip
