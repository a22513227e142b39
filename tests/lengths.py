"""How long the tests that kill, race and wait go on: enough to meet what goes wrong, or as long as `make soak` has."""

import os
from typing import TypeVar

T = TypeVar("T")
FULL = os.environ.get("TREERING_TEST_LENGTH") == "full"


def at_length(usual: T, *, full: T) -> T:
    return full if FULL else usual
