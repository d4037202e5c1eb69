"""What all tests share: the same examples in every run, no clock that decides, and interrupts that are heard."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# Another search: pytest --hypothesis-profile=explore. Its examples go to .hypothesis in the current folder.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", settings.get_profile("explore"), derandomize=True)
settings.load_profile("fixed")

# A shell that starts the tests in the background has them ignore interrupts, and so all that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
