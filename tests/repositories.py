"""Git repositories on disk for tests, and somebody who works in them."""

import os
import re
import subprocess
from pathlib import Path

from treering.adapters.git.commits import GitCommits

WHO = {f"GIT_{role}_{what}": "ada" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


class Work:
    """A repository, and somebody who works in it."""

    def __init__(self, root: Path) -> None:
        self.root, self.commits = root, 0
        root.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        moment = f"{1_700_000_000 + self.commits} +0000"
        kept = {"PATH": os.environ["PATH"], "HOME": str(self.root.parent), "GIT_CONFIG_NOSYSTEM": "1"}
        when = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env=kept | WHO | when, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def write(self, *paths: str) -> None:
        for path in paths:
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            before = place.read_text() if place.exists() else "".join(f"{path} {line}\n" for line in range(20))
            place.write_text(f"{before}{self.commits}\n")

    def commit(self, *paths: str) -> str:
        self.commits += 1
        self.write(*paths)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "work")
        return self.git("rev-parse", "HEAD")

    def commit_again_at(self, moment: str) -> None:
        """The last commit once more, with any text as its time."""
        plain = self.git("cat-file", "commit", "HEAD")
        written = self.root / ".git" / "again"
        written.write_text(re.sub(r"(?m)^(committer .*>) .*$", rf"\1 {moment} +0000", plain) + "\n")
        self.git("reset", "-q", "--hard", self.git("hash-object", "-t", "commit", "-w", "--literally", str(written)))

    @property
    def history(self) -> GitCommits:
        return GitCommits(self.root, os.environ, 30.0)
