"""What of a repository is read, and how the code graph is kept current."""

from pydantic import Field

from treering.core.values import Labels, Value


class CodeSettings(Value):
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
    seconds_a_file: float = Field(default=30.0, gt=0, le=3600)
    """A process that is longer at one file is ended, and the file left alone: the longest take a second or two."""
    look_seconds: float = Field(default=2.0, ge=0)
    """A query checks for changed files after this long, or sooner while checking takes less than a tenth of the
    time."""
    debounce_ms: int = Field(default=500, ge=10)
    """How long a watcher waits for more changes: half a second, by requirement."""
    inline_files: int = Field(default=100, ge=0)
    """As many changed files are read again before a question is answered; more are left out, and the answer says so."""
    scip_bytes: int = Field(default=256 * 2**20, ge=1)
    """Bytes of all SCIP indexes that are added at once: ten thousand files at 25 kB each. They take up to eight times
    as much memory."""
