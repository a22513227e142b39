"""Finding the patterns that apply to a task: by the index, by its inverted half alone, and by asking every pattern."""

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.results import percentile, table, write_section
from treering.core.applicability import applies
from treering.core.conditions import AnyOf, Condition, Not, Test
from treering.core.patterns import Applicability, Evidence, Pattern, PatternCategory, PatternStatus, Strategy
from treering.core.settings.patterns import PatternSettings
from treering.core.task_features import features_of
from treering.patterns.matching.index import PatternIndex
from treering.patterns.matching.ranking import RankedPattern, ranked

Find = Callable[[Mapping[str, Any]], list[RankedPattern]]

SIZES = (1_000, 5_000, 20_000)
TASKS = 200
# Asking every pattern is slow; its times vary little.
BRUTE_TASKS = 15
BRUTE = "every pattern asked, then ranked"
GOAL_MS = 5.0
NOW = datetime(2026, 6, 1, tzinfo=UTC)
SETTINGS = PatternSettings()

TYPES = ("fix", "feature", "refactor", "test", "docs", "investigate", "configure", "release", "review", "upgrade")
DOMAINS = ("frontend", "backend", "database", "security", "devops", "data", "documentation", "testing", "cli")
LANGUAGES = ("python", "typescript", "rust", "go", "java", "c++", "ruby", "sql", "shell", "php", "kotlin", "swift")
TOOLS = ("pytest", "ruff", "mypy", "git", "docker", "npm", "cargo", "kubectl", "terraform", "jest", "eslint", "psql")
FOLDERS = ("src/api/", "src/core/", "src/web/", "tests/", "docs/", "infra/", "scripts/", "migrations/")
BRANCHES = ("main", "develop", "release", "hotfix", "experiment")
# How large a share of the patterns asks for what: people write all of it, miners conditions alone.
MIXED = {"problem types": 0.5, "domains": 0.4, "capabilities": 0.3, "complexity": 0.4, "conditions": 0.8}
CONDITIONS_ALONE = {"conditions": 1.0}
NOTHING: Mapping[str, float] = {}
WORLDS: tuple[tuple[int, str, Mapping[str, float]], ...] = (
    *((size, "mixed", MIXED) for size in SIZES),
    *((size, "conditions alone", CONDITIONS_ALONE) for size in SIZES),
    (5_000, "for anything", NOTHING),
)


def conditions(chance: random.Random) -> Iterator[Condition]:
    """One to three of the kinds that people and miners write: mostly values, some ranges, paths and choices."""
    kinds: tuple[Callable[[], Condition], ...] = (
        lambda: Test(field="languages", operator="eq", value=chance.choice(LANGUAGES)),
        lambda: Test(field="languages", operator="in", value=chance.sample(LANGUAGES, 3)),
        lambda: Test(field="context.repository", operator="eq", value=f"repo-{chance.randrange(40)}"),
        lambda: Test(field="context.branch", operator="eq", value=chance.choice(BRANCHES)),
        lambda: Test(field="files", operator="prefix", value=chance.choice(FOLDERS)),
        lambda: _uses(chance),
        lambda: Test(field="context.open_issues", operator="range", value=(low := chance.randrange(90), low + 20)),
        lambda: Not(condition=Test(field="context.frozen", operator="exists")),
        lambda: AnyOf(
            conditions=[Test(field="domain", operator="eq", value=name) for name in chance.sample(DOMAINS, 2)]
        ),
    )
    weights = (20, 10, 20, 10, 15, 10, 10, 3, 2)
    for make in chance.choices(kinds, weights, k=chance.choice((1, 1, 2, 3))):
        yield make()


def _uses(chance: random.Random) -> Test:
    return Test(field="tools", operator="contains", value=chance.choice(TOOLS))


def pattern(number: int, chance: random.Random, shares: Mapping[str, float]) -> Pattern:
    """A pattern that asks for each thing in its share of cases."""

    def sometimes(name: str) -> bool:
        return chance.random() < shares.get(name, 0.0)

    low = round(chance.uniform(0.0, 0.6), 2)
    where: dict[str, Any] = {}
    if sometimes("problem types"):
        where["problem_types"] = chance.sample(TYPES, chance.choice((1, 1, 2)))
    if sometimes("domains"):
        where["domains"] = chance.sample(DOMAINS, chance.choice((1, 1, 2)))
    if sometimes("capabilities"):
        where["capabilities"] = chance.sample(TOOLS, 1)
    if sometimes("complexity"):
        where |= {"complexity_min": low, "complexity_max": min(1.0, low + 0.3)}
    if sometimes("conditions"):
        where |= {"conditions": tuple(conditions(chance)), "anti_conditions": tuple(conditions(chance))[:1]}
    rate = chance.uniform(0.5, 1.0)
    return Pattern(
        id=f"p{number:06}",
        name=f"pattern {number}",
        category=chance.choice(list(PatternCategory)),
        status=PatternStatus.VALIDATED if chance.random() < 0.8 else PatternStatus.CANDIDATE,
        applicability=Applicability(**where),
        content=Strategy(approach="one step at a time"),
        evidence=Evidence(
            applications=chance.randrange(5, 200),
            success_rate=rate,
            confidence=rate * 0.9,
            last_validated_at=NOW - timedelta(days=chance.uniform(0, 120)),
        ),
        usage_count=chance.randrange(200),
        created_at=NOW,
        updated_at=NOW,
    )


