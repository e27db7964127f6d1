"""What the kernel lets it do: host probes, engines, and the one place that starts processes.

Runs nothing without a permit from `decide`. An engine refuses what it cannot enforce.
"""
