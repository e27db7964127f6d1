"""The root of the command: its table of commands, its own options, and how a run begins.

On the path of every invocation, so it imports click and little else. A command is added by adding
a row to `SECTIONS`; the headings follow the steps of the product.
"""

import os

import click

from consentry import __version__
from consentry.cli.command import output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import write_message
from consentry.cli.table import COMPLETION_VARIABLE, PROGRAM, CommandRow, CommandSection

SECTIONS = (
    CommandSection(
        "See where you stand",
        (
            CommandRow(
                "status",
                "consentry.cli.status:status",
                "Show workspace, configuration, state and engines",
            ),
            CommandRow(
                "engines",
                "consentry.cli.engines:engines",
                "Show what each engine enforces here, by trying it",
            ),
            CommandRow(
                "doctor",
                "consentry.cli.doctor:doctor",
                "Find what is missing, and attack the engines",
            ),
        ),
    ),
    CommandSection(
        "Say what your tools are",
        (
            CommandRow(
                "init",
                "consentry.cli.init:init",
                "Begin a configuration, with manifests for what is found",
            ),
            CommandRow(
                "tool",
                "consentry.cli.tool:tool",
                "Write, list, show and check tools",
            ),
            CommandRow(
                "plugins",
                "consentry.cli.plugins:plugins",
                "Lock, sign, verify and list plugins",
            ),
            CommandRow(
                "keys",
                "consentry.cli.keys:keys",
                "Make keys that sign plugins, and say whose you know",
            ),
            CommandRow(
                "trust",
                "consentry.cli.trust:trust",
                "Show what a workspace's configuration would loosen, and accept it",
            ),
            CommandRow(
                "schema",
                "consentry.cli.schema:schema",
                "Print the JSON Schema of a document, for your editor",
            ),
        ),
    ),
    CommandSection(
        "Let others extend your application",
        (
            CommandRow(
                "module",
                "consentry.cli.module:module",
                "Import modules into an application, see what they want, stop them",
            ),
            CommandRow(
                "grants",
                "consentry.cli.grants:grants",
                "List what modules were granted, take it back, and tell why",
            ),
        ),
    ),
    CommandSection(
        "Examine code before it lands",
        (
            CommandRow(
                "guard",
                "consentry.cli.guard:guard",
                "Say which powers a change adds, and whether they are allowed",
            ),
            CommandRow(
                "fence",
                "consentry.cli.fence:fence",
                "Report where Python source makes tokens, or pushes",
            ),
            CommandRow(
                "surface",
                "consentry.cli.surface:surface",
                "Show which powers code has, and where",
            ),
            CommandRow(
                "wish",
                "consentry.cli.wish:wish",
                "Write the wish that allows what today's code does",
            ),
        ),
    ),
    CommandSection(
        "Run something confined",
        (
            CommandRow(
                "run",
                "consentry.cli.run:run",
                "Run a tool: see what it wants, decide, have it on record",
            ),
            CommandRow(
                "exec",
                "consentry.cli.exec:exec",
                "Run a program with what its line names, and nothing more",
            ),
            CommandRow(
                "code",
                "consentry.cli.code:code",
                "Run a Python snippet, and print its result as JSON",
            ),
            CommandRow(
                "capability",
                "consentry.cli.capability:capability",
                "Save code under a name, and run it in its permission set",
            ),
            CommandRow(
                "learn",
                "consentry.cli.learn:learn",
                "Watch a command, and write the manifest it needs",
            ),
        ),
    ),
    CommandSection(
        "Answer questions",
        (
            CommandRow(
                "inbox",
                "consentry.cli.inbox:inbox",
                "List the questions that wait for an answer",
            ),
            CommandRow(
                "approve",
                "consentry.cli.approve:approve",
                "Say yes to a question, at this terminal",
            ),
            CommandRow("deny", "consentry.cli.deny:deny", "Say no to a question"),
            CommandRow(
                "consent",
                "consentry.cli.consent:consent",
                "List what was agreed to, and take it back",
            ),
            CommandRow(
                "tokens",
                "consentry.cli.tokens:tokens",
                "List capability tokens, their uses and what is left of a budget",
            ),
            CommandRow(
                "escalations",
                "consentry.cli.escalations:escalations",
                "List what was decided about larger permission sets",
            ),
            CommandRow(
                "passphrase",
                "consentry.cli.passphrase:passphrase",
                "Set or remove the words that every yes needs",
            ),
        ),
    ),
    CommandSection(
        "Look before it lands, and take it back",
        (
            CommandRow(
                "effect",
                "consentry.cli.effect:effect",
                "Show exactly what a run would change, or changed",
            ),
            CommandRow(
                "commit",
                "consentry.cli.commit:commit",
                "Take over what a rehearsal would change",
            ),
            CommandRow(
                "discard",
                "consentry.cli.discard:discard",
                "Throw away what a rehearsal would change",
            ),
            CommandRow(
                "undo",
                "consentry.cli.undo:undo",
                "Take back what a run changed",
            ),
            CommandRow(
                "tx",
                "consentry.cli.tx:tx",
                "Look at changes of documents, decide, apply and roll them back",
            ),
        ),
    ),
    CommandSection(
        "See what happened",
        (
            CommandRow(
                "why",
                "consentry.cli.why:why",
                "Explain a run: what was stopped, and what would allow it",
            ),
            CommandRow(
                "report",
                "consentry.cli.report:report",
                "Report what ran, was decided, refused, granted and used",
            ),
            CommandRow(
                "audit",
                "consentry.cli.audit:audit",
                "List, show and verify what the ledger holds",
            ),
            CommandRow(
                "signoff",
                "consentry.cli.signoff:signoff",
                "Say GO or NO-GO, with every figure behind it",
            ),
        ),
    ),
    CommandSection(
        "Keep it in order",
        (
            CommandRow(
                "drill",
                "consentry.cli.drill:drill",
                "Carry out controlled fixtures, so that a sign-off can count them",
            ),
            CommandRow(
                "session",
                "consentry.cli.session:session",
                "List sessions, and end one",
            ),
            CommandRow(
                "purge",
                "consentry.cli.purge:purge",
                "Remove what has no effect any more, or everything",
            ),
        ),
    ),
    CommandSection(
        "Understand its words",
        (
            CommandRow(
                "explain",
                "consentry.cli.explain:explain",
                "Explain a code, status, setting, permission or path",
            ),
        ),
    ),
    CommandSection(
        "Set up your shell",
        (
            CommandRow(
                "completion",
                "consentry.cli.completion:completion",
                "Print the completion script of bash, zsh or fish",
            ),
        ),
    ),
)


