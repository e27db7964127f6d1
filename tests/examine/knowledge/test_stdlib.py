"""What the tables say of the standard library (GUARD §extract-1): all of it, in the form, and by name.

An import that is in no table makes a verdict UNKNOWN, so that a module without power needs its row,
too. The floor of GUARD §extract-net, §extract-proc and §extract-dynamic is checked to the letter.
"""

import ast
import functools
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import consentry.examine.knowledge as knowledge_package

FOLDER = Path(next(iter(knowledge_package.__path__)))
LIBRARY = Path(ast.__file__).parent

ARGUMENT = r"(?:self|\d+(?:/\w+)?|/\w+)"
TARGET = r"[\w./~:-]+"
CONDITION = rf"(?: \?{ARGUMENT}!?=\S+)?"
EFFECT = re.compile(
    rf"(?:read|write)(?:={TARGET}|@{ARGUMENT})?{CONDITION}"
    rf"|open@{ARGUMENT},{ARGUMENT}{CONDITION}"
    rf"|net(?:={TARGET}|:any|@{ARGUMENT}(?:,{ARGUMENT})?)?{CONDITION}"
    rf"|(?:proc|env|crypto)(?:={TARGET}|:any|@{ARGUMENT})?{CONDITION}"
    rf"|load(?:=limited|=any|@{ARGUMENT}){CONDITION}"
    r"|tool=[a-z]+"
    rf"|-> (?:module@{ARGUMENT}|\w+(?:\.\w+)+)"
)

# Written by the build, named after the machine, and never imported by anybody.
NAMED_AFTER_A_MACHINE = "_sysconfigdata"
NOT_OF_THE_LIBRARY = {
    "site-packages",
    "__pycache__",
    "test",
    "tests",
    "idle_test",
    "lib2to3",
    "idlelib",
}

NEWER_AND_OLDER = (
    *(
        "annotationlib",
        "compression.zstd",
        "concurrent.interpreters",
        "string.templatelib",
        "_zstd",
    ),
    *(
        "_interpreters",
        "_interpqueues",
        "_hmac",
        "_pyrepl.console",
        "pathlib.types",
        "_remote_debugging",
    ),
    *("_sha2", "_pydatetime", "_ios_support", "_types", "_py_warnings", "_ast_unparse", "_wmi"),
    *("asyncore", "asynchat", "smtpd", "imp", "distutils.util", "binhex", "aifc", "audioop", "cgi"),
    *("cgitb", "chunk", "crypt", "imghdr", "mailcap", "msilib", "nis", "nntplib", "ossaudiodev"),
    *("pipes", "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib", "lib2to3.pgen2.driver"),
    *("nt", "_winapi", "winreg", "winsound", "msvcrt", "_overlapped", "_msi", "_scproxy"),
)

FLOOR = {
    "urllib": "net",
    "socket": "net",
    "subprocess": "proc",
    "pty": "proc",
    "shlex": "proc",
    "marshal": "load=limited",
    "importlib": "load=limited",
}

MEMBERS = {
    "builtins.eval": "load=any",
    "builtins.exec": "load=any",
    "builtins.__import__": "-> module@0/name",
    "builtins.open": "open@0/file,1/mode",
    "importlib.import_module": "load@0/name",
    "importlib.util.spec_from_file_location": "load=any",
    "pickle.loads": "load=any",
    "pickle.Unpickler": "load=any",
    "marshal.loads": "load=any",
    "shelve.open": "load=any",
    "logging.config.fileConfig": "load=any",
    "timeit.timeit": "load=any",
    "typing.get_type_hints": "load=any",
    "types.CodeType": "load=any",
    "sys._getframe": "load=any",
    "sys.modules.__getitem__": "-> module@0",
    "gc.get_objects": "load=any",
    "ctypes.CDLL": "load=any",
    "unittest.mock.patch": "load@0/target",
    "sqlite3.Connection.load_extension": "load=any",
    "os.system": "proc@0/command",
    "os.execvp": "proc@0/file",
    "os.spawnl": "proc@1/file",
    "os.posix_spawn": "proc@0/path",
    "os.environ": "env:any",
    "os.environ.get": "env@0/key",
    "os.environ.__getitem__": "env@0",
    "os.getenv": "env@0/key",
    "os.listdir": "read@0/path",
    "os.rename": "write@1/dst",
    "os.path.exists": "read@0/path",
    "os.path.expanduser": "env=HOME",
    "subprocess.run": "proc@0/args",
    "subprocess.Popen": "proc@0/args",
    "asyncio.create_subprocess_exec": "proc@0/program",
    "imaplib.IMAP4_stream": "proc@0/command",
    "multiprocessing.Process": "proc",
    "platform.processor": "proc=uname",
    "uuid.getnode": "proc",
    "webbrowser.open": "tool=browser",
    "socket.socket.connect": "net@0",
    "socket.create_connection": "-> socket.socket",
    "urllib.request.urlopen": "net@0/url",
    "http.client.HTTPConnection": "net@0/host,1/port",
    "smtplib.SMTP": "net@0/host,1/port",
    "logging.handlers.HTTPHandler": "net@0/host",
    "xmlrpc.client.ServerProxy": "net@0/uri",
    "pathlib.Path.read_text": "read@self",
    "pathlib.Path.open": "open@self,0/mode",
    "pathlib.Path.cwd": "-> pathlib.Path",
    "zipfile.ZipFile.extractall": "write@0/path",
    "tarfile.open": "-> tarfile.TarFile",
    "sqlite3.connect": "-> sqlite3.Connection",
    "tempfile.mkdtemp": "write@2/dir",
    "shutil.rmtree": "write@0/path",
    "configparser.ConfigParser.read": "read@0/filenames",
    "netrc.netrc": "read=~/.netrc",
    "pwd.getpwnam": "read=/etc/passwd",
    "xml.etree.ElementTree.parse": "read@0/source",
    "hashlib.new": "crypto@0/name",
    "hashlib.md5": "crypto=md5",
    "hmac.new": "crypto=hmac",
    "ssl.create_default_context": "crypto=tls",
    "getpass.getuser": "env=LOGNAME",
}

