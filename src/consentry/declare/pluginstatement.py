"""What is said about a plugin and then signed: an in-toto Statement (v1) with a predicate of our own.

    {"_type": "https://in-toto.io/Statement/v1",
     "subject": [{"name": "plugin.yaml", "digest": {"sha256": "<hex>"}}, …],
     "predicateType": "urn:consentry:plugin:v1",
     "predicate": {"plugin": "build", "version": "1.2.0", "tree": "sha256:<hex>",
                   "signedAt": "…Z", "expiresAt": "…Z" or null}}

The subjects are the plugin's files, for other tools that read such statements. What counts here is
`tree`, the digest that also covers links, executable bits and the absence of anything else; the
subjects have to agree with it. `signedAt` is the signer's word, not a timestamp.
"""

from collections.abc import Iterable
from typing import Any, Final

from consentry.base.canonical import Digest, Json, canonical_json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.treedigest import EntryKind, TreeEntry
from consentry.base.values import dataclass
from consentry.declare.dsseenvelope import problem
from consentry.record.fields import (
    check_constant,
    check_digest,
    check_hex,
    check_text,
    parse_document,
    placed,
    read_list,
    read_object,
)

STATEMENT: Final = "https://in-toto.io/Statement/v1"
PREDICATE: Final = "urn:consentry:plugin:v1"

_FIELDS = ("_type", "subject", "predicateType", "predicate")
_FIELDS_OF_PREDICATE = ("plugin", "version", "tree", "signedAt", "expiresAt")
_PREFIX = "sha256:"


@dataclass(frozen=True, slots=True)
class PluginStatement:
    """A plugin at a version, tree digest and time; `files` has the digest of each file by its path."""

    plugin: str
    version: str
    tree: Digest
    files: tuple[tuple[str, Digest], ...]
    signed_at: Instant
    expires_at: Instant | None

    def to_payload(self) -> bytes:
        """The bytes that are signed."""
        subjects: list[Json] = [
            {"name": path, "digest": {"sha256": digest.removeprefix(_PREFIX)}}
            for path, digest in self.files
        ]
        document: dict[str, Json] = {
            "_type": STATEMENT,
            "subject": subjects,
            "predicateType": PREDICATE,
            "predicate": {
                "plugin": self.plugin,
                "version": self.version,
                "tree": self.tree,
                "signedAt": str(self.signed_at),
                "expiresAt": None if self.expires_at is None else str(self.expires_at),
            },
        }
        return canonical_json(document)


def files_of(entries: Iterable[TreeEntry]) -> tuple[tuple[str, Digest], ...]:
    """The files among a tree's entries, in their order; links are in the tree's digest alone."""
    return tuple((each.path, each.digest) for each in entries if each.kind is EntryKind.FILE)


def read_statement(payload: bytes) -> dict[str, Any]:
    """Any in-toto statement of version 1, as its four fields."""
    fields = read_object(parse_document(payload, Code.EVIDENCE), _FIELDS, Code.EVIDENCE)
    check_constant("_type", fields["_type"], STATEMENT, Code.EVIDENCE)
    check_text("predicateType", fields["predicateType"], Code.EVIDENCE)
    return fields


def plugin_statement(fields: dict[str, Any]) -> PluginStatement:
    """The statement that these fields of one make, if it is of our own predicate type."""
    check_constant("predicateType", fields["predicateType"], PREDICATE, Code.EVIDENCE)
    with placed("predicate", Code.EVIDENCE):
        said = read_object(fields["predicate"], _FIELDS_OF_PREDICATE, Code.EVIDENCE)
        for name in ("plugin", "version", "signedAt"):
            check_text(name, said[name], Code.EVIDENCE)
        check_digest("tree", said["tree"], Code.EVIDENCE)
        signed_at = _instant("signedAt", said["signedAt"])
        expires = said["expiresAt"]
        expires_at = None if expires is None else _instant("expiresAt", expires)
        if expires_at is not None and expires_at <= signed_at:
            raise problem("it would have ended before it began", "expiresAt")
    return PluginStatement(
        said["plugin"],
        said["version"],
        Digest(said["tree"]),
        _subjects(fields["subject"]),
        signed_at,
        expires_at,
    )


def _subjects(value: object) -> tuple[tuple[str, Digest], ...]:
    found = []
    for index, each in enumerate(read_list("subject", value, Code.EVIDENCE)):
        with placed(f"subject[{index}]", Code.EVIDENCE):
            fields = read_object(each, ("name", "digest"), Code.EVIDENCE)
            check_text("name", fields["name"], Code.EVIDENCE)
            digest = read_object(fields["digest"], ("sha256",), Code.EVIDENCE)["sha256"]
            check_hex("digest.sha256", digest, Code.EVIDENCE)
        found.append((fields["name"], Digest(_PREFIX + digest)))
    return tuple(found)


def _instant(name: str, value: object) -> Instant:
    check_text(name, value, Code.EVIDENCE)
    try:
        return Instant.parse(str(value))
    except BadInput as wrong:
        raise problem(wrong.message, name) from None
