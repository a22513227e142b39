"""Direct look-up: what a session is given when no MCP server of its repository is listening.

It knows less than the engine (`memory.injections`), so it gives less: rules, decisions of people and the last work
state at the start, and what is known about files that a prompt names or a tool has just touched. Every record passes
the gates of the engine, and the text has the same form.
"""

import os
import time

from treering.core.injection_rules import (
    AFTER_COMPACTION,
    CAUTIOUS,
    CONTROL,
    FULL,
    INFERRED_RULES_FROM,
    INJECTION_NOTE,
    LOST_CONTEXT,
    MAX_GOTCHAS,
    MIN_CONFIDENCES,
    UNTRACEABLE_TYPES,
    USES_OF_TRUST,
    WARNING_CONFIDENCE,
    group_of_session,
)
from treering.core.light_json import dumps, loads
from treering.core.text_marks import MEMORY, delimited, needs_no_escape, short_id
from treering.interfaces.hooks.agents import (
    MAX_SESSION,
    PROMPT,
    SESSION_FIELDS,
    START,
    TOOL,
    HookEvent,
    memory_command,
    named,
)
from treering.interfaces.hooks.user_words import corrections, may_contradict
from treering.location.hook_files import iso_time
from treering.location.hook_spool import session_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    ReadMemory = Callable[[str, dict[str, str], str, float, float], Any]
    Found = tuple[str, str, dict[str, Any]]  # section, reason, record

MAX_BYTES: "Mapping[str, int]" = {START: 4_500, PROMPT: 2_400, TOOL: 1_200}  # 3 bytes a token: fewer than in any text
MAX_ITEMS: "Mapping[str, int]" = {START: 16, PROMPT: 6, TOOL: 4}
MAX_ITEM_CHARACTERS = 400
MAX_FILES_OF_RECORD = 5  # a record about more files says little about each
IGNORED_TIMES = 5
_MAX_WORK_AGE = 7 * 86_400
_SHORTEST_HALF_LIFE = 7.0  # days; for a record whose own is unknown
_LASTING = ("preference", "requirement", "decision")
_WARNINGS = ("gotcha", "error_pattern", "dead_end")
_ABOUT_FILES = (*_WARNINGS, "decision", "requirement", "preference")
_FILE_FIELDS = ("file_path", "filePath", "path", "absolute_path", "notebook_path", "target_file")
_MAX_NAMED = 8
_DETAILS: "Mapping[str, tuple[str, ...]]" = {
    "gotcha": ("consequence", "workaround"),
    "error_pattern": ("resolution",),
    "dead_end": ("reason", "alternative"),
    "decision": ("rationale",),
    "work_state": ("in_progress", "next_step"),
}


def look_up(
    event: HookEvent,
    target: "Mapping[str, Any]",
    *,
    folder: str,
    root: str,
    read_memory: "ReadMemory",
    deadline: float,
) -> "tuple[str, list[dict[str, Any]]]":
    """The text for the event and its items for the spool; empty if there is nothing to give, or no SQLite file."""
    scope, file = _scope(target), target.get("file")
    if scope is None or event.point not in MAX_ITEMS or not isinstance(file, str) or _is_inside(file, root):
        return "", []
    group = FULL if target.get("groups") is False else group_of_session(scope["project"], event.session)
    if group == CONTROL or (group != FULL and event.point != START):
        return "", []
    spooled = sorted(session_lines(folder, event.session), key=lambda line: str(line.get("at")))
    if _is_turned_off(_typed(spooled, event.session)):
        return "", []
    now = time.time()
    reader = read_memory(file, scope, event.session, now, deadline)
    try:
        if not reader.is_current():
            return "", []
        found = _admitted(reader, event, root, now, spooled)
    finally:
        reader.close()
    return _rendered(found, event)


def _scope(target: "Mapping[str, Any]") -> "dict[str, str] | None":
    scope = {name: target.get(name) for name in ("tenant", "project", "principal")}
    return scope if all(isinstance(each, str) and each for each in scope.values()) else None  # type: ignore[return-value]


def _is_inside(file: str, root: str) -> bool:
    """Whether the memory is in the repository: git may have replaced it, which only the library can tell."""
    return not file.startswith("/") or os.path.realpath(file).startswith(os.path.join(root, ""))


