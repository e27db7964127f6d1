"""Notes are read by agents: a line that tells one to start a program is worth a look.

A line of a note such as `!run make publish` starts a program in some agents. The guard takes a note for
inert text, so this rule adds the program. It only reads the text that it is given.
"""

from .marks import MARKS


def examine(path, text):
    """Dimension, target and line of each such line."""
    if not path.endswith((".md", ".txt")):
        return
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if len(words) > 1 and words[0] in MARKS:
            yield "PROC_EXEC", words[1], number
