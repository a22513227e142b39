"""A year of a team, simulated: what is said and done every day, the maintenance of every night, and what is left."""

import argparse
import random
import resource
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import treering
from bench.results import PAGES, table, write_section
from bench.store import WORDS
from treering.compose import new_id
from treering.core.confidence import effective_confidence
from treering.core.queries import EpisodeFilter, KnowledgeFilter
from treering.core.turns import Turn
from treering.memory import Memory

START = datetime(2025, 11, 1, 8, 0, tzinfo=UTC)
DAYS = 365
PEOPLE = ("Ana", "Bo", "Cem", "Dina", "Eli", "Fay", "Gus", "Hana")
SERVICES = tuple(f"{name} service" for name in ("billing", "search", "mail", "login", "export", "report", "audit"))
CITIES = ("Lyon", "Turin", "Porto", "Graz", "Gent", "Cork", "Brno", "Nantes")
TOOLS = ("pnpm", "Vite", "Redis", "Kafka", "Terraform", "Ansible", "Grafana", "Sentry", "Bazel", "Nomad")
TASKS = ("fix the flaky test", "upgrade the driver", "add an index", "rotate the keys", "write the release notes")


@dataclass
class Clock:
    now: datetime = START

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Series:
    """What the memory held at the end of each sampled day."""

    days: list[int] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    standing: list[int] = field(default_factory=list)
    faded: list[int] = field(default_factory=list)
    confidence: list[list[float]] = field(default_factory=list)
    phases: list[dict[str, int]] = field(default_factory=list)


def sentence(pick: random.Random) -> str:
    """One in six says something that can be known; the rest is talk."""
    if pick.random() > 1 / 6:
        return " ".join(pick.choices(WORDS, k=pick.randint(12, 40)))
    return pick.choice(
        (
            f"I live in {pick.choice(CITIES)} now.",
            f"We use {pick.choice(TOOLS)}.",
            f"The {pick.choice(SERVICES)} listens on port {8000 + pick.randrange(40)}.",
            f"The {pick.choice(SERVICES)} is owned by {pick.choice(PEOPLE)}.",
            f"The {pick.choice(SERVICES)} depends on {pick.choice(TOOLS)}.",
            f"Never touch the {pick.choice(SERVICES)} on a Friday.",
        )
    )


def a_day(memory: Memory, clock: Clock, pick: random.Random, *, turns: int, episodes: int) -> None:
    """In sessions of some forty turns, stored as they come; the day's turns in one transaction."""
    said, day = list[Turn](), clock.now
    for number in range(turns):
        person = pick.choice(PEOPLE)
        at = day + timedelta(seconds=number * 60)
        role = "user" if number % 2 == 0 else "assistant"
        text = sentence(pick) if role == "user" else " ".join(pick.choices(WORDS, k=30))
        session = f"{day:%m%d}-{number // 40}"
        said.append(
            Turn.make(id=new_id(), session=session, role=role, text=text, at=at, recorded_at=at, speaker=person)
        )
    with memory.store.transaction(memory.scope, day) as tx:
        tx.turns.create_many(said)
    for number in range(episodes):
        task, failed = pick.choice(TASKS), pick.random() < 0.2
        error = f"/srv/app-{number}/main.py:{pick.randrange(900)}: TimeoutError after {pick.randrange(60)} s"
        memory.episode(
            f"{task} of the {pick.choice(SERVICES)}",
            outcome="FAILURE" if failed else "SUCCESS",
            output=error if failed else "done",
            domain="backend",
            task_type=task.split()[0],
            tools=("shell", "editor"),
            at=day + timedelta(minutes=number),
            trace=[{"at": day, "action": "run", "output": " ".join(pick.choices(WORDS, k=200))} for _ in range(5)],
        )


def sample(memory: Memory, clock: Clock, day: int, series: Series) -> None:
    with memory.store.reading(memory.scope, clock.now) as tx:
        facts = list(tx.knowledge.stream(KnowledgeFilter(deleted=None)))
        phases = Counter(each.lifecycle.status.value for each in tx.episodes.stream(EpisodeFilter()))
    standing = [fact for fact in facts if fact.deleted_at is None and fact.deprecated_at is None]
    series.days.append(day)
    series.megabytes.append(sum(memory.store.sizes(memory.scope).values()) / 1e6)
    series.standing.append(len(standing))
    series.faded.append(len(facts) - len(standing))
    trust = memory.settings.trust
    series.confidence.append(sorted(effective_confidence(fact, clock.now, trust) for fact in standing) or [0.0])
    series.phases.append(dict(phases))


