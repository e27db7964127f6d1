"""Evidence in files, held against a policy in a file, remembered in a store (TRUST §lock-6)."""

import json
import os
from pathlib import Path

import pytest

from consentry.base.clock import Instant
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.evidencecase import EvidenceKind
from consentry.decide.identity import Identity
from consentry.decide.pluginversion import NothingRemembered, PluginVersion
from consentry.examine.pluginproblems import PluginRejected, Rejection, VerificationError
from consentry.examine.plugintree import read_tree
from consentry.record.signingkey import Algorithm
from consentry.service.places import FoundBy, Workspace
from consentry.service.pluginsigning import (
    check_evidence,
    ground_for_loading,
    plugin_policy,
)
from consentry.store.pluginversions import Acceptable, StoredPluginVersions
from tests.decide.signing import NOW
from tests.service.signing import Home, home_in
from tests.store.keepers import types

DAY = Duration(24 * 3600 * 1000)
ANY = "{signedBy: {anyOf: [author, builder]}}"
REFERENCE = Path(__file__).parent / "oms"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A user with one plugin."""
    made = home_in(tmp_path)
    made.plugin(note="hello")
    return made


def test_without_a_policy_nothing_is_asked(home: Home) -> None:
    """The integrity check is the loader's; the same unsigned plugin is refused once a policy asks."""
    assert home.load() is None
    home.ask(ANY)
    assert home.refusal() is Rejection.UNSIGNED


def test_a_signed_plugin_is_accepted_and_remembered(home: Home) -> None:
    """With its event, in the store that the next process reads; asking again records nothing more."""
    author = home.make_key("author")
    home.ask(ANY)
    home.sign(author)
    assert home.load() is not None
    home.load()
    with home.desk() as desk:
        journal = desk.journal
        kept = StoredPluginVersions(journal.ledger, journal.ids, journal.clock, journal.context)
        memory = kept.remembered(str(home.plugins.resolve()), "build")
        found = [each for each in types(journal.ledger) if each.startswith(("key.", "plugin."))]
    assert memory is not None
    assert (memory.version, memory.signers, memory.strength) == ("1.0.0", ("author",), 1)
    assert found == ["key.trusted", "plugin.signed", "plugin.accepted"]


def test_looking_remembers_nothing(home: Home) -> None:
    """Only what is loaded raises the bar."""
    author = home.make_key("author")
    home.ask(ANY)
    home.sign(author)
    assert home.look() is not None
    home.policy.unlink()
    assert home.load() is None


def test_the_policy_that_lost_its_row_lets_nothing_unsigned_in(home: Home) -> None:
    """Accepted signed once, it needs as much until a person has it forgotten; then it is loaded."""
    author = home.make_key("author")
    home.ask(ANY)
    home.sign(author)
    home.load()
    home.policy.unlink()
    (home.plugins / "build.dsse.json").unlink()
    assert home.refusal() is Rejection.DOWNGRADED
    with home.desk() as desk:
        journal = desk.journal
        kept = StoredPluginVersions(journal.ledger, journal.ids, journal.clock, journal.context)
        kept.forget(str(home.plugins.resolve()), "build", Identity(journal.context.actor))
    assert home.load() is None


def test_a_version_that_was_signed_before_is_not_taken_back(home: Home) -> None:
    """The old folder and the old envelope, both genuine, put back together."""
    author = home.make_key("author")
    home.ask(ANY)
    home.sign(author)
    old = (home.plugins / "build.dsse.json").read_bytes()
    home.plugin(version="1.1.0")
    home.sign(author)
    home.load()
    home.plugin(version="1.0.0")
    (home.plugins / "build.dsse.json").write_bytes(old)
    assert home.refusal() is Rejection.ROLLED_BACK
    home.plugin(version="1.1.0", note="other")
    home.sign(author)
    assert home.refusal() is Rejection.ROLLED_BACK
    home.plugin(version="1.2.0")
    home.sign(author)
    assert home.load() is not None


