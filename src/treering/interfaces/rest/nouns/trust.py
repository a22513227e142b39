"""Trust level and settings of a project."""

from datetime import datetime
from typing import Any

from pydantic import Field

from treering.compose import inspect_settings, setting_descriptions
from treering.core.trust import MIN_CONFIDENCE, TrustLevel
from treering.interfaces.masking import masked
from treering.interfaces.rest.calls import Route
from treering.interfaces.rest.schemas import Answered, Asked
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory


class TrustCounts(Answered):
    """What was counted since the level was set."""

    sessions: int
    reviewed: int
    confirmed: int
    used: int
    corrected: int
    flagged_in_last_session: int


class TrustAnswer(Answered):
    """How certain a record must be before an agent is given it unasked."""

    level: TrustLevel
    since: datetime | None
    offered: TrustLevel | None = Field(description="A more careful level, offered after several wrong records.")
    min_confidence: float = Field(description="Records above this confidence are given unasked.")
    levels: dict[str, float] = Field(description="Every level with its minimum confidence.")
    evidence: TrustCounts


class TrustRequest(Asked):
    level: TrustLevel


class SettingValue(Answered):
    """A setting, its value here, where the value comes from, and what it does."""

    name: str
    value: Any
    origin: str
    description: str


class SettingsAnswer(Answered):
    """The settings that apply to this server; files and environment variables set them."""

    user_file: str
    project_file: str
    settings: list[SettingValue]
    warnings: list[str]
    errors: list[str]


def get_trust(memory: Memory) -> dict[str, Any]:
    """The trust level, and the evidence for the next one."""
    level = memory.trust.level
    return {
        "level": level,
        "since": memory.trust.since,
        "offered": memory.trust.offered,
        "min_confidence": MIN_CONFIDENCE[level],
        "levels": {each.value: share for each, share in MIN_CONFIDENCE.items()},
        "evidence": memory.trust.evidence(),
    }


def set_trust(memory: Memory, body: TrustRequest) -> dict[str, Any]:
    """Set the trust level, whatever the evidence."""
    memory.trust.set(body.level)
    return get_trust(memory)


def get_settings(memory: Memory) -> SettingsAnswer:
    """Every setting with its value, origin and description, without credentials."""
    loaded = inspect_settings()
    descriptions = setting_descriptions()
    return SettingsAnswer(
        user_file=str(loaded.user_file),
        project_file=str(loaded.project_file),
        settings=[
            SettingValue(
                name=name,
                value=masked(loaded.value(name)),
                origin=loaded.origin(name).value,
                description=descriptions.get(name, ""),
            )
            for name in loaded.names()
        ],
        warnings=list(loaded.warnings),
        errors=masked(loaded.errors),
    )


ROUTES = (
    Route("GET", "/trust", get_trust, TrustAnswer, "Get the trust level"),
    Route("PUT", "/trust", set_trust, TrustAnswer, "Set the trust level", CallQueue.WRITE),
    Route("GET", "/settings", get_settings, SettingsAnswer, "List settings"),
)
