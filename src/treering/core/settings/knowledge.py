"""What is learned from what was said and done, and how it fades."""

from typing import Literal

from pydantic import Field

from treering.core.values import Value


class LearnSettings(Value):
    enabled: bool = True
    """False learns nothing from what is said; turns are stored and found as ever. What is said meanwhile is not learned
    later either."""
    model: Literal["auto", "off"] = "auto"
    """Auto lets the language model of `writer` read for facts and names, where there is one; off leaves that to the
    rules."""
    page_characters: int = Field(default=24_000, ge=1_000, le=60_000)
    """What one call reads at most: some 6,000 tokens, which also a small local model holds beside its answer."""
    most_tokens: int = Field(default=4_000, ge=100)
    """What one answer may take: thirty facts of a hundred tokens, and some room."""
    max_tokens_per_day: int = Field(default=1_000_000, ge=0)
    """Tokens that learning may spend on the language model in one day (UTC), counted over all processes in the project:
    some eighty pages. When they are used up, facts are read by rules. 0 spends none."""
    quiet_minutes: float = Field(default=30.0, ge=0)
    """A session in which nothing was said for so long can be read at night as if it had ended."""


class EntitySettings(Value):
    """Who and what records speak of."""

    most_mentions: int = Field(default=30, ge=0)
    """Names that one record is linked with, the surest: a log of a thousand identifiers speaks of none of them."""
    nightly_llm: int = Field(default=50, ge=0)
    """Records that a language model reads again in one night; each is a request that somebody pays for."""
    nightly_spacy: int = Field(default=2_000, ge=0)
    """The same where spaCy reads: about a hundredth of a second each."""


class EpisodeSettings(Value):
    """Whole task executions: how they age, how they are weighed, how many are kept at hand."""

    mature_after_days: float = Field(default=30.0, gt=0)
    """A month: what was done since is still part of the work at hand."""
    aged_after_days: float = Field(default=180.0, gt=0)
    """Half a year on, nobody asks for single steps; the trace moves to the blob store."""
    archived_after_days: float = Field(default=365.0, gt=0)
    """After a year what was learned counts; the rest is fetched when it is asked for."""
    cache_bytes: int = Field(default=64_000_000, ge=0)
    """What these may hold in all, counted as JSON: a few long traces must not take the place of all else."""
    limit: int = Field(default=10, ge=1)
    """Episodes that a search gives where the caller names no limit."""


class EpisodeConsolidationSettings(Value):
    """Which episodes are so alike that one can stand for them."""

    likeness: float = Field(default=0.95, gt=0, lt=1)
    """The cosine above which two episodes were the same task; the requirement names it."""
    window_days: float = Field(default=30.0, gt=0)
    """How far apart two neighbours of a cluster may lie: the same task after a longer pause is a new beginning."""


class ReflectionSettings(Value):
    every_days: float = Field(default=6.0, ge=0)
    """At most once in so many days: a weekly run that comes an hour early still counts as weekly."""
    period_days: float = Field(default=7.0, gt=0)
    """What is looked back on."""
    written_tokens: int = Field(default=600, ge=1)
    """What a language model may write."""


class StalenessSettings(Value):
    review_days: float = Field(default=30.0, ge=0)
    """Files that are modified so much later than the record was learned ask for a second look."""
    git_seconds: float = Field(default=60.0, gt=0)
    """How long one question to git may take; a history of a hundred thousand commits takes some seconds."""


class ForgettingSettings(Value):
    half_lives: float = Field(default=3.0, gt=0)
    """Unused for so many half-lives, an eighth of its weight is left: nobody missed it."""
    least: float = Field(default=0.05, ge=0, le=1)
    """What is trusted less than this is as good as unknown."""
    grace_days: float = Field(default=30.0, ge=0)
    """How long what was taken away can be brought back: a month shows whether somebody misses it."""
