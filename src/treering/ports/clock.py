"""Time and fresh names, as arguments."""

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime]
"""The present moment, in UTC."""

NewId = Callable[[], str]
"""A fresh id; later ids sort after earlier ones."""
