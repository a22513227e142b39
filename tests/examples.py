"""Number of examples a property test tries: enough to find faults on each run, ten times as many in `make fuzz`."""

import os
from typing import Any

from hypothesis import HealthCheck, settings

USUAL = 30
_FACTOR = 10 if os.environ.get("TREERING_TEST_PROFILE") == "fuzz" else 1

# A run of the suite is repeatable; `make fuzz` draws new examples each time.
settings.register_profile(
    "treering",
    max_examples=USUAL * _FACTOR,
    derandomize=_FACTOR == 1,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("treering")


def examples(number: int, **options: Any) -> settings:
    """Settings for a test that needs another number of examples than the usual one."""
    return settings(max_examples=number * _FACTOR, **options)
