"""Reads JavaScript and TypeScript for the powers they have: scopes, aliases and constants."""

from consentry.examine.javascript.extract import Dialect, extract_javascript

__all__ = ["Dialect", "extract_javascript"]
