"""Reads shell scripts and command lines for the powers they have."""

from consentry.examine.shell.extract import extract_shell

__all__ = ["extract_shell"]
