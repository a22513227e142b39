"""What counts as a find when episodes are searched for patterns."""

from pydantic import Field

from treering.core.values import LABELS, Value


class MiningLimits(Value):
    """Every candidate still has to prove itself: these numbers only keep out what is clearly chance or noise."""

    least_episodes: int = Field(default=5, ge=1)
    """What happened fewer times decides nothing later, either: validation asks for as many applications."""
    least_sessions: int = Field(default=3, ge=1)
    """One busy session repeats itself, two may be one person's week; three make a habit."""
    least_share: float = Field(default=0.01, ge=0, le=1)
    """Of all episodes: in ten thousand, five alike are chance, and looking for them takes long."""
    most_gap: int = Field(default=2, ge=0, le=20)
    """Steps that may stand between two of a sequence: a look at something, a note; more, and it is another thread."""
    longest: int = Field(default=6, ge=2, le=20)
    """Steps of a sequence: what is longer is a plan, and nobody follows it by heart."""
    most_sequences: int = Field(default=5_000, ge=1)
    """Frequent sequences of each length that are looked at further, the most frequent: bounds time and memory."""
    most_places: int = Field(default=5_000_000, ge=1_000)
    """Places in the episodes at which sequences of one length end, together: 40 MB, and as much again for the next."""
    block: int = Field(default=1_000_000, ge=1_000)
    """Places that are extended at once: some 100 MB while it runs, however many episodes there are."""
    absorbed_at: float = Field(default=0.9, gt=0, le=1)
    """A part is not told beside the whole that nearly all its episodes hold."""
    most_candidates: int = Field(default=100, ge=1)
    """Of each kind, the best supported: each is tested later, and every test costs certainty for the others."""
    named_episodes: int = Field(default=50, ge=0, le=LABELS)
    """Episodes that a candidate names for and against it; their numbers are counted in full."""
    least_gain: float = Field(default=0.1, ge=0, le=1)
    """How much better a tool or a plan must do before it is worth saying: less nobody would notice."""
    base_prior: float = Field(default=5.0, ge=0)
    """Episodes of all kinds that stand in where a task type has few: two successes are no rate of 100 %."""
    least_saved: float = Field(default=0.2, gt=0, lt=1)
    """Share of the time or the steps that must be saved."""
    saved_z: float = Field(default=2.33, ge=0)
    """How sure the saving must be (rank sum, one-sided 1 %): many sequences are tried for every task type."""
    recovery_within: int = Field(default=10, ge=1)
    """Steps after a failure in which the same is tried again; later it is a new attempt."""
    recovery_steps: int = Field(default=4, ge=1)
    """Different steps that a recovery names: more is a task of its own."""

    habit_sessions: int = Field(default=2, ge=1)
    """Sessions in which steps followed each other before they are a habit; a table of habits weighs, it does not
    claim, so two are enough."""
    habit_order: int = Field(default=3, ge=1, le=6)
    """Steps right before that are looked at: of recorded sessions, four said no more than three."""
    habit_window: int = Field(default=8, ge=1, le=50)
    """Earlier steps that colour what comes next, each by itself."""
    most_habits: int = Field(default=20_000, ge=1)
    """Contexts that are kept, the most frequent: some 10 MB."""
    most_followers: int = Field(default=20, ge=1)
    """Steps kept after each context, the most frequent."""
    most_failures: int = Field(default=2_000, ge=1)
    """Different failures that are kept, the most frequent: looking through them takes milliseconds."""
    failure_words: int = Field(default=60, ge=1)
    """Words by which a failure is known: what is behind them is output of the thing that failed."""


MINING_LIMITS = MiningLimits.defaults()
