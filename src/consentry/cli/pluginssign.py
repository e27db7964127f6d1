"""`consentry plugins sign`: puts the signed word that a plugin is this tree beside its folder."""

import os
from pathlib import Path

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import Folder, OneOf, PlainCommand, Text, output_of, usage_problem
from consentry.cli.configoptions import workspace_option
from consentry.cli.keysplace import (
    expires_option,
    key_desk,
    life_of,
    passphrase_options,
    words_for,
)
from consentry.cli.pluginplace import root_of
from consentry.cli.table import Page
from consentry.decide.evidencecase import EvidenceKind
from consentry.service.signingkeys import find_key, key_list, usable_signing_key
from consentry.service.signplugin import sign_plugin
from consentry.service.surroundings import Surroundings
from consentry.store.signingkeys import has_signing_key, is_sealed

_FORMATS = (EvidenceKind.DSSE.value, EvidenceKind.OMS.value)

PAGE = Page(
    summary="Sign a plugin as it is now: its name, version and whole tree.",
    paragraphs=(
        (
            "The envelope lies beside the plugin's folder. A second signer adds to the envelope that "
            "is there, as long as the tree is the one it is about and known keys stand for it."
        ),
        "It shows that somebody had the key, not that the plugin is harmless.",
    ),
    arguments=(("PLUGIN", "A plugin's name, or its folder."),),
    examples=(
        ("consentry plugins sign build --key me", "writes plugins/build.dsse.json"),
        ("consentry plugins sign build --key ci --expires 90d --anew", "another envelope"),
        ("consentry plugins sign build --key ci --format oms", "as other tools for models read it"),
    ),
    statuses=(
        ("0", "signed"),
        ("2", "wrong usage, no such key or plugin, or signed already"),
        ("3", "the key list or the plugin's manifest cannot be read"),
        ("4", "the tree has in it what no plugin may have"),
        ("5", "the ledger cannot be written, so nothing was signed"),
        ("126", "the key is not good, the tree not covered, or the envelope there of nobody known"),
    ),
    read_on=("docs/how-to/sign-plugins.md; docs/reference/plugin-evidence.md.",),
)


@click.pass_context
def _sign(
    ctx: click.Context,
    *,
    plugin: str,
    key: str | None,
    format_: str,
    expires: str | None,
    anew: bool,
    own: bool,
    workspace: str | None,
    passphrase_fd: int | None,
) -> ExitStatus:
    output, life = output_of(ctx), life_of(expires)
    if key is None:
        raise usage_problem("`--key` is missing", "name the key to sign with")
    with key_desk() as desk:
        folder = _folder(desk.around, plugin, workspace, own=own)
        keys = key_list(desk.around)
        known = find_key(keys, key)
        sealed = has_signing_key(desk.state, known.key_id) and is_sealed(desk.state, known.key_id)
        words = words_for(known, passphrase_fd, sealed=sealed)
        secret = usable_signing_key(desk.state, known, desk.journal.clock.now(), words)
        made = sign_plugin(
            folder, secret, desk.journal, EvidenceKind(format_), keys=keys, life=life, anew=anew
        )
    if output.json:
        output.document(
            "plugins-sign",
            {
                "plugin": made.plugin,
                "version": made.version,
                "digest": made.tree.digest,
                "file": str(made.file),
                "format": made.kind,
                "key_ids": list(made.signers),
                "expires_at": None if made.expires_at is None else str(made.expires_at),
            },
        )
    elif output.quiet:
        output.text(str(made.file))
    else:
        count = len(made.signers)
        by = "1 signature" if count == 1 else f"{count} signatures"
        output.text(
            f"signed: {safe_line(made.plugin)} {made.version}, {by}\n"
            f"  {safe_line(str(made.file))}\n  {made.tree.digest}"
        )
    return ExitStatus.DONE


def _folder(around: Surroundings, plugin: str, workspace: str | None, *, own: bool) -> Path:
    named = (around.cwd or Path("/")) / plugin
    if os.sep in plugin or plugin in (".", ".."):
        return named.resolve()
    return root_of(around, None, workspace, own=own) / plugin


sign = PlainCommand(
    "sign",
    PAGE,
    _sign,
    [
        click.Argument(["plugin"], type=Folder(), metavar="PLUGIN"),
        click.Option(["--key"], type=Text(), metavar="KEY", help="A signer or key id of yours."),
        click.Option(
            ["--format", "format_"],
            type=OneOf(_FORMATS),
            default=EvidenceKind.DSSE.value,
            metavar="KIND",
            help="dsse (usual) or oms.",
        ),
        expires_option(),
        click.Option(["--anew"], is_flag=True, help="Begin anew, whatever is there."),
        click.Option(["--own"], is_flag=True, help="The plugins of your own configuration."),
        workspace_option(),
        *passphrase_options("the key's passphrase"),
    ],
)
