"""Statements of rule files: what a Markdown file says, on which lines, and of which knowledge type."""

from pathlib import Path

import pytest

from treering.archive.rule_files.classification import type_of
from treering.archive.rule_files.marked_block import BEGIN, END, with_block, without_block
from treering.archive.rule_files.rule_sources import is_rule_file, rule_sources
from treering.archive.rule_files.statements import RuleStatement, statements_of
from treering.core.errors import InvalidInput, NotFound

FILE = """\
---
globs: "*.go"
---
# Tides
A tide service in Go.

## Commands
- Build: `make build`
- Lint:
  - `ruff check .`

```bash
# everything
$ make test
make lint
```

## Style
- Never edit generated files.
- [ ] Prefer tables over branches
- Testing
  - always mock
    the clock
1. Never push to main
2. Always rebase before a merge

## Release
To release:

1. bump the version
2. run `make release`

## Gotchas
> The tests need REDIS_URL.

## Design
We decided to keep one file.
The service must answer within 200 ms.

| name | port |
| --- | --- |
| tide api | 8080 |

```go
func main() {}
```
<!-- a comment -->
"""


def read(text: str) -> list[tuple[int, int, str, str]]:
    return [(each.first_line, each.last_line, type_of(each)[0], each.content) for each in statements_of(text)]


def test_each_kind_of_block_becomes_a_statement_with_its_lines_and_type() -> None:
    assert read(FILE) == [
        (5, 5, "fact", "A tide service in Go."),
        (8, 8, "workflow_recipe", "Commands: Build: `make build`"),
        (10, 10, "workflow_recipe", "Lint: `ruff check .`"),
        (12, 16, "workflow_recipe", "Commands:\n# everything\nmake test\nmake lint"),
        (19, 19, "preference", "Never edit generated files."),
        (20, 20, "preference", "Prefer tables over branches"),
        (21, 21, "fact", "Style: Testing"),
        (22, 23, "preference", "always mock the clock"),
        (24, 24, "preference", "Never push to main"),
        (25, 25, "preference", "Always rebase before a merge"),
        (30, 31, "workflow_recipe", "To release: 1. bump the version 2. run `make release`"),
        (34, 34, "gotcha", "The tests need REDIS_URL."),
        (37, 38, "decision", "We decided to keep one file. The service must answer within 200 ms."),
        (42, 42, "fact", "tide api | 8080"),
        (44, 46, "pattern", "Design:\nfunc main() {}"),
    ]


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        ("Never commit secrets", "never"),
        ("You must not call the API in tests", "never"),
        ("**Don't** use mocks", "never"),
        ("Avoid global state", "avoid"),
        ("IMPORTANT: always run the linter", "must"),
        ("Use four spaces", "prefer"),
        ("The cache is ALWAYS cleared by hand", "must"),
    ],
)
def test_rules_have_a_strength(text: str, strength: str) -> None:
    [statement] = statements_of(text)
    assert type_of(statement) == ("preference", {"strength": strength})


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("The API must answer within 200 ms", "requirement"),
        ("Warning: the queue is not durable", "gotcha"),
        ("The build breaks when the path has spaces", "gotcha"),
        ("Decision: SQLite only", "decision"),
        ("Postgres listens on port 5433", "fact"),
    ],
)
def test_other_types_are_recognised_by_their_words(text: str, type: str) -> None:
    assert [type_of(each)[0] for each in statements_of(text)] == [type]


def test_commands_of_a_fence_are_steps_without_prompts_and_comments() -> None:
    fence = next(each for each in statements_of(FILE) if each.form == "commands")
    assert fence.steps == ("make test", "make lint")
    assert statements_of("```\nnpm ci\nnpm test\n```")[0].steps == ("npm ci", "npm test")
    assert statements_of("```\nsome\nlisting\n```")[0].steps == ()


