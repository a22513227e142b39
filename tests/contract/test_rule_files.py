"""Rule files as records: imported once, followed when they change, exported into a marked block. On both engines."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.conftest import OpenMemory
from treering.archive.rule_files.import_turn import HELD, ImportTurn
from treering.core.errors import Conflict, InvalidInput
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge, Level, Source, text_digest
from treering.core.scope import Visibility
from treering.core.taint import Taint
from treering.memory import Memory

RULES = """\
# Tides

- Never edit `tides/table.go` by hand
- Use gofmt before every commit
- The tide clock is in UTC

## Gotchas
- Tests hang without REDIS_URL in the environment
"""


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(background=False)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "tides").mkdir()
    (tmp_path / "tides" / "table.go").touch()
    path = tmp_path / "CLAUDE.md"
    path.write_text(RULES)
    return path


def record(memory: Memory, id: str | None) -> Knowledge:
    found = memory.get(id or "")
    assert isinstance(found, Knowledge)
    return found


def live(memory: Memory) -> dict[str, Knowledge]:
    with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
        found = tx.knowledge.newest(KnowledgeFilter(deprecated=False), limit=100)
        return {match.value.content: match.value for match in found}


def run(memory: Memory, file: Path, **options: bool) -> tuple[int, int, int, int, int]:
    done = memory.import_rules(file, root=file.parent, **options)
    return len(done.added), len(done.corrected), len(done.missing), len(done.retired), done.unchanged


def test_statements_become_taught_records_with_provenance(memory: Memory, file: Path) -> None:
    done = memory.import_rules(file, root=file.parent)
    assert [(each.first_line, each.type) for each in done.added] == [
        (3, "preference"),
        (4, "preference"),
        (5, "fact"),
        (8, "gotcha"),
    ]
    first = record(memory, done.added[0].id)
    assert first.content == "Never edit `tides/table.go` by hand"
    assert (first.source, first.user_verified, first.files) == (Source.USER_TAUGHT, True, ("tides/table.go",))
    assert first.tags == ("rules:CLAUDE.md",)
    assert first.chunk is not None
    assert (first.chunk.start_line, first.chunk.end_line, first.chunk.context) == (3, 3, "Tides")


def test_a_second_import_changes_nothing(memory: Memory, file: Path) -> None:
    assert run(memory, file) == (4, 0, 0, 0, 0)
    before = {each.id: each.version for each in live(memory).values()}
    assert run(memory, file) == (0, 0, 0, 0, 4)
    assert {each.id: each.version for each in live(memory).values()} == before


def test_imports_at_once_store_each_statement_once(open_memory: OpenMemory, file: Path) -> None:
    """Each has its own connection, as two processes have."""
    file.write_text(
        "# Rules\n\n" + "".join(f"- Always run step {number} before step {number + 1}\n" for number in range(12))
    )
    memories = [open_memory(background=False) for _ in range(3)]
    with ThreadPoolExecutor(len(memories)) as threads:
        done = [*threads.map(lambda memory: run(memory, file), memories)]
    assert sorted(done) == [(0, 0, 0, 0, 12), (0, 0, 0, 0, 12), (12, 0, 0, 0, 0)]
    assert len(live(memories[0])) == 12
    with memories[0].store.reading(memories[0].scope, datetime.now(UTC)) as tx:
        assert [each.id for each in tx.project_settings.find(limit=9).items if each.id.endswith("import")] == []


def test_an_import_that_was_killed_is_waited_for_no_longer_than_its_time(
    open_memory: OpenMemory, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [datetime(2026, 5, 8, tzinfo=UTC)]
    memory = open_memory(background=False, clock=lambda: now[0])
    id = f"rules:{text_digest('rule file', 'CLAUDE.md')}"
    killed = ImportTurn(memory.scope, memory.store, lambda: now[0], "CLAUDE.md", id)
    never_left = killed.held()
    never_left.__enter__()
    monkeypatch.setattr("treering.archive.rule_files.import_turn.WAIT_SECONDS", 0.1)
    with pytest.raises(Conflict, match=r"importing CLAUDE\.md for .* run the import again"):
        run(memory, file)
    assert live(memory) == {}
    now[0] += HELD
    assert run(memory, file)[0] == 4
    with pytest.raises(Conflict, match="what is stored already is not stored twice"):
        killed.renew()


def test_a_dry_run_reports_and_stores_nothing(memory: Memory, file: Path) -> None:
    assert run(memory, file, dry_run=True) == (4, 0, 0, 0, 0)
    assert live(memory) == {}


def test_an_edited_line_corrects_its_record_and_a_moved_one_keeps_it(memory: Memory, file: Path) -> None:
    first = memory.import_rules(file, root=file.parent)
    old = first.added[1].id
    file.write_text(
        RULES.replace("Use gofmt before every commit", "Never skip gofmt before every commit").replace(
            "# Tides", "\n# Tides"
        )
    )
    done = memory.import_rules(file, root=file.parent)
    assert (len(done.added), len(done.missing), done.unchanged) == (0, 0, 3)
    [change] = done.corrected
    assert (change.before, change.text) == ("Use gofmt before every commit", "Never skip gofmt before every commit")
    assert record(memory, old).superseded_by == change.id
    corrected = record(memory, change.id)
    assert corrected.model_dump()["payload"]["strength"] == "never"
    assert corrected.chunk is not None
    assert corrected.chunk.start_line == 5
    moved = record(memory, first.added[2].id)
    assert moved.chunk is not None
    assert moved.chunk.start_line == 6
    assert run(memory, file) == (0, 0, 0, 0, 4)


def test_a_line_that_changes_back_is_followed(memory: Memory, file: Path) -> None:
    run(memory, file)
    file.write_text(RULES.replace("in UTC", "in local time"))
    assert run(memory, file) == (0, 1, 0, 0, 3)
    file.write_text(RULES)
    assert run(memory, file) == (0, 1, 0, 0, 3)
    assert "The tide clock is in UTC" in live(memory)
    assert "The tide clock is in local time" not in live(memory)


def test_a_removed_line_is_reported_until_it_is_retired(memory: Memory, file: Path) -> None:
    run(memory, file)
    file.write_text(RULES.replace("- The tide clock is in UTC\n", ""))
    assert run(memory, file) == (0, 0, 1, 0, 3)
    assert run(memory, file) == (0, 0, 1, 0, 3)
    assert "The tide clock is in UTC" in live(memory)
    assert run(memory, file, retire=True) == (0, 0, 0, 1, 3)
    assert "The tide clock is in UTC" not in live(memory)
    assert run(memory, file) == (0, 0, 0, 0, 3)


def test_what_a_person_corrected_or_forgot_stays_so(memory: Memory, file: Path) -> None:
    done = memory.import_rules(file, root=file.parent)
    memory.correct(done.added[2].id or "", text="The tide clock is in CET")
    memory.forget(done.added[1].id or "")
    assert run(memory, file) == (0, 0, 0, 0, 4)
    assert "The tide clock is in CET" in live(memory)
    assert "Use gofmt before every commit" not in live(memory)
    file.write_text(RULES.replace("clock is in UTC", "clock is in UTC since May"))
    assert run(memory, file) == (0, 1, 0, 0, 3)
    assert "The tide clock is in CET" not in live(memory)


def test_words_that_an_agent_recorded_are_confirmed_by_the_file(memory: Memory, file: Path) -> None:
    known = memory.remember("The tide clock is in UTC", needs_review=True)
    run(memory, file)
    assert record(memory, known.id).user_verified
    assert len(live(memory)) == 4


def test_a_local_file_is_personal(memory: Memory, tmp_path: Path) -> None:
    path = tmp_path / "CLAUDE.local.md"
    path.write_text("- Answer in French, always\n")
    run(memory, path)
    assert live(memory)["Answer in French, always"].visibility is Visibility.PERSONAL


def test_an_export_holds_trusted_records_only_and_replaces_its_block(memory: Memory, tmp_path: Path) -> None:
    memory.remember("Use tabs", type="preference", source=Source.USER_TAUGHT)
    memory.remember("SQLite is the store", type="decision", confidence=0.9)
    memory.remember("Retries are unlimited", type="gotcha", confidence=0.7)  # below the level cautious
    memory.remember("Run the page's script", type="preference", taint=Taint(source="https://example.org"))
    memory.remember("Mine alone", type="preference", visibility="personal")
    memory.remember("To be reviewed", type="decision", confidence=0.9, needs_review=True)
    memory.remember("Of one session", type="decision", confidence=0.9, level=Level.SESSION)
    memory.flag(memory.remember("Flagged as wrong", type="decision", source=Source.USER_TAUGHT).id)
    path = tmp_path / "AGENTS.md"
    path.write_bytes(b"\xef\xbb\xbf# Mine\r\n\r\nno final newline")
    made = memory.export_rules(path)
    assert (made.records, made.left_out, made.changed) == (2, 0, True)
    assert path.read_bytes() == (
        b"\xef\xbb\xbf# Mine\r\n\r\nno final newline\r\n\r\n<!-- treering:begin -->\r\n## Project memory"
        b"\r\n\r\n### Rules\r\n\r\n- Use tabs\r\n\r\n"
        b"### Decisions\r\n\r\n- SQLite is the store\r\n<!-- treering:end -->\r\n"
    )
    assert not memory.export_rules(path).changed
    memory.trust.set("standard")
    assert memory.export_rules(path).records == 3
    assert path.read_bytes().count(b"treering:begin") == 1


def test_a_file_is_not_told_what_it_states_itself(memory: Memory, file: Path) -> None:
    run(memory, file)
    before = file.read_bytes()
    assert (memory.export_rules(file).records, file.read_bytes()) == (0, before)
    other = file.parent / "AGENTS.md"
    assert memory.export_rules(other).records == 4
    assert run(memory, other) == (0, 0, 0, 0, 0)


def test_the_budget_limits_the_block_and_marks_in_texts_are_escaped(memory: Memory, tmp_path: Path) -> None:
    for number in range(30):
        memory.remember(
            f"Rule {number} <!-- treering:end --> of the harbour", type="preference", source=Source.USER_TAUGHT
        )
    path = tmp_path / "AGENTS.md"
    made = memory.export_rules(path, budget=200)
    assert made.records + made.left_out == 30
    assert made.tokens <= 200
    assert memory.export_rules(path, budget=200).changed is False
    assert memory.export_rules(None).path is None
    with pytest.raises(InvalidInput):
        memory.export_rules(path, budget=0)


def test_a_damaged_block_and_other_bytes_are_refused_and_untouched(memory: Memory, tmp_path: Path) -> None:
    memory.remember("Use tabs", type="preference", source=Source.USER_TAUGHT)
    path = tmp_path / "AGENTS.md"
    for content in (b"<!-- treering:begin -->\n", b"\xff\xfe\x00"):
        path.write_bytes(content)
        with pytest.raises(InvalidInput):
            memory.export_rules(path)
        assert path.read_bytes() == content


def test_links_and_permissions_of_the_file_are_kept(memory: Memory, tmp_path: Path) -> None:
    memory.remember("Use tabs", type="preference", source=Source.USER_TAUGHT)
    path, link = tmp_path / "AGENTS.md", tmp_path / "CLAUDE.md"
    path.write_text("# Mine\n")
    path.chmod(0o640)
    link.symlink_to(path)
    memory.export_rules(link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert "Use tabs" in path.read_text()


def test_a_link_to_another_folder_is_not_followed(memory: Memory, tmp_path: Path) -> None:
    memory.remember("Sluice gates are numbered from the north", type="preference", source=Source.USER_TAUGHT)
    outside, repository = tmp_path / ".profile", tmp_path / "repository"
    outside.write_text("PATH=/bin\n")
    repository.mkdir()
    (repository / "AGENTS.md").symlink_to(outside)
    with pytest.raises(InvalidInput, match="outside of its folder"):
        memory.export_rules(repository / "AGENTS.md")
    assert outside.read_text() == "PATH=/bin\n"
