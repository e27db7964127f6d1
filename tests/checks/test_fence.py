"""Only enforce starts processes; only cli reads the environment and prints."""

import pytest

from checks import fence

STARTS = [
    "import os\nos.system('x')",
    "import os as o\no.popen('x')",
    "from os import system",
    "from os import system as s\ns('x')",
    "import os\nos.fork()",
    "import os\nos.forkpty()",
    "import os\nos.execv('x', ['x'])",
    "import os\nos.execvpe",
    "import os\nos.spawnlp",
    "import os\nos.posix_spawn",
    "import posix\nposix.system('x')",
    "import pty",
    "from pty import spawn",
    "import subprocess",
    "import subprocess as sp",
    "from subprocess import run as go",
    "def f():\n    from subprocess import Popen",
    "import asyncio\nasyncio.create_subprocess_exec('x')",
    "from asyncio import create_subprocess_shell as c",
    "import asyncio.subprocess",
    "from asyncio import subprocess",
    "async def f(loop):\n    await loop.subprocess_exec(None, 'x')",
    "import multiprocessing",
    "from concurrent.futures import ProcessPoolExecutor",
    "import os\nlater = os\nlater.system('x')",
    "import os\ngetattr(os, 'system')('x')",
    "import importlib\nimportlib.import_module('subprocess')",
    "from importlib import import_module as load\nload('pty')",
    "__import__('os').system('x')",
    "import os\nrunner = os.system",
    "if True:\n    import os\n    os.system",
    "import webbrowser\nwebbrowser.open(u)",
    "import click\nclick.launch(u)",
    "from click import edit",
    "import click\nclick.echo_via_pager('x')",
    "import pydoc\npydoc.pager('x')",
    "from pydoc import pipepager",
    "import anyio\nanyio.run_process(['x'])",
    "from anyio import open_process",
    "import anyio.to_process as t\nt.run_sync(f)",
    "from anyio import to_process",
    "import uuid\nuuid.getnode()",
    "import uuid\nuuid.uuid1()",
    "import platform\nplatform.processor()",
    "import platform\nplatform.platform()",
    "import ctypes.util\nctypes.util.find_library('c')",
    "from ctypes.util import find_library",
    "import os\ndef f(o=os): o.system('x')",
    "import os\ndef f(a, /, b, o=os): o.system('x')",
    "import os\ndef f(*, a, o=os): o.system('x')",
    "import os\nlambda o=os: o.system('x')",
    "import os\n(o := os).system('x')",
    "import os\nif o := os:\n    o.system('x')",
    "import os\no: object = os\no.system('x')",
    "import os\na, b = os, 1\na.system('x')",
    "import os\n[a, (b, c)] = [1, (2, os)]\nc.system('x')",
    "import os\na = b = os\na.system('x')",
    "import importlib\nimportlib.__import__('subprocess')",
    "import importlib\nimportlib.import_module(name='subprocess')",
    "from importlib import import_module as i\ni(package=None, name='subprocess')",
]
READS = [
    "import os\nos.environ['HOME']",
    "import os\nos.environ.get('HOME')",
    "from os import environ",
    "from os import getenv as g\ng('HOME')",
    "import os\nos.getenv('HOME')",
    "import os\nos.environb",
    "import os\nos.path.expandvars('$HOME')",
    "from os import path\npath.expandvars('$HOME')",
    "import os\nos.path.expanduser('~')",
    "from posixpath import expanduser",
    "from pathlib import Path\nPath.home()",
    "from pathlib import PosixPath\nPosixPath.home()",
    "from pathlib import Path\nPath('~/x').expanduser()",
    "from pathlib import Path\nPath.expanduser",
    "def f(path):\n    return path.expanduser()",
    "import shutil\nshutil.which('bwrap')",
    "import shutil\nshutil.which('bwrap', path=None)",
    "from shutil import which\nwhich('bwrap')",
    "from shutil import which as find\nlater = find",
    "import shutil\nshutil.get_terminal_size()",
    "import tempfile\ntempfile.gettempdir()",
    "from tempfile import gettempdirb",
    "import getpass\ngetpass.getuser()",
    "import os\nos.get_exec_path()",
    "from urllib.request import getproxies",
    "import urllib.request\nurllib.request.getproxies_environment()",
]
PRINTS = [
    "print('x')",
    "import builtins\nbuiltins.print('x')",
    "from pprint import pprint",
    "say = print",
    "import sys\nsys.stdout.write('x')",
    "import sys\nsys.stdout.buffer.write(b'x')",
    "import sys\nsay = sys.stderr.write",
    "from sys import stderr",
    "import sys\nsys.__stdout__",
    "import os\nos.write(1, b'x')",
    "import os\nos.write(2, b'x')",
    "from os import write as w\nw(2, b'x')",
    "import traceback\ntraceback.print_exc()",
    "from traceback import print_exception",
    "import logging",
    "import logging\nlogging.warning('x')",
    "from logging import getLogger",
]
HARMLESS = [
    "import os\nos.path.join('a', 'b')",
    "import os\nos.getpid()",
    "'os.system'",
    "def f(system):\n    system('x')",
    "import asyncio\nasyncio.create_task",
    "from concurrent.futures import ThreadPoolExecutor",
    "def print(x): ...\nprint('x')",
    "import os\ngetattr(os, 'getpid')",
    "class Printer:\n    def print(self): ...\nPrinter().print()",
    "import os\nos.write(descriptor, b'x')",
    "import os\nos.write(3, b'x')",
    "from os import write",
    "import shutil\nshutil.which('bwrap', path=given)",
    "import shutil\nshutil.which('bwrap', 1, given)",
    "from shutil import which\nwhich('bwrap', path=given)",
    "import shutil\nshutil.rmtree",
    "import tempfile\ntempfile.mkdtemp(dir=given)",
    "import platform\nplatform.machine()",
    "import uuid\nuuid.uuid4()",
    "import traceback\ntraceback.format_exc()",
    "import sys\nsys.stdin",
    "import click\nclick.Path",
    "import anyio\nanyio.to_thread",
    "import ctypes.util",
    "place.home",
    "from pathlib import Path\nPath.cwd()",
    "import os\ndef f(o, p=os): o.system('x')",
    "import os\na, b = os, given\nb.system('x')",
    "import os\na, *b = given, os\nb.system('x')",
    "a: int\na.system('x')",
    "import importlib\nimportlib.import_module(name=given)",
    "import importlib\nimportlib.import_module('.x', package='consentry')",
]


