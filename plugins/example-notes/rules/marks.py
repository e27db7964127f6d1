"""How a note asks for a program."""

MARKS = frozenset({"!run", "!exec"})
