"""Content of a consolidated episode, taken only from its members."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import chain, islice, takewhile
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from treering.core.episodes import (
    Consolidation,
    Episode,
    EpisodeEmbeddings,
    EpisodeExecution,
    EpisodeLifecycle,
    EpisodeMetadata,
    EpisodeReflection,
    EpisodeStatus,
    OutcomeStatus,
    TraceEntry,
    Variation,
)
from treering.core.failures import failure_messages
from treering.core.settings import EpisodeConsolidationSettings
from treering.core.taint import inherited_taint
from treering.core.values import LABELS
from treering.episodes.consolidation.clusters import unit
from treering.episodes.consolidation.names import CONSOLIDATED

T = TypeVar("T")

# Attributes compared across members: shared items, and differences of each.
_STRUCTURE: Mapping[str, Callable[[Episode], tuple[str, ...]]] = {
    "tools": lambda e: e.metadata.tools,
    "plan": lambda e: e.execution.plan,
    "strategies": lambda e: e.metadata.strategies,
    "tags": lambda e: e.metadata.tags,
    "goals": lambda e: e.task.goals,
    "constraints": lambda e: e.task.constraints,
    "trace": lambda e: tuple(map(_step, e.execution.trace)),
}
_TEXTS: Mapping[str, Callable[[Episode], str]] = {
    "input": lambda e: e.task.input,
    "output": lambda e: e.outcome.output,
}


# Compared steps of a trace, and characters of each step.
_MAX_STEPS, _STEP_CHARACTERS = 200, 200


def consolidated_id(members: Iterable[str]) -> str:
    """An id that depends only on the members."""
    digest = blake2b(digest_size=16)
    for member in sorted(members):
        digest.update(member.encode() + b"\0")
    return CONSOLIDATED + digest.hexdigest()


def outline(episode: Episode) -> Episode:
    """The episode with shortened steps, and with its errors as failures of the reflection."""
    ended_badly = episode.outcome.status is OutcomeStatus.FAILURE
    failures = tuple(dict.fromkeys(filter(None, failure_messages(episode))))
    analysed = {failure.text: failure for failure in episode.reflection.failures}
    reported = tuple(each for each in failures if not (ended_badly and each == episode.outcome.output))
    return episode.model_copy(
        update={
            "execution": episode.execution.model_copy(
                update={"trace": tuple(map(_shorten_step, episode.execution.trace[:_MAX_STEPS])), "adaptations": ()}
            ),
            "reflection": episode.reflection.replace(failures=tuple(analysed.get(each, each) for each in reported)),
        }
    )


def _shorten_step(entry: TraceEntry) -> TraceEntry:
    texts = {
        "input": entry.input[:_STEP_CHARACTERS],
        "output": entry.output[:_STEP_CHARACTERS] if entry.is_error else "",
    }
    return entry.model_copy(update={"action": entry.action[:_STEP_CHARACTERS], **texts})


def _step(entry: TraceEntry) -> str:
    """A step in one line: the tool, the action if it differs, the input and the error."""
    action = entry.action if entry.action != entry.tool else ""
    failed = f"(failed: {entry.output})" if entry.is_error and entry.output else "(failed)" if entry.is_error else ""
    return " ".join(" ".join(filter(None, (entry.tool, action, entry.input, failed))).split())[: 2 * _STEP_CHARACTERS]


def medoid(vectors: NDArray[np.floating]) -> int:
    """Index of the row that is most similar to all others."""
    rows = unit(vectors)
    return int(np.argmax(rows @ rows.sum(axis=0)))


def combined(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Mean of the rows, scaled to length 1, in the stored precision."""
    mean = unit(unit(vectors).mean(axis=0, keepdims=True))[0]
    return np.asarray(mean.astype(np.float16), np.float32)


