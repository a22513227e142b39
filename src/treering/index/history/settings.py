"""The numbers of co-change, each with its reason. `bench/cochange_fit.py` fits the weights and prints them."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CountSettings:
    most_files: int = 30
    """A commit of more files is a sweep (formatting, licence headers): it says nothing of what belongs together."""
    half_life: float = 1500.0
    """Commits after which being changed together counts half; 400 and 100 found less on later commits."""
    busy_half_life: float = 20.0
    """Commits after which a file's being touched counts half: what is worked on now."""
    recent: int = 8
    """Newest commits whose files may be guessed without any other tie."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What a term adds to a score for each unit of its value: odds in logarithms, fitted on histories of code."""

    together: float = 0.79
    """Commits that changed both, each shared among its files, old ones fading."""
    folders: float = 0.51
    """How often commits in the one folder touch the other, for each file in it."""
    fresh: float = 0.2
    """How few commits ago the other was touched."""
    busy: float = 0.13
    """How much it is touched lately. A popular file gains here; holding long-lasting popularity against it, which
    shares of commits invite, was fitted to nothing."""
    words: float = 1.6
    """Words that the paths share."""
    name: float = 0.04
    """`x` and `test_x`, or words that the names share."""
    same_folder: float = -0.65
    """What `folders` gives too much: two files of one folder share every commit in it."""
    test_and_code: float = 0.18
    """One is a test, the other is none."""
    new_name: float = 2.81
    """As `name`, while the file has few commits."""
    new_folder: float = 1.82
    """As `same_folder`, while the file has few commits."""
    imports: float = 0.3
    """One imports the other. Fitted apart, with a plain reader of import lines."""


@dataclass(frozen=True, slots=True)
class RankSettings:
    weights: Weights = field(default_factory=Weights)
    together_floor: float = 0.1
    """A tenth of one commit of two files: far below it the logarithm no longer tells ties apart. A share of the file's
    commits instead of their sum fitted worse: files of many commits have many small shares."""
    folder_floor: float = 0.01
    busy_floor: float = 0.05
    horizon: int = 5000
    """Commits after which it no longer matters when a file was last touched."""
    most_siblings: int = 300
    """A folder of more files is a heap: only its files with another tie are looked at."""


@dataclass(frozen=True, slots=True)
class SeedSettings:
    least_together: int = 2
    """Once may be chance."""
    least_weight: float = 0.05
    most_per_file: int = 20
    """Retrieval looks at no more neighbours of a file."""
