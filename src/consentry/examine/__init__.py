"""What code could do: reads patches, sources and dependency files, and never runs them."""
