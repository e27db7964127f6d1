"""What kind of file this is, by its path and its first line, and which extractor reads it.

Which names and suffixes are what is data (`filekinds.toml`), and so is what in a file makes more of it
(`contentmarks.toml`). A file whose first line names another
program than its suffix is read by nobody: both programs could run it. What no extractor reads is
unclassified with all of its content, so that changing it is never taken for harmless.

Inert files add nothing. A mark of code in them, a first line that names a program, or the right to
be executed makes them more than that. Whether a file is a link or another tree is not asked here.
"""

import re
import tomllib
from collections.abc import Callable
from enum import StrEnum
from functools import cache, partial
from importlib import import_module
from typing import Any, Final

from consentry.base.ownfiles import own_bytes
from consentry.examine.atoms import NOTHING_FOUND, Extraction, Unclassified

_TABLE: Final = "filekinds.toml"
_MARKS: Final = "contentmarks.toml"
_SHEBANG: Final = b"#!"
_MOST_SHEBANG: Final = 512
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class FileKind(StrEnum):
    """Kinds of files; each is read by one extractor, the last few by none."""

    PYTHON = "python"
    JAVASCRIPT = "javascript"
    TYPESCRIPT = "typescript"
    TSX = "tsx"
    SHELL = "shell"
    NOTEBOOK = "notebook"
    PTH = "pth"
    PYPROJECT = "pyproject"
    UV_SETTINGS = "uv-settings"
    PIXI = "pixi"
    REQUIREMENTS = "requirements"
    SETUP_CFG = "setup-cfg"
    SETUP_SCRIPT = "setup-script"
    TOX = "tox"
    PIPFILE = "pipfile"
    PIPFILE_LOCK = "pipfile-lock"
    TOML_LOCK = "toml-lock"
    CONDA = "conda"
    CONDA_SETTINGS = "conda-settings"
    PACKAGE_JSON = "package-json"
    PNPM_WORKSPACE = "pnpm-workspace"
    PACKAGE_LOCK = "package-lock"
    YARN_LOCK = "yarn-lock"
    PNPM_LOCK = "pnpm-lock"
    REGISTRY_SETTINGS = "registry-settings"
    YARN_SETTINGS = "yarn-settings"
    SUBMODULES = "submodules"
    LARGE_FILE_SETTINGS = "large-file-settings"
    DOCKERFILE = "dockerfile"
    COMPOSE = "compose"
    WORKFLOW = "workflow"
    GITLAB = "gitlab"
    AUTOMATION_YAML = "automation-yaml"
    AUTOMATION_TOML = "automation-toml"
    AUTOMATION_JSON = "automation-json"
    AGENT_SETTINGS = "agent-settings"
    AGENT_SETTINGS_TOML = "agent-settings-toml"
    PRE_COMMIT = "pre-commit"
    TASKS = "tasks"
    DEVCONTAINER = "devcontainer"
    MAKEFILE = "makefile"
    JUSTFILE = "justfile"
    PROCFILE = "procfile"
    SETTINGS_YAML = "settings-yaml"
    SETTINGS_TOML = "settings-toml"
    SETTINGS_JSON = "settings-json"
    SETTINGS_INI = "settings-ini"
    INERT = "inert"
    INERT_BINARY = "inert-binary"
    BINARY = "binary"
    OTHER = "other"


_HOOK: Final = "hook"
_VARIABLES: Final = "variables"
PLAIN: Final = (
    FileKind.INERT,
    FileKind.SETTINGS_YAML,
    FileKind.SETTINGS_TOML,
    FileKind.SETTINGS_JSON,
    FileKind.SETTINGS_INI,
)
"""Kinds of text that nothing runs for its name alone."""

