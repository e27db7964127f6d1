"""Reads Python source for the powers it has: scopes, aliases and constants on the syntax tree."""
