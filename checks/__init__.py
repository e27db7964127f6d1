"""The rules of this repository that no ready-made tool knows, one file each.

`python -m checks` runs them all, `python -m checks links privacy` some. Every file named in
`registry.CHECKS` has a function `check(tree)` that yields findings and changes nothing. A check
reads the tree it is given and never the working directory, so that its tests can hand it a small
tree with a planted fault.
"""
