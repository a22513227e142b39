"""Observed sessions: what happened in them, and the fate of every candidate for promotion."""

from enum import StrEnum
from hashlib import blake2b
from typing import Annotated

from pydantic import Field

from treering.core.events import SessionOutcome, SessionType
from treering.core.scope import Visibility
from treering.core.taint import Taint
from treering.core.values import (  # fmt: skip
    EMPTY,
    Count,
    FilePath,
    FilePaths,
    FrozenMap,
    Instant,
    Key,
    Keys,
    Label,
    Labels,
    Record,
    Share,
    Text,
    Value,
)

PROMOTION = "promotion of observed sessions"
"""Claim of transactions that promote, or that change evidence for another reason."""


def session_claim(session: str) -> str:
    """Claim of transactions that change the scratchpads of a session; taken after `PROMOTION`."""
    return f"observed session {session}"


UNREADABLE_CHECKPOINTS = "unreadable_checkpoints"
"""Key of `ObservedSession.ignored`."""
SIGNAL_TAG = "signal:"
"""Beginning of the tag that names the signal of a promoted record."""
SYNTHESIS = "synthesis"
"""Tag of records that were written from statistics over sessions, and signal of their evidence."""
OWN_WORDS = f"{SIGNAL_TAG}self_correction"
"""Tag of records in the words of a session. Other signals write a sentence around names that sessions share."""


PackedWords = Annotated[str, Field(pattern=r"^(?:\d{1,9} [A-Za-z0-9+/]*={0,2})?$", max_length=1_000_000)]
"""Codes and counts of words, as `core.past_sessions.SessionWords` packs them."""


class Gate(StrEnum):
    """Checks that a candidate passes before it becomes a record, in this order."""

    SESSION_TYPE = "session_type"
    VALIDATION = "validation"
    FREQUENCY = "frequency"
    NOVELTY = "novelty"
    TRUST = "trust"
    SCORE = "score"
    LIMIT = "limit"


class GateDecision(StrEnum):
    PROMOTED = "promoted"
    REINFORCED = "reinforced"
    REJECTED = "rejected"


class Candidate(Value):
    """What a session suggests to remember, and what became of it. `gate` is where a rejected one was stopped."""

    signal: Label
    subject: Text
    type: Label
    text: Text
    decision: GateDecision
    gate: Gate | None = None
    reason: Text = ""
    files: FilePaths = ()
    sessions: Count = 1
    score: Share = 0.0
    record: Key | None = None
    taint: Taint | None = None


class SessionFile(Value):
    """How often a session read and edited a file, and at which step it first did."""

    path: FilePath
    reads: Count = 0
    edits: Count = 0
    first_step: Count = 0


class ObservedSession(Record):
    """A session that was observed. `finished_at` is None while it runs.

    `events` are those that were taken in; `ignored` counts duplicates, unknown kinds and unusable events by reason.
    `words` are those of the prompts.
    """

    type: SessionType = SessionType.BUILD
    agent: Label | None = None
    root: Text | None = None
    started_at: Instant
    last_at: Instant
    finished_at: Instant | None = None
    outcome: SessionOutcome | None = None
    validated: bool | None = None
    events: Count = 0
    steps: Count = 0
    tokens: Count = 0
    kinds: FrozenMap = EMPTY
    ignored: FrozenMap = EMPTY
    prompts: tuple[Text, ...] = ()
    words: PackedWords = ""
    files: tuple[SessionFile, ...] = ()
    modules: Labels = ()
    signals: FrozenMap = EMPTY
    candidates: tuple[Candidate, ...] = ()
    taints: Labels = ()
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT

    @property
    def promoted_ids(self) -> tuple[str, ...]:
        """Ids of the records that this session created."""
        made = (each.record for each in self.candidates if each.decision is GateDecision.PROMOTED)
        return tuple(id for id in made if id is not None)


class SavedScratchpad(Record):
    """The scratchpads of a session's agents, as JSON; kept after the session, so that it can be continued.

    `removals` counts how often words were removed from it, so that a running watch does not bring them back.
    """

    saved_at: Instant
    state: Text
    removals: Count = 0
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT


class SignalEvidence(Record):
    """What sessions showed about one subject of a signal.

    Sessions whose evidence is tainted are counted apart, and `detail` comes from untainted ones only, so that a record
    is free of taint exactly if untainted sessions alone support it. `text` is the content last written to `record`.
    Once that record is purged, the evidence has no content, only its id and the record's: it is not promoted again.
    """

    signal: Label
    subject: Text
    sessions: Keys = ()
    tainted_sessions: Keys = ()
    occurrences: Count = 0
    detail: FrozenMap = EMPTY
    tainted_detail: FrozenMap = EMPTY
    taint: Taint | None = None
    files: FilePaths = ()
    first_seen_at: Instant
    last_seen_at: Instant
    record: Key | None = None
    text: Text = ""

    @property
    def purged(self) -> bool:
        """Whether the record was purged, and the content of the evidence with it."""
        return self.record is not None and not self.subject


def evidence_id(signal: str, subject: str) -> str:
    """Id of the evidence about a subject of a signal."""
    return blake2b(f"{signal}\n{subject}".encode("utf-8", "replace"), digest_size=16).hexdigest()
