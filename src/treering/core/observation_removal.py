"""Removal of a purged record's words from what was observed."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from treering.core.observations import Candidate, ObservedSession, SavedScratchpad, SignalEvidence
from treering.core.prompt_words import session_words
from treering.core.quotations import without_quotation
from treering.core.values import EMPTY

_MIN_QUOTED_WORDS = 4  # a shorter text is only recognised as a whole
_MIN_OWN_WORDS = 2
# Parts of evidence in the words of a session or of a program's output.
_SENTENCES = ("sentence", "approach", "reason", "alternative", "summary", "failure")
# Whatever a scratchpad noted may repeat the words. The rest prevents that events are counted a second time.
_NOTED: dict[str, Any] = {
    "activity": None,
    "clean": None,
    "recent": None,
    "same": {},
    "pending": [],
    "alerts": [],
}


def quotes(text: str, words: str) -> bool:
    """Whether a text contains a run of these words, or is a short text of exactly these words."""
    folded, wanted = (" ".join(each.casefold().split()).rstrip("…") for each in (text, words))
    if not folded or not wanted:
        return False
    if len(wanted.split()) < _MIN_QUOTED_WORDS:
        return folded == wanted
    return folded in wanted or without_quotation(text, words) != text


def words_of(evidence: SignalEvidence) -> frozenset[str]:
    """Sentences and messages of sessions in the evidence, as far as they are long enough to be recognised."""
    found = (detail.get(name) for detail in (evidence.detail, evidence.tainted_detail) for name in _SENTENCES)
    return frozenset(each for each in found if isinstance(each, str) and len(each.split()) >= _MIN_OWN_WORDS)


def evidence_without_content(evidence: SignalEvidence) -> SignalEvidence:
    """What remains of the evidence of a purged record: that it was rejected, and in how many sessions it was seen."""
    return evidence.replace(subject="", detail=EMPTY, tainted_detail=EMPTY, files=(), text="", taint=None)


def session_without_words(
    session: ObservedSession, texts: Sequence[str], *, record: str, subjects: Collection[tuple[str, str]]
) -> ObservedSession:
    """The session without prompts that quote the texts and their words, and without the content of candidates for the
    record.

    `subjects` are the signals and subjects of evidence that is removed with the record.
    """
    candidates = tuple(
        _without_content(each)
        if each.record == record or (each.record is None and (each.signal, each.subject) in subjects)
        else each
        for each in session.candidates
    )
    prompts = tuple(each for each in session.prompts if not any(quotes(each, text) for text in texts))
    words = session.words if prompts == session.prompts else session_words(prompts).packed()
    return session.replace(candidates=candidates, prompts=prompts, words=words)


def scratchpad_without_words(saved: SavedScratchpad, texts: Sequence[str]) -> SavedScratchpad:
    """The scratchpad without everything noted, and without prompts and messages that quote the texts.

    An unreadable one is emptied.
    """

    def is_kept(text: str) -> bool:
        return not any(quotes(text, each) for each in texts)

    try:
        state = json.loads(saved.state)
        for pad in (*state["pads"].values(), *(part for each in state["pads"].values() for part in each["parts"])):
            pad.update(_NOTED, prompts=[each for each in pad["prompts"] if is_kept(each)])
        state["messages"] = []
        conversation = state["conversation"]
        conversation["messages"] = [each for each in conversation["messages"] if is_kept(each[2])]
        if conversation["answer"] is not None and not is_kept(conversation["answer"][2]):
            conversation["answer"] = None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return saved.replace(state="{}", removals=saved.removals + 1)
    written = json.dumps(state, ensure_ascii=False, separators=(",", ":"))
    return saved.replace(state=written, removals=saved.removals + 1)


def _without_content(candidate: Candidate) -> Candidate:
    return candidate.replace(subject="", text="", files=(), taint=None)
