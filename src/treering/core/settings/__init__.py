"""Every number and choice that can be changed, in one place, each with its reason."""

from pydantic import Field

from treering.core.settings.agents import AgentSettings
from treering.core.settings.conversation import ConversationSettings, WorkingSettings
from treering.core.settings.index import IndexSettings
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
    PackSettings,
    PreciseSettings,
    RecallSettings,
    TrustSettings,
)
from treering.core.settings.store import JobSettings, KnowledgeSettings, SecretSettings, StoreSettings, UpkeepSettings
from treering.core.values import Value

__all__ = [
    "AgentSettings",
    "ConversationSettings",
    "EmbedderSettings",
    "EntitySettings",
    "EpisodeConsolidationSettings",
    "EpisodeSettings",
    "ForgettingSettings",
    "IndexSettings",
    "JobSettings",
    "KnowledgeSettings",
    "LearnSettings",
    "PackSettings",
    "PatternSettings",
    "PreciseSettings",
    "RecallSettings",
    "ReflectionSettings",
    "RerankerSettings",
    "SecretSettings",
    "Settings",
    "StalenessSettings",
    "StoreSettings",
    "TrustSettings",
    "UpkeepSettings",
    "WorkingSettings",
    "WriterSettings",
]


class Settings(Value):
    """All settings. Defaults are good; override with `treering.open(settings=…)`."""

    store: StoreSettings = Field(default_factory=StoreSettings.defaults)
    secrets: SecretSettings = Field(default_factory=SecretSettings.defaults)
    knowledge: KnowledgeSettings = Field(default_factory=KnowledgeSettings.defaults)
    jobs: JobSettings = Field(default_factory=JobSettings.defaults)
    upkeep: UpkeepSettings = Field(default_factory=UpkeepSettings.defaults)
    recall: RecallSettings = Field(default_factory=RecallSettings.defaults)
    precise: PreciseSettings = Field(default_factory=PreciseSettings.defaults)
    trust: TrustSettings = Field(default_factory=TrustSettings.defaults)
    forgetting: ForgettingSettings = Field(default_factory=ForgettingSettings.defaults)
    staleness: StalenessSettings = Field(default_factory=StalenessSettings.defaults)
    reflection: ReflectionSettings = Field(default_factory=ReflectionSettings.defaults)
    embedder: EmbedderSettings = Field(default_factory=EmbedderSettings.defaults)
    reranker: RerankerSettings = Field(default_factory=RerankerSettings.defaults)
    writer: WriterSettings = Field(default_factory=WriterSettings.defaults)
    pack: PackSettings = Field(default_factory=PackSettings.defaults)
    conversation: ConversationSettings = Field(default_factory=ConversationSettings.defaults)
    working: WorkingSettings = Field(default_factory=WorkingSettings.defaults)
    learn: LearnSettings = Field(default_factory=LearnSettings.defaults)
    entities: EntitySettings = Field(default_factory=EntitySettings.defaults)
    episodes: EpisodeSettings = Field(default_factory=EpisodeSettings.defaults)
    consolidation: EpisodeConsolidationSettings = Field(default_factory=EpisodeConsolidationSettings.defaults)
    patterns: PatternSettings = Field(default_factory=PatternSettings.defaults)
    index: IndexSettings = Field(default_factory=IndexSettings.defaults)
    agents: AgentSettings = Field(default_factory=AgentSettings.defaults)
