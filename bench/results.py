"""Writes one section of a page in bench/results, leaving the others as they are."""

import os
import platform
import re
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.registry import BENCHES, command_of

PAGES = Path(__file__).with_name("results")


def write_section(bench: str, title: str, body: str) -> None:
    """Replace (or add) the section called `title` on the page of a bench, with date, machine and commit."""
    page = PAGES / f"{BENCHES[bench].page}.md"
    text = page.read_text("utf-8") if page.exists() else f"# {page.stem.capitalize()}\n"
    section = f"## {title}\n\n`{command_of(bench)}` · {_stamp()}\n\n{body.strip()}\n"
    existing = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    known = existing.search(text) is not None
    updated = existing.sub(lambda _: section + "\n", text) if known else f"{text.rstrip()}\n\n{section}"
    page.write_text(updated.rstrip() + "\n", "utf-8")
    print(section)


def table(headers: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> str:
    """A Markdown table."""
    lines = [headers, tuple("---" for _ in headers), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def percentile(seconds: list[float], share: float) -> float:
    """The `share` quantile of `seconds`, in milliseconds."""
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))] * 1000


def today() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d}"


def revision() -> str:
    """The short hash of the commit, marked if the working tree differs from it."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    dirty = subprocess.run(["git", "status", "--porcelain"], capture_output=True, text=True, check=False)
    return (commit.stdout.strip() or "no commit") + (" + changes" if dirty.stdout.strip() else "")


def _stamp() -> str:
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return f"{today()} · {machine} · {revision()}"
