"""Facts read from what people say, without a model."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treering.core.statements import ATTRIBUTES, PROJECT, SPEAKER, Statement
from treering.learn.facts import read_statements
from treering.learn.facts.grammar import LANGUAGES, grammar
from treering.learn.facts.keys import keys_of
from treering.learn.facts.letters import lowered
from treering.learn.facts.sentences import sentences
from treering.learn.facts.values import cleaned_value

AT = datetime(2026, 5, 8, 10, tzinfo=UTC)

STATED = {
    "en": [
        ("I moved to Lyon in May", [(SPEAKER, "lives_in", "Lyon")]),
        ("I live in Lyon and work at Acme", [(SPEAKER, "lives_in", "Lyon"), (SPEAKER, "works_at", "Acme")]),
        ("My sister Anna lives in Rome", [(SPEAKER, "relative", "Anna"), ("Anna", "lives_in", "Rome")]),
        ("I'm Daniel, backend engineer at Northwind", [
            (SPEAKER, "name", "Daniel"), (SPEAKER, "role", "backend engineer"), (SPEAKER, "works_at", "Northwind"),
        ]),
        ("My manager is Olivia Brandt, her email is olivia@example.org", [
            (SPEAKER, "reports_to", "Olivia Brandt"), ("Olivia Brandt", "email", "olivia@example.org"),
        ]),
        ("I'm allergic to penicillin", [(SPEAKER, "allergic_to", "penicillin")]),
        ("I speak Portuguese and Polish", [(SPEAKER, "speaks", "Portuguese"), (SPEAKER, "speaks", "Polish")]),
        ("The staging database belongs to the platform team", [("staging database", "owned_by", "platform team")]),
        ("Priya owns the checkout flow", [("checkout flow", "owned_by", "Priya")]),
        ("The API listens on port 8080", [("API", "port", "8080")]),
        ("The default branch is develop", [("branch", "default", "develop")]),
        ("Python version is 3.12", [("Python", "version", "3.12")]),
        ("The docs live at https://docs.example.com/x", [("docs", "located_at", "https://docs.example.com/x")]),
        ("The billing service is written in Go", [("billing service", "written_in", "Go")]),
        ("The importer depends on libmagic", [("importer", "depends_on", "libmagic")]),
        ("prod runs on AWS", [("prod", "runs_on", "AWS")]),
        ("We deploy to Fly.io", [(PROJECT, "deployed_to", "Fly.io")]),
        ("Releases go out every Thursday", [("Releases", "scheduled", "every Thursday")]),
        ("The v1 API is deprecated", [("v1 API", "status", "deprecated")]),
        ("We decided to go with FastAPI", [(PROJECT, "decided", "go with FastAPI")]),
        ("never commit to main", [(PROJECT, "rule", "never commit to main")]),
        ("Always run the linter before pushing", [(PROJECT, "rule", "Always run the linter before pushing")]),
        ("Never deploy on Friday", [(PROJECT, "rule", "Never deploy on Friday")]),
        ("- we use Kafka\n- the worker needs Java 21", [
            (PROJECT, "uses", "Kafka"), ("worker", "depends_on", "Java 21"),
        ]),
    ],
    "fr": [
        ("J'ai déménagé à Bordeaux le mois dernier", [(SPEAKER, "lives_in", "Bordeaux")]),
        ("Moi c'est Camille, je suis développeuse chez Altiplan", [
            (SPEAKER, "name", "Camille"), (SPEAKER, "role", "développeuse"), (SPEAKER, "works_at", "Altiplan"),
        ]),
        ("Ma sœur Anna vit à Rome", [(SPEAKER, "relative", "Anna"), ("Anna", "lives_in", "Rome")]),
        ("L'API écoute sur le port 9090", [("API", "port", "9090")]),
        ("Le backend dépend de Redis", [("backend", "depends_on", "Redis")]),
        ("La branche par défaut est develop", [("branche", "default", "develop")]),
        ("C'est Thibault qui s'occupe du module d'export", [("module d'export", "owned_by", "Thibault")]),
        ("Les sauvegardes se font chaque dimanche à 4h", [("sauvegardes", "scheduled", "chaque dimanche à 4h")]),
        ("Notre API est écrite en Rust", [("API", "written_in", "Rust")]),
        ("j'adore la randonnée, mais je déteste courir", [
            (SPEAKER, "likes", "randonnée"), (SPEAKER, "dislikes", "courir"),
        ]),
        ("Ne pousse jamais sur la branche prod", [(PROJECT, "rule", "Ne pousse jamais sur la branche prod")]),
        ("L'API v1 est dépréciée", [("API v1", "status", "dépréciée")]),
    ],
    "it": [
        ("Vivo a Torino dal 2019", [(SPEAKER, "lives_in", "Torino")]),
        ("Mi chiamo Sara e lavoro come sviluppatrice da Satispay", [
            (SPEAKER, "name", "Sara"), (SPEAKER, "role", "sviluppatrice"), (SPEAKER, "works_at", "Satispay"),
        ]),
        ("Mia sorella Anna vive a Roma", [(SPEAKER, "relative", "Anna"), ("Anna", "lives_in", "Roma")]),
        ("Il gestionale è scritto in Delphi e si appoggia a Firebird 2.5", [
            ("gestionale", "written_in", "Delphi"), ("gestionale", "depends_on", "Firebird 2.5"),
        ]),
        ("Il server ascolta sulla porta 8080", [("server", "port", "8080")]),
        ("Il branch predefinito è develop", [("branch", "default", "develop")]),
        ("La documentazione sta in docs/manuale, le immagini in docs/img", [
            ("documentazione", "located_at", "docs/manuale"), ("immagini", "located_at", "docs/img"),
        ]),
        ("Abbiamo deciso di usare FastAPI", [(PROJECT, "decided", "usare FastAPI")]),
        ("Non fare mai commit su main", [(PROJECT, "rule", "Non fare mai commit su main")]),
        ("Sono allergica alle noci", [(SPEAKER, "allergic_to", "noci")]),
    ],
    "de": [
        ("Ich bin im Mai nach Lyon gezogen", [(SPEAKER, "lives_in", "Lyon")]),
        ("Seit Mai wohne ich in Lyon", [(SPEAKER, "lives_in", "Lyon")]),
        ("Ich heiße Jana und arbeite als Analystin bei Bosch", [
            (SPEAKER, "name", "Jana"), (SPEAKER, "role", "Analystin"), (SPEAKER, "works_at", "Bosch"),
        ]),
        ("Meine Schwester Anna wohnt in Rom", [(SPEAKER, "relative", "Anna"), ("Anna", "lives_in", "Rom")]),
        ("mein Hund heißt Balu und ist drei", [(SPEAKER, "pet", "Balu"), ("Balu", "age", "drei")]),
        ("Die API lauscht auf Port 8080", [("API", "port", "8080")]),
        ("Das Backend ist in Kotlin geschrieben", [("Backend", "written_in", "Kotlin")]),
        ("Das Backend hängt von Redis ab", [("Backend", "depends_on", "Redis")]),
        ("Wir haben uns für FastAPI entschieden", [(PROJECT, "decided", "FastAPI")]),
        ("Um das Frontend kümmert sich Julia", [("Frontend", "owned_by", "Julia")]),
        ("Niemals direkt auf main committen", [(PROJECT, "rule", "Niemals direkt auf main committen")]),
        ("Rosenkohl kann ich nicht ausstehen", [(SPEAKER, "dislikes", "Rosenkohl")]),
    ],
    "es": [
        ("Me mudé a Lyon en mayo", [(SPEAKER, "lives_in", "Lyon")]),
        ("Me llamo Marta y trabajo como diseñadora en Glovo", [
            (SPEAKER, "name", "Marta"), (SPEAKER, "role", "diseñadora"), (SPEAKER, "works_at", "Glovo"),
        ]),
        ("Mi hermana Ana vive en Roma", [(SPEAKER, "relative", "Ana"), ("Ana", "lives_in", "Roma")]),
        ("La API escucha en el puerto 8080", [("API", "port", "8080")]),
        ("La rama por defecto es develop", [("rama", "default", "develop")]),
        ("De la pasarela de pago se encarga Beatriz", [("pasarela de pago", "owned_by", "Beatriz")]),
        ("Nuestra API está escrita en Rust", [("API", "written_in", "Rust")]),
        ("Me encanta el cine coreano y odio madrugar", [
            (SPEAKER, "likes", "cine coreano"), (SPEAKER, "dislikes", "madrugar"),
        ]),
        ("Nunca hagas commit en main", [(PROJECT, "rule", "Nunca hagas commit en main")]),
        ("La API v1 está obsoleta", [("API v1", "status", "obsoleta")]),
    ],
}  # fmt: skip

REPLACED = [
    ("we use Postgres 16, not MySQL", "Postgres 16", "MySQL"),
    ("we switched from npm to pnpm last week", "pnpm", "npm"),
    ("actually it's Postgres 15, not 16", "Postgres 15", "16"),
    ("No, the port is 9090, not 8080", "9090", "8080"),
    ("We replaced Webpack with Vite", "Vite", "Webpack"),
    ("I prefer tabs over spaces", "tabs", "spaces"),
    ("I moved from Paris to Lyon", "Lyon", "Paris"),
    ("On est passés de Jenkins à GitLab CI", "GitLab CI", "Jenkins"),
    ("L'API écoute sur le port 9090, pas sur le 8000", "9090", "8000"),
    ("Siamo passati da npm a pnpm", "pnpm", "npm"),
    ("Wir nutzen Postgres 16, nicht MySQL", "Postgres 16", "MySQL"),
    ("Unser Skript heißt nicht mehr ship.sh, sondern release.sh", "release.sh", "ship.sh"),
    ("Usamos Postgres 16, no MySQL", "Postgres 16", "MySQL"),
]

ENDED = [
    ("we no longer use Jenkins", "uses", "Jenkins"),
    ("We don't use Slack anymore", "uses", "Slack"),
    ("I no longer work at Siemens", "works_at", "Siemens"),
    ("I used to live in Madrid", "lives_in", "Madrid"),
    ("On n'utilise plus Jenkins", "uses", "Jenkins"),
    ("Non usiamo più Jenkins", "uses", "Jenkins"),
    ("Wir nutzen Jenkins nicht mehr", "uses", "Jenkins"),
    ("Ya no usamos Jenkins", "uses", "Jenkins"),
]

UNSTATED = [
    # Questions.
    "Do we use Postgres?", "We use Postgres, right?", "is the API on port 8080?", "¿Usamos Postgres?",
    "Est-ce que nous utilisons Postgres ?", "Usiamo Postgres?", "Nutzen wir Postgres?",
    # Suppositions and doubts.
    "If we used Redis, the latency would drop.", "Maybe we should use Kafka.", "Imagine you live in Paris.",
    "Suppose I work at Google.", "I think the API listens on 8080.", "We might move to Kubernetes next year.",
    "We use Postgres, I think.", "I wish I lived in Lisbon.", "Si on prenait Elasticsearch, ce serait mieux.",
    "Angenommen, wir nutzen Kafka.", "Supongamos que vivo en Burgos.", "Facciamo finta che io viva a Milano.",
    "Let's say Alice lives in Paris and Bob in Rome: write me a query",
    # Requests.
    "Please add a test for the parser", "can you rename the function and run the tests", "Let's go with Tailwind.",
    # Other people's words.
    "Marc said they might be moving to Kubernetes.", "He said he lives in Rome.", "The README says we use MySQL.",
    'translate into German: "I live in Dublin and I work for a bank."', "> we use MySQL",
    "Anna: we use npm for everything here\nBob: I live in Rome and like it",
    # Code, logs and traces.
    "```\nwe use MySQL\nI live in Rome\n```", "    port = 8080",
    "[2026-05-08 09:58:12] INFO  http: listening on port 3000", "# TODO: we use redis here, replace it",
    'Traceback (most recent call last):\n  File "/app/worker.py", line 88, in run\nqueue.Empty',
    "a81c2f0 fix: use utc everywhere", "import os",
    # Denials and small talk.
    "We don't know who owns the billing service.", "I have a question about the parser.", "I'm done.", "I'm Done.",
    "Don't worry about it.", "never mind", "I've never seen that error before.", "It always fails on the second run.",
    "I like your idea.", "The error is on line 42.", "The code uses a for loop.", "I live on the moon, just kidding.",
    "I use this function to parse dates.", "it depends on the input", "As a user, I want to log in.",
    "Tell me when we moved to pnpm.", "",
]  # fmt: skip


def read(text: str, **options: object) -> tuple[Statement, ...]:
    return read_statements(text, **{"at": AT, **options})  # type: ignore[arg-type]


def triples(text: str, **options: object) -> list[tuple[str, str, str]]:
    return [(each.subject, each.attribute, each.value) for each in read(text, **options)]


@pytest.mark.parametrize(
    ("language", "text", "stated"),
    [(language, text, stated) for language, cases in STATED.items() for text, stated in cases],
)
def test_what_is_stated_is_read(language: str, text: str, stated: list[tuple[str, str, str]]) -> None:
    assert triples(text, language=language) == stated


@pytest.mark.parametrize(("text", "value", "over"), REPLACED)
def test_what_is_replaced_is_named(text: str, value: str, over: str) -> None:
    assert [(each.value, each.over) for each in read(text)] == [(value, (over,))]


@pytest.mark.parametrize(("text", "attribute", "value"), ENDED)
def test_what_holds_no_longer_has_ended(text: str, attribute: str, value: str) -> None:
    assert [(each.attribute, each.value, each.ended) for each in read(text)] == [(attribute, value, True)]


@pytest.mark.parametrize("text", UNSTATED)
def test_what_states_nothing_yields_nothing(text: str) -> None:
    assert triples(text) == []


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("I moved to Lyon in May", "2026-05-01"),
        ("I moved to Lyon in June", "2025-06-01"),
        ("we switched from npm to pnpm last week", "2026-04-27"),
        ("I have lived in Leipzig since 2019", "2019-01-01"),
        ("I joined Acme yesterday", "2026-05-07"),
        ("We moved to Vite on 3 March", "2026-03-03"),
        ("I'm flying to Lisbon next Friday", "2026-05-15"),
        ("J'habite à Lyon depuis 2019", "2019-01-01"),
        ("J'ai déménagé à Bordeaux le mois dernier", "2026-04-01"),
        ("Vivo a Torino dal 2019", "2019-01-01"),
        ("Ich wohne seit 2019 in Leipzig", "2019-01-01"),
        ("La semana pasada pasamos de npm a pnpm", "2026-04-27"),
    ],
)
def test_times_are_resolved_against_the_moment_of_the_turn(text: str, since: str) -> None:
    (statement,) = read(text)
    assert statement.valid_from is not None
    assert statement.valid_from.date().isoformat() == since


@pytest.mark.parametrize(
    ("text", "subject", "day"),
    [
        ("Deadline for the beta is 3 March", "beta", "2027-03-03"),
        ("The demo is on Thursday 14 May at 3pm", "demo", "2026-05-14"),
        ("release 2.4 is due on June 12th", "release 2.4", "2026-06-12"),
        ("La date limite pour le dossier est le 15 juin", "dossier", "2026-06-15"),
        ("La scadenza per il bando è il 15 giugno", "bando", "2026-06-15"),
        ("Die Frist für die Beta ist der 3. März", "Beta", "2027-03-03"),
        ("La fecha límite para la beta es el 3 de marzo", "beta", "2027-03-03"),
    ],
)
def test_a_date_to_come_is_the_next_of_its_name_and_stands_in_value_and_text(text: str, subject: str, day: str) -> None:
    (statement,) = read(text)
    assert (statement.subject, statement.value) == (subject, day)
    assert day in statement.text


def test_until_ends_what_holds() -> None:
    (statement,) = read("The feature branch is frozen until Monday")
    assert statement.valid_from is None
    assert statement.valid_until is not None
    assert statement.valid_until.date().isoformat() == "2026-05-12"


def test_an_ended_value_ends_at_its_time() -> None:
    (statement,) = read("We got rid of Jenkins last month")
    assert statement.valid_until is not None
    assert statement.valid_until.date().isoformat() == "2026-04-01"


def test_days_begin_where_the_turn_was_said() -> None:
    at = datetime(2026, 5, 8, 1, tzinfo=timezone(timedelta(hours=9)))
    (statement,) = read("I joined Acme yesterday", at=at)
    assert statement.valid_from == datetime(2026, 5, 7, tzinfo=timezone(timedelta(hours=9)))


def test_whoever_speaks_is_the_subject() -> None:
    (statement,) = read("I live in Lyon", speaker="Marta")
    assert (statement.subject, statement.speaker, statement.text) == ("Marta", "Marta", "Marta lives in Lyon")


def test_the_text_is_a_sentence_by_itself() -> None:
    texts = [each.text for each in read("I moved to Lyon in May. We use Postgres 16, not MySQL.")]
    assert texts == ["User lives in Lyon (since 2026-05)", "The project uses Postgres 16 (not MySQL)"]


def test_the_quote_is_the_sentence_it_was_read_from() -> None:
    (statement,) = read("Thanks! By the way, I live in Lyon. What about you?")
    assert statement.quote == "By the way, I live in Lyon"


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("I prefer tabs over spaces", "preference"),
        ("I love bouldering", "preference"),
        ("never commit to main", "preference"),
        ("We decided to go with FastAPI", "decision"),
        ("I live in Lyon", "fact"),
    ],
)
def test_the_type_follows_the_attribute(text: str, type_: str) -> None:
    assert [each.type for each in read(text)] == [type_]


@pytest.mark.parametrize("role", ["tool", "system"])
def test_tools_and_the_system_state_nothing(role: str) -> None:
    assert read("We use Postgres 16. I live in Lyon.", role=role) == ()


def test_an_assistant_states_only_what_it_found_and_less_surely() -> None:
    text = "I live in Lyon. We use MySQL. Done: the worker depends on RabbitMQ. I'll plan to refactor it."
    assert [(each.subject, each.value, each.confidence) for each in read(text, role="assistant")] == [
        ("worker", "RabbitMQ", 0.5)
    ]


def test_names_are_entities() -> None:
    (_, lives) = read("My sister Anna lives in Rome")
    assert lives.entities == ("Anna", "Rome")


def test_a_pronoun_means_whoever_was_spoken_of() -> None:
    assert ("Anna", "works_at", "Fiat") in triples("My sister Anna lives in Rome. She works at Fiat.")


def test_only_the_first_20_000_characters_are_read() -> None:
    padding = "This line says nothing at all.\n" * 700
    assert triples(f"{padding}I live in Lyon.") == []
    assert triples(f"I live in Lyon.\n{padding}") == [(SPEAKER, "lives_in", "Lyon")]


def test_a_url_is_not_cut() -> None:
    assert triples("The docs are at https://a.example.com/x.html?b=1&c=2. Thanks!") == [
        ("docs", "located_at", "https://a.example.com/x.html?b=1&c=2")
    ]


def test_an_abbreviation_ends_no_sentence() -> None:
    said = [each.text for each in sentences("Meine Chefin ist Dr. Weller. Die Abgabe ist am 3. März um 12 Uhr.")]
    assert said == ["Meine Chefin ist Dr. Weller", "Die Abgabe ist am 3. März um 12 Uhr"]


@pytest.mark.parametrize(
    "text",
    [
        "I " * 10_000, "we use " * 2_800, "a, " * 6_600, "I live in " + "Lyon and " * 2_200, "(" * 20_000,
        "I'm " * 5_000, "the " * 5_000 + "is on", "\n" * 20_000, "not not " * 2_500, "x" * 20_000, "..." * 6_000,
        "every day and " * 1_400, "I moved to Lyon in May " * 850, '"' * 20_000, "1. " * 6_600, "```\n" * 5_000,
        "we use Postgres, not MySQL, and " * 600, "è " * 10_000, "my sister Anna and I " * 900, "*_" * 10_000,
        "a:b " * 5_000, "never always " * 1_500, "in the for with " * 1_200, "The " + "a-b " * 5_000 + "must be x",
    ],
)  # fmt: skip
def test_any_20_000_characters_are_read_within_a_second(text: str) -> None:
    read("I live in Lyon.")
    begun = time.process_time()
    for language in LANGUAGES:
        read(text, language=language)
    assert time.process_time() - begun < len(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_pattern_compiles_and_speaks_of_a_known_attribute(language: str) -> None:
    patterns = {pattern for held in grammar(language).by_word.values() for pattern in held}
    assert all(pattern.compiled and pattern.attribute in ATTRIBUTES for pattern in patterns)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_and_words_every_attribute(language: str) -> None:
    rules = grammar(language)
    said = {pattern.attribute for held in rules.by_word.values() for pattern in held}
    # "is" takes whatever else there is to say, which no pattern can tell.
    assert said == ATTRIBUTES.keys() - {"is"}
    assert ATTRIBUTES.keys() <= rules.data["text"].keys()


@pytest.mark.parametrize(
    ("expression", "keys"),
    [
        ("uses|is using", {"uses", "using"}),
        ("hech[oa]s? en", {"hecho", "hecha", "hechos", "hechas"}),
        ("(?:very )?deprecated", {"deprecated"}),
        (r"\w+day", set()),
        ("(?:a|b)?", set()),
    ],
)
def test_keys_are_words_that_every_match_holds(expression: str, keys: set[str]) -> None:
    assert keys_of(expression, frozenset({"is", "en"})) == keys


words = st.sampled_from(
    """I we my our the sister Anna Rome Lyon live lives in use uses Postgres 16 not instead of never always commit
    to main prefer over is on port 8080 since 2019 last week in May and but , . ? ! ; : ( ) ' " ` if maybe je nous
    on utilise à habite vivo a usiamo non più wir nutzen nicht mehr ich wohne vivo en usamos ya no no è the API
    deadline 3 March every Thursday belongs platform team""".split()  # noqa: SIM905
)
texts = st.one_of(st.text(max_size=200), st.lists(words, max_size=40).map(" ".join))


@given(texts, st.sampled_from([None, "en", "fr", "it", "de", "es", "zh", ""]), st.sampled_from(["user", "assistant"]))
@settings(max_examples=300, deadline=None)
def test_any_text_gives_sound_statements(text: str, language: str | None, role: str) -> None:
    found = read(text, language=language, role=role)
    said = lowered(" ".join(text.split()))
    for each in found:
        assert each.attribute in ATTRIBUTES
        assert each.text
        assert each.subject in (SPEAKER, PROJECT) or _said(each.subject, said)
        assert each.value[:4].isdecimal() or each.value == SPEAKER or _said(each.value, said)
    assert len({(each.subject, each.attribute, each.value) for each in found}) == len(found)


def _said(name: str, text: str) -> bool:
    return all(word.strip("'\"`.,:;!") in text for word in lowered(name).split())


@given(texts)
@settings(max_examples=100, deadline=None)
def test_the_same_turn_reads_the_same(text: str) -> None:
    assert read(text) == read(text)


@given(
    st.datetimes(timezones=st.sampled_from([None, UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))])),
    st.sampled_from(
        [
            "I moved to Lyon in May", "The demo is on Friday", "We ship the beta on 29 February",
            "I joined Acme yesterday", "Die Frist ist am 31. Dezember", "I live in Rome until next year",
            "On se marie demain", "Vivo a Roma da due anni",
        ]
    ),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_any_moment_will_do(at: datetime, text: str) -> None:
    read(text, at=at)


def test_a_value_has_neither_quotes_nor_an_article() -> None:
    assert cleaned_value('the "platform team".', grammar("en")) == "platform team"
