"""One hypothesis profile for all tests: the same examples in every run, and no clock that decides."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Another search: pytest --hypothesis-profile=explore. Its examples go to .hypothesis in the current folder.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", settings.get_profile("explore"), derandomize=True)
settings.load_profile("fixed")
