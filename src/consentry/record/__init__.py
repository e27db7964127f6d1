"""What happened: the vocabulary of events, and later their chain, checkpoints, reports, exports.

A leaf: it names events and their fields and hands them to a sink that the caller passes in.
"""
