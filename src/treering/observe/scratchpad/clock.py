"""Time of a session, in seconds that never run backwards."""

from dataclasses import dataclass

_OUT_OF_ORDER = 60.0  # seconds; an event that is older than this means that the clock was set back


@dataclass(slots=True)
class SessionClock:
    """Sums the time between events. A late event adds nothing; a clock that was set back goes on from there."""

    elapsed: float = 0.0
    last: float | None = None

    def advance(self, at: float | None) -> float:
        """Seconds since the first event, at an event of this time."""
        if at is None:
            return self.elapsed
        if self.last is None or at >= self.last:
            self.elapsed += at - self.last if self.last is not None else 0.0
            self.last = at
        elif self.last - at > _OUT_OF_ORDER:
            self.last = at
        return self.elapsed
