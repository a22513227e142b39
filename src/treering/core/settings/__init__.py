"""All settings, with their defaults."""

from pydantic import Field

from treering.core.settings.agents import AgentSettings
from treering.core.settings.code import CodeSettings
from treering.core.settings.conversation import ConversationSettings, TaskSettings
from treering.core.settings.knowledge import (
    EntitySettings,
    EpisodeConsolidationSettings,
    EpisodeSettings,
    ForgettingSettings,
    LearnSettings,
    ReflectionSettings,
    StalenessSettings,
)
from treering.core.settings.models import EmbedderSettings, RerankerSettings, WriterSettings
from treering.core.settings.patterns import PatternSettings
from treering.core.settings.search import (
    ContextSettings,
    PreciseSettings,
    SearchSettings,
    TrustSettings,
)
from treering.core.settings.store import (
    JobSettings,
    KnowledgeSettings,
    MaintenanceSettings,
    SecretSettings,
    StoreSettings,
)
from treering.core.values import Value

__all__ = [
    "AgentSettings",
    "CodeSettings",
    "ContextSettings",
    "ConversationSettings",
    "EmbedderSettings",
    "EntitySettings",
    "EpisodeConsolidationSettings",
    "EpisodeSettings",
    "ForgettingSettings",
    "JobSettings",
    "KnowledgeSettings",
    "LearnSettings",
    "MaintenanceSettings",
    "PatternSettings",
    "PreciseSettings",
    "ReflectionSettings",
    "RerankerSettings",
    "SearchSettings",
    "SecretSettings",
    "Settings",
    "StalenessSettings",
    "StoreSettings",
    "TaskSettings",
    "TrustSettings",
    "WriterSettings",
]


class Settings(Value):
    """All settings, by section. Override the defaults with `treering.open(settings=…)`."""

    store: StoreSettings = Field(default_factory=StoreSettings.defaults)
    secrets: SecretSettings = Field(default_factory=SecretSettings.defaults)
    knowledge: KnowledgeSettings = Field(default_factory=KnowledgeSettings.defaults)
    jobs: JobSettings = Field(default_factory=JobSettings.defaults)
    maintenance: MaintenanceSettings = Field(default_factory=MaintenanceSettings.defaults)
    search: SearchSettings = Field(default_factory=SearchSettings.defaults)
    precise: PreciseSettings = Field(default_factory=PreciseSettings.defaults)
    trust: TrustSettings = Field(default_factory=TrustSettings.defaults)
    forgetting: ForgettingSettings = Field(default_factory=ForgettingSettings.defaults)
    staleness: StalenessSettings = Field(default_factory=StalenessSettings.defaults)
    reflection: ReflectionSettings = Field(default_factory=ReflectionSettings.defaults)
    embedder: EmbedderSettings = Field(default_factory=EmbedderSettings.defaults)
    reranker: RerankerSettings = Field(default_factory=RerankerSettings.defaults)
    writer: WriterSettings = Field(default_factory=WriterSettings.defaults)
    context: ContextSettings = Field(default_factory=ContextSettings.defaults)
    conversation: ConversationSettings = Field(default_factory=ConversationSettings.defaults)
    task: TaskSettings = Field(default_factory=TaskSettings.defaults)
    learn: LearnSettings = Field(default_factory=LearnSettings.defaults)
    entities: EntitySettings = Field(default_factory=EntitySettings.defaults)
    episodes: EpisodeSettings = Field(default_factory=EpisodeSettings.defaults)
    consolidation: EpisodeConsolidationSettings = Field(default_factory=EpisodeConsolidationSettings.defaults)
    patterns: PatternSettings = Field(default_factory=PatternSettings.defaults)
    code: CodeSettings = Field(default_factory=CodeSettings.defaults)
    agents: AgentSettings = Field(default_factory=AgentSettings.defaults)
