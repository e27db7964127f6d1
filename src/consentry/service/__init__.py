"""The only place where parts are wired together; the doors call it and nothing else.

Finds the workspace, the configuration and the state, and hands them to the rooms as values.
"""
