"""Reads `policy.yaml`: consents that an operator wrote down beforehand (CONTRACTS §12-files).

    policyVersion: "1"
    entries:
      - tool: make-site
        version: "2.1.0"
        digest: sha256:0f…
        arguments: [--draft]
        expires: 2027-01-31T00:00:00Z

`tool`, `version` and `digest` must be there, and name one of each: there are no wildcards. An entry
without `arguments` holds for any, one without `machines` for the machine that reads it. An empty list
of machines would be an entry for none, and is refused.
"""

import re
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.declare.names import tool_name, version
from consentry.declare.nodes import clipped
from consentry.declare.policy import POLICY_VERSION, CommitRule, Policy, PolicyEntry
from consentry.declare.reader import Parse, parsed, read_document
from consentry.declare.repeats import without_repeats
from consentry.declare.toolcapabilities import arguments
from consentry.declare.values import Value, one_of

KEYS: Final = ("policyVersion", "entries")
KEYS_OF_ENTRY: Final = (
    "tool",
    "version",
    "digest",
    "arguments",
    "machines",
    "expires",
    "commit",
)

_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_MACHINE: Final = re.compile(r"machine-[0-9a-f]{32}|label:[a-z0-9][a-z0-9._-]{0,62}")


def read_policy(content: bytes, name: str, *, parse: Parse = parsed) -> Policy:
    """Reads the document, or raises `document-invalid` with all that is wrong with it.

    Args:
        content: The bytes of the document.
        name: How errors call it; `.json` at its end means JSON.
        parse: Where the nodes come from, if not from the text itself.
    """
    return read_document(content, name, _document, parse)


def _document(root: Value) -> Policy:
    fields = root.fields(KEYS)
    if fields is None:
        return Policy()
    fields.need("policyVersion", _version, "")
    return Policy(fields.need("entries", _entries, ()))


def _version(value: Value) -> str | None:
    found = value.text()
    if found is not None and found != POLICY_VERSION:
        value.refuse(
            f"version {clipped(found)} of this document is not known, only {POLICY_VERSION}",
            f'write "{POLICY_VERSION}" if it follows that, or install a release that knows it',
        )
    return found


def _entries(value: Value) -> tuple[PolicyEntry, ...] | None:
    return without_repeats(value, _entry, _extent)


def _extent(entry: PolicyEntry) -> tuple[object, ...]:
    """What an entry speaks of; a second one for the same could only contradict the first."""
    return entry.tool, entry.version, entry.digest, entry.arguments, entry.machines


def _entry(value: Value) -> PolicyEntry | None:
    fields = value.fields(KEYS_OF_ENTRY)
    if fields is None:
        return None
    entry = PolicyEntry(
        tool=fields.need("tool", tool_name, ""),
        version=fields.need("version", version, ""),
        digest=Digest(fields.need("digest", _digest, "")),
        arguments=fields.may("arguments", arguments, None),
        machines=fields.may("machines", _machines, None),
        expires=fields.may("expires", _instant, None),
        commit=fields.may("commit", one_of(CommitRule), CommitRule.ASK),
        where=value.where,
    )
    # Without these there is nothing to compare with the others.
    return entry if entry.tool and entry.version and entry.digest else None


def _digest(value: Value) -> str | None:
    return value.matching(
        _DIGEST, "a digest", "copy it whole from `consentry tool show NAME`, with `sha256:`"
    )


def _machines(value: Value) -> tuple[str, ...] | None:
    found = without_repeats(value, _machine, lambda scope: scope)
    if found == () and value.items() == ():
        value.refuse("an entry for no machine never holds", "name one, or leave the key out")
    return found


def _machine(value: Value) -> str | None:
    return value.matching(
        _MACHINE,
        "a machine",
        "write its id as `consentry status` shows it, or `label:` and the label of a fleet",
    )


def _instant(value: Value) -> Instant | None:
    return value.parsed(Instant.parse)
