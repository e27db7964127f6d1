"""The parts of the native engine: what runs inside the box, around it, and in the process that asks.

`calls`, `box`, `reaper`, `observer` and `launcher` are imported by an interpreter that starts bare
(`python -I -S`): they import nothing but each other and what is built in or quick to load, because
their start is part of every cold run and their memory is copied into every box.
"""
