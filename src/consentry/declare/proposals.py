"""Manifests that a project's own files suggest: scripts of npm, targets of make, checkers of Python.

Each proposal starts one real command, may read what such a project usually has, write what the word in
its name stands for, and start what its script names; it has no network. It is meant to be read, tried
and widened by a person. The files are a stranger's: a name that no person could type, or that the
program would take for an option, is left out and told; nothing in them is run.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from consentry.base.values import dataclass, field, replace
from consentry.declare.manifestdraft import DraftCommand, DraftPattern, ManifestDraft
from consentry.declare.names import is_program
from consentry.declare.shellwords import programs_in

PACKAGE_JSON: Final = "package.json"
PYPROJECT: Final = "pyproject.toml"
MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")
MOST_PROPOSALS: Final = 20
"""Of one file; the others are counted."""

_MOST_LETTERS: Final = 100
_MOST_BYTES: Final = 1 << 18
_MOST_IN_LINE: Final = 1000
_MOST_NAME: Final = 64
_MOST_PROGRAMS: Final = 12
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9._-]+")
_PYTHON: Final = "python3"
_WORDS: Final = re.compile(r"[a-z]+")
_HOOK: Final = re.compile(r"(?:pre|post)(.+)")
_BINS: Final = "node_modules/.bin"
VENV: Final = ".venv"
_TARGET: Final = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_. -]*?)\s*::?(?!=)")
_PHONY: Final = re.compile(r"\.PHONY\s*:(.*)")
_RECIPE: Final = re.compile(r"\t[@+-]*\s*(.*)")


@dataclass(frozen=True, slots=True)
class Project:
    """What lies at the top of a project: folders, files, and programs that its packages brought.

    `bins` are those of npm, `venv` those of a virtual environment of Python.
    """

    folders: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    bins: frozenset[str] = frozenset()
    venv: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Proposed:
    """What one file suggests; `left_out` says what it names that no manifest was made for."""

    drafts: tuple[ManifestDraft, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(slots=True)
class _Gathering:
    """Drafts with names of their own, and what is left out."""

    file: str
    drafts: list[ManifestDraft] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    uncounted: int = 0

    def name(self, wanted: str) -> str:
        base = _NOT_IN_NAMES.sub("-", wanted.lower()).strip("-._")[: _MOST_NAME - 4] or "tool"
        taken = {draft.name for draft in self.drafts}
        numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
        return next(name for name in (base, *numbered) if name not in taken)

    def is_full(self) -> bool:
        """Whether there are enough of them; if so, one more is counted and not made."""
        if len(self.drafts) < MOST_PROPOSALS:
            return False
        self.uncounted += 1
        return True

    def skip(self, what: str, why: str) -> None:
        if len(self.left_out) < MOST_PROPOSALS:
            self.left_out.append(f"{self.file}: {what}: {why}")
        else:
            self.uncounted += 1

    def done(self) -> Proposed:
        more = () if not self.uncounted else (f"{self.file}: {self.uncounted} more",)
        return Proposed(tuple(self.drafts), (*self.left_out, *more))


def from_package_json(content: bytes, project: Project) -> Proposed:
    """One tool for each script; hooks that npm runs by itself have none of their own."""
    found = _Gathering(PACKAGE_JSON)
    document = _parsed(content, json.loads, found)
    for name, script in (scripts := _mapping(document.get("scripts"))).items():
        hook = _HOOK.fullmatch(name)
        if hook is not None and hook[1] in scripts:
            continue
        if not isinstance(script, str) or not _is_typable(name):
            found.skip(f"script `{name[:_MOST_LETTERS]}`", "its name or text is unusual")
            continue
        if found.is_full():
            continue
        kind = _kind("package-json")
        draft = _draft(found, kind, project, f"npm-{name}", name, programs_in(script))
        found.drafts.append(
            _with(draft, "npm", ("run", name), f"Run the script `{name}` of {PACKAGE_JSON}")
        )
    return found.done()


def from_makefile(content: bytes, file: str, project: Project) -> Proposed:
    """One tool for each target that is no file: those called phony, or all if none is."""
    found = _Gathering(file)
    text = content[:_MOST_BYTES].decode("utf-8", "replace").replace("\\\n", " ")
    lines = [line[:_MOST_IN_LINE] for line in text.split("\n")]
    phony = {word for line in lines if (said := _PHONY.match(line)) for word in said[1].split()}
    recipes: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines:
        recipe, target = _RECIPE.match(line), _TARGET.match(line)
        if recipe is not None:
            for name in current:
                recipes[name].append(recipe[1])
        elif target is not None:
            current = [name for name in target[1].split() if _is_target(name, phony)]
            for name in current:
                recipes.setdefault(name, [])
        elif line.strip() and not line.startswith("#"):
            current = []
    for name, recipe_lines in recipes.items():
        if found.is_full():
            continue
        words = [word for line in recipe_lines for word in programs_in(line)]
        draft = _draft(found, _kind("makefile"), project, f"make-{name}", name, words)
        found.drafts.append(_with(draft, "make", (name,), f"Make the target `{name}` of {file}"))
    return found.done()


def from_pyproject(content: bytes, project: Project) -> Proposed:
    """One tool for each checker that the project has settings for, and for each script it installs."""
    found = _Gathering(PYPROJECT)
    document = _parsed(content, lambda raw: tomllib.loads(raw.decode("utf-8")), found)
    settings = _mapping(document.get("tool"))
    kind = _kind("pyproject")
    for checker in _table()["checker"]:
        if checker["table"] in settings:
            draft = _draft(found, kind, project, checker["name"], "", ())
            command = _of_python(checker["command"], project)
            words = tuple(checker["arguments"])
            found.drafts.append(_with(draft, command, words, checker["description"]))
    for name in _mapping(_mapping(document.get("project")).get("scripts")):
        if not _is_typable(name) or not is_program(name) or "/" in name:
            found.skip(f"script `{name[:_MOST_LETTERS]}`", "its name is unusual")
            continue
        if found.is_full():
            continue
        draft = _draft(found, kind, project, name, "", ())
        command = _of_python(name, project)
        found.drafts.append(_with(draft, command, (), f"Run `{name}`, which {PYPROJECT} installs"))
    return found.done()


def _draft(
    found: _Gathering,
    kind: Mapping[str, Any],
    project: Project,
    wanted: str,
    script: str,
    words: Iterable[str],
) -> ManifestDraft:
    """What every proposal of a kind has, and the programs that its script names."""
    stated = dict(kind["programs"])
    for word in words:
        is_brought = word in project.bins
        command = f"./{_BINS}/{word}" if is_brought else word
        if is_program(command) and len(stated) < _MOST_PROGRAMS:
            stated.setdefault(command, "the script names it")
    return ManifestDraft(
        name=found.name(wanted),
        command="",
        arguments=(),
        read=tuple(_read(kind, project)),
        write=tuple(_written(kind, project, script)),
        commands=tuple(DraftCommand(command, stated=why) for command, why in stated.items()),
        heading=(
            f"Proposed from {found.file}: a guess at what it needs, and nothing more.",
            "Read it, and run it; `consentry learn` watches a run and adds what is missing.",
        ),
    )


def _with(
    draft: ManifestDraft, command: str, words: Sequence[str], description: str
) -> ManifestDraft:
    return replace(draft, command=command, arguments=tuple(words), description=description)


def _of_python(command: str, project: Project) -> str:
    """The program of the virtual environment, where it has one of that name."""
    name = "python" if command == _PYTHON else command
    return f"./{VENV}/bin/{name}" if name in project.venv else command


def _read(kind: Mapping[str, Any], project: Project) -> Iterator[DraftPattern]:
    for name in kind["files"]:
        if name in project.files:
            yield DraftPattern(name, stated="says how the project is built")
    for ending in kind["endings"]:
        if any(name.endswith(ending) for name in project.files):
            yield DraftPattern(f"*{ending}", stated="source files at the top of the project")
    for name in kind["folders"]:
        if name in project.folders:
            yield DraftPattern(f"{name}/**", stated=f"a usual folder of such a project: {name}")


def _written(kind: Mapping[str, Any], project: Project, script: str) -> Iterator[DraftPattern]:
    words = set(_WORDS.findall(script.lower()))
    places = [
        folder for word, named in kind["written"].items() if word in words for folder in named
    ]
    # Of folders that are there all, or else the most usual one, which will be new. One that is called
    # as the script would be its target to make: there already, and nothing left to do.
    there = [folder for folder in places if folder in project.folders]
    new = [folder for folder in places if folder != script]
    for folder in dict.fromkeys(there or new[:1]):
        yield DraftPattern(f"{folder}/**", stated="where such a script usually writes")


def _parsed(
    content: bytes, parse: Callable[[bytes], object], found: _Gathering
) -> Mapping[str, Any]:
    try:
        document = parse(content)
    except (ValueError, RecursionError):
        found.skip("nothing is proposed", "it cannot be read")
        return {}
    return _mapping(document)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_typable(name: str) -> bool:
    """Whether a person could type it as a word that no program takes for an option."""
    return 0 < len(name) <= _MOST_LETTERS and name.isprintable() and not name.startswith("-")


def _is_target(name: str, phony: set[str]) -> bool:
    return name in phony if phony else "." not in name


def _kind(name: str) -> Mapping[str, Any]:
    kind: Mapping[str, Any] = _table()[name]
    return kind


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    text = files("consentry.declare").joinpath("proposals.toml").read_text("utf-8")
    return tomllib.loads(text)
