"""The weights of `related`: `bench/cochange_fit.py` fits them together and prints them, so they are no settings."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Weights:
    """What a term adds to a score for each unit of its value: odds in logarithms, fitted on histories of code."""

    together: float = 0.86
    """Commits that changed both, each shared among its files, fading with the commits of the file asked about. Fading
    with all commits of the repository found less."""
    lately: float = 0.33
    """How few of its commits ago that was."""
    at_once: float = 0.71
    """Both were touched by the newest commits: one piece of work goes on."""
    folders: float = 0.46
    """How often commits in the one folder touch the other, for each file in it."""
    fresh: float = 0.11
    """How few commits ago the other was touched."""
    busy: float = 0.15
    """How much it is touched lately. A popular file gains here; holding long-lasting popularity against it, which
    shares of commits invite, was fitted to nothing."""
    words: float = 1.3
    """Words that the paths share."""
    same_folder: float = -0.48
    """What `folders` gives too much: two files of one folder share every commit in it."""
    test_and_code: float = 0.19
    """One is a test, the other is none."""
    new_name: float = 2.82
    """`x` and `test_x`, or words that the names share, while the file has few commits; beyond that it was
    fitted to nothing."""
    new_folder: float = 1.48
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
