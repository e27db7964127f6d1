"""`consentry completion`: the script that teaches a shell to complete this command.

The scripts are click's own; nothing is started to make them. Afterwards the shell calls the
command with `_CONSENTRY_COMPLETE` set and nothing typed, and `answer_shell` answers.
"""

import click
from click.shell_completion import ShellComplete, get_completion_class

from consentry.base.codes import ExitStatus
from consentry.cli.command import OneOf, PlainCommand, output_of, usage_problem
from consentry.cli.output import write_answer
from consentry.cli.table import COMPLETION_VARIABLE, PROGRAM, Page

SHELLS = ("bash", "zsh", "fish")

PAGE = Page(
    summary="Print the completion script of a shell.",
    paragraphs=(
        "To install it, add the line for your shell to its start-up file and open a new shell.",
        "Completes commands, options, folders, tools and the words of `consentry explain`.",
    ),
    arguments=(("SHELL", "bash (4.4 or newer), zsh or fish."),),
    examples=(
        ('eval "$(consentry completion bash)"', "in ~/.bashrc"),
        ('eval "$(consentry completion zsh)"', "in ~/.zshrc, after compinit"),
        ("consentry completion fish | source", "in ~/.config/fish/config.fish"),
    ),
    statuses=(
        ("0", "printed"),
        ("2", "wrong usage, or a shell that is not known"),
    ),
)


@click.pass_context
def _completion(ctx: click.Context, *, shell: str) -> ExitStatus:
    output = output_of(ctx)
    script = script_for(shell)
    if output.json:
        output.document("completion", {"shell": shell, "script": script})
    else:
        write_answer(script)
    return ExitStatus.DONE


completion = PlainCommand(
    "completion",
    PAGE,
    _completion,
    [click.Argument(["shell"], type=OneOf(SHELLS), metavar="SHELL")],
)


def script_for(shell: str) -> str:
    """The completion script of one of `SHELLS`."""
    completer = _completer(completion, shell)
    # Not completer.source(): for bash that starts one to ask for its version.
    return completer.source_template % completer.source_vars()


def answer_shell(root: click.Command, instruction: str) -> int:
    """Prints the completions a shell asked for through the environment."""
    shell, _, verb = instruction.partition("_")
    try:
        if shell not in SHELLS or verb != "complete":
            raise ValueError(instruction)
        completer = _completer(root, shell)
        words, incomplete = completer.get_completion_args()
    except (KeyError, ValueError):
        raise usage_problem(
            f"{COMPLETION_VARIABLE} is `{instruction}`, which is no request for completions",
            f"unset it; `{PROGRAM} completion SHELL` prints the script that uses it",
        ) from None
    items = completer.get_completions(words, incomplete)
    write_answer("".join(f"{completer.format_completion(item)}\n" for item in items))
    return ExitStatus.DONE


def _completer(root: click.Command, shell: str) -> ShellComplete:
    made = get_completion_class(shell)
    if made is None:
        raise usage_problem(f"no completion for `{shell}`", f"it takes one of: {', '.join(SHELLS)}")
    return made(root, {}, PROGRAM, COMPLETION_VARIABLE)
