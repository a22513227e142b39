"""Every number and choice that can be changed, in one place, each with its reason."""

from pydantic import Field

from treering.core.settings.agents import AgentSettings
from treering.core.settings.chunks import ChunkSettings, FindingSettings
from treering.core.settings.finding import (
    FusionSettings,
    GraphSettings,
    PackSettings,
    PreciseSettings,
    RecallSettings,
    TrustSettings,
)
from treering.core.settings.history import HistorySettings
from treering.core.settings.index import IndexSettings
from treering.core.settings.learning import (
    EntitySettings,
    EpisodeConsolidationSettings,
    EpisodeSettings,
    ForgettingSettings,
    LearnSettings,
    ReflectionSettings,
    RelationSettings,
    StalenessSettings,
    UseSettings,
)
from treering.core.settings.mining import AdviceSettings, MiningSettings
from treering.core.settings.models import EmbedderSettings, RerankerSettings, WriterSettings
from treering.core.settings.patterns import PatternSettings
from treering.core.settings.session import ConversationSettings, WorkingSettings
from treering.core.settings.storing import JobSettings, KnowledgeSettings, SecretSettings, StoreSettings, UpkeepSettings
from treering.core.values import Value

__all__ = [
    "AdviceSettings",
    "AgentSettings",
    "ChunkSettings",
    "ConversationSettings",
    "EmbedderSettings",
    "EntitySettings",
    "EpisodeConsolidationSettings",
    "EpisodeSettings",
    "FindingSettings",
    "ForgettingSettings",
    "FusionSettings",
    "GraphSettings",
    "HistorySettings",
    "IndexSettings",
    "JobSettings",
    "KnowledgeSettings",
    "LearnSettings",
    "MiningSettings",
    "PackSettings",
    "PatternSettings",
    "PreciseSettings",
    "RecallSettings",
    "ReflectionSettings",
    "RelationSettings",
    "RerankerSettings",
    "SecretSettings",
    "Settings",
    "StalenessSettings",
    "StoreSettings",
    "TrustSettings",
    "UpkeepSettings",
    "UseSettings",
    "WorkingSettings",
    "WriterSettings",
]


class Settings(Value):
    """All settings. Defaults are good; override with `treering.open(settings=…)`."""

    store: StoreSettings = Field(default_factory=StoreSettings)
    secrets: SecretSettings = Field(default_factory=SecretSettings)
    knowledge: KnowledgeSettings = Field(default_factory=KnowledgeSettings)
    jobs: JobSettings = Field(default_factory=JobSettings)
    upkeep: UpkeepSettings = Field(default_factory=UpkeepSettings)
    recall: RecallSettings = Field(default_factory=RecallSettings)
    precise: PreciseSettings = Field(default_factory=PreciseSettings)
    trust: TrustSettings = Field(default_factory=TrustSettings)
    graph: GraphSettings = Field(default_factory=GraphSettings)
    forgetting: ForgettingSettings = Field(default_factory=ForgettingSettings)
    use: UseSettings = Field(default_factory=UseSettings)
    relations: RelationSettings = Field(default_factory=RelationSettings)
    staleness: StalenessSettings = Field(default_factory=StalenessSettings)
    reflection: ReflectionSettings = Field(default_factory=ReflectionSettings)
    fusion: FusionSettings = Field(default_factory=FusionSettings)
    embedder: EmbedderSettings = Field(default_factory=EmbedderSettings)
    reranker: RerankerSettings = Field(default_factory=RerankerSettings)
    writer: WriterSettings = Field(default_factory=WriterSettings)
    pack: PackSettings = Field(default_factory=PackSettings)
    conversation: ConversationSettings = Field(default_factory=ConversationSettings)
    working: WorkingSettings = Field(default_factory=WorkingSettings)
    learn: LearnSettings = Field(default_factory=LearnSettings)
    entities: EntitySettings = Field(default_factory=EntitySettings)
    episodes: EpisodeSettings = Field(default_factory=EpisodeSettings)
    consolidation: EpisodeConsolidationSettings = Field(default_factory=EpisodeConsolidationSettings)
    patterns: PatternSettings = Field(default_factory=PatternSettings)
    mining: MiningSettings = Field(default_factory=MiningSettings)
    advice: AdviceSettings = Field(default_factory=AdviceSettings)
    index: IndexSettings = Field(default_factory=IndexSettings)
    agents: AgentSettings = Field(default_factory=AgentSettings)
