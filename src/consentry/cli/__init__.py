"""The command: one lazily imported file per command, over `service`."""
