"""Benches: measured side by side in one run, printed as ratios with target and met or not met."""
