"""Weights of `related`. They are not settings: `bench/cochange_fit.py` fits them together and prints them."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Weights:
    """Contribution of one unit of each term, in log odds, fitted on histories of code."""

    together: float = 0.86
    """Commits that changed both, each divided among its files, decaying with the commits of the queried file. Decay
    with all commits of the repository gave worse results."""
    lately: float = 0.33
    """How few of the file's commits ago that was."""
    at_once: float = 0.71
    """Both were touched by the newest commits, so that one piece of work continues."""
    folders: float = 0.46
    """How often commits in the one folder touch the other, per file in it."""
    fresh: float = 0.11
    """How few commits ago the other was touched."""
    busy: float = 0.15
    """Recent activity. A popular file gains here; a penalty for long-lasting popularity was fitted to zero."""
    words: float = 1.3
    """Words that the paths share."""
    same_folder: float = -0.48
    """Corrects `folders`: two files of one folder share every commit in it."""
    test_and_code: float = 0.19
    """One is a test, the other is not."""
    new_name: float = 2.82
    """`x` and `test_x`, or shared words of the names, while the file has few commits; after that it was fitted to
    zero."""
    new_folder: float = 1.48
    """Like `same_folder`, while the file has few commits."""
    imports: float = 0.3
    """One imports the other. Fitted separately, with a plain reader of import lines."""


@dataclass(frozen=True, slots=True)
class RankSettings:
    weights: Weights = field(default_factory=Weights)
    together_floor: float = 0.1
    """A tenth of one commit of two files: far below it the logarithm no longer separates pairs. A share of the file's
    commits instead of their sum gave a worse fit: files with many commits have many small shares."""
    folder_floor: float = 0.01
    busy_floor: float = 0.05
    horizon: int = 5000
    """Number of commits after which it no longer matters when a file was last touched."""
    max_siblings: int = 300
    """In a larger folder, only files with another relation are candidates."""
