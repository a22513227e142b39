"""Identity of events: how a watch recognises an event that it, or another watch of the session, has taken in."""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import islice
from typing import Any

from treering.core.events import EventKind
from treering.core.values import NUMBER_BITS
from treering.observe.scratchpad.hashes import hash_of
from treering.observe.scratchpad.intake import seconds_of

SAME_MOMENT = 5.0  # seconds between two reports of one message, by a hook and by a transcript
_MAX_REMEMBERED = 4_096
_MAX_TEXTS = 256
_BEGINNING = 2_000  # characters of a text that are compared, besides its length
_MAX_PARTS = 50  # of a mapping or list that are compared
_CONTENT = ("kind", "agent", "tool", "call_id", "text", "arguments", "is_error", "files", "metadata")
_CALLS = frozenset({EventKind.TOOL_CALL, EventKind.TOOL_RESULT})
_MESSAGES = frozenset({EventKind.PROMPT, EventKind.REASONING})


class EventIds:
    """Gives ids to events without one, from their content and time.

    Equal events of one watch get different ids, and another watch that sees the same events gives the same ids. An
    event without a time gets none: an equal one may be another event.
    """

    def __init__(self) -> None:
        self._repetitions: dict[str, int] = {}

    def identified(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """A copy of the event, with an id if one can be given."""
        event = dict(fields)
        if event.get("id") or (event.get("call_id") and event.get("kind") in _CALLS):
            return event
        at = seconds_of(event.get("at"))
        if at is None:
            return event
        digest = _digest(event, at)
        number = self._repetitions.pop(digest, -1) + 1
        if len(self._repetitions) >= _MAX_REMEMBERED:
            del self._repetitions[next(iter(self._repetitions))]
        self._repetitions[digest] = number
        event["id"] = f"{digest}-{number}"
        return event


class RecentMessages:
    """The latest prompts and words of the agent: a hook and a transcript report one message under different ids."""

    def __init__(self, known: Iterable[tuple[int, float]] = ()) -> None:
        self._times = dict(known)

    def is_repeated(self, fields: Mapping[str, Any], agent: str) -> bool:
        """Whether the agent's conversation had the same message at the same moment; it is remembered from now on."""
        kind, text = fields.get("kind"), fields.get("text")
        if kind not in _MESSAGES or not isinstance(text, str):
            return False
        at = seconds_of(fields.get("at"))
        if at is None or not (said := text.strip()):
            return False
        key = hash_of(f"{kind} {agent} {len(said)} {said[:_BEGINNING]}")
        before = self._times.pop(key, None)
        if len(self._times) >= _MAX_TEXTS:
            del self._times[next(iter(self._times))]
        self._times[key] = at
        return before is not None and abs(at - before) <= SAME_MOMENT

    def state(self) -> list[tuple[int, float]]:
        return list(self._times.items())


def _digest(event: Mapping[str, Any], at: float) -> str:
    content = "\n".join(f"{name}={_brief(event[name])}" for name in _CONTENT if name in event)
    return blake2b(f"{at!r}\n{content}".encode("utf-8", "replace"), digest_size=12).hexdigest()


def _brief(value: object, levels: int = 3) -> str:
    """Enough of a value to tell it from others, in little time however large it is."""
    if isinstance(value, str):
        return f"{len(value)} {value[:_BEGINNING]}"
    if levels and isinstance(value, Mapping):
        return ";".join(f"{name!s}:{_brief(value[name], levels - 1)}" for name in islice(value, _MAX_PARTS))
    if levels and isinstance(value, (list, tuple)):
        return f"{len(value)} {','.join(_brief(each, levels - 1) for each in value[:_MAX_PARTS])}"
    if isinstance(value, int):
        return str(value) if value.bit_length() <= NUMBER_BITS else "number"
    return repr(value) if isinstance(value, float) else type(value).__name__
