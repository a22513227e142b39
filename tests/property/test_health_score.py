"""The score is between 0 and 100, its weights add up to 1, and less of what lowers it never lowers it."""

from unittest.mock import Mock

from hypothesis import given
from hypothesis import strategies as st

from treering.maintenance.overview import score_of, score_parts

COUNTS = st.integers(0, 10_000)
MEMORIES = st.fixed_dictionaries(
    {
        "total": st.integers(1, 10_000),
        **dict.fromkeys(("active", "waiting", "stale", "sure"), COUNTS),
        "failed": st.integers(0, 100),
    }
)


def _score(counts: dict[str, int]) -> int:
    total, sure = counts["total"], counts["sure"]
    jobs = {"tidy": counts["failed"]}
    health = Mock(confidence={"0.0 to 0.2": total - sure, "0.8 to 1.0": sure}, dead_jobs=jobs, runs=())
    given = {name: counts[name] for name in ("active", "waiting", "stale")}
    parts = score_parts(total, health=health, **given)
    assert abs(sum(part.weight for part in parts) - 1) < 1e-9
    assert all(0 <= part.share <= 1 for part in parts)
    score = score_of(parts)
    assert score is not None
    return score


@given(MEMORIES)
def test_the_score_stays_in_range_and_follows_its_parts(drawn: dict[str, int]) -> None:
    total = drawn["total"]
    counts = {name: count if name == "failed" else min(count, total) for name, count in drawn.items()}
    score = _score(counts)
    assert 0 <= score <= 100
    assert _score(counts | {"waiting": counts["waiting"] // 2}) >= score
    assert _score(counts | {"stale": counts["stale"] // 2}) >= score
    assert _score(counts | {"active": total, "sure": total, "failed": 0}) >= score
