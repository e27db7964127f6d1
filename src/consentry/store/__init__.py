"""Remembers: the ledger's tables and everything `decide` and `flow` keep, on SQLite or PostgreSQL."""