def merged(
    members: Sequence[Episode], vectors: NDArray[np.floating], model: str, settings: EpisodeConsolidationSettings
) -> Episode:
    """The episode that represents `members` (outlines, in the order of time); `vectors` has a row for each.

    It has the words of the most typical member, the tools, strategies and tags of all, and their mean vector. It is as
    old as its youngest member, so that it ages after all of them.
    """
    typical = members[medoid(vectors)]
    mean_duration = _mean(each.execution.duration_ms for each in members)
    patterns = _majority_patterns(members)
    failures = _distinct((each.reflection.failures for each in members), settings.lessons)
    insights = _distinct((each.reflection.insights for each in members), settings.lessons)
    return Episode(
        id=consolidated_id(each.id for each in members),
        session=typical.session if len({each.session for each in members}) == 1 else None,
        at=members[-1].at,
        owner=typical.owner,
        visibility=typical.visibility,
        taint=inherited_taint(members),
        task=typical.task,
        execution=EpisodeExecution(plan=typical.execution.plan, duration_ms=mean_duration),
        # Artifacts stay with their episode, since their blobs are purged with it.
        outcome=typical.outcome.replace(artifacts=()),
        reflection=EpisodeReflection(insights=insights, patterns=patterns, failures=failures),
        metadata=EpisodeMetadata(
            domain=typical.metadata.domain,
            task_type=typical.metadata.task_type,
            tools=_distinct((each.metadata.tools for each in members), LABELS),
            strategies=_distinct((each.metadata.strategies for each in members), LABELS),
            tags=_distinct((each.metadata.tags for each in members), LABELS),
        ),
        embeddings=EpisodeEmbeddings(model=model, whole=tuple(combined(vectors).tolist())),
        consolidation=_consolidation(members, typical, mean_duration, patterns, settings),
        lifecycle=_lifecycle(members),
    )


def _consolidation(
    members: Sequence[Episode],
    typical: Episode,
    mean_duration: float | None,
    patterns: tuple[str, ...],
    settings: EpisodeConsolidationSettings,
) -> Consolidation:
    common = {name: _shared(members, typical, read) for name, read in _STRUCTURE.items()}
    differences = ((each, _differences(each, typical, common, settings)) for each in members)
    return Consolidation(
        representative=typical.id,
        members=tuple(each.id for each in members),
        instances=len(members),
        first_at=members[0].at,
        last_at=members[-1].at,
        common={name: items for name, items in common.items() if items},
        variations=tuple(Variation(episode=each.id, differs=differs) for each, differs in differences if differs),
        mean_duration_ms=mean_duration,
        success_rate=sum(each.outcome.status is OutcomeStatus.SUCCESS for each in members) / len(members),
        patterns=patterns,
    )


def _lifecycle(members: Sequence[Episode]) -> EpisodeLifecycle:
    """Mature, with the accesses of all members."""
    lives = [each.lifecycle for each in members]
    return EpisodeLifecycle(
        status=EpisodeStatus.MATURE,
        access_count=sum(life.access_count for life in lives),
        last_accessed_at=max((life.last_accessed_at for life in lives if life.last_accessed_at), default=None),
    )


def _shared(
    members: Sequence[Episode], typical: Episode, read: Callable[[Episode], tuple[str, ...]]
) -> tuple[str, ...]:
    """Items that all members have, in the order of the typical one."""
    everywhere = set(read(typical)).intersection(*(read(each) for each in members))
    return tuple(dict.fromkeys(item for item in read(typical) if item in everywhere))


def _differences(
    member: Episode,
    typical: Episode,
    common: Mapping[str, tuple[str, ...]],
    settings: EpisodeConsolidationSettings,
) -> dict[str, Any]:
    """Items of a member that not all have; for texts and steps, the part that differs from the typical member."""
    differs: dict[str, Any] = {
        name: own
        for name, read in _STRUCTURE.items()
        if name != "trace" and (own := [each for each in read(member) if each not in common[name]])
    }
    if changed := _changed(*map(_STRUCTURE["trace"], (typical, member))):
        differs["trace"] = {"instead_of": list(changed[0]), "says": list(changed[1])}
    for name, text in _TEXTS.items():
        if changed := _changed(text(typical).split(), text(member).split()):
            before, after = (" ".join(words)[: settings.difference_characters] for words in changed)
            differs[name] = {"instead_of": before, "says": after}
    if member.execution.duration_ms is not None:
        differs["duration_ms"] = member.execution.duration_ms
    return differs


def _changed(typical: Sequence[str], own: Sequence[str]) -> tuple[Sequence[str], Sequence[str]] | None:
    """Both from the first to the last differing item; None if they are equal."""
    if list(typical) == list(own):
        return None
    start = _common_prefix(typical, own)
    end = _common_prefix(typical[start:][::-1], own[start:][::-1])
    return typical[start : len(typical) - end], own[start : len(own) - end]


def _common_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _majority_patterns(members: Sequence[Episode]) -> tuple[str, ...]:
    """Patterns of more than half of the members, most frequent first."""
    counted = Counter(chain.from_iterable(each.reflection.patterns for each in members))
    return tuple(name for name, times in counted.most_common(LABELS) if 2 * times > len(members))


def _distinct(found: Iterable[Iterable[T]], limit: int) -> tuple[T, ...]:
    return tuple(islice(dict.fromkeys(chain.from_iterable(found)), limit))


def _mean(durations: Iterable[float | None]) -> float | None:
    known = [each for each in durations if each is not None]
    return sum(known) / len(known) if known else None
