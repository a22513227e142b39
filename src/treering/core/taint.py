"""Taint of records from outside the project, or derived from such records, that no person has confirmed."""

from collections.abc import Iterable
from typing import Any, Self

from pydantic import model_validator

from treering.core.values import Key, Label, Text, Value

TAINTED_FACTOR = 0.7
"""Confidence of a record that was derived after outside content is multiplied by it."""
_MAX_CHARACTERS = 120  # of a taint in a citation


class Taint(Value):
    """Source of a taint and its reason; `record` is the tainted record that this one was derived from."""

    source: Label
    reason: Text = ""
    record: Key | None = None

    def passed_on(self, record: str) -> "Taint":
        """The taint of a record derived from `record`, which has this taint."""
        return self if self.record is not None else self.replace(record=record)

    def __str__(self) -> str:
        """Short text for a citation."""
        text = f"{self.source}: {self.reason}" if self.reason else self.source
        return text if len(text) <= _MAX_CHARACTERS else f"{text[: _MAX_CHARACTERS - 1]}…"


# Built without validation: building the validator takes longer than opening a file.
UNKNOWN = Taint.model_construct(source="unknown", reason="its source was not named", record=None)


class Taintable(Value):
    """A record with consistent fields `tainted` and `taint`. Current tainted knowledge waits for review."""

    @model_validator(mode="before")
    @classmethod
    def _agreeing(cls, fields: Any) -> Any:
        """Make both fields consistent: the default taint is unknown, and `tainted=False` clears it."""
        if not isinstance(fields, dict):
            return fields
        taint = fields.get("taint")
        tainted = fields.get("tainted", taint is not None)
        if not tainted:
            return fields if taint is None else {**fields, "taint": None}
        is_silent = fields.get("needs_review", False) is False  # a value that is not valid stays, to be refused
        review = is_silent and "needs_review" in cls.model_fields and fields.get("deprecated_at") is None
        return {**fields, "tainted": tainted, "taint": taint or UNKNOWN, **({"needs_review": True} if review else {})}

    def replace(self, **changes: Any) -> Self:
        if "taint" in changes:
            changes["tainted"] = changes["taint"] is not None
        return super().replace(**changes)


def inherited_taint(records: Iterable[Any]) -> Taint | None:
    """The taint of a record derived from these: that of the first tainted one; None without any."""
    return next((each.taint.passed_on(each.id) for each in records if each.taint is not None), None)
