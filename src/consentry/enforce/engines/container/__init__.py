"""Containers of Docker and Podman, as boxes: what their drivers have in common."""
