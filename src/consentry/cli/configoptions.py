"""The options that say which configuration is meant."""

import click

from consentry.cli.command import Folder


def workspace_option() -> click.Option:
    """Which workspace."""
    return click.Option(
        ["--workspace"], type=Folder(), metavar="DIR", help="The folder to look from."
    )


def configuration_options() -> list[click.Option]:
    """Which workspace, and which configuration instead of the usual."""
    return [
        workspace_option(),
        click.Option(
            ["--config"],
            type=Folder(),
            metavar="DIR",
            help="This configuration folder, and no other.",
        ),
    ]
