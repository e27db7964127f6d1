"""Users' files are touched only through `SandboxedPath` or a descriptor (TRUST §path, lint)."""

import pytest

from checks import userfiles

BY_PATH = [
    "open('x')",
    "import builtins\nbuiltins.open('x')",
    "import io\nio.open('x')",
    "import os\nos.open('x', os.O_RDONLY)",
    "import os as o\no.stat('x')",
    "from os import unlink as gone\ngone('x')",
    "import posix\nposix.rename('a', 'b')",
    "import os\nlater = os\nlater.listdir('x')",
    "import os\nremove = os.unlink\nremove('x')",
    "import os\ndef f(remove=os.unlink): ...",
    "import os\nfor each in os.scandir('x'): ...",
    "import os\nos.path.exists('x')",
    "from os.path import isfile\nisfile('x')",
    "from pathlib import Path\nPath('x').read_text()",
    "from pathlib import Path\nPath('x').write_bytes(b'')",
    "from pathlib import Path\nPath.open(given)",
    "def f(path): return path.read_bytes()",
    "def f(path): path.unlink(missing_ok=True)",
    "def f(path): path.rename(other)",
    "def f(path): path.replace(other)",
    "def f(path): path.open('rb')",
    "def f(path): path.mkdir(parents=True)",
    "def f(path): path.symlink_to(other)",
    "def f(path): return [*path.iterdir(), *path.glob('*')]",
    "import shutil\nshutil.rmtree('x')",
    "from shutil import copy2\ncopy2('a', 'b')",
    "import tempfile\ntempfile.mkdtemp()",
    "from tempfile import TemporaryDirectory\nTemporaryDirectory()",
    "import glob\nglob.glob('*')",
    "import tarfile\ntarfile.open('x')",
    "import zipfile\nzipfile.ZipFile('x')",
    "import os\nos.link('a', 'b')\n",
    "import os\nos.truncate('a', 0)",
]
HARMLESS = [
    "import os\nos.open('x', os.O_RDONLY, dir_fd=folder)",
    "import os\nos.rename('a', 'b', src_dir_fd=one, dst_dir_fd=two)",
    "import os\nos.stat('x', dir_fd=folder, follow_symlinks=False)",
    "import os\nos.fstat(descriptor)",
    "import os\nos.read(descriptor, 5)",
    "import os\nos.fdopen(descriptor)",
    "import os\nos.path.join('a', 'b')",
    "def f(path): path.open(on_race=sink)",
    "def f(path): path.replace(content, on_race=sink)",
    "def f(path): return path.resolve(strict=True)",
    "'a'.replace('b', 'c')",
    "from dataclasses import replace\nreplace(value, name=1)",
    "moment.replace(tzinfo=None)",
    "import shutil\nshutil.which('x', path=given)",
    "import shutil\nshutil.copyfileobj(one, other)",
    "def open(x): ...\nopen('x')",
    "place.exists",
    "'open(x)'",
]
HEADING = '[looks]\nreason = "only looks"\nmodules = [\n    "service/x.py",\n]\n'


def found(plant, source, table=""):
    """The findings for one module of the package."""
    files = {"src/consentry/service/x.py": source}
    if table:
        files[userfiles.TABLE] = table
    return list(userfiles.check(plant(files)))


@pytest.mark.parametrize("source", BY_PATH)
def test_a_call_by_path_is_found(plant, source):
    """However the function is reached; the place is named."""
    findings = found(plant, source)
    assert findings
    assert {finding.path for finding in findings} == {"src/consentry/service/x.py"}
    assert all("goes by path" in finding.message for finding in findings)


@pytest.mark.parametrize("source", BY_PATH)
def test_a_module_that_is_listed_may(plant, source):
    """The same calls in a module of the table, whose heading says why."""
    assert not found(plant, source, HEADING)


@pytest.mark.parametrize("source", HARMLESS)
def test_what_goes_by_descriptor_passes(plant, source):
    """Descriptors, `SandboxedPath`, and what only looks like a call by path."""
    assert not found(plant, source)


def test_a_row_without_a_call_is_a_fault(plant):
    """The table never allows more than there is."""
    findings = found(plant, "import os", HEADING)
    assert [(finding.path, finding.line) for finding in findings] == [(userfiles.TABLE, 4)]
    assert "remove its row" in findings[0].message


def test_a_row_of_no_module_is_a_fault(plant):
    """A module that was renamed or removed takes its row with it."""
    findings = found(plant, "import os", HEADING.replace("x.py", "gone.py"))
    assert ["is no module" in finding.message for finding in findings] == [True]


def test_a_heading_needs_a_reason(plant):
    """Without one, the table says nothing."""
    with pytest.raises(ValueError, match="has no reason"):
        found(plant, "import os", HEADING.replace("only looks", ""))
