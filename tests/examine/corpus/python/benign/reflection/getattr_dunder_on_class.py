# must-not: ALL
class Plugin:
    """Does nothing."""

print(Plugin.__doc__, Plugin.__module__, Plugin.__name__)
