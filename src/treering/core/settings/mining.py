"""What counts as a find when episodes are searched for patterns, and how finds become advice."""

from pydantic import Field

from treering.core.values import LABELS, Value


class MiningSettings(Value):
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
    named_a_night: int = Field(default=20, ge=0)
    """Patterns that a language model, where there is one, names each night: those that were found and proved true."""
    name_tokens: int = Field(default=60, ge=1)
    """What it may write for each."""
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
    page: int = Field(default=100, ge=1, le=LABELS)
    """New episodes that are held against mined patterns between two commits: what a crash costs at most."""
    advised_by: int = Field(default=1_000, ge=1)
    """Episodes whose habits are kept at hand, the newest: read in some seconds, once a process."""
    advised_growth: float = Field(default=0.1, ge=0)
    """So many more episodes and habits are read anew: one more among ten changes little."""
    advised_minutes: float = Field(default=60.0, gt=0)
    """They are read anew after so long at least: what others forgot is gone from here as well."""


class AdviceSettings(Value):
    """How much each kind of habit says about the next step. Learned on the older half of recorded sessions."""

    weights: tuple[float, ...] = (1.0, 0.5, 0.3)
    """Of the last step, the last two, the last three."""
    near: float = Field(default=0.2, ge=0)
    """Of each earlier step by itself."""
    feature: float = Field(default=0.2, ge=0)
    """Of each feature of the task, such as its type."""
    own_following: float = Field(default=0.3, ge=0)
    """Of what followed the same step earlier in this very run."""
    own_use: float = Field(default=0.4, ge=0)
    """Of what this run did at all."""
    own_new: float = Field(default=0.5, ge=0, le=1)
    """Of a step that only this run did: how likely it is, as a part of how often the run did it here."""
    own_memory: int = Field(default=30, ge=1)
    """Steps of the run that are looked at for that."""
    prior: float = Field(default=5.0, gt=0)
    """Times that a context must be seen to count half: habits seen rarely lean on the wider ones."""
    own_prior: float = Field(default=4.0, gt=0)
    failure_prior: float = Field(default=3.0, gt=0)
    """The same for failures that are alike."""
    failure_power: float = Field(default=2.0, gt=0)
    """How much more a failure counts that is more alike."""
    same_step: float = Field(default=0.2, ge=0)
    """What it adds to the likeness of two failures that the same step failed."""
    worked: float = Field(default=0.3, ge=0, le=1)
    """Share of a failure's weight that goes to the steps that led out of it, wherever they stood; the rest goes to the
    step that followed."""