HARMLESS = (
    *("os.getcwd", "os.cpu_count", "os.putenv", "os.path.abspath", "sys.argv", "sys.executable"),
    *("builtins.input", "builtins.print", "pickle.dumps", "unittest.mock.patch.object"),
    *("shutil.copyfileobj", "sys.modules.__contains__", "os.environ.__setitem__"),
)

PURE = (
    *(
        "json",
        "re",
        "ast",
        "math",
        "csv",
        "plistlib",
        "tomllib",
        "base64",
        "binascii",
        "zlib",
        "html",
    ),
    *(
        "fnmatch",
        "select",
        "selectors",
        "random",
        "secrets",
        "queue",
        "sched",
        "dis",
        "email",
        "string",
    ),
    *("operator", "functools", "struct", "textwrap", "tty", "termios", "resource", "atexit"),
)

TWINS = {
    "posix": "os",
    "nt": "os",
    "posixpath": "os.path",
    "ntpath": "os.path",
    "_io": "io",
    "_pyio": "io",
    "_socket": "socket",
    "_pickle": "pickle",
    "_sqlite3": "sqlite3",
    "_operator": "operator",
    "_functools": "functools",
    "shutil.os": "os",
    "random._os": "os",
    "os.path.os": "os",
    "logging.sys": "sys",
}

WATCHED = {
    "__subclasses__",
    "__globals__",
    "__builtins__",
    "__code__",
    "f_globals",
    "tb_frame",
    "__loader__",
}
COMMON = {
    "__class__",
    "__mro__",
    "__bases__",
    "__dict__",
    "__name__",
    "__doc__",
    "__annotations__",
    "__self__",
}


@functools.cache
def tables() -> tuple[dict[str, Any], ...]:
    """The tables of the standard library as they are written."""
    return tuple(
        tomllib.loads(path.read_text(encoding="utf-8"))
        for path in sorted(FOLDER.glob("stdlib_*.toml"))
    )


def rows(kind: str) -> list[dict[str, Any]]:
    """All rows of a kind."""
    return [row for table in tables() for row in table.get(kind, ())]


@functools.cache
def modules() -> dict[str, dict[str, Any]]:
    """The rows of modules by name."""
    return {row["name"]: row for row in rows("module")}


def row_for(module: str) -> dict[str, Any] | None:
    """The row of the longest name that fits, with its twin in its place."""
    while module and module not in modules():
        module = module.rpartition(".")[0]
    row = modules().get(module)
    return row_for(row["twin"]) if row is not None and "twin" in row else row


def effects_of(member: str) -> list[str]:
    """What the row of a member says."""
    module = member.rpartition(".")[0]
    while module not in modules():
        module = module.rpartition(".")[0]
    found: list[str] = modules()[module]["members"][member.removeprefix(f"{module}.")]
    return found


def has_power(row: dict[str, Any]) -> bool:
    """Whether a row says that its module gives anything at all."""
    return bool(row.get("import") or row.get("default") or any(row.get("members", {}).values()))


def all_effects() -> Iterator[tuple[str, str]]:
    """Every effect of every row, with the name of what has it."""
    for row in rows("module"):
        for key in ("import", "default"):
            yield from ((f"{row['name']} {key}", effect) for effect in row.get(key, ()))
        for member, effects in row.get("members", {}).items():
            yield from ((f"{row['name']}.{member}", effect) for effect in effects)
    for row in rows("attribute"):
        yield from ((f".{row['name']}", effect) for effect in row["effects"])


def library_files() -> Iterator[tuple[str, Path]]:
    """The modules that lie in the library of this interpreter as files, test data left out."""
    for path in sorted(LIBRARY.rglob("*.py")):
        parts = path.relative_to(LIBRARY).with_suffix("").parts
        if NOT_OF_THE_LIBRARY & {*parts} or any("-" in part for part in parts):
            continue
        name = ".".join(parts).removesuffix(".__init__")
        if not name.startswith(NAMED_AFTER_A_MACHINE):
            yield name, path


