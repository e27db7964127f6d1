"""The ground everything stands on: errors and codes, ids, clock, units, canonical JSON, safe text.

Knows nothing of powers, documents, databases or people. Everything above may import it; it imports
only the standard library and the canonical-JSON encoder.
"""
