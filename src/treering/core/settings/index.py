"""What of a repository is read, and how the code graph is kept current."""

from pydantic import Field

from treering.core.settings.chunks import ChunkSettings, FindingSettings
from treering.core.settings.history import HistorySettings
from treering.core.values import Labels, Value


class IndexSettings(Value):
    largest_file: int = Field(default=1_000_000, ge=1)
    """Bytes above which a file is data or generated: the longest files that people write stay far below."""
    vendored: Labels = (
        "node_modules",
        "bower_components",
        "jspm_packages",
        "third_party",
        "third-party",
        "site-packages",
        "__pycache__",
    )
    """Folders of other people's code, wherever they stand."""
    built: Labels = ("build", "dist", "out", "target", "vendor", "coverage", "venv", "env")
    """Folders that are outputs or copies beside a manifest; elsewhere such a name is anybody's."""
    processes: int = Field(default=2, ge=1)
    """Processes that read files when there are many."""
    many_files: int = Field(default=150, ge=1)
    """From so many on reading is shared out: starting a process takes as long as reading a hundred files."""
    seconds_a_file: float = Field(default=30.0, gt=0, le=3600)
    """A process that is longer at one file is ended, and the file left alone: the longest take a second or two."""
    batch: int = Field(default=400, ge=1)
    """Files that are stored in one transaction; what a crash costs at most."""
    rounds: int = Field(default=5, ge=1)
    """How often files that changed while they were indexed are read again before it is left to the next run."""
    lease_seconds: float = Field(default=60.0, gt=0, le=3600)
    """How long a process on another machine that died keeps others from indexing; each batch takes a second or two."""
    look_seconds: float = Field(default=2.0, ge=0)
    """After so long a question looks whether files changed; sooner, by far in small projects, as long as looking takes
    no more than a tenth of the time."""
    inline_files: int = Field(default=100, ge=0)
    """As many changed files are read again before a question is answered; more are left out, and the answer says so."""
    debounce_ms: int = Field(default=500, ge=10)
    """How long a watcher waits for more changes; the requirement names it."""
    in_place: int = Field(default=200, ge=1)
    """As many files are changed in the graph in memory; above it, loading all of it anew is quicker."""
    linked_memories: int = Field(default=20, ge=0)
    """Memories about the files that a change reaches: more are not read."""
    scip_bytes: int = Field(default=256 * 2**20, ge=1)
    """Bytes of all SCIP indexes that are added at once: ten thousand files at 25 kB each. They take up to eight times
    as much memory."""
    told_problems: int = Field(default=50, ge=0)
    """Problems that a summary lists; all are counted."""
    chunks: ChunkSettings = Field(default_factory=ChunkSettings.defaults)
    finding: FindingSettings = Field(default_factory=FindingSettings.defaults)
    history: HistorySettings = Field(default_factory=HistorySettings.defaults)
