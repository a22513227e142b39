"""Mining counts what brute force counts, whatever the order of episodes and the size of blocks."""

import random
from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby, pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from tests.samples import NOW
from treering.core.episodes import Episode, TraceEntry
from treering.core.patterns import PatternCategory
from treering.core.settings.mining import MiningSettings
from treering.core.task_features import features_of_episode
from treering.patterns.mining.candidates import mine
from treering.patterns.mining.commands import command_head
from treering.patterns.mining.corpus import corpus_of, feature_names
from treering.patterns.mining.findings import MinedPattern
from treering.patterns.mining.habits import AFTER, BEGINNING, FEATURE, NEAR, WIDER
from treering.patterns.mining.next_steps import next_steps
from treering.patterns.mining.sequences import Steps, Support, frequent_sequences, maximal_sequences
from treering.patterns.mining.steps import FAILED, levels_of, step_of

TOOLS = "abcd"


@st.composite
def worlds(draw: st.DrawFn) -> list[Episode]:
    """Some short episodes of few tools in few sessions; now and then a step fails."""
    made = []
    for number in range(draw(st.integers(0, 12))):
        steps = draw(st.lists(st.tuples(st.sampled_from(TOOLS), st.integers(0, 5)), max_size=9))
        trace = [
            TraceEntry(at=NOW, action=tool, tool=tool, is_error=not luck, output="broken thing" if luck == 0 else "")
            for tool, luck in steps
        ]
        made.append(
            Episode.make(
                id=f"e{number}",
                session=draw(st.sampled_from((None, "one", "two", "three"))),
                at=NOW + timedelta(minutes=draw(st.integers(0, 3))),
                task={"input": "x"},
                execution={
                    "trace": trace,
                    "plan": draw(st.lists(st.sampled_from(("read", "write", "check")), max_size=4)),
                    "duration_ms": draw(st.none() | st.floats(0, 1e6)),
                },
                outcome={"status": draw(st.sampled_from(("SUCCESS", "PARTIAL", "FAILURE")))},
                metadata={"task_type": draw(st.sampled_from((None, "fix", "docs")))},
            )
        )
    return made


@st.composite
def choices(draw: st.DrawFn) -> MiningSettings:
    return MiningSettings(
        least_episodes=draw(st.integers(1, 3)),
        least_sessions=draw(st.integers(1, 3)),
        least_share=0,
        most_gap=draw(st.integers(0, 2)),
        longest=draw(st.integers(2, 4)),
        habit_sessions=draw(st.integers(1, 2)),
    )


def collapsed(episode: Episode) -> Steps:
    return tuple(step for step, _ in groupby(map(step_of, episode.execution.trace)))


def occurs(wanted: Steps, steps: Steps, gap: int) -> bool:
    """By trying every place, one after the other."""

    def behind(place: int, rest: Steps) -> bool:
        return not rest or any(
            steps[later] == rest[0] and behind(later, rest[1:])
            for later in range(place + 1, min(len(steps), place + gap + 2))
        )

    return any(step == wanted[0] and behind(place, wanted[1:]) for place, step in enumerate(steps))


def session_of(episode: Episode) -> str:
    return episode.session or f"alone {episode.id}"


def brute_force(world: Sequence[Episode], settings: MiningSettings) -> dict[Steps, Support]:
    found = dict[Steps, Support]()
    for length in range(1, settings.longest + 1):
        for wanted in product(TOOLS, repeat=length):
            having = [each for each in world if occurs(wanted, collapsed(each), settings.most_gap)]
            sessions = {session_of(each) for each in having}
            if len(having) >= settings.least_episodes and len(sessions) >= settings.least_sessions:
                found[wanted] = Support(len(having), len(sessions))
    return found


def table_of(world: Sequence[Episode], settings: MiningSettings) -> dict[Steps, Support]:
    corpus = corpus_of(world, settings, features_of_episode)
    return frequent_sequences(corpus, [told.steps for told in corpus.episodes])


@given(worlds(), choices())
def test_support_is_what_brute_force_counts(world: list[Episode], settings: MiningSettings) -> None:
    assert table_of(world, settings) == brute_force(world, settings)


@given(worlds(), choices(), st.integers(1, 6))
def test_every_beginning_of_a_frequent_sequence_is_frequent(
    world: list[Episode], settings: MiningSettings, most: int
) -> None:
    table = table_of(world, settings.replace(most_sequences=most))
    for steps, support in table.items():
        for end in range(1, len(steps)):
            assert table[steps[:end]].episodes >= support.episodes
            assert table[steps[:end]].sessions >= support.sessions