def test_line_ends_and_repetitions_change_nothing() -> None:
    assert read(FILE.replace("\n", "\r\n")) == read(FILE)
    assert read(f"{FILE}\n- Never edit generated files.\n") == read(FILE)


def test_an_introduction_without_a_list_is_a_statement() -> None:
    assert [each.content for each in statements_of("Mind the gap, always:\n\nNext words follow here")] == [
        "Mind the gap, always:",
        "Next words follow here",
    ]


def test_secrets_are_redacted_in_texts_headings_and_steps() -> None:
    key = "AKIAIOSFODNN7EXAMPLX"
    made = statements_of(f"# Key {key}\n- The key is {key} for now\n\n```sh\nexport AWS_KEY={key}\n```\n")
    assert key not in repr(made)
    assert len(made) == 2


@pytest.mark.parametrize(
    "content", [f"{BEGIN}\n", f"{END}\n{BEGIN}\n", f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n", f"a\n{END}"]
)
def test_a_damaged_block_is_refused(content: str) -> None:
    with pytest.raises(InvalidInput, match=r"in CLAUDE.md are not one pair"):
        with_block(content.encode(), "x", "CLAUDE.md")
    with pytest.raises(InvalidInput):
        without_block(content.encode(), "CLAUDE.md")


def test_names_of_rule_files() -> None:
    for name in (
        "CLAUDE.md",
        "sub/AGENTS.md",
        ".cursorrules",
        ".cursor/rules/go.mdc",
        ".github/copilot-instructions.md",
    ):
        assert is_rule_file(Path(name))
    for name in ("export.jsonl", "-", "memory.jsonl.gz", "notes"):
        assert not is_rule_file(Path(name))


def texts(path: Path, root: Path) -> list[tuple[str, tuple[RuleStatement, ...]]]:
    return [(each.name, each.statements) for each in rule_sources(path, root)]


def test_imports_are_followed_inside_the_root_only_and_each_file_once(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    (root / "docs").mkdir(parents=True)
    (tmp_path / "outside.md").write_text("- Outside of it all")
    (root / "link.md").symlink_to(tmp_path / "outside.md")
    (root / "secrets.env").write_text("A=1")
    (root / "docs" / "go.md").write_text("- Use gofmt for all\n\n@../CLAUDE.md")
    (root / "CLAUDE.md").write_text(
        "See @docs/go.md for Go.\n\n@../outside.md\n\n@link.md @missing.md @secrets.env @/etc/passwd\n\n"
        "`@docs/other.md`"
    )
    (root / "docs" / "other.md").write_text("- not imported, the name is code")
    assert [name for name, _ in texts(root / "CLAUDE.md", root)] == ["CLAUDE.md", "docs/go.md"]


def test_imports_end_at_a_depth(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"r{number}.md").write_text(f"- Rule number {number} holds\n\n@r{number + 1}.md\n")
    assert len(texts(tmp_path / "r0.md", tmp_path)) == 6


def test_what_is_not_a_text_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "AGENTS.md").write_bytes(b"a" * (1 << 20) + b"a")
    for name, error in (
        ("CLAUDE.md", InvalidInput),
        ("AGENTS.md", InvalidInput),
        ("GEMINI.md", NotFound),
        (".", NotFound),
    ):
        with pytest.raises(error):
            texts(tmp_path / name, tmp_path)


def test_personal_files_and_files_of_other_folders_are_named_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, home = tmp_path / "repository", tmp_path / "home"
    for path in (root / "CLAUDE.local.md", home / ".claude" / "CLAUDE.md"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("- Answer in short sentences")
    monkeypatch.setenv("HOME", str(home))
    made = [
        each for path in (root / "CLAUDE.local.md", home / ".claude" / "CLAUDE.md") for each in rule_sources(path, root)
    ]
    assert [(each.name, each.is_personal) for each in made] == [
        ("CLAUDE.local.md", True),
        ("~/.claude/CLAUDE.md", True),
    ]
