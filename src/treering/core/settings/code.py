"""Settings of the code index: which files it contains and how it is kept current."""

from pydantic import Field

from treering.core.values import Labels, Value


class CodeSettings(Value):
    largest_file: int = Field(default=1_000_000, ge=1)
    """Bytes above which a file is skipped as data or generated code."""
    vendored: Labels = (
        "node_modules",
        "bower_components",
        "jspm_packages",
        "third_party",
        "third-party",
        "site-packages",
        "__pycache__",
    )
    """Names of folders with third-party code; skipped at any depth."""
    built: Labels = ("build", "dist", "out", "target", "vendor", "coverage", "venv", "env")
    """Names of folders with build output; skipped at the root and beside a manifest such as `package.json`."""
    processes: int = Field(default=2, ge=1)
    """Processes that parse and resolve files when many have changed."""
    seconds_a_file: float = Field(default=30.0, gt=0, le=3600)
    """Maximum seconds a worker process spends on one file; then the file is skipped until it changes. Does not apply to
    small updates, which run in your own process."""
    look_seconds: float = Field(default=2.0, ge=0)
    """Seconds after which a query checks again for changed files; sooner if the check takes less than a tenth of the
    elapsed time."""
    debounce_ms: int = Field(default=500, ge=10)
    """Milliseconds that a watcher waits for more changes before it indexes."""
    inline_files: int = Field(default=100, ge=0)
    """Maximum number of changed files that are indexed before a query is answered; with more, the answer says that it
    is incomplete."""
    scip_bytes: int = Field(default=256 * 2**20, ge=1)
    """Maximum total bytes of the SCIP indexes added at once. Reading them takes up to eight times as much memory."""