def test_who_was_overtaken_by_a_newer_version_does_not_load_the_older(home: Home) -> None:
    """In threes: between check and memory another process accepted more; alone it passes; unasked it would."""
    author = home.make_key("author")
    home.ask(ANY)
    home.sign(author)
    older = read_tree(home.plugins / "build", keep_contents=True)
    content = home.plugins / "build.dsse.json"
    signed = content.read_bytes()
    with home.desk() as desk:
        ground = ground_for_loading(home.around, desk.journal)

        def overtaken(passed: Acceptable) -> PluginVersion:
            home.plugin(version="2.0.0")
            home.sign(author)
            home.load()
            return kept.accept(passed)

        journal = desk.journal
        kept = StoredPluginVersions(journal.ledger, journal.ids, journal.clock, journal.context)
        with pytest.raises(VerificationError) as caught:
            check_evidence(older, "1.0.0", home.plugins, replace(ground, remember=overtaken))
        assert caught.value.reason is Rejection.ROLLED_BACK
        assert home.load() is not None
        content.write_bytes(signed)
        looking = replace(ground, memory=NothingRemembered(), remember=None)
        assert check_evidence(older, "1.0.0", home.plugins, looking) is not None


def test_a_plugin_changed_after_it_was_signed_is_refused(home: Home) -> None:
    """Also with the lock made anew, which whoever commits both can do."""
    author = home.make_key("author")
    home.ask(ANY)
    home.sign(author)
    home.plugin(note="hello, changed")
    assert home.refusal() is Rejection.SIGNED_OTHER_TREE
    home.sign(author)
    assert home.load() is not None


def test_revoking_a_key_counts_at_once(home: Home) -> None:
    """Nothing of what it signed is taken any more, and it does not come back."""
    author = home.make_key("author")
    home.ask(ANY)
    home.sign(author)
    home.load()
    with home.desk() as desk:
        desk.revoke("author", "laptop lost")
    assert home.refusal() is Rejection.KEY_REVOKED


def test_a_key_expires_by_the_clock(home: Home) -> None:
    """And a clock set back behind what was accepted does not revive it."""
    with home.desk() as desk:
        author = desk.make("author", Algorithm.ED25519, Duration(30 * DAY.milliseconds), None)
    home.ask(ANY)
    home.sign(author)
    home.load()
    home.clock.advance(Duration(31 * DAY.milliseconds))
    assert home.refusal() is Rejection.KEY_EXPIRED
    home.clock.set_to(Instant(NOW.unix_ms - DAY.milliseconds))
    assert home.refusal() is Rejection.CLOCK_SET_BACK


