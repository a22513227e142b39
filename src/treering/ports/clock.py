"""The clock and the source of new ids, passed as arguments."""

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime]
"""Returns the current time, in UTC."""

NewId = Callable[[], str]
"""Returns a new id; later ids sort after earlier ones."""
