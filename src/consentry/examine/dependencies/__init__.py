"""Powers of files that bring code in or start it: dependencies, containers, builds, hooks, settings.

One reader for each format, bytes in and an `Extraction` out. What the keys of a document hold is data
(`documentkeys.toml`), as are well-known actions, images and launchers. Only the name of a dependency
counts and never its version: a newer version of the same thing is no new power.
"""
