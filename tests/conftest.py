"""The two sizes of every proof: `make test` runs the small one, `make prove` the full one."""

import os

from hypothesis import HealthCheck, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]

settings.register_profile("small", max_examples=60, deadline=None, suppress_health_check=_QUIET)
settings.register_profile("full", max_examples=1500, deadline=None, suppress_health_check=_QUIET)
settings.load_profile(os.environ.get("CONSENTRY_PROOF", "small"))
