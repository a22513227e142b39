"""Taint: a record came from outside the project, or rests on one that did, and no person has confirmed it."""

from collections.abc import Iterable
from typing import Any, Self

from pydantic import model_validator

from treering.core.values import Key, Label, Text, Value

_SHOWN = 120
"""Characters of a taint in a citation."""


class Taint(Value):
    """Where a record came from and why that makes it doubtful; `record` is the tainted record it was derived from."""

    source: Label
    reason: Text = ""
    record: Key | None = None

    def passed_on(self, record: str) -> "Taint":
        """The taint of what is derived from `record`, which has this one."""
        return self if self.record is not None else self.replace(record=record)

    def __str__(self) -> str:
        """For a citation: its beginning, if it is long."""
        told = f"{self.source}: {self.reason}" if self.reason else self.source
        return told if len(told) <= _SHOWN else f"{told[: _SHOWN - 1]}…"


# Not validated: building the validator takes longer than opening a file.
UNKNOWN = Taint.model_construct(source="unknown", reason="its source was not named", record=None)


class Taintable(Value):
    """A record with the fields `tainted` and `taint`, which agree. Tainted knowledge in use waits for review."""

    @model_validator(mode="before")
    @classmethod
    def _agreeing(cls, fields: Any) -> Any:
        """Without a taint it is unknown; `tainted=False` clears it."""
        if not isinstance(fields, dict):
            return fields
        taint = fields.get("taint")
        tainted = fields.get("tainted", taint is not None)
        if not tainted:
            return fields if taint is None else {**fields, "taint": None}
        review = "needs_review" in cls.model_fields and fields.get("deprecated_at") is None
        return {**fields, "tainted": tainted, "taint": taint or UNKNOWN, **({"needs_review": True} if review else {})}

    def replace(self, **changes: Any) -> Self:
        if "taint" in changes:
            changes["tainted"] = changes["taint"] is not None
        return super().replace(**changes)


def inherited_taint(records: Iterable[Any]) -> Taint | None:
    """The taint of what is derived from all of these: that of the first that has one."""
    return next((each.taint.passed_on(each.id) for each in records if each.taint is not None), None)
