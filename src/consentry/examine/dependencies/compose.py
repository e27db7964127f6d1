"""Files of docker compose: images, commands, what of the machine they get, and variables passed in.

A folder of the machine that a container is given is read and written by it. A container that is
privileged, or is given the socket of the engine, can start anything on the machine.
"""

import re
import shlex
from typing import Final

from consentry.declare.nodes import Items, Kind, Mapping, Node, Scalar, quoted_scalar
from consentry.examine.atoms import ANYTHING, connecting, reading, starting, writing
from consentry.examine.constanttargets import path_atoms, variable_atom
from consentry.examine.dependencies.findings import COMPUTED_WORD, Findings, reader
from consentry.examine.dependencies.keyed import add_command
from consentry.examine.dependencies.nodewalk import (
    ANY_ONE,
    all_nodes,
    broken_in,
    entries_of,
    first_at,
    is_true,
    scalars_in,
    text_at,
    values_at,
)
from consentry.examine.dependencies.packages import add_image, add_reference, shown
from consentry.examine.dependencies.yamltext import yaml_document

_ALL_OF_IT: Final = (
    "privileged",
    "pid",
    "ipc",
    "userns_mode",
    "uts",
    "cgroup",
    "cap_add",
    "security_opt",
)
_SOCKETS: Final = ("docker.sock", "containerd.sock", "podman.sock")
_FREE: Final = frozenset(("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID"))  # fmt: skip
_HOME: Final = re.compile(r"^\$(?:HOME\b|\{(?:localEnv:)?HOME\})")
_VARIABLE: Final = re.compile(r"(?<!\$)\$(?:\{[^{}]*\}|[A-Za-z_]\w*)")


@reader
def extract_compose(text: str, findings: Findings) -> None:
    """Reads `docker-compose.yml` and `compose.yaml`."""
    root = yaml_document(text)
    for broken in broken_in(root):
        if "!reset" not in broken.message and "!override" not in broken.message:
            findings.unknown(f"document {broken.message}", broken.mark.line, broken.message)
    for node in all_nodes(root):
        if isinstance(node, Scalar):
            findings.expansions(node.text, node.mark.line)
    for service in values_at(root, "services", ANY_ONE):
        _add_service(service, findings)
    for key in ("configs", "secrets"):
        for entry in values_at(root, key, ANY_ONE):
            _add_entry(entry, findings)
    for volume in values_at(root, "volumes", ANY_ONE, "driver_opts", "device"):
        _add_shared(getattr(volume, "text", ""), volume.mark.line, findings)
    for included in values_at(root, "include", ANY_ONE):
        where = text_at(included, "path") or text_at(included) or ""
        if "://" in where:
            add_reference(where, included.mark.line, findings)


def _add_service(service: Node, findings: Findings) -> None:
    for image in values_at(service, "image"):
        if isinstance(image, Scalar):
            add_image(image.text, image.mark.line, findings)
    for key in ("command", "entrypoint"):
        for node in values_at(service, key):
            add_command(_as_words(_filled_in(node)), findings)
    for keys in (
        ("healthcheck", "test"),
        ("post_start", ANY_ONE, "command"),
        ("pre_stop", ANY_ONE, "command"),
    ):
        for node in values_at(service, *keys):
            add_command(_without_form(_filled_in(node)), findings)
    for build in values_at(service, "build"):
        context = text_at(build, "context") or text_at(build) or ""
        if "://" in context or context.startswith("git@"):
            add_reference(context, build.mark.line, findings)
    for volume in values_at(service, "volumes", ANY_ONE):
        _add_volume(volume, findings)
    _add_environment(service, findings)
    _add_machine(service, findings)


def add_container(container: Node, findings: Findings) -> None:
    """A container of a workflow: its image, and what it gets of the machine."""
    for image in values_at(container, "image"):
        if isinstance(image, Scalar):
            add_image(image.text, image.mark.line, findings)
    for volume in values_at(container, "volumes", ANY_ONE):
        _add_volume(volume, findings)
    for options in values_at(container, "options"):
        if isinstance(options, Scalar) and "--privileged" in options.text:
            findings.power(starting(ANYTHING), options.mark.line, "--privileged")


def _without_form(node: Node) -> Node:
    """The words of a check behind the word that says how they are meant."""
    if isinstance(node, Items) and node.items:
        form = getattr(node.items[0], "text", "")
        if form == "NONE":
            return Items(node.mark, ())
        if form == "CMD-SHELL" and len(node.items) > 1:
            return node.items[1]
        if form == "CMD":
            return Items(node.mark, node.items[1:])
    return node


def _filled_in(node: Node) -> Node:
    """Compose fills in variables before anything is started; `$$` is a dollar of the command."""
    if isinstance(node, Items):
        return Items(node.mark, tuple(map(_filled_word, node.items)))
    return _filled_word(node)


