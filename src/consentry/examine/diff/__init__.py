"""Diffs as git writes them: read strictly, and applied exactly or not at all."""
