"""The `consentry` command."""


def main() -> None:
    """Entry point."""
