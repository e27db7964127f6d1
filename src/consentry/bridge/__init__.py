"""MCP and agent hooks: the same decisions, for other programs."""