def _admitted(reader: "Any", event: HookEvent, root: str, now: float, spooled: "list[dict[str, Any]]") -> "list[Found]":
    """Records that pass the gates and were not given before, each once, as many as the point allows.

    None of them shares a subject with what the user corrected in this session.
    """
    level = _trust_level(reader.trust())
    given = set() if _is_after_compaction(event) else _given(reader, spooled, event.session)
    corrected = corrections(_typed(spooled, event.session))
    found: dict[str, Found] = {}
    for each in _found(reader, event, root, now, level):
        record = each[2]
        if record["id"] in given or may_contradict(corrected, str(record["content"])):
            continue
        if _is_trusted(record, now, MIN_CONFIDENCES[level]):
            found.setdefault(record["id"], each)
    traceable = [id for id, (_, _, record) in found.items() if record["type"] not in UNTRACEABLE_TYPES]
    ignored = reader.ignored(dumps(traceable), event.point, IGNORED_TIMES) if traceable else set()
    kept = [each for id, each in found.items() if id not in ignored]
    spare = [each for each in kept if each[2]["type"] == "gotcha"][MAX_GOTCHAS:]
    return [each for each in kept if each not in spare][: MAX_ITEMS[event.point or ""]]


def _found(reader: "Any", event: HookEvent, root: str, now: float, level: str) -> "Iterator[Found]":
    if event.point == START:
        yield from _at_start(reader, now, level)
        return
    is_prompt = event.point == PROMPT
    files = _named_files(named(event.payload, "prompt"), root) if is_prompt else _touched_files(event.payload, root)
    for file in files:
        for record in reader.of_file(file, dumps(_ABOUT_FILES if is_prompt else _WARNINGS), 20):
            about = _rest(record).get("files")
            if not isinstance(about, list) or len(about) > MAX_FILES_OF_RECORD:
                continue
            if _is_from_person(record) or confidence(record, now) >= WARNING_CONFIDENCE:
                section = "About the files of the prompt" if is_prompt else "About the files just touched"
                yield section, f"about {file}", record


def _at_start(reader: "Any", now: float, level: str) -> "Iterator[Found]":
    rules = [*reader.pinned(12), *reader.of_type("preference", 12), *reader.of_type("requirement", 12)]
    rules = [each for each in rules if each["level"] in ("global", "module") and _is_rule(each, level)]
    for record in sorted(rules, key=lambda each: (not _is_from_person(each), not each["pinned"]))[:12]:
        yield "Rules", "a rule of this project", record
    for record in reader.of_type("work_state", 1):
        if now - record["created_at"] / 1e6 <= _MAX_WORK_AGE:
            yield "Where the last session stopped", "work of the last session", record
    for record in reader.of_type("decision", 12):
        if _is_from_person(record):
            yield "Decisions", "stated or confirmed by a person", record


def _is_rule(record: "dict[str, Any]", level: str) -> bool:
    """Whether a rule is given at the start: one that was only inferred depends on the level."""
    if _is_from_person(record) or record["pinned"] or record["source"] == "agent_explicit":
        return True
    return level in INFERRED_RULES_FROM or _uses(record) >= USES_OF_TRUST


def _uses(record: "dict[str, Any]") -> int:
    uses = _rest(record).get("uses")
    return uses if isinstance(uses, int) else 0


def _is_from_person(record: "Mapping[str, Any]") -> bool:
    return bool(record["user_verified"]) or record["source"] == "user_taught"


def _is_trusted(record: "dict[str, Any]", now: float, minimum: float) -> bool:
    if _rest(record).get("superseded_by") is not None or _rest(record).get("muted"):
        return False
    return bool(record["user_verified"]) or _uses(record) >= USES_OF_TRUST or confidence(record, now) > minimum


def confidence(record: "Mapping[str, Any]", now: float) -> float:
    """A lower bound of the effective confidence (`core/confidence.py`) of a record without open doubts."""
    stored = float(record["confidence"])
    if record["pinned"] or record["user_verified"] or record["type"] == "work_state":
        return stored
    half_life = record["half_life_days"]
    if half_life is None:
        if record["type"] in _LASTING:
            return stored
        half_life = _SHORTEST_HALF_LIFE
    days = max(0.0, (now - record["last_accessed_at"] / 1e6) / 86_400)
    return float(stored * 0.5 ** (days / half_life))


def _trust_level(setting: str | None) -> str:
    values = loads(setting).get("values") if setting else None
    level = values.get("level") if isinstance(values, dict) else None
    return level if isinstance(level, str) and level in MIN_CONFIDENCES else CAUTIOUS


def _rest(record: "dict[str, Any]") -> "dict[str, Any]":
    """Fields without a column of their own, parsed once."""
    if isinstance(record["rest"], str):
        record["rest"] = loads(record["rest"])
    return record["rest"] if isinstance(record["rest"], dict) else {}


def _is_after_compaction(event: HookEvent) -> bool:
    return event.point == START and event.payload.get("source") in LOST_CONTEXT


def _typed(spooled: "Iterable[dict[str, Any]]", session: str) -> "Iterator[str]":
    """The prompts of the session that wait in the spool, with that of the event itself."""
    for line in spooled:
        payload = line.get("payload")
        if isinstance(payload, dict) and named(payload, *SESSION_FIELDS)[:MAX_SESSION] == session:
            yield named(payload, "prompt")


