"""How records are found, judged and packed."""

from collections.abc import Mapping

from pydantic import Field

from treering.core.values import LABELS, Value


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
    certain: float = Field(default=0.25, ge=0)
    """An answer whose best result has less than this sum of signs says that it is only the nearest: of 35 questions to
    a small memory, those about something in it had .26 and more, the others .24 and less."""
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
    few: int = Field(default=3, ge=1)
    """A word that so few records hold is rare, also where there are hardly more: a memory of a few records that say the
    same finds them. In a larger one a word is rare that no more than the square root of their number hold."""
    likeness: float = Field(default=0.85, ge=0, le=1)
    """Vectors alone prove something only this near: texts that say the same in other words. A shared topic is none."""
    sure: float = Field(default=0.5, ge=0, le=1)
    """Links to entities are followed if they are surer than this (likelier than not), relations if at least as firm."""
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


class TrustSettings(Value):
    stale_factor: float = Field(default=0.5, ge=0, le=1)
    """What remains of a record's confidence once it is stale: as likely right as wrong."""
    review_factor: float = Field(default=0.9, ge=0, le=1)
    """What remains while a record waits for review: a doubt that nobody has looked into yet."""
    expired_factor: float = Field(default=0.1, ge=0, le=1)
    """What remains of what is no longer true: enough to answer what used to be, below whatever holds now."""
    tainted_factor: float = Field(default=0.7, ge=0, le=1)
    """What remains of what was learned from outside content, until a person confirms it."""
    stated_floor: float = Field(default=0.3, ge=0, le=1)
    """What age leaves of the confidence of what somebody stated: it ranks lower, and is never lost."""
    recency_half_life_days: float = Field(default=30.0, gt=0)
    """After a month a record is half as recent: about how long a piece of work stays in mind."""


class PackSettings(Value):
    results: int = Field(default=30, ge=1)
    """How many results are looked at for packing, with a phase for each of its types; more than fit into the largest
    budget."""
    budget: int = Field(default=2_000, ge=0)
    """Tokens of context where neither a budget nor a phase is named: what most phases take."""
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
    rules_share: float = Field(default=0.2, ge=0, le=1)
    """How much of the budget preferences, requirements and pinned records may take before what was found."""
    passes: int = Field(default=5, ge=1)
    """Parts counted one by one come to more than the whole; what that leaves over is given out again so often."""