def simulate(
    turns: int, episodes: int, days: int, folder: Path
) -> tuple[Series, Counter[str], dict[str, float], Memory]:
    clock, pick, series = Clock(), random.Random(7), Series()
    memory = treering.open(folder / "memory.db", project="team", clock=clock, background=False)
    counts, seconds = Counter[str](), defaultdict[str, float](float)
    for day in range(days):
        clock.now = START + timedelta(days=day)
        begun = time.perf_counter()
        a_day(
            memory,
            clock,
            pick,
            turns=turns // DAYS,
            episodes=round(episodes * (day + 1) / DAYS) - round(episodes * day / DAYS),
        )
        seconds["days"] += time.perf_counter() - begun
        clock.now += timedelta(hours=19)
        for stage in memory.maintenance.stages:
            if stage == "reflect" and clock.now.weekday() != 6:
                continue
            begun = time.perf_counter()
            (run,) = memory.maintenance.run(stage)
            seconds[stage] += time.perf_counter() - begun
            if run.error:
                raise SystemExit(f"{stage} failed: {run.error}")
            if stage != "report":
                counts.update({f"{stage}: {name}": number for name, number in run.counts.items()})
        if day % 7 == 0 or day == days - 1:
            sample(memory, clock, day, series)
            print(day, series.standing[-1], series.phases[-1], f"{series.megabytes[-1]:.0f} MB", flush=True)
    return series, counts, dict(seconds), memory


def plot(series: Series, target: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, (storage, confidence, lifecycle) = pyplot.subplots(3, 1, figsize=(7, 9), sharex=True)
    storage.plot(series.days, series.megabytes, label="MB on disk")
    storage.set(ylabel="MB", ylim=(0, None))
    facts = storage.twinx()
    facts.plot(series.days, series.standing, color="tab:green", label="facts that stand")
    facts.plot(series.days, series.faded, color="tab:gray", label="faded or superseded")
    facts.set(ylabel="facts", ylim=(0, None))
    facts.legend(loc="upper left")
    for share, label in ((0.9, "90 %"), (0.5, "median"), (0.1, "10 %")):
        confidence.plot(series.days, [each[int(share * (len(each) - 1))] for each in series.confidence], label=label)
    confidence.set(ylabel="effective confidence", ylim=(0, 1))
    confidence.legend()
    names = sorted({name for phases in series.phases for name in phases})
    lifecycle.stackplot(series.days, [[each.get(name, 0) for each in series.phases] for name in names], labels=names)
    lifecycle.set(ylabel="episodes", xlabel="day")
    lifecycle.legend(loc="upper left")
    figure.tight_layout()
    figure.savefig(target)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--turns", type=int, default=100_000)
    options.add_argument("--episodes", type=int, default=5_000)
    options.add_argument("--days", type=int, default=DAYS, help="stop earlier, and write nothing down")
    chosen = options.parse_args()
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        series, counts, seconds, memory = simulate(chosen.turns, chosen.episodes, chosen.days, Path(folder))
        healthy, stats = memory.doctor().healthy, memory.stats()
        memory.close()
    if chosen.days < DAYS:
        print(seconds, counts)
        return
    minutes = (time.perf_counter() - begun) / 60
    plot(series, PAGES / "year.svg")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    told = (
        f"{stats.records['turns']:,} turns and {stats.records['episodes']:,} episodes in {DAYS} days, all stages every "
        f"night (reflection on Sundays), by an injected clock: {minutes:.1f} minutes in all, {peak:,.0f} MB at most, "
        f"{series.megabytes[-1]:,.0f} MB on disk at the end, doctor finds it {'healthy' if healthy else 'NOT healthy'}."
    )
    parts = table(("part", "seconds"), [(name, f"{taken:.1f}") for name, taken in seconds.items()])
    done = table(("what the nights did", "how often"), [(name, f"{number:,}") for name, number in counts.items()])
    write_section("year", "A year of a team", f"{told}\n\n{parts}\n\n{done}\n\n![the year](year.svg)")


if __name__ == "__main__":
    main()
