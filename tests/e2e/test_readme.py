"""The README is short, and everything in it works as it stands."""

import re
from pathlib import Path

from tests.e2e.snippets import ROOT, Reader, blocks_of

README = ROOT / "README.md"


def test_every_command_and_snippet_of_the_readme_does_what_it_says(tmp_path: Path, postgres_url: str) -> None:
    Reader(tmp_path, postgres_url).follow(README)


def test_the_readme_is_read_in_one_sitting() -> None:
    assert len(README.read_text().splitlines()) <= 150


def test_the_python_example_has_about_ten_lines() -> None:
    example = next(block for block in blocks_of(README) if block.language == "python")
    assert len(example.text.strip().splitlines()) <= 12


def test_every_make_target_that_is_mentioned_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    assert set(re.findall(r"`make ([a-z-]+)`", README.read_text())) <= targets