def task(chance: random.Random) -> Mapping[str, Any]:
    return features_of(
        "Change it as asked",
        task_type=chance.choice(TYPES),
        domain=chance.choice(DOMAINS),
        complexity=round(chance.uniform(0.1, 0.9), 3),
        tools=chance.sample(TOOLS, 3),
        files=[f"{folder}{chance.randrange(99)}.py" for folder in chance.sample(FOLDERS, 2)],
        languages=chance.sample(LANGUAGES, chance.choice((1, 2))),
        context={
            "repository": f"repo-{chance.randrange(40)}",
            "branch": chance.choice(BRANCHES),
            "open_issues": chance.randrange(110),
        },
    )


def by_brute_force(patterns: list[Pattern], features: Mapping[str, Any]) -> list[RankedPattern]:
    """Every validated pattern is asked, and all that apply are ranked."""
    in_use = (each for each in patterns if each.status is PatternStatus.VALIDATED)
    return ranked((each for each in in_use if applies(each.applicability, features)), features, NOW, SETTINGS)


@dataclass(slots=True)
class Run:
    """Tasks one after the other: seconds on the clock, seconds of the processor, and the answers."""

    clock: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    answers: list[list[RankedPattern]] = field(default_factory=list)


def timed(find: Find, tasks: list[Mapping[str, Any]]) -> Run:
    run = Run()
    for features in tasks:
        start, start_processor = time.perf_counter(), time.thread_time()
        run.answers.append(find(features))
        run.processor.append(time.thread_time() - start_processor)
        run.clock.append(time.perf_counter() - start)
    return run


def rows(size: int, world: str, shares: Mapping[str, float]) -> Iterator[tuple[object, ...]]:
    """Each way of finding the best five, and how many patterns it leaves to be asked."""
    chance = random.Random(size)
    patterns = [pattern(number, chance, shares) for number in range(size)]
    tasks = [task(chance) for _ in range(TASKS)]
    start = time.perf_counter()
    index = PatternIndex(patterns)
    built = time.perf_counter() - start
    labels_only = PatternIndex(patterns, tree=False)
    validated = sum(each.status is PatternStatus.VALIDATED for each in patterns)
    ways: tuple[tuple[str, Find, Callable[[Mapping[str, Any]], int]], ...] = (
        ("index: best first", lambda features: index.best(features, NOW, SETTINGS), index.checked_count),
        (
            "labels alone: best first",
            lambda features: labels_only.best(features, NOW, SETTINGS),
            labels_only.checked_count,
        ),
        ("index: all that apply, then ranked", _in_two_steps(index), index.checked_count),
        ("labels alone: all that apply, then ranked", _in_two_steps(labels_only), labels_only.checked_count),
        (BRUTE, lambda features: by_brute_force(patterns, features), lambda _: validated),
    )
    expected = [by_brute_force(patterns, features) for features in tasks[:BRUTE_TASKS]]
    found = [len(index.applicable(features)) for features in tasks]
    for name, find, asked in ways:
        some = tasks[: BRUTE_TASKS if name == BRUTE else TASKS]
        run = timed(find, some)
        if run.answers[:BRUTE_TASKS] != expected:
            raise AssertionError(f"{name} disagrees with brute force")
        yield (
            f"{size:,} {world}",
            name,
            f"{sum(map(asked, some)) / len(some):,.0f}",
            f"{sum(found) / len(found):,.0f}",
            f"{percentile(run.clock, 0.5):.2f} ms",
            f"{percentile(run.clock, 0.95):.2f} ms",
            f"{percentile(run.processor, 0.95):.2f} ms",
            f"{built:.2f} s" if find is ways[0][1] else "",
        )


def _in_two_steps(index: PatternIndex) -> Find:
    return lambda features: ranked(index.applicable(features), features, NOW, SETTINGS)


def main() -> None:
    lines = [row for world in WORLDS for row in rows(*world)]
    shares = ", ".join(f"{name} {share:.0%}" for name, share in MIXED.items())
    note = (
        f"Goal: the best five of 5,000 patterns below {GOAL_MS:.0f} ms at p95, features given, ranking included. "
        f"Mixed patterns have {shares}; 80% are validated. *Left* is the number of patterns that remain to be "
        f"evaluated after labels (and tree), *apply* the number of them that apply. {TASKS} tasks ({BRUTE_TASKS} by "
        f"brute force); the answers to the first {BRUTE_TASKS} are compared with brute force."
    )
    headers = ("patterns", "way", "left", "apply", "p50", "p95", "p95 of processor time", "built in")
    write_section("pattern-matching", "Pattern matching", f"{note}\n\n{table(headers, lines)}")


if __name__ == "__main__":
    main()