BROKEN = {
    "two faults": ("plugin-policy.yaml", b"a: b\n", Rejection.POLICY_UNREADABLE),
    "policy": ("plugin-policy.yaml", b"pluginPolicyVersion: '2'\n", Rejection.POLICY_UNREADABLE),
    "empty anyOf": (
        "plugin-policy.yaml",
        b'pluginPolicyVersion: "1"\nplugins: {build: {signedBy: {anyOf: []}}}\n',
        Rejection.POLICY_UNREADABLE,
    ),
    "key list": ("trusted-keys.json", b'{"keysVersion": "1"}', Rejection.KEYS_UNREADABLE),
    "envelope": ("plugins/build.dsse.json", b"{}", Rejection.BAD_ENVELOPE),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_document_that_cannot_be_read_refuses_the_plugin(home: Home, name: str) -> None:
    """One typed error each, exit status 3, and nothing is taken in its place."""
    home.sign(home.make_key("author"))
    home.ask(ANY)
    file, content, expected = BROKEN[name]
    (home.plugins.parent / file).write_bytes(content)
    with pytest.raises(VerificationError) as refusal:
        home.load()
    assert refusal.value.reason is expected
    assert PluginRejected(refusal.value).exit_status == 3
    assert "\n" not in refusal.value.message


def test_a_key_list_in_which_a_key_was_swapped_is_refused(home: Home) -> None:
    """The id in a row has to be that of its key: a row cannot be pointed at another one."""
    author, eva = home.make_key("author"), home.make_key("eva")
    home.sign(eva)
    home.ask(ANY)
    file = home.plugins.parent / "trusted-keys.json"
    document = json.loads(file.read_text())
    document["keys"][0]["public"] = eva.key.pem
    file.write_text(json.dumps(document))
    assert home.refusal() is Rejection.KEYS_UNREADABLE
    document["keys"][0]["keyId"] = eva.key_id
    file.write_text(json.dumps(document))
    assert home.refusal() is Rejection.KEYS_UNREADABLE
    assert author.key_id != eva.key_id


def test_evidence_that_is_a_link_is_not_followed(home: Home) -> None:
    """Wherever it leads."""
    home.sign(home.make_key("author"))
    home.ask(ANY)
    file = home.plugins / "build.dsse.json"
    file.rename(home.folder / "elsewhere.json")
    file.symlink_to(home.folder / "elsewhere.json")
    assert home.refusal() is Rejection.BAD_ENVELOPE


def test_evidence_that_is_a_pipe_or_too_large_is_refused(home: Home) -> None:
    """Nothing waits for a pipe, and a huge file is not read."""
    home.sign(home.make_key("author"))
    home.ask(ANY)
    file = home.plugins / "build.dsse.json"
    with file.open("ab") as handle:
        handle.truncate(1 << 30)
    assert home.refusal() is Rejection.BAD_ENVELOPE
    file.unlink()
    os.mkfifo(file)
    assert home.refusal() is Rejection.BAD_ENVELOPE


def test_a_policy_that_others_may_write_does_not_count(home: Home) -> None:
    """It is refused, not passed over: to read nothing would be to ask for nothing."""
    home.ask("integrity")
    assert home.load() is None
    home.policy.chmod(0o666)
    assert home.refusal() is Rejection.POLICY_UNREADABLE


def test_a_policy_inside_the_workspace_does_not_count(home: Home) -> None:
    """A workspace has no say in what its plugins need."""
    home.ask("integrity")
    workspace = Workspace(home.folder.resolve(), FoundBy.NAMED, "named")
    with pytest.raises(Exception, match="lies in the workspace"):
        plugin_policy(home.around, workspace)


def _reference_tree(home: Home) -> None:
    place = home.plugins / "notes"
    (place / "tools").mkdir(parents=True)
    manifest = 'pluginVersion: "1"\nname: notes\nversion: "1.0.0"\n'
    (place / "plugin.yaml").write_text(
        f"{manifest}description: made for the tests of OMS bundles\n"
    )
    (place / "tools/a.txt").write_text("hello\n")
    (place / "B.txt").write_text("world\n")
    from consentry.declare.keydocuments import read_public_key

    with home.desk() as desk:
        desk.trust(read_public_key((REFERENCE / "reference.pem").read_bytes()), "reference", None)
    home.ask("{signedBy: {anyOf: [reference]}, oms: true}", "notes")


def _offer(home: Home, bundle: str) -> None:
    content = (REFERENCE / f"{bundle}.json").read_bytes()
    (home.plugins / "notes.oms.json").write_bytes(content)


def test_a_bundle_of_the_reference_tool_is_accepted(home: Home) -> None:
    """Made by us with model-signing 1.1.1 (sigstore 4.0.0) and a P-256 key, and kept as a file."""
    _reference_tree(home)
    _offer(home, "notes")
    accepted = home.load("notes")
    assert accepted is not None
    assert (accepted.kinds, accepted.signers) == ((EvidenceKind.OMS,), ("reference",))


def test_a_bundle_that_ignored_a_file_does_not_cover_it(home: Home) -> None:
    """Made with `--ignore-paths`: the reference tool accepts it, and we do not."""
    _reference_tree(home)
    _offer(home, "ignoring")
    assert home.refusal("notes") is Rejection.NOT_COVERED
    (home.plugins / "notes/tools/a.txt").unlink()
    (home.plugins / "notes/tools").rmdir()
    assert home.load("notes") is not None


def test_a_bundle_that_followed_links_does_not_cover_a_link(home: Home) -> None:
    """Made with `--allow_symlinks` over a tree with one; as a file of the same bytes it is covered."""
    _reference_tree(home)
    _offer(home, "links")
    assert home.refusal("notes") is Rejection.NOT_COVERED
    link = home.plugins / "notes/tools/link"
    link.symlink_to("a.txt")
    assert home.refusal("notes") is Rejection.NOT_COVERED
    link.unlink()
    link.write_text("hello\n")
    assert home.load("notes") is not None


@pytest.mark.parametrize("algorithm", Algorithm)
def test_an_oms_bundle_of_our_own_is_read_again(home: Home, algorithm: Algorithm) -> None:
    """With either kind of key; without `oms: true` it counts for nothing."""
    author = home.make_key("author", algorithm)
    home.sign(author, kind=EvidenceKind.OMS)
    home.ask("{signedBy: {anyOf: [author]}}")
    assert home.refusal() is Rejection.FORMAT_NOT_ALLOWED
    home.ask("{signedBy: {anyOf: [author]}, oms: true}")
    assert home.load() is not None


def test_a_tree_that_oms_does_not_cover_is_not_signed_so(home: Home) -> None:
    """Executable files and links; the envelope of our own covers them."""
    author = home.make_key("author")
    program = home.plugins / "build/run"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with pytest.raises(VerificationError) as refusal:
        home.sign(author, kind=EvidenceKind.OMS)
    assert refusal.value.reason is Rejection.NOT_COVERED
    home.sign(author)
    home.ask(ANY)
    assert home.load() is not None
