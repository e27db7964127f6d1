"""`consentry tx show`: the preview for a role, as JSON and byte for byte, and what can be asked for."""

import json

import pytest

from consentry.base.canonical import canonical_json
from consentry.base.codes import Code
from consentry.decide.txpreview import check_preview
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.moduleplaces import told
from tests.cli.test_txshow import shown, waiting
from tests.cli.txplaces import (
    adding,
    changed,
    edited_preview,
    writing_host,
)

pytestmark = pytest.mark.timeout(120)


def test_a_role_sees_what_its_view_has(consentry: CommandLine) -> None:
    """CONTRACTS §3-entry: in the diff, in JSON and on the page the value is not there in any form."""
    tx_id = waiting(consentry)
    for role in ("owner", "approver"):
        assert "555-0100" in shown(consentry, tx_id, "--role", role)
    for role in ("operator", "viewer"):
        file = consentry.cwd / f"{role}.html"
        text = shown(consentry, tx_id, "--role", role, "--html", str(file))
        assert '+ /phone  "[redacted]"' in text
        assert "(this role does not see all of it)" in text
        assert f"seen as     {role}" in text
        as_json = consentry("tx", "show", tx_id, "--role", role, "--json").out
        for form in (text, as_json, file.read_text()):
            assert "555-0100" not in form
        entries = json.loads(as_json)["preview"]["entries"]
        assert [each["redacted"] for each in entries] == [False, False, True, False]
        assert not any("roleViews" in each for each in entries)


def test_the_preview_is_printed_as_its_hash_is_over_it(consentry: CommandLine) -> None:
    """CONTRACTS §3-hash: canonical JSON, every role in it; whoever has it can work the hash out again."""
    tx_id = waiting(consentry)
    printed = consentry("tx", "show", tx_id, "--preview").out
    document = json.loads(printed)
    assert printed == canonical_json(document).decode() + "\n"
    assert document["schemaVersion"] == "tx-preview/v1"
    told_of = told(consentry, "tx", "show", tx_id)
    assert check_preview(document) == told_of["transaction"]["previewHash"]
    assert document["entries"][0]["roleViews"].keys() == {"owner", "approver", "operator", "viewer"}


def test_a_preview_that_was_changed_in_the_store_is_not_shown(consentry: CommandLine) -> None:
    """CONTRACTS §3-hash: whoever edits the store shows nobody another change than was approved."""
    tx_id = waiting(consentry)
    assert consentry("tx", "show", tx_id).status == 0
    edited_preview(consentry, tx_id, "buy oat milk", "buy champagne")
    refused = consentry("tx", "show", tx_id)
    assert_error(refused, Code.LEDGER_CORRUPT)
    assert "champagne" not in refused.err
    assert_error(consentry("tx", "show", tx_id, "--preview"), Code.LEDGER_CORRUPT)


def test_the_document_of_one_is_stable(consentry: CommandLine) -> None:
    """Its keys are those that docs/reference/json.md names."""
    document = told(consentry, "tx", "show", waiting(consentry))
    assert (document["schema_version"], document["kind"]) == (1, "tx")
    assert document.keys() == {
        "schema_version", "kind", "transaction", "attempts", "said", "helps", "role", "preview",
        "request", "events", "eventsBefore",
    }  # fmt: skip
    assert document["preview"].keys() == {
        "schemaVersion", "txId", "attemptNo", "track", "baseRevision", "candidateRevision",
        "generatedAt", "entries", "summary", "previewHash",
    }  # fmt: skip
    assert document["preview"]["entries"][0].keys() == {
        "seq", "scope", "entityType", "entityId", "path", "op", "before", "after", "redacted",
    }  # fmt: skip
    assert document["events"][0].keys() == {"eventId", "timestampUtc", "type", "actor", "payload"}


def test_an_id_may_be_shortened_while_it_says_which(consentry: CommandLine) -> None:
    """As with requests: eight letters at least; two that begin so are told, and none is guessed."""
    with writing_host(consentry) as application:
        first = changed(application)
        second = changed(application, adding("n2"))
    assert consentry("tx", "show", first[:-1], "--quiet").out == "APPLIED\n"
    assert consentry("tx", "show", first.removeprefix("tx-")[:-1], "--quiet").out == "APPLIED\n"
    same = next(at for at in range(40) if first[at] != second[at])
    assert_error(consentry("tx", "show", first[:same]), Code.ID_AMBIGUOUS)
    for none in (
        first[:9],
        "tx-",
        "0",
        "",
        "tx-%",
        "tx-ffffffffff",
        "request-01234567",
        "\N{SNOWMAN}" * 9,
    ):
        assert_error(consentry("tx", "show", none), Code.TX_UNKNOWN)


def test_nothing_is_there_before_anything_was(consentry: CommandLine) -> None:
    """And looking makes no ledger."""
    assert_error(consentry("tx", "show", "tx-01234567"), Code.TX_UNKNOWN)
    assert not (consentry.cwd.parent / "home/.local").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("--attempt", "0"),
        ("--attempt", "one"),
        ("--attempt", "-1"),
        ("--role", "admin"),
        ("--role", "OWNER"),
        ("--preview", "--role", "viewer"),
        ("--preview", "--html", "page.html"),
        ("--unknown",),
        ("second",),
    ],
)
def test_what_cannot_be_meant_is_refused(consentry: CommandLine, words: tuple[str, ...]) -> None:
    """CONTRACTS §11: wrong usage, and nothing is written."""
    assert_error(consentry("tx", "show", "tx-01234567", *words), Code.USAGE)
    assert not (consentry.cwd / "page.html").exists()


def test_a_page_never_replaces_a_file(consentry: CommandLine) -> None:
    """As with reports."""
    tx_id = waiting(consentry)
    file = consentry.cwd / "page.html"
    file.write_text("mine")
    assert consentry("tx", "show", tx_id, "--html", str(file)).status != 0
    assert file.read_text() == "mine"