_INERT: Final = (FileKind.INERT, FileKind.INERT_BINARY)
_UNREAD: Final = (FileKind.BINARY, FileKind.OTHER)
_SCRIPTS: Final = (FileKind.JAVASCRIPT, FileKind.TYPESCRIPT, FileKind.TSX)
_DEPENDENCIES: Final = "consentry.examine.dependencies"
_EXTRACTORS: Final = {
    FileKind.PYTHON: "pythonfiles:extract_python_file",
    FileKind.NOTEBOOK: "notebooks:extract_notebook",
    FileKind.PTH: "pthfile:extract_pth",
    FileKind.PYPROJECT: "pyproject:extract_pyproject",
    FileKind.UV_SETTINGS: "pyproject:extract_uv_settings",
    FileKind.PIXI: "pyproject:extract_pixi",
    FileKind.REQUIREMENTS: "requirements:extract_requirements",
    FileKind.SETUP_CFG: "initext:extract_setup_cfg",
    FileKind.SETUP_SCRIPT: "pythonfiles:extract_setup_file",
    FileKind.TOX: "initext:extract_tox",
    FileKind.PIPFILE: "pythonlocks:extract_pipfile",
    FileKind.PIPFILE_LOCK: "pythonlocks:extract_pipfile_lock",
    FileKind.TOML_LOCK: "pythonlocks:extract_toml_lock",
    FileKind.CONDA: "conda:extract_conda",
    FileKind.CONDA_SETTINGS: "registrysettings:extract_conda_settings",
    FileKind.PACKAGE_JSON: "packagejson:extract_package_json",
    FileKind.PNPM_WORKSPACE: "packagejson:extract_pnpm_workspace",
    FileKind.PACKAGE_LOCK: "npmlocks:extract_package_lock",
    FileKind.YARN_LOCK: "npmlocks:extract_yarn_lock",
    FileKind.PNPM_LOCK: "npmlocks:extract_pnpm_lock",
    FileKind.REGISTRY_SETTINGS: "registrysettings:extract_registry_settings",
    FileKind.YARN_SETTINGS: "registrysettings:extract_yarn_settings",
    FileKind.SUBMODULES: "registrysettings:extract_submodules",
    FileKind.LARGE_FILE_SETTINGS: "registrysettings:extract_large_file_settings",
    FileKind.DOCKERFILE: "dockerfile:extract_dockerfile",
    FileKind.COMPOSE: "compose:extract_compose",
    FileKind.WORKFLOW: "workflows:extract_workflow",
    FileKind.GITLAB: "gitlab:extract_gitlab",
    FileKind.AUTOMATION_YAML: "automation:extract_automation_yaml",
    FileKind.AUTOMATION_TOML: "automation:extract_automation_toml",
    FileKind.AUTOMATION_JSON: "automation:extract_automation_json",
    FileKind.AGENT_SETTINGS: "agentsettings:extract_agent_settings",
    FileKind.AGENT_SETTINGS_TOML: "agentsettings:extract_agent_settings_toml",
    FileKind.SETTINGS_YAML: "anysettings:extract_settings_yaml",
    FileKind.SETTINGS_TOML: "anysettings:extract_settings_toml",
    FileKind.SETTINGS_JSON: "anysettings:extract_settings_json",
    FileKind.SETTINGS_INI: "anysettings:extract_settings_ini",
    FileKind.PRE_COMMIT: "precommit:extract_pre_commit",
    FileKind.TASKS: "editorsettings:extract_tasks",
    FileKind.DEVCONTAINER: "editorsettings:extract_devcontainer",
    FileKind.MAKEFILE: "makefile:extract_makefile",
    FileKind.JUSTFILE: "taskfiles:extract_justfile",
    FileKind.PROCFILE: "taskfiles:extract_procfile",
}


def kind_of(path: str, content: bytes, *, executable: bool = False) -> FileKind:
    """The kind of a file; one that is empty is inert, whatever it is called."""
    if not content.strip():
        return FileKind.INERT
    suffix = _suffix_of(path)
    told = _named_kind(path, suffix)
    started = _started_kind(content)
    if told == _HOOK:
        kind = started or FileKind.SHELL
    elif told == _VARIABLES:
        is_more = _has_mark(tuple(_content_marks()["more_than_variables"]["marks"]), content)
        kind = FileKind.OTHER if is_more else FileKind.INERT
    elif told is None:
        kind = started or (FileKind.BINARY if b"\0" in content else FileKind.OTHER)
    else:
        kind = FileKind(told)
    if kind in (*_INERT, *PLAIN):
        return _checked_inert(kind, suffix, content, started, executable=executable)
    return kind if started is None or _fit(kind, started) else FileKind.OTHER


def _checked_inert(
    kind: FileKind, suffix: str, content: bytes, started: FileKind | None, *, executable: bool
) -> FileKind:
    if started is not None:
        return started
    if executable:
        return FileKind.OTHER
    if kind is FileKind.INERT_BINARY:
        return kind
    if b"\0" in content:
        return FileKind.BINARY
    return _kind_by_marks(kind, suffix, content)


def _kind_by_marks(kind: FileKind, suffix: str, content: bytes) -> FileKind:
    table = _content_marks()
    pages, settings = table["pages"], table["settings"]
    if _has_mark(tuple(table["more_than_inert"].get(suffix, ())), content):
        return FileKind.OTHER
    if suffix in pages["suffixes"] and _has_mark(tuple(pages["marks"]), _written_out(content)):
        return FileKind.OTHER
    if suffix in (".yml", ".yaml") and all(
        _has_mark((mark,), content) for mark in table["cluster"]["marks"]
    ):
        return FileKind.AUTOMATION_YAML
    if kind is FileKind.INERT and suffix in settings["kinds"]:
        has_keys = _has_mark((*settings["marks"], *settings.get(suffix, ())), content)
        return FileKind(settings["kinds"][suffix]) if has_keys else kind
    return kind


def _written_out(content: bytes) -> bytes:
    """A page as a browser sees its addresses: no entities, and no breaks inside of words."""
    import html  # noqa: PLC0415 - for pages alone

    text = html.unescape(content.decode("latin-1")) if b"&" in content else ""
    return "".join(each for each in text if each > " ").encode("utf-8", "replace")


