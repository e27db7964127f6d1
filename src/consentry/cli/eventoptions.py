"""The options by which commands narrow down events; each of them means the same everywhere."""

import click

from consentry.cli.command import Text


def event_options() -> list[click.Parameter]:
    """Time, subject, type, session and decision, as `LogRequest.asked_for` takes them."""
    return [
        _option(
            "since", "TIME", "From this time on: 2026-01-31T09:30:00Z, or 1day for so long ago."
        ),
        _option("until", "TIME", "Up to this time, itself not included."),
        _option("subject", "SUBJECT", "Only events about this subject."),
        _option("type", "TYPE", "Only events of this type."),
        _option("session", "ID", "Only events of this session."),
        _option("decision", "WORD", "Only events whose payload has this decision."),
    ]


def _option(name: str, metavar: str, help_line: str) -> click.Option:
    return click.Option([f"--{name}"], type=Text(), metavar=metavar, help=help_line)
