"""Settings of agents and of clients of MCP: servers that are started or reached, hooks that run.

A server is a program with words, or an address. What a launcher fetches to start it (`npx`, `uvx`,
`docker run`) is a dependency. Values with `${NAME}` in them are filled in from the environment.
"""

from collections.abc import Iterator
from typing import Final

from consentry.declare.nodes import Mapping, Node, Scalar
from consentry.examine.atoms import reading
from consentry.examine.constanttargets import path_atoms, variable_atom
from consentry.examine.dependencies.codeparts import add_words
from consentry.examine.dependencies.findings import Findings, reader
from consentry.examine.dependencies.jsontext import json_document
from consentry.examine.dependencies.keyed import add_shell, without_editor_words
from consentry.examine.dependencies.nodewalk import (
    ANY_ONE,
    all_nodes,
    entries_of,
    first_at,
    scalars_in,
    text_at,
    values_at,
)
from consentry.examine.dependencies.packages import shown

_SERVERS: Final = ("mcpServers", "mcp_servers", "servers", "context_servers", "mcp")
_ADDRESSES: Final = ("url", "serverUrl", "httpUrl", "endpoint")
_COMMANDS: Final = ("apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "otelHeadersHelper")


@reader
def extract_agent_settings(text: str, findings: Findings) -> None:
    """Reads `.mcp.json` and its like, and settings with hooks."""
    add_agent_settings(json_document(text, relaxed=True), findings)


@reader
def extract_agent_settings_toml(text: str, findings: Findings) -> None:
    """Reads the same in TOML."""
    from consentry.examine.dependencies.tomltext import toml_document  # noqa: PLC0415 - rarely

    add_agent_settings(toml_document(text), findings)


def add_agent_settings(root: Node, findings: Findings) -> None:
    """Adds the servers and hooks of a document, wherever in it they stand."""
    for server in _servers(root):
        add_server(server, findings)
    for hooks in values_at(root, "hooks"):
        for node in all_nodes(hooks):
            for command in values_at(node, "command"):
                add_shell(command, findings)
    for key in _COMMANDS:
        for command in values_at(root, key):
            add_shell(command, findings)
    for command in values_at(root, "statusLine", "command"):
        add_shell(command, findings)


def _servers(root: Node) -> Iterator[Node]:
    """Every table of a server: below a key for servers, or the whole where it is one itself."""
    found = False
    for node in all_nodes(root):
        for key, table, _ in entries_of(node):
            if key in _SERVERS:
                for server in values_at(table, ANY_ONE):
                    if isinstance(server, Mapping) and _is_server(server):
                        found = True
                        yield server
    if not found:
        yield from (node for node in (root, *values_at(root, ANY_ONE)) if _is_server(node))


def _is_server(node: Node) -> bool:
    return any(first_at(node, key) is not None for key in ("command", *_ADDRESSES))


def add_server(server: Node, findings: Findings) -> None:
    """Adds one server: what is started or reached, and what it is filled in with."""
    for command in values_at(server, "command"):
        _add_started(server, command, findings)
    for key in _ADDRESSES:
        for url in values_at(server, key):
            if isinstance(url, Scalar):
                findings.expansions(url.text, url.mark.line)
                findings.address(url.text, url.mark.line, shown(url.text))
    for key in ("env", "headers", "http_headers"):
        for table in values_at(server, key):
            for scalar in _texts_of(table):
                findings.expansions(scalar.text, scalar.mark.line)
    for key in ("env_http_headers", "bearer_token_env_var", "env_vars"):
        for node in values_at(server, key):
            for scalar in (*scalars_in(node), *_texts_of(node)):
                reason = f"{key} {shown(scalar.text)}"
                findings.power(variable_atom(scalar.text), scalar.mark.line, reason)
    for node in values_at(server, "envFile"):
        path = without_editor_words(text_at(node) or "")
        findings.power(path_atoms(reading, path), node.mark.line, f"envFile {shown(path)}")


def _add_started(server: Node, command: Node, findings: Findings) -> None:
    """A program with its words, which some write as one text and some as a table."""
    program = text_at(command, "path")
    words = [program] if program else [each.text for each in scalars_in(command)]
    arguments = (*values_at(server, "args"), *values_at(command, "args"))
    words += [each.text for node in arguments for each in scalars_in(node)]
    for word in words:
        findings.expansions(_without_tree(word), command.mark.line)
    if len(words) == 1 and " " in words[0]:
        add_shell(command, findings)
    else:
        add_words([without_editor_words(word) for word in words], command.mark.line, findings)


def _texts_of(node: Node) -> list[Scalar]:
    return [value for _, value, _ in entries_of(node) if isinstance(value, Scalar)]


def _without_tree(word: str) -> str:
    return without_editor_words(word).replace("${1}", "")
