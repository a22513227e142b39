"""What is learned from what was said and done, and how it fades."""

from typing import Literal

from pydantic import Field

from treering.core.values import LABELS, Value


class LearnSettings(Value):
    enabled: bool = True
    """False learns nothing from what is said; turns are stored and found as ever. What is said meanwhile is not learned
    later either."""
    model: Literal["auto", "off"] = "auto"
    """Auto lets the language model of `writer` read for facts and names, where there is one; off leaves that to the
    rules."""
    page: int = Field(default=30, ge=1, le=200)
    """Turns that a language model reads in one call: enough to know who "she" is, few enough to miss nothing."""
    page_characters: int = Field(default=24_000, ge=1_000, le=60_000)
    """What one call reads at most: some 6,000 tokens, which also a small local model holds beside its answer."""
    turn_characters: int = Field(default=6_000, ge=100)
    """What is read of one turn: a longer one is pasted, and would push the others from the page."""
    most_tokens: int = Field(default=4_000, ge=100)
    """What one answer may take: thirty facts of a hundred tokens, and some room."""
    max_tokens_per_day: int = Field(default=1_000_000, ge=0)
    """Tokens that learning may spend on the language model in one day (UTC), counted over all processes in the project:
    some eighty pages. When they are used up, facts are read by rules. 0 spends none."""
    candidates: int = Field(default=50, ge=1, le=LABELS)
    """Records that a new statement is compared with: the newest of its subject and attribute, and the most alike."""
    quiet_minutes: float = Field(default=30.0, ge=0)
    """A session in which nothing was said for so long can be read at night as if it had ended."""


class EntitySettings(Value):
    """Who and what records speak of."""

    read_characters: int = Field(default=20_000, ge=0)
    """How much of one text is read for names; what comes after is data, and names in it are found by their words."""
    most_mentions: int = Field(default=30, ge=0)
    """Names that one record is linked with, the surest: a log of a thousand identifiers speaks of none of them."""
    batch: int = Field(default=200, ge=1, le=LABELS)
    """Records that are linked between two commits: what a crash costs at most."""
    slice_seconds: float = Field(default=1.0, gt=0)
    """How long a job links before it lets others have their turn: `settle` keeps its deadline."""
    few: int = Field(default=2, ge=0)
    """A record with so many names or fewer may have more that rules do not see: it is read again at night."""
    nightly_llm: int = Field(default=50, ge=0)
    """Records that a language model reads again in one night; each is a request that somebody pays for."""
    nightly_spacy: int = Field(default=2_000, ge=0)
    """The same where spaCy reads: about a hundredth of a second each."""
    llm_tokens: int = Field(default=600, ge=1)
    """Room for some thirty names in an answer."""
    summary_facts: int = Field(default=3, ge=0)
    """The surest facts that make the summary of a profile."""
    profile_facts: int = Field(default=50, ge=1, le=LABELS)
    """Facts that a profile holds, the surest."""
    profile_records: int = Field(default=50, ge=1, le=LABELS)
    """Records that a profile shows, the newest; `recall` finds the others."""
    related: int = Field(default=8, ge=0)
    """Entities beside it that a profile names: those that most of its records speak of, too."""
    nearest: int = Field(default=3, ge=0)
    """Names that are proposed where one is not known."""


class EpisodeSettings(Value):
    """Whole task executions: how they age, how they are weighed, how many are kept at hand."""

    mature_after_days: float = Field(default=30.0, gt=0)
    """A month: what was done since is still part of the work at hand."""
    aged_after_days: float = Field(default=180.0, gt=0)
    """Half a year on, nobody asks for single steps; the trace moves to the blob store."""
    archived_after_days: float = Field(default=365.0, gt=0)
    """After a year what was learned counts; the rest is fetched when it is asked for."""
    archived_characters: int = Field(default=1_000, ge=1)
    """How much of an archived episode's request stays at hand: enough to recognise it."""
    batch: int = Field(default=50, ge=1)
    """Episodes that are moved on in one transaction: each may write a blob, and others wait meanwhile."""
    cache: int = Field(default=1_000, ge=0)
    """Whole episodes kept in this process, the last ones used."""
    cache_bytes: int = Field(default=64_000_000, ge=0)
    """What these may hold in all, counted as JSON: a few long traces must not take the place of all else."""
    counted_together: int = Field(default=20, ge=1)
    """Accesses that are written at once, or a read would be a write; a crash forgets at most so many."""
    limit: int = Field(default=10, ge=1)
    """Episodes that a search gives where the caller names no limit."""
    candidates: int = Field(default=200, ge=10)
    """Episodes that are weighed for a search."""
    similarity: float = Field(default=0.5, ge=0)
    """What likeness to the query counts: half, and the four parts below the other half."""
    recency: float = Field(default=0.2, ge=0)
    recency_days: float = Field(default=30.0, gt=0)
    """After so many days recency has faded to a third."""
    success: float = Field(default=0.15, ge=0)
    use: float = Field(default=0.1, ge=0)
    use_scale: float = Field(default=10.0, gt=0)
    """The logarithm of accesses that counts in full."""
    domain: float = Field(default=0.05, ge=0)
    highly_relevant_at: float = Field(default=0.5, ge=0, le=1)
    """Aged and archived episodes come unasked from this likeness on: most of what is said is the same."""
    failure_likeness: float = Field(default=0.5, gt=0, le=1)
    """Two error messages that share so many of their words are alike, though not the same."""
    same_task: float = Field(default=0.6, gt=0, le=1)
    """Two requests that share so many of their words ask for the same, unless one names something else."""
    recovery_steps: int = Field(default=3, ge=1)
    """Steps after an error that are told: what was tried next, and what came of it."""


