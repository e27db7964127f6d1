"""The web inbox: the same approval requests, on a page."""
