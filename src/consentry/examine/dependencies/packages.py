"""A dependency by name: what bringing it in gives, or that no table knows it.

The name is compared and never the version. A reference to an address or a repository is compared as a
whole, because whoever owns the address decides what it holds. A folder of the same tree is read as
code where it lies and adds nothing here; one outside of the tree is not known.
"""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from typing import Any, Final

from consentry.base.ownfiles import own_bytes
from consentry.examine.constanttargets import path_pattern
from consentry.examine.dependencies.findings import Findings
from consentry.examine.knowledge.bareatoms import bare_atoms
from consentry.examine.knowledge.effects import parse_effect
from consentry.surface.pattern import ABSOLUTE_PATH_MARK

MOST_NAME: Final = 300
"""Of a name or reference that is longer, this much is compared."""

_NOT_SEEN: Final = re.compile(r"[\x00-\x1f\x7f]")
_NPM_SHORT_HOSTS: Final = {"github": "github.com", "gitlab": "gitlab.com", "gist": "gist.github.com", "bitbucket": "bitbucket.org"}  # fmt: skip
_NPM_NAME: Final = re.compile(r"(?:@[\w.~-]+/)?[\w.~-]+")
_OWNER_AND_NAME: Final = re.compile(r"[\w.-]+/[\w.-]+(?:#.*)?")


def normalised_name(name: str) -> str:
    """A name of the Python package index, as it compares them."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def add_pypi(name: str, line: int, findings: Findings) -> None:
    """A Python distribution."""
    from consentry.examine.knowledge.reader import knowledge  # noqa: PLC0415 - a large table

    atoms = knowledge().distribution(normalised_name(name))
    if atoms is None:
        add_unknown(f"pypi:{normalised_name(name)}", line, findings)
    else:
        findings.power(atoms, line, f"dependency {shown(name)}", declared=True)


def add_npm(name: str, line: int, findings: Findings) -> None:
    """An npm package."""
    from consentry.examine.javascript.npmpackages import npm_package  # noqa: PLC0415 - as above

    package = npm_package(name)
    if package is None:
        add_unknown(f"npm:{name}", line, findings)
    else:
        atoms = bare_atoms(package.effects)
        findings.power(atoms, line, f"dependency {shown(name)}", declared=True)


def add_npm_reference(name: str, wanted: str, line: int, findings: Findings) -> None:
    """A package and what stands beside it: a range, an alias, an address, a folder."""
    wanted = wanted.strip()
    scheme, colon, rest = wanted.partition(":")
    if scheme in ("npm", "jsr") and colon:
        add_npm(_npm_without_version(rest) or name, line, findings)
    elif scheme in ("workspace", "catalog", "patch", "portal") and colon:
        # These name the tree itself, or a version that stands elsewhere in it.
        if scheme == "catalog":
            add_npm(name, line, findings)
        elif scheme == "patch":
            add_npm(_npm_without_version(name) or name, line, findings)
        elif scheme == "portal":
            add_folder(rest, line, findings)
    elif scheme in ("file", "link") and colon:
        add_folder(rest, line, findings)
    elif wanted.startswith((".", "/", "~/")):
        add_folder(wanted, line, findings)
    elif scheme in _NPM_SHORT_HOSTS and colon:
        add_reference(f"https://{_NPM_SHORT_HOSTS[scheme]}/{rest}", line, findings)
    elif "://" in wanted or re.match(r"[\w.-]+@[\w.-]+:", wanted):
        add_reference(wanted, line, findings)
    elif _OWNER_AND_NAME.fullmatch(wanted):
        add_reference(f"https://{_NPM_SHORT_HOSTS['github']}/{wanted}", line, findings)
    else:
        add_npm(name, line, findings)


def add_npm_argument(argument: str, line: int, findings: Findings) -> None:
    """A package as a command line names it: `name`, `name@range`, `name@npm:other`, an address."""
    name = _npm_without_version(argument)
    if name is None or ("/" in name and not name.startswith("@")):
        add_npm_reference(argument, argument, line, findings)
    else:
        add_npm_reference(name, argument[len(name) + 1 :], line, findings)


def _npm_without_version(text: str) -> str | None:
    found = _NPM_NAME.match(text)
    if found is None or (found.end() < len(text) and text[found.end()] != "@"):
        return None
    return found[0]


def add_reference(url: str, line: int, findings: Findings) -> None:
    """Something that is fetched from an address; all of it is compared but a password in it."""
    address = re.sub(r"//[^/@]*:[^/@]*@", "//", shown(url.strip()))
    if address.lower().startswith("file:"):
        add_folder(address[5:], line, findings)
        return
    findings.address(address, line, f"dependency {address}")
    add_unknown(address, line, findings)


def add_folder(path: str, line: int, findings: Findings) -> None:
    """A folder or archive: in the tree, or outside where nobody can tell what it is."""
    pattern = path_pattern(path.removeprefix("//").strip() or ".")
    if pattern is None or pattern == ABSOLUTE_PATH_MARK or pattern.startswith(("/", "~")):
        add_unknown(f"file:{shown(path)}", line, findings)


def add_image(reference: str, line: int, findings: Findings) -> None:
    """An image of a container, by its name without tag and digest."""
    name = image_name(reference)
    if name == "scratch":
        return
    first, slash, _ = reference.strip().removeprefix("docker://").partition("/")
    if slash and ("." in first or ":" in first or first == "localhost") and "$" not in first:
        findings.address(f"https://{first}", line, f"image {shown(name)}")
    effects = _table("images")["image"].get(name)
    if effects is None:
        add_unknown(f"image:{name}", line, findings)
    else:
        _add_effects(effects, line, f"image {shown(name)}", findings)


def image_name(reference: str) -> str:
    """The name alone; the official images have one spelling."""
    name = shown(reference.strip().removeprefix("docker://")).partition("@")[0]
    folder, slash, last = name.rpartition("/")
    name = folder + slash + last.partition(":")[0] if "$" not in last else name
    return re.sub(r"^(?:[\w.:-]+/)?library/", "", name)


def add_action(reference: str, line: int, findings: Findings) -> None:
    """A step of a workflow that somebody else wrote; one of the same tree is read where it lies."""
    reference = reference.strip()
    if reference.startswith("docker://"):
        add_image(reference, line, findings)
        return
    if reference.startswith("./"):
        return
    name = "/".join(shown(reference).partition("@")[0].split("/")[:2]).lower()
    effects = _table("actions")["action"].get(name)
    if effects is None:
        add_unknown(f"action:{name}", line, findings)
    else:
        _add_effects(effects, line, f"action {name}", findings)


def _add_effects(effects: Iterable[str], line: int, reason: str, findings: Findings) -> None:
    findings.power(bare_atoms(map(parse_effect, effects)), line, reason, declared=True)


def add_unknown(what: str, line: int, findings: Findings) -> None:
    """A dependency that no table knows."""
    what = shown(what)
    findings.unknown(f"dependency {what}", line, f"dependency {what} is in no table")


def shown(text: str) -> str:
    """As much of a name as is compared and shown, on one line."""
    return _NOT_SEEN.sub("\ufffd", text)[:MOST_NAME]


@cache
def _table(name: str) -> dict[str, Any]:
    source = own_bytes("consentry.examine.dependencies", f"{name}.toml")
    table: dict[str, Any] = tomllib.loads(source.decode())
    return table