def found(plant, room, source):
    """The findings of the fence for one file of a room."""
    return list(fence.check(plant({f"src/consentry/{room}/x.py": source})))


@pytest.mark.parametrize("source", STARTS)
@pytest.mark.parametrize("room", ["service", "cli", "base"])
def test_starting_a_process_outside_enforce_is_found(plant, room, source):
    """However the function is reached, a room other than enforce may not start a process."""
    findings = found(plant, room, source)
    assert findings
    assert all("starts a process" in finding.message for finding in findings)


@pytest.mark.parametrize("source", STARTS)
def test_enforce_may_start_processes(plant, source):
    """The same sources give no finding about processes in enforce."""
    assert not [f for f in found(plant, "enforce", source) if "process" in f.message]


@pytest.mark.parametrize("source", READS)
@pytest.mark.parametrize("room", ["service", "enforce", "web"])
def test_reading_the_environment_outside_cli_is_found(plant, room, source):
    """The environment enters through the command and is passed inward."""
    findings = found(plant, room, source)
    assert findings
    assert all("reads the environment" in finding.message for finding in findings)


@pytest.mark.parametrize("source", PRINTS)
def test_printing_outside_cli_is_found(plant, source):
    """A library returns values."""
    findings = found(plant, "record", source)
    assert findings
    assert all("prints" in finding.message for finding in findings)


@pytest.mark.parametrize("source", READS + PRINTS)
def test_cli_may_read_the_environment_and_print(plant, source):
    """The command is the door: both are its work."""
    assert not found(plant, "cli", source)


@pytest.mark.parametrize("source", HARMLESS)
def test_what_only_looks_like_it_passes(plant, source):
    """Other functions of the same modules, texts, and own names do not count."""
    assert not found(plant, "base", source)


def test_a_star_brings_in_every_fenced_name(plant):
    """`from os import *` is found as both starting processes and reading the environment."""
    messages = " ".join(finding.message for finding in found(plant, "base", "from os import *"))
    assert "`os.system` starts a process" in messages
    assert "`os.environ` reads the environment" in messages


def test_the_package_itself_is_fenced(plant):
    """A module directly below the package is no room, and gets no rights."""
    assert list(fence.check(plant({"src/consentry/x.py": "import subprocess"})))


def test_other_trees_are_not_fenced(plant):
    """Tests, checks and benches may start what they like."""
    assert not list(fence.check(plant({"bench/x.py": "import subprocess\nprint('x')"})))


def test_the_line_is_that_of_the_use(plant):
    """A finding names the place where the function is reached."""
    [finding] = found(plant, "base", "import os\n\n\nos.system('x')\n")
    assert (finding.path, finding.line) == ("src/consentry/base/x.py", 4)
