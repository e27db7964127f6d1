"""What a thing says it needs: tool manifests, consent and sandbox configuration, packages, wishes.

Reads documents strictly (file, line and column for every complaint) and compiles them to surfaces.
Nothing read here is ever executed.
"""