def make_root() -> LazyGroup:
    """A fresh root command; nothing of it outlives the invocation."""
    version = click.Option(
        ["--version"], is_flag=True, help="Print the version; takes no command word."
    )
    return LazyGroup(PROGRAM, SECTIONS, _at_root, [version])


@click.pass_context
def _at_root(ctx: click.Context, *, version: bool) -> None:
    output = output_of(ctx)
    if version and output.json:
        output.document("version", {"consentry": __version__, **_platform()})
    elif version and output.verbose:
        about = [f"{name} {value}" for name, value in _platform().items()]
        output.text("\n".join([f"{PROGRAM} {__version__}", *about]))
    elif version:
        output.text(f"{PROGRAM} {__version__}")
    elif ctx.invoked_subcommand is None:
        # A script that lost its command word must not read success.
        if not output.json:
            write_message(ctx.get_help() + "\n")
        raise usage_problem("no command was given", f"`{PROGRAM} --help` lists the commands")
    if version:
        ctx.exit()


def _platform() -> dict[str, str]:
    import platform  # noqa: PLC0415 - click has it loaded, and only the long form asks

    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
    }


def consentry(arguments: list[str]) -> int:
    """Runs one command line and returns the exit status; failures are raised."""
    # Only when nothing was typed: a variable must not be able to turn a command into a no-op.
    instruction = os.environ.get(COMPLETION_VARIABLE, "")
    if instruction and not arguments:
        from consentry.cli.completion import answer_shell  # noqa: PLC0415 - only shells ask

        return answer_shell(make_root(), instruction)
    root = make_root()
    try:
        with root.make_context(PROGRAM, list(arguments)) as ctx:
            return int(root.invoke(ctx) or 0)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
