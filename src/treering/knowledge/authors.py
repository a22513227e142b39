"""Whose word it is: who corrects or confirms a record, for what reason, and what they may say of others' words."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from treering.core.errors import InvalidInput
from treering.core.records import Knowledge, Source
from treering.core.taint import UNKNOWN, Taint
from treering.core.values import EMPTY

# Share of its confidence that a corrected record keeps: enough for its history, too little to be heard.
CORRECTED_FACTOR = 0.3
TAUGHT_CONFIDENCE = 0.95  # a person's own words start where confirmation ends

AGENT_CONFIDENCE = Knowledge.model_fields["confidence"].default
"""How sure a record is that nobody vouched for."""


class Reason(StrEnum):
    """Why a record is corrected."""

    INACCURATE = "inaccurate"
    OUTDATED = "outdated"
    TOO_SPECIFIC = "too_specific"
    DUPLICATE = "duplicate"

    @classmethod
    def named(cls, name: str) -> "Reason":
        """The reason called so; an unknown one is an error that lists the known."""
        try:
            return cls(name)
        except ValueError:
            raise InvalidInput(f"{name!r} is not a reason; use one of {', '.join(cls)}") from None


@dataclass(frozen=True, slots=True)
class Author:
    """Who corrects or confirms a record: a person, unless another source is named.

    What they say is `tainted` if it came from outside; `taint` says from where.
    """

    source: Source = Source.USER_TAUGHT
    session: str | None = None
    tainted: bool = False
    taint: Taint | None = None

    @property
    def outside(self) -> Taint | None:
        """Where it came from, if it came from outside."""
        return self.taint or (UNKNOWN if self.tainted else None)

    @property
    def is_person(self) -> bool:
        return self.source is Source.USER_TAUGHT and self.outside is None

    @property
    def told(self) -> Mapping[str, str]:
        """What the log says beside who acted: nothing of a person."""
        said = {"by": self.source.value, "session": self.session}
        return EMPTY if self.is_person else {name: value for name, value in said.items() if value is not None}

    def check_confirmation(self, record: Knowledge) -> None:
        """Raise `InvalidInput` if only a person may confirm the record: it is flagged, or came from outside."""
        doubts = {"was flagged by a person": record.flagged, "came from outside": record.tainted}
        for doubt in (text for text, applies in doubts.items() if applies and not self.is_person):
            raise InvalidInput(
                f"{record.id!r} {doubt}, so only a person can confirm it; ask the user to run "
                f"`treering confirm {record.id}`"
            )


def check_correction(id: str, reason: Reason, text: str | None, duplicate_of: str | None) -> None:
    if reason is Reason.DUPLICATE:
        if duplicate_of is None or text is not None:
            raise InvalidInput("a duplicate names the record it repeats (duplicate_of) and brings no text")
        if duplicate_of == id:
            raise InvalidInput(f"{id!r} cannot be a duplicate of itself; name the other record")
    elif duplicate_of is not None:
        raise InvalidInput(f"duplicate_of goes with the reason 'duplicate', not {reason.value!r}")


def check_author(by: Author, old: Knowledge, same: Knowledge | None) -> None:
    """What came from outside neither retires a person's word nor stands in its place; only a person can say so."""
    from_outside = by.outside is not None or (same is not None and same.tainted and not by.is_person)
    if from_outside and old.is_from_person:
        raise InvalidInput(
            f"{old.id!r} is a person's word, and text from outside does not replace it; ask the user, or keep it "
            "as a record of its own"
        )


def is_witness(said: Knowledge, known: Knowledge) -> bool:
    """Whether `said` is evidence for `known`: what is trusted less is not, and has nothing to say beside it."""
    return _trust(said) >= _trust(known)


def _trust(record: Knowledge) -> int:
    """From outside, an agent's, or a person's."""
    return 0 if record.tainted else 1 + record.is_from_person
