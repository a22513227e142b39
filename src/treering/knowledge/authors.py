"""Authors of corrections and confirmations, their reasons, and what each author may change."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from treering.core.errors import InvalidInput
from treering.core.records import Knowledge, Source
from treering.core.taint import UNKNOWN, Taint
from treering.core.values import EMPTY

# Share of its confidence that a corrected record keeps: enough for its history, too little to be heard.
CORRECTED_FACTOR = 0.3

AGENT_CONFIDENCE = Knowledge.model_fields["confidence"].default
"""Confidence of a record without a person's confirmation."""


class Reason(StrEnum):
    """Why a record is corrected."""

    INACCURATE = "inaccurate"
    OUTDATED = "outdated"
    TOO_SPECIFIC = "too_specific"
    DUPLICATE = "duplicate"

    @classmethod
    def named(cls, name: str) -> "Reason":
        """The reason with this name. Raises `InvalidInput` with the known reasons for any other."""
        try:
            return cls(name)
        except ValueError:
            raise InvalidInput(f"{name!r} is not a reason; use one of {', '.join(cls)}") from None


@dataclass(frozen=True, slots=True)
class Author:
    """Author of a correction or confirmation: a person, unless another source is given.

    `tainted` is set if the text came from outside; `taint` names its source.
    """

    source: Source = Source.USER_TAUGHT
    session: str | None = None
    tainted: bool = False
    taint: Taint | None = None

    @property
    def effective_taint(self) -> Taint | None:
        """Taint of the text; None if it is trusted."""
        return self.taint or (UNKNOWN if self.tainted else None)

    @property
    def is_person(self) -> bool:
        return self.source is Source.USER_TAUGHT and self.effective_taint is None

    @property
    def log_detail(self) -> Mapping[str, str]:
        """Details for the audit log; empty for a person."""
        detail = {"by": self.source.value, "session": self.session}
        return EMPTY if self.is_person else {name: value for name, value in detail.items() if value is not None}

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
            raise InvalidInput(
                "reason 'duplicate' needs duplicate_of, the id of the repeated record, and takes no text"
            )
        if duplicate_of == id:
            raise InvalidInput(
                f"{id!r} cannot be a duplicate of itself; pass the id of the other record as duplicate_of"
            )
    elif duplicate_of is not None:
        raise InvalidInput(f"duplicate_of needs the reason 'duplicate', not {reason.value!r}")


def check_author(by: Author, old: Knowledge, same: Knowledge | None) -> None:
    """Raise `InvalidInput` if tainted text would replace a record that a person stated or confirmed."""
    is_tainted = by.effective_taint is not None or (same is not None and same.tainted and not by.is_person)
    if is_tainted and old.is_from_person:
        raise InvalidInput(
            f"{old.id!r} was stated by a person, and text from outside cannot replace it; ask the user, or remember "
            "it as a new record"
        )


def is_evidence(repetition: Knowledge, known: Knowledge) -> bool:
    """Whether `repetition` is evidence for `known`: it must be trusted at least as much."""
    return _trust(repetition) >= _trust(known)


def _trust(record: Knowledge) -> int:
    """0 for tainted records, 1 for those of agents, 2 for those of persons."""
    return 0 if record.tainted else 1 + record.is_from_person