def _fit(kind: FileKind, started: FileKind) -> bool:
    """Whether what the name says and what the first line says can both be true."""
    if kind in _SCRIPTS:
        return started in _SCRIPTS
    if kind is FileKind.SETUP_SCRIPT:
        return started is FileKind.PYTHON
    return kind is started or kind in _UNREAD


def _suffix_of(path: str) -> str:
    """The longest suffix that the table has, else the last one; in lower case."""
    name = path.rpartition("/")[2].lower()
    first, dot, rest = name.lstrip(".").partition(".")
    suffixes = _table()["suffixes"]
    while dot:
        if f".{rest}" in suffixes:
            return f".{rest}"
        first, dot, rest = rest.partition(".")
    return f".{first}" if "." in name.lstrip(".") else ""


def _named_kind(path: str, suffix: str) -> str | None:
    table = _table()
    name = path.rpartition("/")[2]
    by_suffix: str | None = table["suffixes"].get(suffix)
    for pattern, _, kind in _patterns("paths"):
        if pattern.fullmatch(path) is not None:
            # A hook that has the suffix of something else is that.
            return by_suffix if kind == _HOOK and by_suffix is not None else kind
    if name in table["names"]:
        named: str = table["names"][name]
        return named
    for pattern, text, kind in _patterns("patterns"):
        if pattern.fullmatch(name) is not None:
            # `Makefile.py` is Python: an ending that is open does not outdo a suffix of code.
            is_open = text.endswith("*")
            is_code = by_suffix is not None and by_suffix not in ("inert", "inert-binary")
            return by_suffix if is_open and is_code else kind
    if by_suffix in (None, "inert"):
        # Where the case of letters does not count, this is the file of that name.
        other = _lower_names().get(name.lower())
        if other is not None and not other.startswith("inert"):
            return other
    return by_suffix


@cache
def _lower_names() -> dict[str, str]:
    return {name.lower(): kind for name, kind in _table()["names"].items()}


@cache
def _patterns(key: str) -> tuple[tuple[re.Pattern[str], str, str], ...]:
    """Each row as an expression, as it is written, and its kind."""
    folder = "(?:.*/)?" if key == "paths" else ""
    return tuple(
        (re.compile(folder + _expression(text), re.DOTALL | re.IGNORECASE), text, kind)
        for text, kind in _table()[key].items()
    )


def _expression(text: str) -> str:
    return re.escape(text.removeprefix("**/")).replace(r"\*", "[^/]*")


def _started_kind(content: bytes) -> FileKind | None:
    """The kind that a first line with the name of a program makes it; None without such a line."""
    start = content.removeprefix(_BYTE_ORDER_MARK)
    if not start.startswith(_SHEBANG):
        return None
    line = start[2:_MOST_SHEBANG].partition(b"\n")[0].decode("utf-8", "replace")
    words = [word.rpartition("/")[2] for word in line.split()]
    if words[:1] == ["env"]:
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    program = words[0] if words else ""
    for pattern, kind in _table()["interpreters"].items():
        matches = program.startswith(pattern[:-1]) if pattern.endswith("*") else program == pattern
        if matches:
            return FileKind(kind)
    return FileKind.OTHER


@cache
def _marks(patterns: tuple[str, ...]) -> re.Pattern[bytes]:
    return re.compile("|".join(patterns).encode(), re.IGNORECASE | re.MULTILINE)


def _has_mark(patterns: tuple[str, ...], content: bytes) -> bool:
    return bool(patterns) and _marks(patterns).search(content) is not None


def extract_file(kind: FileKind, content: bytes, *, path: str = "") -> Extraction:
    """What a file of that kind gives; `path` is only for saying what it is."""
    if kind in _INERT:
        return NOTHING_FOUND
    if kind in _UNREAD:
        return _unread(content, f"no extractor reads {_suffix_of(path) or 'this'}")
    if b"\0" in content:
        return _unread(content, "a NUL byte stands in what should be text")
    return extractor_for(kind)(content)


def _unread(content: bytes, reason: str) -> Extraction:
    from consentry.examine.dependencies.findings import language_key  # noqa: PLC0415 - for few

    return Extraction(unclassified=(Unclassified(language_key(content), 1, reason),))


def extractor_for(kind: FileKind) -> Callable[[bytes], Extraction]:
    """The extractor of a kind that has one; it and what it needs are loaded now."""
    if kind is FileKind.SHELL:
        from consentry.examine.shell import extract_shell  # noqa: PLC0415 - heavy

        return extract_shell
    if kind in _SCRIPTS:
        from consentry.examine.javascript import (  # noqa: PLC0415 - heavy
            Dialect,
            extract_javascript,
        )

        return partial(extract_javascript, dialect=Dialect(kind.value))
    module, _, name = _EXTRACTORS[kind].partition(":")
    extract: Callable[[bytes], Extraction] = getattr(
        import_module(f"{_DEPENDENCIES}.{module}"), name
    )
    return extract


@cache
def _table() -> dict[str, Any]:
    return _read(_TABLE)


@cache
def _content_marks() -> dict[str, Any]:
    return _read(_MARKS)


def _read(name: str) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads(own_bytes("consentry.examine", name).decode())
    return table