@given(worlds(), choices(), st.floats(0.5, 1.0))
def test_what_is_not_told_is_part_of_something_longer_that_holds_nearly_as_often(
    world: list[Episode], settings: MiningSettings, absorbed_at: float
) -> None:
    table = table_of(world, settings)
    told = set(maximal_sequences(table, absorbed_at))
    for steps, support in table.items():
        repeats = any(one == other for one, other in pairwise(steps))
        longer = any(
            other.episodes >= absorbed_at * support.episodes
            and any(steps == wider[:out] + wider[out + 1 :] for out in range(len(wider)))
            for wider, other in table.items()
            if len(wider) == len(steps) + 1
        )
        assert (steps in told) == (len(steps) > 1 and not repeats and not longer)


@given(worlds(), choices(), st.randoms(use_true_random=False))
def test_neither_order_nor_blocks_change_what_is_mined(
    world: list[Episode], settings: MiningSettings, chance: random.Random
) -> None:
    shuffled = list(world)
    chance.shuffle(shuffled)
    once = mine(world, settings)
    assert mine(shuffled, settings) == once
    # A block holds at least one sequence, however small it is: here every one has its own.
    assert mine(shuffled, settings.model_copy(update={"block": 1})) == once


@given(worlds(), choices())
def test_evidence_is_episodes_that_hold_the_sequence_each_on_one_side(
    world: list[Episode], settings: MiningSettings
) -> None:
    by_id = {each.id: each for each in world}
    for mined in mine(world, settings).candidates:
        assert not set(mined.supporting) & set(mined.counter)
        assert len(mined.supporting) == mined.support
        assert len(mined.counter) == mined.against
        named = [by_id[id] for id in (*mined.supporting, *mined.counter)]
        assert mined.sessions == len({session_of(each) for each in named})
        if mined.category in (PatternCategory.SEQUENCE, PatternCategory.FAILURE) and mined.steps:
            _holds_sequence(mined, world, by_id, settings)
        if mined.category is PatternCategory.RECOVERY:
            for each in named:
                failed = {step_of(entry) for entry in each.execution.trace if entry.is_error}
                assert mined.steps[0] in failed
                assert set(mined.steps[1:]) <= set(map(step_of, each.execution.trace))
        if mined.category is PatternCategory.TOOL_SELECTION:
            for each in named:
                assert mined.steps[0] in {level for e in each.execution.trace for level in levels_of(step_of(e))}


def _holds_sequence(
    mined: MinedPattern, world: list[Episode], by_id: dict[str, Episode], settings: MiningSettings
) -> None:
    having = {each.id for each in world if occurs(mined.steps, collapsed(each), settings.most_gap)}
    assert {*mined.supporting, *mined.counter} == having
    well = {id for id in having if by_id[id].outcome.status.value == "SUCCESS"}
    assert set(mined.supporting) == (well if mined.category is PatternCategory.SEQUENCE else having - well)


@given(worlds(), choices())
def test_habits_count_what_followed(world: list[Episode], settings: MiningSettings) -> None:
    for habit in mine(world, settings).habits:
        times, sessions, then = 0, set[str](), dict[str, int]()
        for each in world:
            plain = [step_of(entry) for entry in each.execution.trace]
            line = [BEGINNING]
            for place, entry in enumerate(each.execution.trace):
                fits = {
                    AFTER: tuple(line[-len(habit.after) :]) == habit.after,
                    WIDER: habit.after[0] in levels_of(line[-1])[1:],
                    NEAR: habit.after[0] in line[1:][-settings.habit_window : -1],
                    FEATURE: habit.after[0] in feature_names(features_of_episode(each)),
                }[habit.kind]
                if fits:
                    times += 1
                    sessions.add(session_of(each))
                    then[plain[place]] = then.get(plain[place], 0) + 1
                line.append(plain[place] + (FAILED if entry.is_error else ""))
        assert (habit.times, habit.sessions, dict(habit.then)) == (times, len(sessions), then)


@given(worlds(), choices(), worlds())
def test_advice_is_ranked_known_and_never_fails(
    world: list[Episode], settings: MiningSettings, others: list[Episode]
) -> None:
    mining = mine(world, settings)
    known = {step for step, _ in mining.frequencies}
    for each in others:
        best = next_steps(mining, each.execution.trace, {"task_type": each.metadata.task_type}, mining=settings)
        possible = known | set(map(step_of, each.execution.trace)) if known else known
        assert len(best) == min(3, len(possible))
        assert {one.step for one in best} <= possible
        assert [one.share for one in best] == sorted((one.share for one in best), reverse=True)


@given(st.text(max_size=300) | st.text("ab '\"\\$()|&;<>\n#=-/.E", max_size=120))
def test_any_text_has_a_step_that_can_be_kept(text: str) -> None:
    plain = text.replace("\0", "").encode("utf-8", "replace").decode()
    assert all(word.isprintable() for word in command_head(plain))
    for tool in ("bash", "x", None):
        name = step_of(TraceEntry(at=NOW, action=plain, tool=tool, input=plain))
        assert name.isprintable()
        assert name.strip()
        assert len(name) <= 200
