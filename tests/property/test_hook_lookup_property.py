"""Whatever is stored, the hook's own look-up gives only what the engine's gate admits, in the right scope, and once."""

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hook_calls import FULL_SESSION, PROMPT, START, TOOL, HookedRepository
from treering.compose import open_store
from treering.context.injection.gate import InjectionGate
from treering.core.confidence import effective_confidence
from treering.core.injection_rules import group_of_session
from treering.core.injections import SessionGroup, session_group
from treering.core.project_settings import TRUST, ProjectSetting
from treering.core.records import Knowledge, Level, Source
from treering.core.scope import Scope, Visibility
from treering.core.settings import Settings
from treering.core.trust import TrustLevel
from treering.interfaces.hooks.lookup import confidence

NOW = datetime.now(UTC)
DEFAULTS = Settings()
TYPES = ["preference", "requirement", "decision", "work_state", "gotcha", "error_pattern", "dead_end", "fact"]
RARELY = st.booleans()
DATES = st.sampled_from([None, NOW - timedelta(days=1), NOW + timedelta(days=1)])
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "type": st.sampled_from(TYPES),
    "confidence": st.sampled_from([0.4, 0.5, 0.56, 0.65, 0.7, 0.8, 0.81, 0.95, 1.0]),
    **dict.fromkeys(["needs_review", "user_verified", "pinned", "flagged", "tainted"], RARELY),
    **dict.fromkeys(["stale_at", "deprecated_at", "deleted_at", "valid_until"], DATES),
    "session": st.sampled_from([None, FULL_SESSION, "another"]),
    "level": st.sampled_from(Level),
    "source": st.sampled_from(Source),
    "uses": st.integers(0, 3),
    "half_life_days": st.sampled_from([None, 1.0, 60.0]),
    "last_accessed_at": st.integers(0, 200).map(lambda days: NOW - timedelta(days=days)),
    "superseded_by": st.sampled_from([None, "x"]),
    "files": st.sampled_from([(), ("src/a.py",), ("src/a.py", "b.py"), tuple(f"{n}.py" for n in range(9))]),
    "owner": st.sampled_from(["local", "anna"]),
    "visibility": st.sampled_from([Visibility.PROJECT, Visibility.PERSONAL]),
    "project": st.sampled_from(["p", "q"]),
}
GOOD = {"confidence": 0.95, "last_accessed_at": NOW, "files": ("src/a.py",), "project": "p", "type": "preference"}
ALTERED = st.lists(st.sampled_from(sorted(FIELDS)), unique=True, max_size=3).flatmap(
    lambda names: st.fixed_dictionaries({name: FIELDS[name] for name in names})
)
"""A few fields of a record that would be given: most records are, so that each gate matters."""
RECORDS = st.lists(
    st.builds(lambda altered, type: {**GOOD, "type": type, **altered}, ALTERED, FIELDS["type"]), max_size=12
)
EVENTS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (START, {}),
    (PROMPT, {"prompt": "change src/a.py and b.py"}),
    (TOOL, {"tool_input": {"file_path": "src/a.py"}}),
    (START, {"source": "resume"}),
]


def stored(file: Path, drawn: list[dict[str, Any]], level: TrustLevel) -> dict[str, tuple[str, Knowledge]]:
    """Store the records, each by its owner; return them with their projects by id."""
    records = dict[str, tuple[str, Knowledge]]()
    store = open_store(str(file), None, DEFAULTS)
    try:
        for place, each in enumerate(drawn):
            fields = {name: value for name, value in each.items() if name != "project"}
            moments = {"created_at": fields["last_accessed_at"], "updated_at": NOW}
            record = Knowledge.make(id=f"record-{place}", content=f"Content of {place}.", **moments, **fields)
            scope = Scope(project=each["project"], principal=record.owner)
            with store.transaction(scope, NOW) as tx:
                tx.knowledge.create_many([record])
            records[record.id] = each["project"], record
        setting = ProjectSetting(id=TRUST, changed_at=NOW, values={"level": level.value})
        with store.transaction(Scope(project="p"), NOW) as tx:
            tx.project_settings.put_many([setting])
    finally:
        store.close()
    return records


def given_items(repo: HookedRepository) -> list[str]:
    return [item["item"] for line in repo.spooled() for item in line.get("injected", ())]


@settings(max_examples=150, deadline=None)
@given(drawn=RECORDS, level=st.sampled_from(TrustLevel), principal=st.sampled_from(["local", "anna"]))
def test_everything_given_passes_the_gate_of_the_engine(
    drawn: list[dict[str, Any]], level: TrustLevel, principal: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo, file = HookedRepository(Path(folder)), Path(folder, "memory.db")
        records = stored(file, drawn, level)
        repo.point_at(file, principal=principal)
        for event, fields in EVENTS:
            repo.call(event, **fields)
        gate = InjectionGate(FULL_SESSION, datetime.now(UTC), level, DEFAULTS.trust)
        items = given_items(repo)
        assert len(items) == len(set(items)), "given twice in a session"
        for item in items:
            project, record = records[item]
            assert gate.admits(record)
            assert not record.tainted
            assert not record.needs_review
            assert project == "p"
            assert record.visibility is Visibility.PROJECT or record.owner == principal
        assert repo.log() == []


@given(fields=st.fixed_dictionaries(FIELDS), later=st.integers(0, 400))
def test_its_confidence_is_never_above_that_of_the_engine(fields: dict[str, Any], later: int) -> None:
    clear = {"needs_review": False, "tainted": False, "stale_at": None, "valid_until": None}
    known = {name: value for name, value in {**fields, **clear}.items() if name not in ("project", "deprecated_at")}
    record = Knowledge.make(id="x", content="x", created_at=NOW, updated_at=NOW, **known)
    now = NOW + timedelta(days=later)
    row = {
        **known,
        "last_accessed_at": record.last_accessed_at.timestamp() * 1e6,
        "half_life_days": record.half_life_days,
    }
    if record.type != "work_state":
        assert confidence(row, now.timestamp()) <= effective_confidence(record, now, DEFAULTS.trust) + 1e-9


@settings(max_examples=20, deadline=None)
@given(session=st.text("abcdef0123456789", min_size=1, max_size=12), project=st.sampled_from(["p", "other"]))
def test_sessions_of_the_control_group_are_given_nothing(session: str, project: str) -> None:
    assert session_group(project, session) is SessionGroup(group_of_session(project, session))
    with tempfile.TemporaryDirectory() as folder:
        repo, file = HookedRepository(Path(folder)), Path(folder, "memory.db")
        always = {"type": "preference", "confidence": 1.0, "last_accessed_at": NOW}
        warning = {**always, "type": "gotcha", "files": ("src/a.py",)}
        stored(file, [{**always, "project": project}, {**warning, "project": project}], TrustLevel.CAUTIOUS)
        repo.point_at(file, project=project)
        texts = [repo.call(event, session_id=session, **fields) for event, fields in EVENTS[:3]]
        group = session_group(project, session)
        given = {SessionGroup.CONTROL: [False] * 3, SessionGroup.PASSIVE: [True, False, False]}
        assert [bool(each) for each in texts] == given.get(group, [True, True, False])
