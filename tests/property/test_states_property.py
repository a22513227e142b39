"""Whatever is said: an order of states shows every result once, and nothing before what it is superseded by."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

import treering
from treering.core.language.stance import LANGUAGES, stance_of

START = datetime(2026, 1, 5, 8, tzinfo=UTC)
SUBJECTS = ("The standup", "My dentist appointment", "The billing API", "Our office", "Das Review", "La riunione")
VERBS = ("is at", "moved to", "is no longer at", "might go to", "ist jetzt am", "è spostata a", "was once at")
VALUES = ("9:15", "Friday", "port 8081", "Leeds", "12 March", "Dr Okafor", "14 Uhr")
texts = st.builds(
    lambda subject, verb, value, end: f"{subject} {verb} {value}{end}",
    st.sampled_from(SUBJECTS),
    st.sampled_from(VERBS),
    st.sampled_from(VALUES),
    st.sampled_from((".", "?", "", "! Sorry.")),
)
queries = st.sampled_from(
    (
        "When is the standup?",
        "Where is our office now?",
        "When was my dentist appointment before?",
        "How has the billing API changed over time?",
        "Wann ist das Review?",
        "What was the port of the billing API on 6 January 2026?",
    )
)


@settings(max_examples=25, deadline=None)
@given(said=st.lists(texts, min_size=1, max_size=8), query=queries)
def test_every_result_is_shown_once_and_below_what_supersedes_it(said: list[str], query: str) -> None:
    with TemporaryDirectory() as folder, treering.open(Path(folder) / "memory.db", project="p") as memory:
        for place, text in enumerate(said):
            at = START + timedelta(hours=7 * place)
            memory.turn(session="s", role="user", text=text, at=at, id=f"t{place}")
        answer = memory.search(query, limit=20, repeated=True)
        ids = [hit.id for hit in answer]
        assert len(ids) == len(set(ids))
        scores = [hit.score for hit in answer]
        assert scores == sorted(scores, reverse=True)
        for hit in answer:
            assert hit.superseded_by is None or ids.index(hit.superseded_by) < ids.index(hit.id)


@given(text=st.text(max_size=200), language=st.sampled_from((*LANGUAGES, "zh", "")))
def test_any_text_has_a_stance(text: str, language: str) -> None:
    stance = stance_of(text, language)
    assert not (stance.changes or stance.others or stance.values) or stance.states
