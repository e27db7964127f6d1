"""The capability fence: where a token, a push or an unhandled race stands in Python source."""
