"""Every number and choice that can be changed, in one place, each with its reason."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from treering.core.values import EMPTY, LABELS, FrozenMap, Value


class StoreSettings(Value):
    busy_seconds: float = Field(default=60.0, gt=0)
    """How long a writer waits for another process; eight busy writers need well under a second each."""
    connect_seconds: float = Field(default=10.0, gt=0)
    """How long to wait for a server before saying that it is not there."""
    pool_size: int = Field(default=8, ge=1)
    """Open connections kept for threads of one process."""
    blob_bytes: int = Field(default=262_144, ge=1_024)
    """Text above this goes to the blob store: SQLite reads rows page by page, and long overflow chains slow scans."""
    indexed_characters: int = Field(default=100_000, ge=0)
    """How much of one text is searchable word by word; a PostgreSQL tsvector ends at 1 MB."""
    orphan_blob_hours: float = Field(default=24.0, ge=0)
    """How old an unreferenced blob must be before repair removes it: its transaction may still be open."""


class SecretSettings(Value):
    on_secret: Literal["redact", "refuse"] = "redact"
    """Redact keeps the rest of the text; refuse raises `SecretRefused`."""


class KnowledgeSettings(Value):
    confirmed_confidence: float = Field(default=0.95, ge=0, le=1)
    """A person said so: as sure as anything gets (the ceiling that use alone can reach)."""
    corrected_factor: float = Field(default=0.3, ge=0, le=1)
    """What remains of a corrected record's confidence: its history stays, its voice does not."""
    flagged_factor: float = Field(default=0.5, ge=0, le=1)
    """What remains of a record's confidence while a person's doubt is open."""
    taught_confidence: float = Field(default=0.95, ge=0, le=1)
    """A person's own words start where confirmation ends."""
    witnesses: int = Field(default=50, ge=1, le=LABELS // 2)
    """How many sessions and sources are kept from each end: who said it first, and who says so now. All are counted."""


class JobSettings(Value):
    lease_seconds: float = Field(default=60.0, gt=0)
    """How long a worker that died keeps others waiting; one that lives renews it three times in that time."""
    stuck_seconds: float = Field(default=3600.0, gt=0)
    """How long a job may take that says nothing of itself: a slow model reads a long session in less."""
    backoff_seconds: float = Field(default=5.0, gt=0)
    """First wait after a failure; doubles with each attempt."""
    backoff_limit_seconds: float = Field(default=3600.0, gt=0)
    poll_seconds: float = Field(default=1.0, gt=0)
    """How often a worker without work looks for some: a second is soon, and costs one small query."""
    keep_done_days: float = Field(default=7.0, ge=0)
    """Finished jobs are kept as long as somebody may ask what happened last week; then they only take room."""


class UpkeepSettings(Value):
    """When each stage of maintenance runs: five fields of cron. An empty one leaves it to whoever asks for it."""

    timezone: str = ""
    """Whose nights are meant, such as Europe/Berlin; empty is the zone of the machine."""
    enrich: str = "0 2 * * *"
    """First of the night: what is learned later is tied to the entities that this brings together."""
    consolidate: str = "0 3 * * *"
    """Sessions that are over; nobody speaks at three."""
    reflect: str = "0 3 * * 0"
    """Looks back on a week, when it is over."""
    forget: str = "0 4 * * *"
    """After consolidation, which may have used what would otherwise fade."""
    episodes: str = "30 4 * * *"
    """After forgetting: no episode is brought together for the sake of what leaves."""
    staleness: str = "45 4 * * *"
    """When the day's commits are in."""
    index: str = "0 5 * * *"
    """After everything that writes."""
    report: str = "15 5 * * *"
    """Last: it counts what the night has left."""
    keep_runs: int = Field(default=60, ge=10)
    """Runs of each stage that are remembered: two months of nights."""
    look_seconds: float = Field(default=60.0, gt=0)
    """How often a worker looks at the schedule: cron's own step."""
    idle_seconds: float = Field(default=5.0, ge=0)
    """How long the background thread waits for more work before it ends: an agent's next step comes sooner."""
    close_seconds: float = Field(default=2.0, ge=0)
    """How long `close` waits for the background thread; a job that takes longer is taken over by the next worker."""


class RecallSettings(Value):
    limit: int = Field(default=10, ge=1)
    limit_max: int = Field(default=1_000, ge=1)
    """More than this is an export."""
    candidates: int = Field(default=200, ge=10)
    """Documents that each path brings to the fusion; more changed no benchmark figure."""
    verified: int = Field(default=150, ge=10)
    """The best candidates that are held against the filters first; where too few pass, the filters come first."""
    feedback: int = Field(default=5, ge=0)
    """The best results, whose likes are looked for in a second look."""
    feedback_words: int = Field(default=10, ge=1)
    """Their most telling words, which are looked for as well."""
    alike: float = Field(default=0.95, gt=0, le=1)
    """Two results that share so much of their words say the same; one is shown."""
    thin_results: int = Field(default=3, ge=1)
    """Fewer likely results than this, and a language model, where there is one, is asked for a hypothetical answer."""
    likely_at: float = 0.6
    """From this sum of signs on one candidate in seven is relevant (`bench/weights.py`)."""
    least: float = 0.1
    """Candidates below this sum of signs have nothing to do with the query: one in eight hundred is relevant."""
    least_likeness: float = Field(default=0.15, ge=-1, le=1)
    """Unless their vectors lie this near: a question in another language shares no word with its answer."""
    hypothetical_share: float = Field(default=0.6, ge=0, le=1)
    """How far the query's vector moves towards that of a hypothetical answer."""
    hypothetical_tokens: int = Field(default=100, ge=1)
    """Two sentences."""
    reasons: int = Field(default=10, ge=0)
    """Runners-up that an explanation names."""
    statement_share: float = Field(default=0.5, ge=0, le=1)
    """What a word counts that stands only in a statement beside a question: it is background."""
    saturation_at: float = Field(default=0.9, gt=0)
    """BM25's k1: how soon another occurrence of a word stops counting."""
    length_share: float = Field(default=0.4, ge=0, le=1)
    """BM25's b: how much a long text is held against itself."""
    rescored: int = Field(default=1_500, ge=10)
    """Vectors that are compared by their numbers after their signs agreed; fewer lose recall, more cost time."""
    language_share: float = Field(default=0.02, ge=0, le=1)
    """A language that fewer of a project's texts are written in does not widen its queries."""


class PreciseSettings(Value):
    """What a precise search takes for proof that a record is what the query is about."""

    share: float = Field(default=0.5, ge=0, lt=1)
    """A record holds more than this share of what the query's telling words weigh: most of what is asked about."""
    likeness: float = Field(default=0.85, ge=0, le=1)
    """Vectors alone prove something only this near: texts that say the same in other words. A shared topic is none."""
    sure: float = Field(default=0.5, ge=0, le=1)
    """Links to entities and relations that are likelier than not are followed."""
    most_names: int = Field(default=1_000, ge=1, le=LABELS)
    """Runs of a query's words that are looked up as names: a user's whole message is a query, of 200 words here."""
    most_entities: int = Field(default=20, ge=1)
    """Named entities that are followed: twice as many as there are results by default."""
    slip_letters: int = Field(default=5, ge=3)
    """Words this long may hold one slip: of shorter ones a letter makes another word (search engines take 3 to 5)."""
    most_misspelt: int = Field(default=4, ge=0)
    """Unknown words that are looked up with a slip, about 400 look-ups each; who misspells more asks again."""


class FusionSettings(Value):
    """What each sign of relevance counts: learned on public conversations, then rounded (`bench/weights.py`, 0004)."""

    words: float = 1.0
    meaning: float = 0.5
    words_before: float = 0.25
    words_after: float = 0.2
    words_2_before: float = 0.2
    words_2_after: float = 0.1
    meaning_before: float = 0.3
    meaning_after: float = 0.2
    meaning_2_before: float = 0.1
    meaning_2_after: float = 0.1
    speaker: float = 0.25
    asks: float = -0.05
    names_time: float = 0.1
    answers: float = 0.1
    feedback_words: float = 0.1
    feedback_meaning: float = 0.2
    graph: float = 0.5
    time: float = 0.15
    order: float = 0.1
    speaks_for_itself: float = Field(default=100.0, gt=0)
    """A turn of so many words leans only half on those around it."""

    def weights(self) -> Mapping[str, float]:
        return self.__dict__


class EmbedderSettings(Value):
    provider: Literal["auto", "bundled", "ollama", "openai", "none"] = "auto"
    """Auto stays with the model that a project has vectors of; a new project gets Ollama's where it runs here, else
    the bundled one. Nothing is ever sent to another machine unless `url` names it."""
    model: str = ""
    """The model's name at the provider; empty leaves the choice to us (for `openai` it must be given)."""
    url: str = ""
    """Where Ollama or the OpenAI-compatible service listens; empty is Ollama's own port on this machine."""
    key_variable: str = "TREERING_EMBEDDER_KEY"
    """The environment variable that holds the key: a key has no place in settings that are printed."""
    dimension: int | None = Field(default=None, ge=1)
    """Shorter vectors from a model that can be cut (Matryoshka); None takes what the model gives."""
    batch: int = Field(default=256, ge=1)
    """Documents that are embedded between two commits: what a crash costs at most."""
    slice_seconds: float = Field(default=1.0, gt=0)
    """How long a job embeds before it lets others have their turn: `settle` keeps its deadline."""
    inline: int = Field(default=1_000, ge=0)
    """A search first embeds up to so many new documents where the model is bundled: some tenths of a second."""
    query_seconds: float = Field(default=3.0, gt=0)
    """How long a search waits for a server before it does without."""
    rest_seconds: float = Field(default=30.0, ge=0)
    """A server that failed is left alone for so long, or every search would wait for it."""


class RerankerSettings(Value):
    provider: Literal["none", "local", "cohere", "jina", "vllm"] = "none"
    """A directory with an ONNX cross-encoder, or the dialect of a `/rerank` service."""
    model: str = ""
    url: str = ""
    directory: str = ""
    """Holds `model.onnx` and `tokenizer.json` for `local`."""
    key_variable: str = "TREERING_RERANKER_KEY"
    candidates: int = Field(default=20, ge=1)
    """How many results are read again with the query; the best of them come first in the new order."""
    share: float = Field(default=0.7, ge=0, le=1)
    """How much the reranker's word counts against the order before it."""


class WriterSettings(Value):
    url: str = ""
    """An OpenAI-compatible chat service; empty means that no language model is used."""
    model: str = ""
    key_variable: str = "TREERING_WRITER_KEY"


class PackSettings(Value):
    results: int = Field(default=30, ge=1)
    """How many results are looked at for packing; more than fit into the largest budget."""
    budget: int = Field(default=2_000, ge=0)
    """Tokens of context where neither a budget nor a phase is named: what most phases take."""
    turn_share: float = Field(default=0.2, ge=0, le=1)
    """What was said explains what is known, but at length; the knowledge types divide the rest as the phase says."""
    overlap: float = Field(default=0.9, gt=0, le=1)
    """Texts that share this much of their words and pairs of words say the same: one word in thirty may differ."""
    contained_words: int = Field(default=6, ge=1)
    """A text this long that stands whole inside a better one is said already; a shorter one stands there by chance."""
    useful_tokens: int = Field(default=40, ge=1)
    """Less than two sentences of a longer text tell what it is about, but not what it says: better left out."""
    characters_per_token: int = Field(default=16, ge=1)
    """No tokenizer gets more out of a token in running text; what lies past the budget times this is not read."""
    also_cited: int = Field(default=3, ge=0)
    """How many sources that said the same stand behind the first; more say little and cost a line each."""
    reflection_share: float = Field(default=0.15, ge=0, le=1)
    """How much of the budget the newest reflection may take before what was found has had its part."""
    passes: int = Field(default=5, ge=1)
    """Parts counted one by one come to more than the whole; what that leaves over is given out again so often."""


class TrustSettings(Value):
    stale_factor: float = Field(default=0.5, ge=0, le=1)
    """What remains of a record's confidence once it is stale: as likely right as wrong."""
    review_factor: float = Field(default=0.9, ge=0, le=1)
    """What remains while a record waits for review: a doubt that nobody has looked into yet."""
    expired_factor: float = Field(default=0.1, ge=0, le=1)
    """What remains of what is no longer true: enough to answer what used to be, below whatever holds now."""
    tainted_factor: float = Field(default=0.7, ge=0, le=1)
    """What remains of what was learned from outside content, until a person confirms it."""
    recency_half_life_days: float = Field(default=30.0, gt=0)
    """After a month a record is half as recent: about how long a piece of work stays in mind."""


class ForgettingSettings(Value):
    half_lives: float = Field(default=3.0, gt=0)
    """Unused for so many half-lives, an eighth of its weight is left: nobody missed it."""
    least: float = Field(default=0.05, ge=0, le=1)
    """What is trusted less than this is as good as unknown."""
    grace_days: float = Field(default=30.0, ge=0)
    """How long what was taken away can be brought back: a month shows whether somebody misses it."""
    page: int = Field(default=200, ge=1)
    """Records that are looked at between two commits: what a crash costs at most."""
    proof_pieces: int = Field(default=64, ge=1)
    """Pieces of a removed text that are looked for in the raw files; a copy of it holds them all."""
    proof_characters: int = Field(default=24, ge=4)
    """How long a piece is: four words, which stand elsewhere by chance in no memory of ordinary size."""


class UseSettings(Value):
    uses: int = Field(default=5, ge=1)
    """So many uses that nobody corrected are evidence."""
    gain: float = Field(default=0.05, ge=0, le=1)
    """What they add to the confidence."""
    ceiling: float = Field(default=0.95, ge=0, le=1)
    """Use alone gets no further: what everybody repeats may still be wrong."""
    uses_for_review: int = Field(default=10, ge=1)
    """So many uses that nobody corrected are as good as a review."""


class RelationSettings(Value):
    """How much of a change of confidence travels along a relation."""

    validates: float = Field(default=0.6, ge=-1, le=1)
    required_with: float = Field(default=0.3, ge=-1, le=1)
    conflicts_with: float = Field(default=-0.4, ge=-1, le=1)
    derived_from: float = Field(default=0.5, ge=-1, le=1)
    supersedes: float = Field(default=-0.8, ge=-1, le=0)
    """Only a rise travels: the surer the new record, the less the old one counts."""
    least: float = Field(default=0.05, gt=0, le=1)
    """A change that would be no greater than this stops."""
    depth: int = Field(default=3, ge=0)
    """Relations in a row that are followed; even the strongest leave a fifth after three."""
    most: int = Field(default=100, ge=1, le=LABELS)
    """Records that one change may reach; who is related to more is related to none in particular."""
    ceiling: float = Field(default=0.95, ge=0, le=1)
    """Related records lift each other no further: only a person is surer."""


class StalenessSettings(Value):
    most_loss: float = Field(default=0.5, ge=0, le=1)
    """What a record loses of its confidence when every line of its files was rewritten: as likely right as wrong."""
    least_loss: float = Field(default=0.01, ge=0, le=1)
    """Less than a hundredth is not worth a change of the record."""
    review_days: float = Field(default=30.0, ge=0)
    """Files that are modified so much later than the record was learned ask for a second look."""
    git_seconds: float = Field(default=60.0, gt=0)
    """How long one question to git may take; a history of a hundred thousand commits takes some seconds."""


class ReflectionSettings(Value):
    every_days: float = Field(default=6.0, ge=0)
    """At most once in so many days: a weekly run that comes an hour early still counts as weekly."""
    period_days: float = Field(default=7.0, gt=0)
    """What is looked back on."""
    least_facts: int = Field(default=3, ge=1)
    """Fewer new facts than this are remembered as they are."""
    most_records: int = Field(default=200, ge=1)
    """Records of each kind that are read, the newest."""
    most_lines: int = Field(default=12, ge=1)
    """Lines of each part of the digest; the rest is counted."""
    line_characters: int = Field(default=200, ge=20)
    """What one line quotes of a record."""
    written_tokens: int = Field(default=600, ge=1)
    """What a language model may write."""


class GraphSettings(Value):
    most_in_play: int = Field(default=20, ge=1, le=LABELS)
    """Files whose neighbours are looked for; who works on more at once works on none in particular."""
    most_files: int = Field(default=30, ge=0, le=LABELS)
    """Coupled files that are followed, the closest first: twice as many as there are ties to choose."""
    most_nodes: int = Field(default=150, ge=1, le=LABELS)
    """Symbols of the files in play whose edges are read; a thousand nodes and edges take 30 ms to read."""
    most_edges: int = Field(default=150, ge=1)
    """Edges of each kind and direction that are read; a file with more neighbours is coupled to none in particular."""
    most_records: int = Field(default=50, ge=1, le=LABELS)
    """Records that each way through the graph brings before the best are chosen."""
    most_names: int = Field(default=250, ge=1, le=LABELS)
    """Runs of a query's words that are looked up as names: all of them in a query of sixty words."""
    most_entities: int = Field(default=8, ge=1)
    """Named entities that are followed, the longest names first; each costs a look-up."""
    most_links: int = Field(default=100, ge=1)
    """An entity that more records speak of says nothing about any of them; one that few speak of, a lot."""
    most_merges: int = Field(default=5, ge=0)
    """How often an entity may have been merged into the next; more is a circle."""
    weakest: float = Field(default=0.1, gt=0, le=1)
    """A tie below this is chance."""
    coupled: float = Field(default=0.6, ge=0, le=1)
    """Above this, a change to one file is felt in the other: it brings its gotchas, patterns and errors."""
    causal_bonus: float = Field(default=0.25, ge=0, le=1)
    """How much of what is missing to certainty those get; a record about the file itself stays above them."""
    loose_factor: float = Field(default=0.5, ge=0, le=1)
    """What remains of the tie for everything else that is known about a coupled file."""
    boost: float = Field(default=0.3, ge=0, le=1)
    """What a result gains that touches as many neighbours of the leading results as these have files."""
    boost_leaders: int = Field(default=10, ge=1)
    """The results whose neighbours count."""
    boost_last: int = Field(default=50, ge=1)
    """The last rank that can gain: what lies behind was found by chance."""


class WorkingSettings(Value):
    """A task's working memory. The sections divide `total` in the proportion of these numbers."""

    total: int = Field(default=20_000, ge=1_000)
    """Tokens in all: leaves most of a context window to the work itself. Less than 1,000 holds no section's least."""
    system: int = Field(default=2_000, ge=1)
    """What the agent can do, its tools and its bounds; they hardly change."""
    task: int = Field(default=5_000, ge=1)
    """Description, goals, constraints, criteria, plan and the task's variables."""
    execution: int = Field(default=3_000, ge=1)
    """What is done, under way and failed, the state stack and the traces."""
    results: int = Field(default=8_000, ge=1)
    """The last five to seven outputs; they are the largest, and what the next step works on."""
    retrieved: int = Field(default=2_000, ge=1)
    """What memory brought: a few passages."""
    old_after: int = Field(default=5, ge=1)
    """An output with so many after it is old: it leaves first, unless a subtask to come uses it."""
    extract_characters: int = Field(default=160, ge=20)
    """One line that tells what was moved out: a long sentence, or two halves of one."""
    lines_share: float = Field(default=0.25, ge=0, le=1)
    """How much of a section such lines may take; the oldest above it are only counted, and listed on demand."""
    retrieve_limit: int = Field(default=5, ge=1)
    """Passages that are looked for; five of 400 tokens fill the section."""
    prune_to: float = Field(default=0.8, gt=0, le=1)
    """How full a section is left that had to be summarised: or the next item would be too much again."""
    saves: int = Field(default=5, ge=1)
    """Named saves that are kept with a task, the newest; each is as large as the working memory."""
    log: int = Field(default=100, ge=1)
    """Pruning steps that a task remembers, the newest."""


class ConversationSettings(Value):
    strategy: Literal["rolling_window", "importance", "hybrid"] = "hybrid"
    """Hybrid keeps most of what a session needs again (`bench/replay.py`)."""
    keep_recent: int = Field(default=10, ge=0)
    """The last messages that never leave: the exchange that is going on."""
    max_messages: int | None = Field(default=None, ge=1)
    """How many messages may be in the window; None leaves it to the tokens (decision 0005)."""
    prune_at: float = Field(default=0.8, gt=0, le=1)
    """How much of the model's window a request may take; the rest is for the answer. Fuller, and messages leave."""
    aggressive_at: float = Field(default=0.9, gt=0, le=1)
    """Fuller than this, and more leave at once."""
    prune_to: float = Field(default=0.75, gt=0, le=1)
    """What remains of a request's tokens then: room for a while, so that the provider's cache stays warm."""
    aggressive_to: float = Field(default=0.5, gt=0, le=1)
    summary_share: float = Field(default=0.05, ge=0, le=1)
    """What summaries of removed messages may take, all together."""
    summary_tokens: int = Field(default=400, ge=0)
    """What one of them may take."""
    recall_share: float = Field(default=0.1, ge=0, le=1)
    """What removed messages that come back as quotations may take."""
    recall_messages: int = Field(default=8, ge=1)
    fading_messages: float = Field(default=1_000.0, gt=0)
    """After so many messages what a unit gives has faded to a third; found on recorded sessions (`bench/replay.py`)."""
    oversize: Literal["error", "truncate"] = "error"
    """What to do where even what must stay is too large: say so, or cut the longest texts in the middle."""
    at_task_boundary: bool = False
    """Whether completed tasks leave as soon as another begins, though there is room."""
    reports: int = Field(default=8, ge=1)
    """How many of the provider's own counts are remembered to correct an estimate."""
    models: FrozenMap = EMPTY
    """Windows of models that the table does not know, or knows otherwise: `{"my-model": {"limit": 32768}}`."""


class LearnSettings(Value):
    model: Literal["auto", "off"] = "auto"
    """Auto lets the language model of `writer` read for facts, where there is one; off leaves that to the rules."""
    page: int = Field(default=30, ge=1, le=200)
    """Turns that a language model reads in one call: enough to know who "she" is, few enough to miss nothing."""
    page_characters: int = Field(default=24_000, ge=1_000, le=60_000)
    """What one call reads at most: some 6,000 tokens, which also a small local model holds beside its answer."""
    turn_characters: int = Field(default=6_000, ge=100)
    """What is read of one turn: a longer one is pasted, and would push the others from the page."""
    most_tokens: int = Field(default=4_000, ge=100)
    """What one answer may take: thirty facts of a hundred tokens, and some room."""
    alike: float = Field(default=0.75, gt=0, le=1)
    """Texts that share so much of their words, or lie so near in meaning, may say the same."""
    candidates: int = Field(default=50, ge=1, le=LABELS)
    """Records about the same subject and attribute that a new statement is held against, the newest."""
    neighbours: int = Field(default=20, ge=1)
    """Records like it that it is held against, wherever their subject was put."""
    quiet_minutes: float = Field(default=30.0, ge=0)
    """A session in which nothing was said for so long can be read at night as if it had ended."""


class EpisodeSettings(Value):
    """Whole task executions: how they age, how they are weighed, how many are kept at hand."""

    mature_after_days: float = Field(default=30.0, gt=0)
    """A month: what was done since is still part of the work at hand."""
    aged_after_days: float = Field(default=180.0, gt=0)
    """Half a year on, nobody asks for single steps; the trace moves to the blob store."""
    archived_after_days: float = Field(default=365.0, gt=0)
    """After a year what was learned counts; the rest is fetched when it is asked for."""
    retention_days: float = Field(default=30.0, ge=0)
    """How long a deleted episode can still be brought back."""
    archived_characters: int = Field(default=1_000, ge=1)
    """How much of an archived episode's request stays at hand: enough to recognise it."""
    batch: int = Field(default=50, ge=1)
    """Episodes that are moved on in one transaction: each may write a blob, and others wait meanwhile."""
    cache: int = Field(default=1_000, ge=0)
    """Whole episodes kept in this process, the last ones used."""
    counted_together: int = Field(default=20, ge=1)
    """Accesses that are written at once, or a read would be a write; a crash forgets at most so many."""
    limit: int = Field(default=10, ge=1)
    """Episodes that a search gives where the caller names no limit."""
    candidates: int = Field(default=200, ge=10)
    """Episodes that are weighed for a search."""
    similarity: float = Field(default=0.5, ge=0)
    """What likeness to the query counts: half, and the four parts below the other half."""
    recency: float = Field(default=0.2, ge=0)
    recency_days: float = Field(default=30.0, gt=0)
    """After so many days recency has faded to a third."""
    success: float = Field(default=0.15, ge=0)
    use: float = Field(default=0.1, ge=0)
    use_scale: float = Field(default=10.0, gt=0)
    """The logarithm of accesses that counts in full."""
    domain: float = Field(default=0.05, ge=0)
    highly_relevant_at: float = Field(default=0.5, ge=0, le=1)
    """Aged and archived episodes come unasked from this likeness on: most of what is said is the same."""
    failure_likeness: float = Field(default=0.5, gt=0, le=1)
    """Two error messages that share so many of their words are alike, though not the same."""
    same_task: float = Field(default=0.6, gt=0, le=1)
    """Two requests that share so many of their words ask for the same."""
    recovery_steps: int = Field(default=3, ge=1)
    """Steps after an error that are told: what was tried next, and what came of it."""


class EpisodeConsolidationSettings(Value):
    """Which episodes are so alike that one can stand for them."""

    likeness: float = Field(default=0.95, gt=0, lt=1)
    """The cosine above which two episodes were the same task; the requirement names it."""
    window_days: float = Field(default=30.0, gt=0)
    """How far apart two neighbours of a cluster may lie: the same task after a longer pause is a new beginning."""
    smallest: int = Field(default=3, ge=2)
    """Two may be chance; of three, one can be said to be typical."""
    largest: int = Field(default=LABELS, ge=2, le=LABELS)
    """An episode names each that it stands for; of more, several are made, in the order of time."""
    lessons: int = Field(default=50, ge=0)
    """Insights and failures that are carried over, each said once; a reader takes in no more."""
    difference_characters: int = Field(default=200, ge=0)
    """How much is kept of the words in which one differs: enough to see what was special; it has the rest itself."""


class EntitySettings(Value):
    """Who and what records speak of."""

    read_characters: int = Field(default=20_000, ge=0)
    """How much of one text is read for names; what comes after is data, and names in it are found by their words."""
    most_mentions: int = Field(default=30, ge=0)
    """Names that one record is linked with, the surest: a log of a thousand identifiers speaks of none of them."""
    batch: int = Field(default=200, ge=1, le=LABELS)
    """Records that are linked between two commits: what a crash costs at most."""
    slice_seconds: float = Field(default=1.0, gt=0)
    """How long a job links before it lets others have their turn: `settle` keeps its deadline."""
    few: int = Field(default=2, ge=0)
    """A record with so many names or fewer may have more that rules do not see: it is read again at night."""
    nightly_llm: int = Field(default=50, ge=0)
    """Records that a language model reads again in one night; each is a request that somebody pays for."""
    nightly_spacy: int = Field(default=2_000, ge=0)
    """The same where spaCy reads: about a hundredth of a second each."""
    llm_tokens: int = Field(default=600, ge=1)
    """Room for some thirty names in an answer."""
    summary_facts: int = Field(default=3, ge=0)
    """The surest facts that make the summary of a profile."""
    profile_facts: int = Field(default=50, ge=1, le=LABELS)
    """Facts that a profile holds, the surest."""
    profile_records: int = Field(default=50, ge=1, le=LABELS)
    """Records that a profile shows, the newest; `recall` finds the others."""
    related: int = Field(default=8, ge=0)
    """Entities beside it that a profile names: those that most of its records speak of, too."""
    nearest: int = Field(default=3, ge=0)
    """Names that are proposed where one is not known."""


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
