"""Writes one section of RESULTS.md, leaving the others as they are."""

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).with_name("RESULTS.md")
HEADER = "# Results\n\nEvery figure is printed by the command above it. Times come from a shared two-core machine.\n"


def write_section(title: str, command: str, body: str) -> None:
    """Replace (or add) the section called `title`, stamped with date, machine and commit."""
    text = RESULTS.read_text() if RESULTS.exists() else HEADER
    section = f"## {title}\n\n`{command}` · {_stamp()}\n\n{body.strip()}\n"
    existing = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    known = existing.search(text) is not None
    updated = existing.sub(lambda _: section + "\n", text) if known else f"{text.rstrip()}\n\n{section}"
    RESULTS.write_text(updated.rstrip() + "\n")
    print(section)


def table(headers: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    """A Markdown table."""
    lines = [headers, tuple("---" for _ in headers), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def percentile(seconds: list[float], share: float) -> float:
    """The `share` quantile of `seconds`, in milliseconds."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))] * 1000


def _stamp() -> str:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    dirty = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=False)
    revision = (commit.stdout.strip() or "no commit") + (" + changes" if dirty.stdout.strip() else "")
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return f"{datetime.now(UTC):%Y-%m-%d} · {machine} · {revision}"
