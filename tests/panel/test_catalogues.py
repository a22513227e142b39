"""The messages of the panel: both languages are complete, and each message is used."""

import json
import re
from pathlib import Path

from treering.conversation.summary_job import SUMMARISE
from treering.core.jobs import AFTER_SESSION, EMBED, EMBED_CODE, LEARN_SESSION, LINK_ENTITIES
from treering.core.payloads import knowledge_types
from treering.entities.enrichment import ENRICHED, STRAYS
from treering.entities.link_jobs import LINKED
from treering.maintenance.queue import MAINTAIN

SOURCES = Path(__file__).parent.parent.parent / "panel/src"
LANGUAGES = ("en", "fr")
_LITERAL = re.compile(r'"([a-z0-9_]+(?:\.[a-z0-9_]+)+)"')
_GROUP = re.compile(r'label\("([a-z0-9_.]+)"|options\("([a-z0-9_.]+)"')
_PLACEHOLDER = re.compile(r"\{\w+\}")


def catalogue(language: str) -> dict[str, str]:
    messages: dict[str, str] = json.loads((SOURCES / f"i18n/{language}.json").read_text())
    return messages


def _code() -> str:
    return "\n".join(file.read_text() for file in sorted(SOURCES.rglob("*.ts*")) if file.name != "schema.d.ts")


def test_both_languages_have_the_same_messages() -> None:
    english, french = (catalogue(language) for language in LANGUAGES)
    assert list(english) == list(french)


def test_no_message_is_empty_and_placeholders_agree() -> None:
    english, french = (catalogue(language) for language in LANGUAGES)
    assert all(text.strip() for text in (*english.values(), *french.values()))
    different = [
        key for key in english if set(_PLACEHOLDER.findall(english[key])) != set(_PLACEHOLDER.findall(french[key]))
    ]
    assert different == []


def test_every_message_is_used() -> None:
    code = _code()
    named = set(_LITERAL.findall(code))
    groups = {first or second for first, second in _GROUP.findall(code)}

    def is_used(key: str) -> bool:
        base = re.sub(r"\.(one|other)$", "", key)
        return key in named or base in named or key.rpartition(".")[0] in groups

    assert [key for key in catalogue("en") if not is_used(key)] == []


def test_stored_text_never_becomes_html() -> None:
    assert "dangerouslySetInnerHTML" not in _code()
    assert ".innerHTML" not in _code()


def test_every_field_of_a_payload_has_a_name() -> None:
    fields = {name for type in knowledge_types().values() for name in type.payload.model_fields}
    assert {f"payload.{name}" for name in fields} <= set(catalogue("en"))


def test_every_kind_of_job_has_a_name() -> None:
    kinds = (AFTER_SESSION, EMBED, EMBED_CODE, LEARN_SESSION, LINK_ENTITIES, MAINTAIN, SUMMARISE)
    keys = {*(f"job.{kind}" for kind in kinds), *(f"stage.{mark}" for mark in (LINKED, ENRICHED, STRAYS))}
    assert keys <= set(catalogue("en"))
