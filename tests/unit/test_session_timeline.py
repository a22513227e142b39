"""The timeline of a session, from its saved scratchpad."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.session_events import START, Session
from treering.core.events import SessionType
from treering.core.observations import SavedScratchpad
from treering.observe.conversation import ObservedConversation
from treering.observe.scratchpad import Scratchpad
from treering.observe.timeline import SessionTimeline, timeline_of


def saved(session: Session, *, without_times: bool = False) -> SavedScratchpad:
    pad = Scratchpad("s1", type=SessionType.BUILD, root="/home/dev/harbour")
    conversation = ObservedConversation()
    for event in session.events:
        pad.add(event)
        conversation.add(event, None)
    kept = pad.state()
    if without_times:  # as written before times were kept
        kept["recent"]["journal"] = [row[:4] for row in kept["recent"]["journal"]]
        del kept["recent"]["now"]
    state = {"pads": {"": kept}, "conversation": conversation.state()}
    return SavedScratchpad.make(id="s1", saved_at=START, state=json.dumps(state))


def session() -> Session:
    made = Session().event("prompt", text="fix the tide table").read("tides/tide.go")
    return made.edit("tides/tide.go").event("prompt", text="now the docs")


def test_messages_and_actions_are_in_the_order_of_their_times() -> None:
    found = timeline_of(saved(session()))
    assert [each.kind for each in found.entries] == ["prompt", "read", "edited", "prompt"]
    assert [each.text for each in found.entries][1:3] == ["tides/tide.go", "tides/tide.go"]
    assert all(each.at is not None for each in found.entries)


def test_actions_of_older_scratchpads_are_shown_without_a_time() -> None:
    found = timeline_of(saved(session(), without_times=True))
    assert [each.at is None for each in found.entries if each.step] == [True, True]
    assert len(found.entries) == 4


def test_nothing_kept_or_unreadable_is_an_empty_timeline() -> None:
    assert timeline_of(None) == SessionTimeline()
    assert timeline_of(SavedScratchpad.make(id="s1", saved_at=START, state="{")) == SessionTimeline()
    assert timeline_of(SavedScratchpad.make(id="s1", saved_at=START, state="{}")) == SessionTimeline()


@given(st.integers(0, 260))
def test_kept_and_dropped_actions_are_all_actions(reads: int) -> None:
    made = Session()
    for number in range(reads):
        made.read(f"tides/tide{number}.go")
    found = timeline_of(saved(made))
    assert len(found.entries) + found.dropped == reads
    times = [each.at for each in found.entries if each.at]
    assert times == sorted(times)
