"""Where package managers are told to fetch from, and with which secret: npm, yarn, pip, and more.

A registry is a host that installing reaches. A secret that is filled in from the environment is a
variable that is seen. Some settings name code that the package manager loads or a shell it starts.
"""

import re
from typing import Final

from consentry.examine.atoms import loading
from consentry.examine.constanttargets import program_atom
from consentry.examine.dependencies.codeparts import add_script
from consentry.examine.dependencies.findings import Findings, reader
from consentry.examine.dependencies.initext import settings_in
from consentry.examine.dependencies.keyed import add_document
from consentry.examine.dependencies.packages import add_reference, shown
from consentry.surface.dimensions import LoadLevel

_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}+://[^\s\"',]+")
_HOST_KEY: Final = re.compile(r"//([^/:]+(?::\d+)?)/")
_LOADED: Final = (
    "node-options",
    "yarn-path",
    "yarnpath",
    "globalconfig",
    "onload-script",
    "pnpmfile",
)
_STARTED: Final = ("script-shell", "shell", "git", "editor", "scripts-prepend-node-path")
_HOSTS: Final = ("trusted-host", "proxy", "http-proxy", "https-proxy", "index-servers")


@reader
def extract_registry_settings(text: str, findings: Findings) -> None:
    """Reads `.npmrc`, `.yarnrc` of yarn 1, `pip.conf` and `.pypirc`."""
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        line = raw.strip()
        if not line or line.startswith(("#", ";")):
            continue
        findings.expansions(line, number)
        for found in _ADDRESS.finditer(line):
            findings.address(found[0], number, shown(line.partition("=")[0].strip() or line))
        host = _HOST_KEY.match(line)
        if host is not None:
            findings.address(f"https://{host[1]}", number, f"a setting for {host[1]}")
        key, value = _setting(line)
        if key in _LOADED:
            findings.power(loading(LoadLevel.LIMITED), number, f"{key} {shown(value)}")
        elif key in _STARTED and value not in ("true", "false"):
            findings.power(program_atom(value), number, f"{key} {shown(value)}")
        elif key in _HOSTS and "://" not in value:
            for name in value.split():
                findings.address(name, number, f"{key} {shown(name)}")


def _setting(line: str) -> tuple[str, str]:
    key, _, value = line.partition("=")
    if "=" not in line:
        key, _, value = line.partition(" ")
    return key.strip().strip("\"'").lstrip("-").lower(), value.strip().strip("\"'")


@reader
def extract_yarn_settings(text: str, findings: Findings) -> None:
    """Reads `.yarnrc.yml`."""
    from consentry.examine.dependencies.yamltext import yaml_document  # noqa: PLC0415 - heavy

    add_document("yarnrc", yaml_document(text), findings)


@reader
def extract_conda_settings(text: str, findings: Findings) -> None:
    """Reads `.condarc`."""
    from consentry.examine.dependencies.yamltext import yaml_document  # noqa: PLC0415 - heavy

    add_document("conda", yaml_document(text), findings)


@reader
def extract_submodules(text: str, findings: Findings) -> None:
    """Reads `.gitmodules`: another tree that nobody reads, from an address."""
    for each in settings_in(text):
        if each.key == "url":
            url = shown(each.value.strip('"'))
            if not url.startswith(("./", "../")):
                findings.address(url, each.line, f"submodule {url}")
            findings.unknown(f"submodule {url}", each.line, f"submodule {url} is another tree")
        elif each.key == "update" and each.value.startswith("!"):
            add_script(each.value[1:], each.line, findings)


@reader
def extract_large_file_settings(text: str, findings: Findings) -> None:
    """Reads `.lfsconfig`."""
    for each in settings_in(text):
        if each.key.endswith("url"):
            add_reference(each.value, each.line, findings)
