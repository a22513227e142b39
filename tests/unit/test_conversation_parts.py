"""The parts of a conversation by themselves: what matters, what belongs together, who leaves, what is told of it."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property.conversation_histories import QUARTER as METER
from tests.property.conversation_histories import Quarter, histories
from treering.conversation import markers, pruning
from treering.conversation.cues.detection import MessageCues, cues_of
from treering.conversation.fingerprints import fingerprint_of
from treering.conversation.identifiers import names_in
from treering.conversation.importance import ImportanceInputs, importance, modifiers_of, scores, total
from treering.conversation.markers import Marker
from treering.conversation.message_turns import message_of, turn_of
from treering.conversation.quotations import quote
from treering.conversation.strategies import STRATEGIES, StrategyInput, completed_tasks, strategy_named
from treering.conversation.summaries import gist_of, summarise
from treering.conversation.transcript import Transcript, TranscriptEntry, completed, redundant
from treering.conversation.truncation import cut_text, cut_to_fit, too_large
from treering.conversation.window import removed_seqs
from treering.conversation.window_context import SentMessage
from treering.core.errors import ContextTooLarge, InvalidInput
from treering.core.messages import CallPart, Message, ResultPart, Role, TextPart
from treering.core.scope import Scope
from treering.core.turns import Turn

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PLAIN = Message.of("user", "the parser reads it")
CALL = Message.make(role="assistant", parts=(CallPart.make(id="c", name="read"),))
RESULT = Message.make(role="tool", parts=(ResultPart.make(call_id="c", parts=(TextPart.make(text="x"),)),))


def entry_of(
    message: Message, place: int = 0, *, at: datetime = NOW, cues: MessageCues | None = None
) -> TranscriptEntry:
    read = cues_of(message) if cues is None else cues
    worth = modifiers_of(message, read)
    return TranscriptEntry(
        place=place,
        seq=place,
        id=message.id or f"m{place}",
        role=message.role,
        at=at,
        message=message,
        tokens=METER.message(message),
        cues=read,
        modifiers=worth,
        worth=total(worth),
        names=names_in(message.text),
        gist=gist_of(message.text, read),
        fingerprint=fingerprint_of(message),
    )


def transcript_of(said: Iterable[Message | tuple[str, str]]) -> Transcript:
    transcript = Transcript()
    for place, each in enumerate(said):
        transcript.append(entry_of(Message.of(*each) if isinstance(each, tuple) else each, place))
    return transcript


def calling(*ids: str) -> Message:
    return Message.make(role="assistant", parts=tuple(CallPart.make(id=id, name="read") for id in ids))


def answering(*ids: str) -> Message:
    return Message.make(role="tool", parts=tuple(ResultPart.make(call_id=id) for id in ids))


def rounds(said: Iterable[Message | tuple[str, str]]) -> list[list[int]]:
    return [[entry.place for entry in each.entries] for each in transcript_of(said).rounds()]


def leaving(
    said: Sequence[Message | tuple[str, str]],
    strategy: str,
    *,
    tokens: int = 0,
    limit: int | None = None,
    keep: int = 0,
) -> list[int]:
    """Places in the order in which they leave."""
    gone = pruning.decide(
        transcript_of(said),
        frozenset(),
        frozenset(),
        NOW,
        room=pruning.WindowCapacity(tokens=tokens, messages=None),
        limit=pruning.WindowCapacity(tokens=tokens if limit is None else limit, messages=None),
        marker=pruning.MarkerSizes(1, 1_000, 1_000),
        protection=pruning.Protection(keep),
        strategy=strategy_named(strategy),
        fading=1_000,
    )
    return list(gone)


@pytest.mark.parametrize(
    ("message", "cues", "standing", "score"),
    [
        (PLAIN, MessageCues(), {}, 0.5),
        (CALL, MessageCues(), {}, 0.8),
        (RESULT, MessageCues(), {}, 0.7),
        (PLAIN, MessageCues(directive=True), {}, 0.7),
        (PLAIN, MessageCues(error=True), {}, 0.8),
        (PLAIN, MessageCues(correction=True), {}, 0.7),
        (PLAIN, MessageCues(references=1), {}, 0.6),
        (PLAIN, MessageCues(references=3), {}, 0.8),
        (PLAIN, MessageCues(casual=True), {}, 0.3),
        (PLAIN, MessageCues(), {"completed": True}, 0.2),
        (PLAIN, MessageCues(), {"redundant": True}, 0.3),
        (RESULT, MessageCues(error=True), {"redundant": True}, 0.8),
        (PLAIN, MessageCues(), {"unimportant": True}, 0.0),
        (PLAIN, MessageCues(casual=True), {"completed": True}, 0.0),
        (RESULT, MessageCues(error=True), {}, 1.0),
        (RESULT, MessageCues(error=True), {"completed": True}, 0.7),
        (CALL, MessageCues(error=True, references=5), {"after": 0}, 1.0),
        (PLAIN, MessageCues(directive=True, correction=True), {"completed": True, "after": 12}, 0.7),
        (Message.of("system", "obey"), MessageCues(), {"completed": True, "unimportant": True}, 1.0),
    ],
)
def test_each_modifier_alone_and_together(
    message: Message, cues: MessageCues, standing: dict[str, Any], score: float
) -> None:
    told = importance(entry_of(message, cues=cues), ImportanceInputs(**{"after": 99, "now": NOW, **standing}))
    assert told.score == pytest.approx(score)
    assert 0 <= told.score <= 1
    assert min(1.0, max(0.0, total(told.modifiers))) == pytest.approx(told.score)
    assert all(value for name, value in told.modifiers if name != "marked unimportant")


@pytest.mark.parametrize(
    ("after", "gain"), [(0, 0.4), (4, 0.4), (5, 0.2), (9, 0.2), (10, 0.1), (19, 0.1), (20, 0.0), (999, 0.0)]
)
def test_the_last_five_ten_and_twenty_gain(after: int, gain: float) -> None:
    told = importance(entry_of(PLAIN, cues=MessageCues()), ImportanceInputs(after, NOW))
    assert (told.score, dict(told.modifiers).get("recent", 0.0)) == (pytest.approx(0.5 + gain), gain)


@pytest.mark.parametrize(("hours", "lost"), [(23.9, 0), (24, 0.1), (47.9, 0.1), (72, 0.3), (9_600, 0.5), (-120, 0)])
def test_each_whole_day_of_age_costs(hours: float, lost: float) -> None:
    told = importance(entry_of(PLAIN, at=NOW - timedelta(hours=hours), cues=MessageCues()), ImportanceInputs(99, NOW))
    assert told.score == pytest.approx(0.5 - lost)


FLAGS = dict.fromkeys(("directive", "correction", "error", "casual"), st.booleans())
CUES = st.builds(MessageCues, references=st.integers(0, 5), **FLAGS)


@given(
    said=st.lists(
        st.tuples(st.sampled_from([PLAIN, CALL, RESULT, Message.of("system", "x")]), CUES, st.integers(-40, 400)),
        max_size=30,
    ),
    data=st.data(),
)
def test_the_fast_scores_are_those_that_are_explained(said: list[Any], data: st.DataObject) -> None:
    entries = [
        entry_of(message, place, at=NOW - timedelta(hours=hours), cues=cues)
        for place, (message, cues, hours) in enumerate(said)
    ]
    places = st.frozensets(st.integers(0, max(0, len(entries) - 1)))
    over, poor = data.draw(places), frozenset(f"m{place}" for place in data.draw(places))
    twice = data.draw(places)

    def standing(entry: TranscriptEntry) -> ImportanceInputs:
        place = entry.place
        return ImportanceInputs(
            len(entries) - 1 - place, NOW, place in over, entry.id in poor, redundant=place in twice
        )

    explained = [importance(entry, standing(entry)).score for entry in entries]
    assert scores(entries, NOW, completed=over, unimportant=poor, redundant=twice) == explained


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("The prices are kept in cents.", "the prices are kept in cents!", True),
        ("Prices are kept in cents", "In cents the price is kept", True),
        ("The limit of the pool is 30", "The limit of the pool is 60", False),
        ("x " * 5_000, "x  " * 5_000, True),
        ("x " * 5_000, "y " * 5_000, False),
        ("ok, go", "ok, go", False),
        ("", "", False),
    ],
)
def test_messages_that_say_the_same_are_redundant_but_for_the_last(one: str, other: str, same: bool) -> None:
    transcript = transcript_of([("user", one), ("assistant", one), ("user", other)])
    assert redundant(transcript, frozenset()) == ({0} if same else set())
    assert redundant(transcript, {2}) == frozenset(), "what left repeats nothing"


def test_what_is_said_again_later_leaves_first() -> None:
    said = [("user", f"the parser reads table {number} of the shop") for number in range(30)]
    said[25] = said[7]
    assert leaving(said, "importance")[0] == 7


USER, ANSWER = ("user", "hello there"), ("assistant", "it is done there")


@pytest.mark.parametrize(
    ("said", "together"),
    [
        ([USER, ANSWER, USER, ANSWER], [[0, 1], [2, 3]]),
        ([USER, USER, ANSWER, ANSWER], [[0], [1, 2, 3]]),
        ([("system", "x"), ANSWER, USER], [[0], [1], [2]]),
        ([USER, ("system", "x"), ANSWER], [[0, 2], [1]]),
        ([USER, calling("a"), answering("a"), ANSWER], [[0, 1, 2, 3]]),
        ([USER, calling("a"), answering("a"), calling("b"), answering("b"), ANSWER, USER], [[0, 1, 2, 3, 4, 5], [6]]),
        ([calling("a", "b"), answering("b"), answering("a")], [[0, 1, 2]]),
        ([calling("a", "b"), answering("a", "b")], [[0, 1]]),
        ([calling("a"), USER, answering("a")], [[0, 2], [1]]),
        ([calling("a"), USER, calling("b"), USER, answering("a", "b")], [[0, 1, 2, 4], [3]]),
        ([calling("a"), USER, calling("b"), USER, answering("b"), answering("a")], [[0, 5], [1, 2, 4], [3]]),
        ([calling("a"), USER, answering("a"), ANSWER], [[0, 2], [1, 3]]),
        ([USER, answering("nobody"), ANSWER], [[0, 1, 2]]),
        ([calling("a"), answering("a"), calling("a"), answering("a")], [[0, 1], [2, 3]]),
        ([calling("a"), answering("a"), answering("a")], [[0, 1], [2]]),
    ],
)
def test_what_belongs_together(said: list[Any], together: list[list[int]]) -> None:
    assert rounds(said) == together


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_a_round_that_is_going_on_is_divided_only_where_it_must_be(strategy: str) -> None:
    said: list[Any] = [
        USER,
        calling("a"),
        answering("a"),
        calling("b"),
        answering("b"),
        calling("c"),
        answering("c"),
        ANSWER,
    ]
    assert leaving(said, strategy, tokens=0, limit=10_000, keep=1) == []
    assert leaving(said, strategy, tokens=0, limit=0, keep=1) == [3, 4, 5, 6], "question and answer stay together"


@given(histories())
def test_the_parts_of_a_round_hold_each_message_once_and_question_and_answer_together(said: list[Message]) -> None:
    transcript = transcript_of(said)
    assert sorted(entry.place for each in transcript.rounds() for entry in each.entries) == list(range(len(said)))
    for each in transcript.rounds():
        parts = [[entry.place for entry in part.entries] for part in transcript.parts(each)]
        assert sorted(place for part in parts for place in part) == [entry.place for entry in each.entries]
        first, last = each.entries[0], each.entries[-1]
        if first.role is Role.USER and last.role is Role.ASSISTANT and not last.said.calls:
            assert any(first.place in part and last.place in part for part in parts)


@given(histories())
def test_every_message_is_in_one_unit_and_a_call_in_that_of_its_result(said: list[Message]) -> None:
    transcript = transcript_of(said)
    assert sorted(entry.place for unit in transcript.units() for entry in unit.entries) == list(range(len(said)))
    for unit in transcript.units():
        assert unit.tokens == sum(entry.tokens for entry in unit.entries)
        assert (unit.first, unit.last) == (unit.entries[0].place, unit.entries[-1].place)
        assert all(transcript.unit_of[entry.place] is unit for entry in unit.entries)
    for place, asked in transcript.exchanges.answered_calls.items():
        assert all(transcript.unit_of[call] is transcript.unit_of[place] for call in asked)


def test_a_task_that_goes_on_after_it_was_said_to_be_done_is_not_over() -> None:
    said = [
        ("user", "Write the parser"),
        ("assistant", "Task complete: the parser is written."),
        ("user", "It still fails on empty lines, look at the parser once more."),
        ("assistant", "It is fixed."),
        ("user", "Now let's work on the invoices instead."),
    ]
    transcript = transcript_of(said)
    assert transcript.segment_of[0].ended == "another task was begun"
    assert transcript_of(said[:4]).segment_of[0].ended == ""
    thanked = transcript_of([*said[:2], ("user", "Thanks!")])
    assert thanked.segment_of[0].ended == "said to be done"


def test_a_task_is_over_when_said_so_or_when_another_is_named_but_never_the_current_one() -> None:
    said = [
        ("user", "Write the parser"),
        ("assistant", "Task complete: the parser is written."),
        ("user", "Now let's work on the invoices instead."),
        ("assistant", "Task complete."),
    ]
    assert completed(transcript_of(said[:2])) == frozenset()
    transcript = transcript_of(said)
    assert [segment.first for segment in transcript.segments()] == [0, 2]
    assert completed(transcript) == {0, 1}
    assert completed(Transcript()) == frozenset()


def test_the_rolling_window_lets_the_oldest_pair_leave_first() -> None:
    assert leaving([USER, ANSWER] * 3, "rolling_window", keep=2) == [0, 1, 2, 3]
    one = METER.message(Message.of(*USER)) + METER.message(Message.of(*ANSWER))
    assert leaving([USER, ANSWER] * 3, "rolling_window", tokens=2 * one + 1) == [0, 1]


def test_the_least_important_leaves_first_and_of_equals_the_oldest() -> None:
    said = [
        ("user", "Never deploy on Fridays."),
        ("user", "the parser reads it"),
        ("user", "thanks!"),
        *[("user", "the parser reads it")] * 20,
    ]
    order = leaving(said, "importance")
    assert order[:3] == [2, 1, 3]
    assert order.index(0) > 3


def test_hybrid_lets_completed_tasks_leave_whole_and_corrections_last() -> None:
    said = [
        ("user", "Write the parser"),
        ("assistant", "The parser is written."),
        ("user", "No, that is wrong: I meant the other file."),
        ("assistant", "I changed it."),
        ("user", "Now let's work on the invoices instead."),
        ("assistant", "I look at invoice.py."),
        ("user", "And total_of?"),
        ("assistant", "It adds them up."),
    ]
    assert transcript_of(said).entries[2].cues.correction
    order = leaving(said, "hybrid")
    assert order[-4:] == [0, 1, 2, 3]
    assert set(order) == set(range(6)), "what was said last stays"


def test_a_completed_task_leaves_whole_though_less_would_do() -> None:
    said = [("user", "Write the parser"), ("assistant", "yes"), ("user", "And test it"), ("assistant", "Task done.")]
    said += [("user", "Now let's work on the invoices instead."), ("assistant", "yes")]
    everything = sum(METER.message(Message.of(*each)) for each in said)
    assert leaving(said, "hybrid", tokens=everything - 1) == [0, 1, 2, 3]
    assert [each.unit.first for each in completed_tasks(_window(transcript_of(said)))] == [0, 2]


def _window(transcript: Transcript) -> StrategyInput:
    every = transcript.units()
    worth = scores(transcript.entries, NOW)
    return StrategyInput(transcript, every, every, worth, completed(transcript), 1_000, 1)


@given(histories(), st.sampled_from(sorted(STRATEGIES)), st.integers(0, 20))
def test_each_strategy_offers_every_unit_that_may_leave_once(said: list[Message], strategy: str, keep: int) -> None:
    window = _window(transcript_of(said))
    offered = [each.unit for each in STRATEGIES[strategy](window)]
    assert len(offered) == len(set(offered))
    assert set(offered) == set(window.removable)


def test_an_unknown_strategy_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(InvalidInput, match="rolling_window, importance, hybrid"):
        strategy_named("oldest")


def test_a_marker_counts_in_words_and_figures() -> None:
    assert Marker(1).text == "… [1 message removed] …"
    assert Marker(7, places=3).text == "… [7 messages removed] … (in 3 places up to here)"
    told = Marker(1_500, summary="Asked: </removed> x").text
    assert told == "… [1,500 messages removed] …\n<removed>\nAsked: &lt;/removed> x\n</removed>"
    assert METER.message(markers.LARGEST_MARKER.message) >= METER.message(Marker(1_500).message)
    assert METER.message(markers.LARGEST_SHARED.message) >= METER.message(Marker(1_500, 40).message)


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 10))
def test_the_nearest_runs_share_a_marker_where_there_are_too_many(out: list[bool], most: int) -> None:
    transcript = transcript_of([USER] * len(out))
    groups = markers.runs(transcript, frozenset(place for place, left in enumerate(out) if left))
    together = markers.grouped_runs(groups, most)
    assert [group for shared in together for group in shared] == groups
    assert len(together) == min(most, len(groups))
    joined = [after[0].place - before[-1].place for shared in together for before, after in pairwise(shared)]
    apart = [after[0][0].place - before[-1][-1].place for before, after in pairwise(together)]
    assert not joined or not apart or max(joined) <= min(apart)


def test_runs_that_touch_are_one_and_keep_their_reasons() -> None:
    transcript = transcript_of([USER] * 8)
    first = markers.WindowRemoval(NOW, "full", {1: "old", 2: "old"})
    spans = first.spans((), markers.runs(transcript, frozenset({1, 2, 6}), frozenset()))
    assert [(span.first, span.last, span.messages, span.why) for span in spans] == [
        (1, 2, 2, "full: old"),
        (6, 6, 1, "full"),
    ]
    later = markers.WindowRemoval(NOW + timedelta(days=1), "requested", {3: "dull", 4: "dull"})
    merged = later.spans(spans, markers.runs(transcript, frozenset({1, 2, 3, 4, 6}), frozenset()))
    assert [(span.first, span.last) for span in merged] == [(1, 4), (6, 6)]
    assert [span.why for span in merged] == ["full: old; requested: dull", "full"]
    assert merged[1] is spans[1]
    assert merged[0].tokens == sum(entry.tokens for entry in transcript.entries[1:5])
    assert len(markers.runs(transcript, frozenset({1, 3}), frozenset({2}))) == 1


@given(st.lists(st.booleans(), max_size=40), st.lists(st.integers(0, 3), max_size=40))
def test_what_is_out_is_what_the_runs_span(out: list[bool], gaps: list[int]) -> None:
    transcript = transcript_of([USER] * len(out))
    for entry in transcript:
        entry.seq += sum(gaps[: entry.place])
    gone = frozenset(place for place, left in enumerate(out) if left)
    spans = markers.WindowRemoval(NOW, "full").spans((), markers.runs(transcript, gone, frozenset()))
    assert removed_seqs(spans, [entry.seq for entry in transcript]) == {transcript.entries[place].seq for place in gone}
    assert sum(span.messages for span in spans) == len(gone)


@given(histories(), st.integers(0, 300))
def test_a_summary_fits_is_the_same_each_time_and_quotes_what_was_said(said: list[Message], room: int) -> None:
    entries = transcript_of(said).entries
    told = summarise(entries, Quarter().count, room)
    assert told == summarise(transcript_of(said).entries, Quarter().count, room)
    assert not told or Quarter().count(told) <= room
    gists = {entry.gist for entry in entries}
    for line in told.splitlines():
        title, _, items = line.partition(": ")
        assert title in ("Asked", "Names", "Failed", "Done")
        assert title == "Names" or all(any(item in gist for gist in gists) for item in items.split(" | "))


def test_a_summary_names_rules_before_requests_and_errors_by_their_line() -> None:
    said = [
        ("user", "Look at cart.py."),
        ("user", "Never deploy on Fridays."),
        ("tool", "running…\nValueError: bad row in total_of\nat line 3"),
    ]
    told = summarise(transcript_of(said).entries, Quarter().count, 200)
    assert told.splitlines()[0] == "Asked: Never deploy on Fridays. | Look at cart.py."
    assert "Failed: ValueError: bad row in total_of" in told
    assert "cart.py" in told.splitlines()[1]


def test_only_the_longest_spans_are_summarised_within_their_share() -> None:
    transcript = transcript_of([("user", f"Look at file_{number}.py, it is broken.") for number in range(60)])
    out = frozenset(place for place in range(60) if place % 4)
    groups = markers.runs(transcript, out, frozenset())
    spans = markers.WindowRemoval(NOW, "full").spans((), groups)
    told = markers.with_summaries(spans, groups, Quarter().count, 240, 15)
    assert sum(bool(span.summary) for span in told) <= 12
    assert sum(Quarter().count(span.summary) for span in told if span.summary) <= 240
    assert all(Quarter().count(span.summary) <= 15 for span in told if span.summary)
    assert markers.with_summaries(told, groups, Quarter().count, 240, 15) == told


@given(histories(), st.integers(0, 3_000), st.data())
def test_cut_messages_fit_or_it_is_an_error_and_some_stay_whole(
    said: list[Message], room: int, data: st.DataObject
) -> None:
    shown = [SentMessage(each, entry_of(each, place)) for place, each in enumerate(said)]
    never = frozenset(data.draw(st.lists(st.sampled_from([str(each.id) for each in said]), max_size=3))) if said else ()
    try:
        fitted, cut = cut_to_fit(shown, METER.message, room, protected=frozenset(never))
    except ContextTooLarge:
        return
    assert sum(METER.message(each.message) for each in fitted) <= room
    for before, after in zip(shown, fitted, strict=True):
        whole = before.message.id in never or before.message.role is Role.SYSTEM or before.message.id not in cut
        assert not whole or after.message == before.message
        assert [type(part) for part in after.message.parts] == [type(part) for part in before.message.parts]


def test_the_error_names_the_largest_message_and_what_to_do() -> None:
    error = str(too_large(1_234, 56, SentMessage(PLAIN, entry_of(PLAIN, 7))))
    assert "take 1,234 tokens, but only 56 are available; the largest is user message 'm7'" in error
    assert "oversize='truncate'" in error


@given(st.text(max_size=400), st.floats(0, 1))
def test_a_cut_text_keeps_its_ends_and_says_how_much_is_missing(text: str, share: float) -> None:
    cut = cut_text(text, share)
    if cut != text:
        head, _, rest = cut.partition("\n… [")
        tail = rest.rpartition("] …\n")[2]
        assert text.startswith(head)
        assert text.endswith(tail)
        assert f"{len(text) - len(head) - len(tail):,} characters cut" in cut


WORDS = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=300)


@given(st.lists(WORDS, max_size=8), st.integers(0, 400), st.randoms(use_true_random=False))
def test_quotations_fit_their_room_and_stand_in_order(texts: list[str], room: int, dice: Any) -> None:
    fields = {"session": "s", "role": "user", "at": NOW, "recorded_at": NOW}
    turns = [Turn.make(id=f"t{at}", seq=at, text=text, **fields) for at, text in enumerate(texts)]
    best = dice.sample(turns, len(turns))
    back, quotation = quote(best, METER, room)
    if quotation is None:
        assert back == ()
        return
    assert METER.message(quotation) <= room
    assert [each.id for each in back] == sorted(each.id for each in back)
    assert {each.id for each in back} == {turn.id for turn in best[: len(back)]}


SENTENCES = ("Der Bestand liegt im Lager.", "Is it there?", "It says “stop!”", "解析器读取配置。", "e = mc2!")


@given(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=40), st.integers(60, 300))
def test_a_quotation_is_cut_where_a_sentence_ends(said: list[str], room: int) -> None:
    fields = {"session": "s", "role": "user", "at": NOW, "recorded_at": NOW}
    turn = Turn.make(id="t", seq=0, text=" ".join(said), **fields)
    _, quotation = quote([turn], METER, room)
    assert quotation is not None
    kept = quotation.text.split("(t): ")[1].removesuffix("\n</recalled>").removesuffix(" …")
    assert any(kept == " ".join(said[:count]) for count in range(1, len(said) + 1))
    assert kept == turn.text or METER.message(quotation) + 12 >= room - 12, "the room there is is used"


@given(histories())
def test_a_message_comes_back_from_its_turn_as_it_was(said: list[Message]) -> None:
    for message in said:
        turn = turn_of(Scope(project="p"), message, id=str(message.id), session="s", now=NOW, at=NOW)
        assert message_of(turn) == message.replace(at=NOW)
        assert message_of(Turn.make(**turn.model_dump())) == message.replace(at=NOW)