def _is_turned_off(prompts: "Iterable[str]") -> bool:
    """Whether the last `/memory off` or `/memory on` that waits to be carried out is `off`."""
    asked = [command for each in prompts if (command := memory_command(each)) in ("off", "on")]
    return asked[-1:] == ["off"]


def _given(reader: "Any", spooled: "Iterable[dict[str, Any]]", session: str) -> set[str]:
    """Ids of what the session was given and still has: since its context was last compacted."""
    stored = ((id, iso_time(at / 1e6), str(loads(rest).get("reason") or "")) for id, at, rest in reader.given())
    waiting = (
        (str(item.get("item")), str(line.get("at")), str(item.get("reason") or ""))
        for line in spooled
        if line.get("session") == session and isinstance(line.get("injected"), list)
        for item in line["injected"]
        if isinstance(item, dict)
    )
    everything = [*stored, *waiting]
    since = max((at for _, at, reason in everything if reason.startswith(AFTER_COMPACTION)), default="")
    return {id for id, at, _ in everything if at >= since}


def _touched_files(payload: "Mapping[str, Any]", root: str) -> list[str]:
    """Files that the tool was called with, relative to the root."""
    arguments = payload.get("tool_input")
    if not isinstance(arguments, dict):
        return []
    listed = arguments.get("files")
    names = [arguments.get(each) for each in _FILE_FIELDS] + (listed if isinstance(listed, list) else [])
    return _relative((each for each in names if isinstance(each, str)), root)


def _named_files(prompt: str, root: str) -> list[str]:
    """Words of the prompt that look like paths, relative to the root."""
    words = (word.strip("`'\"()[]{}<>,;:!?@").rstrip(".") for word in prompt[:4_000].split())
    return _relative((word for word in words if "." in word[1:] or "/" in word), root)


def _relative(names: "Iterable[str]", root: str) -> list[str]:
    files: dict[str, None] = {}
    for name in names:
        if 0 < len(name) < 1_000 and "\0" not in name:
            path = os.path.normpath(os.path.join(root, name))
            for each in dict.fromkeys((path, os.path.realpath(path))):
                if each.startswith(os.path.join(root, "")):
                    files[each[len(os.path.join(root, "")) :]] = None
    return list(files)[:_MAX_NAMED]


def _rendered(found: "list[Found]", event: HookEvent) -> "tuple[str, list[dict[str, Any]]]":
    """The items under their titles, in their order, and what the spool records about each."""
    prefix = f"{AFTER_COMPACTION}: " if _is_after_compaction(event) else ""
    sections: dict[str, list[str]] = {}
    items: list[dict[str, Any]] = []
    size = len(INJECTION_NOTE) + 40
    for section, reason, record in found:
        line = _line(record)
        cost = len(line.encode("utf-8", "replace")) + 1 + (0 if section in sections else len(section) + 5)
        if size + cost > MAX_BYTES[event.point or ""]:
            continue
        size += cost
        sections.setdefault(section, []).append(line)
        items.append(_item(record, event.point, line, f"{prefix}{reason}", (cost + 2) // 3))
    if not items:
        return "", []
    parts = [INJECTION_NOTE]
    for section, lines in sections.items():
        parts += ["", f"## {section}", *lines]
    return delimited(MEMORY, "\n".join(parts)), items


def _item(record: "Mapping[str, Any]", point: str | None, text: str, reason: str, tokens: int) -> "dict[str, Any]":
    identity = {"point": point, "kind": "knowledge", "item": record["id"], "type": record["type"]}
    return {**identity, "text": text, "reason": reason, "tokens": tokens}


def _line(record: "dict[str, Any]") -> str:
    payload = _rest(record).get("payload")
    fields = payload if isinstance(payload, dict) else {}
    details = ((name, fields.get(name)) for name in _DETAILS.get(record["type"], ()))
    described = "; ".join(
        f"{name.replace('_', ' ')}: {text}" for name, text in details if isinstance(text, str) and text
    )
    text = _one_line(f"{record['content']} ({described})" if described else str(record["content"]))
    if len(text) > MAX_ITEM_CHARACTERS:
        text = f"{text[:MAX_ITEM_CHARACTERS].rstrip()}…"
    date = iso_time(record["created_at"] / 1e6)[:10]
    source = _one_line(f"{record['type']}, {record['source']}, {date}")
    return f"- {text} [Memory #{_one_line(short_id(record['id']))}: {source}]"


def _one_line(text: str) -> str:
    """The text on one line, escaped. The module with the regular expressions is imported only if one may match."""
    line = " ".join(text.split())
    if needs_no_escape(line):
        return line if line.isprintable() else "".join(each if each.isprintable() else "�" for each in line)
    from treering.core.delimiters import one_line
    from treering.core.visible_text import visible

    return visible(one_line(text))
