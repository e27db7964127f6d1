"""A user with a configuration, a state directory and a folder of plugins, for tests of signing."""

import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from consentry.base.clock import ManualClock
from consentry.base.ids import Uuid7Ids
from consentry.decide.evidencecase import AcceptedEvidence, EvidenceKind
from consentry.declare.trustedkeys import TrustedKey
from consentry.examine.pluginproblems import Rejection, VerificationError
from consentry.examine.plugintree import read_tree
from consentry.record.signingkey import Algorithm
from consentry.service.ledgers import state_folder
from consentry.service.pluginlocking import manifest_of
from consentry.service.pluginsigning import (
    check_evidence,
    ground_for_loading,
    ground_for_looking,
)
from consentry.service.sessions import journal_of_library
from consentry.service.signingkeys import KeyDesk, key_list
from consentry.service.signplugin import PluginSignature, sign_plugin
from consentry.service.surroundings import Surroundings
from consentry.store.signingkeys import load_signing_key
from tests.decide.signing import NOW

MANIFEST = 'pluginVersion: "1"\nname: {name}\nversion: "{version}"\n'


@dataclass
class Home:
    """One user at a time that only tests move."""

    folder: Path
    clock: ManualClock

    @property
    def around(self) -> Surroundings:
        """What a command of theirs is started in."""
        environ = {
            "HOME": str(self.folder / "home"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "XDG_STATE_HOME": str(self.folder / "state"),
        }
        return Surroundings(environ, self.folder, os.geteuid())

    @property
    def plugins(self) -> Path:
        """Where their plugins lie."""
        return self.folder / "config/consentry/plugins"

    @property
    def policy(self) -> Path:
        """What they ask of plugins."""
        return self.folder / "config/consentry/plugin-policy.yaml"

    def plugin(self, name: str = "build", version: str = "1.0.0", **files: str) -> Path:
        """Writes a plugin, in the place of one that is there."""
        place = self.plugins / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "plugin.yaml").write_text(MANIFEST.format(name=name, version=version))
        for file, content in files.items():
            (place / f"{file}.txt").write_text(content)
        return place

    def ask(self, rule: str, plugin: str = "build") -> None:
        """Writes a policy with this rule for the plugin."""
        self.policy.parent.mkdir(parents=True, exist_ok=True)
        self.policy.write_text(f'pluginPolicyVersion: "1"\nplugins:\n  {plugin}: {rule}\n')

    def make_key(self, name: str, algorithm: Algorithm = Algorithm.ED25519) -> TrustedKey:
        """A key of theirs."""
        with self.desk() as desk:
            return desk.make(name, algorithm, None, None)

    def desk(self) -> "OpenDesk":
        """Where keys are made and accepted."""
        return OpenDesk(self)

    def sign(
        self, key: TrustedKey, plugin: str = "build", kind: EvidenceKind = EvidenceKind.DSSE
    ) -> PluginSignature:
        """Signs a plugin, in an envelope of its own."""
        with self.desk() as desk:
            secret = load_signing_key(desk.state, key.key_id, None)
            folder = self.plugins / plugin
            keys = key_list(self.around)
            return sign_plugin(folder, secret, desk.journal, kind, keys=keys, life=None, anew=True)

    def load(self, plugin: str = "build") -> AcceptedEvidence | None:
        """What a loader does: reads the tree, asks, and remembers."""
        tree = read_tree(self.plugins / plugin, keep_contents=True)
        with self.desk() as desk:
            ground = ground_for_loading(self.around, desk.journal)
            return check_evidence(tree, manifest_of(tree).version, self.plugins, ground)

    def look(self, plugin: str = "build") -> AcceptedEvidence | None:
        """The same, without remembering."""
        tree = read_tree(self.plugins / plugin, keep_contents=True)
        with ground_for_looking(self.around, self.clock) as ground:
            return check_evidence(tree, manifest_of(tree).version, self.plugins, ground)

    def refusal(self, plugin: str = "build") -> Rejection:
        """Why a loader refuses it."""
        try:
            self.load(plugin)
        except VerificationError as problem:
            return problem.reason
        raise AssertionError("it was accepted")


class OpenDesk:
    """A desk for keys whose ledger is closed afterwards."""

    def __init__(self, home: Home) -> None:
        self._home = home

    def __enter__(self) -> KeyDesk:
        home = self._home
        journal = journal_of_library(home.around, home.clock, Uuid7Ids(home.clock))
        self._closing = closing(journal.ledger)
        return KeyDesk(home.around, state_folder(home.around), journal)

    def __exit__(self, *_: object) -> None:
        self._closing.__exit__(None, None, None)


def home_in(folder: Path) -> Home:
    """A fresh one."""
    for name in ("home", "config", "state"):
        (folder / name).mkdir(mode=0o700)
    return Home(folder, ManualClock(NOW))