def _as_words(node: Node) -> Node:
    """Compose takes a command line apart itself; no shell fills anything in."""
    if not isinstance(node, Scalar) or node.kind is Kind.NOTHING:
        return node
    try:
        words = shlex.split(node.text)
    except ValueError:
        return node
    return Items(node.mark, tuple(quoted_scalar(node.mark, word) for word in words))


def _filled_word(node: Node) -> Node:
    if not isinstance(node, Scalar) or "$" not in node.text:
        return node
    text = _VARIABLE.sub(COMPUTED_WORD, node.text).replace("$$", "$")
    return Scalar(node.mark, Kind.TEXT, text, is_plain=False)


def _add_volume(volume: Node, findings: Findings) -> None:
    if isinstance(volume, Mapping):
        source = text_at(volume, "source")
        if source is not None and text_at(volume, "type") in ("bind", "npipe", None):
            is_read_only = is_true(first_at(volume, "read_only"))
            _add_shared(source, volume.mark.line, findings, mode="ro" if is_read_only else "rw")
    elif isinstance(volume, Scalar):
        source, has_target, rest = volume.text.partition(":")
        if source.startswith("${"):
            source, _, rest = volume.text.partition("}")
            source, has_target, rest = source + "}", rest[:1], rest[1:]
        if has_target and source.startswith((".", "/", "~", "$")):
            _add_shared(source, volume.mark.line, findings, mode=rest.rpartition(":")[2])


def add_mount(mount: Node, findings: Findings) -> None:
    """A mount as the engine takes it: `source=/a,target=/b,type=bind`, or a table of these."""
    if isinstance(mount, Mapping):
        _add_volume(mount, findings)
    elif isinstance(mount, Scalar) and "=" in mount.text:
        parts = dict(part.strip().partition("=")[::2] for part in mount.text.split(","))
        source = parts.get("source") or parts.get("src")
        if parts.get("type") == "bind" and source and "WorkspaceFolder}" not in source:
            _add_shared(source, mount.mark.line, findings, "ro" if "readonly" in parts else "rw")


def _add_shared(path: str, line: int, findings: Findings, mode: str = "rw") -> None:
    path = _HOME.sub("~", path)
    constant = None if "$" in path else path
    findings.power(path_atoms(reading, constant), line, f"volume {shown(path)}")
    if "ro" not in mode.split(","):
        findings.power(path_atoms(writing, constant), line, f"volume {shown(path)}")
    if path.endswith(_SOCKETS):
        findings.power(starting(ANYTHING), line, f"volume {shown(path)}")


def _add_environment(service: Node, findings: Findings) -> None:
    for node in values_at(service, "environment"):
        for name, value, line in entries_of(node):
            if isinstance(value, Scalar) and value.kind is Kind.NOTHING and value.is_plain:
                findings.power(variable_atom(name), line, f"environment {shown(name)}")
        for scalar in scalars_in(node):
            if "=" not in scalar.text:
                reason = f"environment {shown(scalar.text)}"
                findings.power(variable_atom(scalar.text.strip()), scalar.mark.line, reason)
    for node in values_at(service, "env_file"):
        for scalar in (*scalars_in(node), *_paths_in(node)):
            reason = f"env_file {shown(scalar.text)}"
            findings.power(path_atoms(reading, scalar.text), scalar.mark.line, reason)


def _paths_in(node: Node) -> list[Scalar]:
    return [path for path in values_at(node, ANY_ONE, "path") if isinstance(path, Scalar)]


def _add_machine(service: Node, findings: Findings) -> None:
    """What of the machine itself it gets."""
    for key in _ALL_OF_IT:
        for node in values_at(service, key):
            for scalar in scalars_in(node):
                if _is_all_of_it(key, scalar.text):
                    reason = f"{key}: {shown(scalar.text)}"
                    findings.power(starting(ANYTHING), scalar.mark.line, reason)
    for node in values_at(service, "network_mode"):
        if text_at(node) == "host":
            findings.power(connecting(ANYTHING), node.mark.line, "network_mode: host")
    for node in values_at(service, "devices"):
        for scalar in scalars_in(node):
            _add_shared(scalar.text.partition(":")[0], scalar.mark.line, findings)
    for node in values_at(service, "ports"):
        findings.power(connecting(), node.mark.line, "ports are opened")


def _is_all_of_it(key: str, value: str) -> bool:
    """Whether that setting lets a container do what only the machine may."""
    if "$" in value:
        return True
    if key == "privileged":
        return value.lower() not in ("false", "no", "off")
    if key == "cap_add":
        return value.upper().removeprefix("CAP_") not in _FREE
    if key == "security_opt":
        return "unconfined" in value or "disable" in value
    return value.startswith("host")


def _add_entry(entry: Node, findings: Findings) -> None:
    path, name = text_at(entry, "file"), text_at(entry, "environment")
    if path is not None:
        findings.power(path_atoms(reading, path), entry.mark.line, f"file {shown(path)}")
    if name is not None:
        findings.power(variable_atom(name), entry.mark.line, f"environment {shown(name)}")
