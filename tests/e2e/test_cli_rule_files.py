"""`treering import` and `export` of rule files as people use them."""

from pathlib import Path

import pytest

from tests.e2e.terminal import Terminal

RULES = "# Tides\n\n- Never edit generated files\n- Build: `make build`\n"


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    (tmp_path / "CLAUDE.md").write_text(RULES)
    return Terminal(tmp_path, {"TREERING_DB": str(tmp_path / "memory.db"), "TREERING_PROJECT": "p"})


def test_a_rule_file_is_imported_followed_and_exported(terminal: Terminal) -> None:
    shown = terminal.ok("import", "CLAUDE.md", "--dry-run")
    assert "would add preference  CLAUDE.md:3" in shown
    assert terminal.json("stats")["knowledge"] == {}
    assert len(terminal.json("import", "CLAUDE.md")["added"]) == 2
    assert "2 statements unchanged" in terminal.ok("import", "CLAUDE.md")
    (terminal.folder / "CLAUDE.md").write_text(
        RULES.replace("Build: `make build`\n", "").replace("generated", "all generated")
    )
    changed = terminal.ok("import", "CLAUDE.md")
    assert "was: Never edit generated files" in changed
    assert "--retire retires" in changed
    assert len(terminal.json("import", "CLAUDE.md", "--retire")["retired"]) == 1
    exported = terminal.json("export", "--format", "agents-md")
    assert (exported["path"], exported["records"], exported["changed"]) == ("AGENTS.md", 1, True)
    assert "- Never edit all generated files\n" in (terminal.folder / "AGENTS.md").read_text()
    assert "unchanged AGENTS.md" in terminal.ok("export", "--format", "agents-md")
    assert terminal.ok("export", "--format", "markdown").startswith("## Project memory\n")


def test_mistakes_are_refused_in_one_line(terminal: Terminal) -> None:
    assert "cannot be read" in terminal.refused("import", "AGENTS.md")
    assert "use one of claude-md, agents-md, markdown" in terminal.refused("export", "--format", "pdf")
    assert "pass the FILE to write" in terminal.refused("export")
    assert "are for rule files" in terminal.refused("import", "some.jsonl", "--dry-run")
    (terminal.folder / "AGENTS.md").write_text("<!-- treering:begin -->\n")
    terminal.ok("remember", "Use tabs", "--type", "preference")
    assert "not one pair" in terminal.refused("export", "--format", "agents-md")


def test_context_for_a_stage(terminal: Terminal) -> None:
    terminal.ok("remember", "Mocking the tide clock fails", "--type", "dead_end")
    assert "Mocking the tide clock fails" in terminal.ok("context", "mock the tide clock", "--for", "planner")
    assert terminal.json("context", "mock the tide clock", "--for", "planner")["sections"][0]["records"]
    terminal.ok("remember", "The tide page must load in a second", "--type", "requirement")
    assert "must load in a second" in terminal.ok("context", "check the tide page", "--for", "qa")
    assert "use one of planner, qa" in terminal.refused("context", "x", "--for", "chef")
    assert "does not combine" in terminal.refused("context", "x", "--for", "qa", "--tainted")
