"""Consentry: see what a thing wants to do, decide, confine it to exactly that, prove what happened.

The rooms, in the order data flows through them:

    declare -> examine -> decide -> enforce -> record

`surface` is the vocabulary of powers they all share, `base` the ground they stand on. Imports
point the other way; `lint-imports` proves it. `ARCHITECTURE.md` draws the whole on one page.
"""

__version__ = "0.1.0"