def test_every_module_of_the_library_is_classified() -> None:
    """GUARD §extract-1: no module of this interpreter's library is unknown, private ones included."""
    names = {
        *(name for name in sys.stdlib_module_names if not name.startswith(NAMED_AFTER_A_MACHINE)),
        *sys.builtin_module_names,
        *(name for name, _ in library_files()),
    }
    assert len(names) > 600
    assert [name for name in sorted(names) if row_for(name) is None] == []


@pytest.mark.parametrize("name", NEWER_AND_OLDER)
def test_modules_of_other_versions_are_classified(name: str) -> None:
    """GUARD §extract-1: what only newer, older or other systems' Pythons have is known here, too."""
    assert row_for(name) is not None


def test_modules_of_others_are_not_taken_for_the_library() -> None:
    """GUARD §extract-1: a name that no library has stays unknown."""
    assert row_for("typing_extensions") is None
    assert row_for("pip") is None


def test_no_module_has_two_rows() -> None:
    """GUARD §deterministic: which row counts never depends on the order of files."""
    for kind in ("module", "attribute"):
        counted = Counter(row["name"] for row in rows(kind))
        assert [name for name, count in counted.items() if count > 1] == []


def test_every_effect_has_the_form() -> None:
    """GUARD §extract-1: an effect that nobody could read would be a power that nobody sees."""
    effects = list(all_effects())
    assert len(effects) > 1000
    assert [(name, effect) for name, effect in effects if not EFFECT.fullmatch(effect)] == []


def test_what_rows_name_is_there() -> None:
    """GUARD §extract-1: a twin, a class that is returned, and one that is the same have rows."""
    for name, row in modules().items():
        if "twin" in row:
            assert row_for(row["twin"]) is not None, name
            assert row.keys() == {"name", "twin"}, name
        for same in row.get("same", {}).values():
            assert any(f"{member}.".startswith(f"{same}.") for member in row["members"]), name
    for name, effect in all_effects():
        if effect.startswith("-> ") and "@" not in effect:
            assert row_for(effect.removeprefix("-> ").rpartition(".")[0]) is not None, name


@pytest.mark.parametrize(("module", "effect"), FLOOR.items())
def test_importing_what_the_floor_names_counts(module: str, effect: str) -> None:
    """GUARD §extract-net, §extract-proc, §extract-dynamic: these imports count by themselves."""
    assert effect in modules()[module]["import"]


@pytest.mark.parametrize("module", ["importlib.metadata", "importlib.resources"])
def test_two_parts_of_importlib_load_nothing(module: str) -> None:
    """GUARD §extract-dynamic: reading what is installed is not loading it; the rows say so."""
    assert modules()[module]["import"] == []


@pytest.mark.parametrize(("member", "effect"), MEMBERS.items())
def test_members_with_power_say_so(member: str, effect: str) -> None:
    """GUARD §extract-1: functions, classes and methods that open, connect, start, load or look."""
    assert effect in effects_of(member)


@pytest.mark.parametrize("member", HARMLESS)
def test_members_without_power_are_explicitly_safe(member: str) -> None:
    """GUARD §extract-1: neighbours of powerful members that give nothing have an empty list."""
    assert effects_of(member) == []


@pytest.mark.parametrize("module", PURE)
def test_modules_without_power_have_none(module: str) -> None:
    """GUARD T1: a refactoring that imports one of these gains nothing."""
    row = row_for(module) or {"name": module}
    assert not has_power(row)
    assert module in modules()


@pytest.mark.parametrize(("module", "twin"), TWINS.items())
def test_back_doors_are_what_they_lead_to(module: str, twin: str) -> None:
    """GUARD §extract-1: the C twin of a module, or a module within another, is that module."""
    assert modules()[module]["twin"] == twin


def test_modules_that_the_library_imports_are_doors() -> None:
    """GUARD §extract-1: `shutil.os` is `os`, for every module with power that a library file imports."""
    shut = []
    for name, path in library_files():
        if name.endswith("__main__") or name.startswith(
            ("turtledemo", "ensurepip._bundled", "this", "antigravity")
        ):
            continue
        for statement in ast.parse(path.read_bytes()).body:
            for alias in statement.names if isinstance(statement, ast.Import) else ():
                bound = alias.asname or alias.name.partition(".")[0]
                target = alias.name if alias.asname else bound
                row = row_for(target)
                if row is not None and has_power(row) and row_for(f"{name}.{bound}") is not row:
                    shut.append(f"{name}.{bound}")
    assert shut == []


def test_attributes_that_lead_to_code_are_watched() -> None:
    """GUARD §extract-dynamic: class walks, frames and globals count on any object, common names do not."""
    watched = {row["name"] for row in rows("attribute")}
    assert watched >= WATCHED
    assert watched.isdisjoint(COMMON)
