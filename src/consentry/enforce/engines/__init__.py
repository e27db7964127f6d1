"""One file per sandbox engine: probe, compile, launch."""