class EpisodeConsolidationSettings(Value):
    """Which episodes are so alike that one can stand for them."""

    likeness: float = Field(default=0.95, gt=0, lt=1)
    """The cosine above which two episodes were the same task; the requirement names it."""
    window_days: float = Field(default=30.0, gt=0)
    """How far apart two neighbours of a cluster may lie: the same task after a longer pause is a new beginning."""
    smallest: int = Field(default=3, ge=2)
    """Two may be chance; of three, one can be said to be typical."""
    largest: int = Field(default=LABELS, ge=2, le=LABELS)
    """An episode names each that it stands for; of more, several are made, in the order of time."""
    lessons: int = Field(default=50, ge=0)
    """Insights and failures that are carried over, each said once; a reader takes in no more."""
    difference_characters: int = Field(default=200, ge=0)
    """How much is kept of the words in which one differs: enough to see what was special; it has the rest itself."""


class ReflectionSettings(Value):
    every_days: float = Field(default=6.0, ge=0)
    """At most once in so many days: a weekly run that comes an hour early still counts as weekly."""
    period_days: float = Field(default=7.0, gt=0)
    """What is looked back on."""
    least_facts: int = Field(default=3, ge=1)
    """Fewer new facts than this are remembered as they are."""
    most_records: int = Field(default=200, ge=1)
    """Records of each kind that are read, the newest."""
    most_lines: int = Field(default=12, ge=1)
    """Lines of each part of the digest; the rest is counted."""
    line_characters: int = Field(default=200, ge=20)
    """What one line quotes of a record."""
    written_tokens: int = Field(default=600, ge=1)
    """What a language model may write."""


class UseSettings(Value):
    uses: int = Field(default=5, ge=1)
    """So many uses that nobody corrected are evidence."""
    gain: float = Field(default=0.05, ge=0, le=1)
    """What they add to the confidence."""
    ceiling: float = Field(default=0.95, ge=0, le=1)
    """Use alone gets no further: what everybody repeats may still be wrong."""
    uses_for_review: int = Field(default=10, ge=1)
    """So many uses that nobody corrected are as good as a review."""


class RelationSettings(Value):
    """How much of a change of confidence travels along a relation."""

    validates: float = Field(default=0.6, ge=-1, le=1)
    required_with: float = Field(default=0.3, ge=-1, le=1)
    conflicts_with: float = Field(default=-0.4, ge=-1, le=1)
    derived_from: float = Field(default=0.5, ge=-1, le=1)
    supersedes: float = Field(default=-0.8, ge=-1, le=0)
    """Only a rise travels: the surer the new record, the less the old one counts."""
    least: float = Field(default=0.05, gt=0, le=1)
    """A change that would be no greater than this stops."""
    depth: int = Field(default=3, ge=0)
    """Relations in a row that are followed; even the strongest leave a fifth after three."""
    most: int = Field(default=100, ge=1, le=LABELS)
    """Records that one change may reach; who is related to more is related to none in particular."""
    ceiling: float = Field(default=0.95, ge=0, le=1)
    """Related records lift each other no further: only a person is surer."""


class StalenessSettings(Value):
    most_loss: float = Field(default=0.5, ge=0, le=1)
    """What a record loses of its confidence when every line of its files was rewritten: as likely right as wrong."""
    least_loss: float = Field(default=0.01, ge=0, le=1)
    """Less than a hundredth is not worth a change of the record."""
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
    page: int = Field(default=200, ge=1)
    """Records that are looked at between two commits: what a crash costs at most."""
    proof_pieces: int = Field(default=64, ge=1)
    """Pieces of a removed text that are looked for in the raw files; a copy of it holds them all."""
    proof_characters: int = Field(default=24, ge=4)
    """How long a piece is: four words, which stand elsewhere by chance in no memory of ordinary size."""
