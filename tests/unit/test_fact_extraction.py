"""Facts read from what people say, without a model."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import LINEAR, growth
from treering.core.queries import KnowledgeFilter
from treering.core.statements import ATTRIBUTES, PROJECT, SPEAKER, Statement, fact_key, same_name
from treering.core.values import KEY_BYTES
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

SAID_OTHERWISE = {
    "en": {
        ("wiki", "located_at", "wiki.example.org"): [
            "The address of the wiki is wiki.example.org", "The wiki's URL is wiki.example.org",
            "You'll find the wiki at wiki.example.org", "We keep the wiki at wiki.example.org",
        ],
        ("parser", "written_in", "Rust"): [
            "The language of the parser is Rust", "We wrote the parser in Rust", "The parser is all Rust",
            "The parser code is Rust", "Rust is what the parser is written in", "the parser is a Rust codebase",
        ],
        ("v2 API", "status", "deprecated"): [
            "The status of the v2 API is deprecated", "We deprecated the v2 API", "The v2 API is considered deprecated",
        ],
        ("importer", "port", "7001"): [
            "The port of the importer is 7001", "You can reach the importer on port 7001", "importer: port 7001",
            "We run the importer on port 7001",
        ],
        ("importer", "owned_by", "Selma"): [
            "Selma is the owner of the importer", "Selma is responsible for the importer",
            "It's Selma who takes care of the importer", "The importer is Selma's responsibility",
        ],
        ("importer", "depends_on", "Kafka"): [
            "The importer can't run without Kafka", "Without Kafka the importer won't start",
            "Kafka is required by the importer",
        ],
        ("importer", "runs_on", "Linode"): [
            "We host the importer on Linode", "The importer is hosted on Linode", "The host of the importer is Linode",
        ],
        ("site", "deployed_to", "Render.com"): [
            "We're deploying the site to Render.com", "The site's deployment target is Render.com",
            "Render.com is where we deploy the site",
        ],
        (SPEAKER, "lives_in", "Oslo"): ["My home is in Oslo", "My flat is in Oslo", "Oslo is where I live"],
        ("Karen", "lives_in", "Oslo"): ["Karen's home is in Oslo", "karen's place is in Oslo"],
        ("Karen", "team", "growth"): [
            "Karen is on the growth team", "karen's on the growth team", "Karen belongs to the growth team",
            "Karen is a member of the growth team",
        ],
        ("Karen", "works_at", "Bayer"): ["Karen has a job at Bayer", "karen's at Bayer", "Bayer is where Karen works"],
        ("Karen", "role", "gardener"): [
            "By profession Karen is a gardener", "Karen is a gardener by trade", "Karen works as a gardener",
        ],
        ("Karen", "speaks", "Czech"): ["Karen can speak Czech", "Karen speaks Czech fluently"],
        (SPEAKER, "pet", "Pip"): ["I have a canary called Pip", "My dog's name is Pip", "Pip is my cat"],
        (SPEAKER, "partner", "Ines"): ["Ines is my wife", "My wife is called Ines"],
        (SPEAKER, "reports_to", "Ines"): ["My boss is called Ines", "Ines is my boss", "I'm reporting to Ines"],
        ("newsletter", "scheduled", "on the first day of every month"): [
            "The newsletter goes out on the first day of every month",
        ],
        ("retro", "scheduled", "every Friday at 9:30"): [
            "The retro is at 9:30 every Friday", "The retro takes place every Friday at 9:30",
        ],
        (PROJECT, "uses", "Ruff"): ["Our linter is Ruff", "Ruff is our linter"],
    },
    "fr": {
        ("wiki", "located_at", "wiki.example.org"): [
            "L'adresse du wiki est wiki.example.org", "Tu trouveras le wiki sur wiki.example.org",
        ],
        ("moteur", "written_in", "Rust"): [
            "Le langage du moteur, c'est Rust", "Le moteur est tout en Rust", "C'est en Rust que le moteur est écrit",
        ],
        ("moteur", "port", "7001"): [
            "On fait tourner le moteur sur le port 7001", "Le moteur est joignable sur le port 7001",
        ],
        ("moteur", "owned_by", "Selma"): [
            "Selma est responsable du moteur", "Le responsable du moteur, c'est Selma",
            "C'est Selma qui gère le moteur",
        ],
        ("moteur", "depends_on", "Kafka"): ["Le moteur ne peut pas tourner sans Kafka"],
        ("moteur", "runs_on", "Scaleway"): [
            "On héberge le moteur chez Scaleway", "C'est Scaleway qui héberge le moteur",
        ],
        ("Margaux", "lives_in", "Brest"): [
            "Le domicile de Margaux est à Brest", "C'est à Brest que Margaux habite", "Margaux habite toujours à Brest",
        ],
        ("Margaux", "works_at", "Altiplan"): ["margaux est chez Altiplan", "C'est chez Altiplan que travaille Margaux"],
        ("Margaux", "role", "chimiste"): ["De métier, Margaux est chimiste", "Margaux est chimiste de profession"],
        (SPEAKER, "pet", "Pip"): ["J'ai un canari qui s'appelle Pip", "Pip est mon chien"],
        (SPEAKER, "partner", "Ines"): ["Ines est ma femme", "Ma femme s'appelle Ines"],
        ("API v1", "status", "obsolète"): ["Le statut de l'API v1 est obsolète"],
    },
    "it": {
        ("wiki", "located_at", "wiki.example.org"): [
            "L'indirizzo del wiki è wiki.example.org", "Trovi il wiki su wiki.example.org",
        ],
        ("motore", "written_in", "Rust"): ["Il linguaggio del motore è Rust", "Il motore è tutto in Rust"],
        ("motore", "port", "7001"): ["Il motore è in ascolto sulla porta 7001", "Il motore sta sulla 7001"],
        ("motore", "owned_by", "Selma"): [
            "Selma è responsabile del motore", "La responsabile del motore è Selma", "È Selma che si occupa del motore",
        ],
        ("motore", "depends_on", "Kafka"): ["Il motore non può girare senza Kafka"],
        ("motore", "runs_on", "Aruba"): ["Ospitiamo il motore su Aruba", "È su Aruba che gira il motore"],
        ("Chiara", "lives_in", "Lecce"): [
            "La casa di Chiara è a Lecce", "Chiara sta a Lecce",
            "È a Lecce che abita Chiara", "Chiara vive sempre a Lecce",
        ],
        ("Chiara", "works_at", "Ferrero"): ["Chiara è impiegata alla Ferrero", "Chiara ha un posto alla Ferrero"],
        (SPEAKER, "pet", "Pip"): ["Ho un canarino che si chiama Pip", "Pip è il mio cane"],
        (SPEAKER, "partner", "Ines"): ["Ines è mia moglie", "Mia moglie si chiama Ines"],
    },
    "de": {
        ("Wiki", "located_at", "wiki.example.org"): [
            "Die Adresse des Wikis ist wiki.example.org", "Du findest das Wiki unter wiki.example.org",
        ],
        ("Parser", "written_in", "Rust"): [
            "Die Sprache des Parsers ist Rust", "Der Parser ist in Rust", "In Rust ist der Parser geschrieben",
        ],
        ("Parser", "port", "7001"): [
            "Der Port des Parsers ist 7001", "Der Parser ist über Port 7001 erreichbar", "Der Parser ist auf 7001",
            "Wir betreiben den Parser auf Port 7001",
        ],
        ("Parser", "owned_by", "Selma"): [
            "Zuständig für den Parser ist Selma", "Selma ist verantwortlich für den Parser",
        ],
        ("Parser", "depends_on", "Kafka"): ["Der Parser läuft nicht ohne Kafka", "Ohne Kafka läuft der Parser nicht"],
        ("Parser", "runs_on", "Raspberry Pi"): [
            "Wir betreiben den Parser auf einem Raspberry Pi", "Auf einem Raspberry Pi läuft der Parser",
            "Der Parser läuft immer noch auf einem Raspberry Pi",
        ],
        ("Katrin", "lives_in", "Jena"): ["In Jena wohnt Katrin", "Katrins Wohnung ist in Jena"],
        ("Katrin", "works_at", "Zeiss"): [
            "Katrin ist bei Zeiss", "Katrins Arbeitgeber ist Zeiss",
            "Bei Zeiss arbeitet Katrin",
        ],
        ("Katrin", "allergic_to", "Nüsse"): [
            "Katrin ist gegen Nüsse allergisch", "Katrin reagiert allergisch auf Nüsse",
        ],
        ("Katrin", "speaks", "Tschechisch"): ["Katrin kann Tschechisch", "Katrin kann Tschechisch sprechen"],
        (SPEAKER, "pet", "Pip"): ["Ich habe einen Kanarienvogel namens Pip", "Pip ist mein Hund"],
        (SPEAKER, "partner", "Ines"): ["Ines ist meine Frau", "Meine Frau heißt Ines"],
    },
    "es": {
        ("wiki", "located_at", "wiki.example.org"): [
            "La dirección del wiki es wiki.example.org", "Encontrarás el wiki en wiki.example.org",
        ],
        ("motor", "written_in", "Rust"): ["El lenguaje del motor es Rust", "El motor está todo en Rust"],
        ("motor", "port", "7001"): ["Se accede al motor por el puerto 7001", "El motor va por el 7001"],
        ("motor", "owned_by", "Selma"): [
            "Selma es la responsable del motor", "Es Selma quien se encarga del motor",
        ],
        ("motor", "depends_on", "Kafka"): ["El motor no puede funcionar sin Kafka", "El motor no arranca sin Kafka"],
        ("motor", "runs_on", "Arsys"): ["Alojamos el motor en Arsys", "El motor sigue alojado en Arsys"],
        ("Lucía", "lives_in", "Burgos"): [
            "La casa de Lucía está en Burgos", "Lucía sigue viviendo en Burgos", "Es en Burgos donde vive Lucía",
        ],
        ("Lucía", "works_at", "Renfe"): ["Lucía tiene un puesto en Renfe", "Es en Renfe donde trabaja Lucía"],
        (SPEAKER, "pet", "Pip"): ["Tengo un canario que se llama Pip", "Pip es mi perro"],
        (SPEAKER, "partner", "Ines"): ["Ines es mi mujer", "Mi mujer se llama Ines"],
    },
}  # fmt: skip

MISLEADING = [
    # Neither adverbs nor pronouns nor verbs are subjects; people run on nothing, and nothing runs on them.
    ("en", "Always use absolute imports", [(PROJECT, "rule", "Always use absolute imports")]),
    ("en", "The team decided to use Kafka", [(PROJECT, "decided", "use Kafka")]),
    ("en", "In August I'll go to Norway", [(SPEAKER, "plans", "go to Norway")]),
    ("en", "Checkout belongs to the payments team", [("Checkout", "owned_by", "payments team")]),
    ("en", "Peter is on Windows", []),
    ("en", "The host of the podcast is Joe", []),
    ("en", "He is responsible for the docs", []),
    ("en", "My house is in a mess", []),
    ("en", "Tom's at home", []),
    ("en", "My team is great", []),
    ("en", "I can't work without coffee", []),
    ("en", "The build can't run without errors", []),
    ("en", "I can speak to Anna tomorrow", []),
    ("en", "You'll find the bug in parser.py", []),
    ("en", "We call the function parse twice", []),
    ("en", "It's the parser that breaks on Windows", []),
    ("en", "The location of the meeting is unclear", []),
    ("en", "Anna always brings cake", []),
    ("fr", "Jamais modifier les migrations, stp", [(PROJECT, "rule", "Jamais modifier les migrations")]),
    ("fr", "C'est moi qui gère le support", [("support", "owned_by", SPEAKER)]),
    ("fr", "Ma maison est en travaux", []),
    ("fr", "Camille vient toujours en retard", []),
    ("fr", "Le responsable du projet est absent", []),
    ("fr", "Le build ne tourne pas sans erreurs", []),
    ("it", "Giulia sta a casa", []),
    ("it", "Federica arriva sempre tardi", []),
    ("it", "È il parser che si blocca su Windows", []),
    ("it", "La colpa è di nessuno", []),
    ("de", "Meine Wohnung ist in Ordnung", []),
    ("de", "Anna kommt immer zu spät", []),
    ("de", "Auf dem Tisch liegt das Buch", []),
    ("de", "Wohnt Anna in Berlin", []),
    ("de", "Das läuft ohne Probleme", []),
    ("es", "Mi casa está en obras", []),
    ("es", "Tenemos la reunión en Madrid", []),
    ("es", "Carmen siempre llega tarde", []),
    ("es", "Es el parser el que falla en Windows", []),
]

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


@pytest.mark.parametrize(
    ("language", "text", "stated"),
    [
        (language, text, stated)
        for language, cases in SAID_OTHERWISE.items()
        for stated, texts in cases.items()
        for text in texts
    ],
)
def test_the_same_is_read_however_it_is_said(language: str, text: str, stated: tuple[str, str, str]) -> None:
    ((subject, attribute, value),) = triples(text, language=language)
    assert (same_name(subject), attribute, value) == (same_name(stated[0]), *stated[1:])


@pytest.mark.parametrize(("language", "text", "stated"), MISLEADING)
def test_what_looks_like_a_statement_is_not_misread(
    language: str, text: str, stated: list[tuple[str, str, str]]
) -> None:
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
def test_any_20_000_characters_are_read_in_linear_time(text: str) -> None:
    def read_in_every_language(text: str) -> None:
        for language in LANGUAGES:
            read(text, language=language)

    read_in_every_language("I live in Lyon.")
    assert growth(read_in_every_language, text[:5_000], text) < LINEAR


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_pattern_compiles_and_speaks_of_a_known_attribute(language: str) -> None:
    rules = grammar(language)
    assert all(pattern.compiled.pattern for pattern in rules.patterns)
    assert {pattern.attribute for pattern in rules.patterns} <= ATTRIBUTES.keys()
    assert frozenset().union(*rules.by_word.values()) == set(range(len(rules.patterns)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_other_order_of_words_puts_all_its_groups_in_the_plain_one(language: str) -> None:
    for turn in {turn for turns in grammar(language).turns.values() for turn in turns}:
        assert turn.expression.groupindex.keys() <= set(turn.to)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("text", ["in May 2026", "le 3 mars", "il 15 giugno", "am 3. August", "el lunes", "tomorrow"])
def test_a_sentence_is_tried_with_fewer_time_words_to_the_same_effect(language: str, text: str) -> None:
    reader, words = grammar(language).times, frozenset(lowered(text).replace(".", "").split())
    fewer, every = reader.of(words).any_template, reader.all.any_template
    assert [each.span() for each in fewer.finditer(text)] == [each.span() for each in every.finditer(text)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_and_words_every_attribute(language: str) -> None:
    rules = grammar(language)
    said = {pattern.attribute for pattern in rules.patterns}
    assert said == ATTRIBUTES.keys()
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
def test_any_text_gives_sound_statements(text: str, language: str | None, role: str) -> None:
    found = read(text, language=language, role=role)
    said = lowered(" ".join(text.split()))
    for each in found:
        assert each.attribute in ATTRIBUTES
        assert each.text
        assert each.subject in (SPEAKER, PROJECT) or _said(each.subject.removeprefix(f"{SPEAKER}'s "), said)
        assert each.value[:4].isdecimal() or each.value == SPEAKER or _said(each.value, said)
    assert len({(each.subject, each.attribute, each.value) for each in found}) == len(found)


def _said(name: str, text: str) -> bool:
    return all(word.strip("'\"`.,:;!") in text for word in lowered(name).split())


@given(texts)
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
def test_any_moment_will_do(at: datetime, text: str) -> None:
    read(text, at=at)


def test_a_value_has_neither_quotes_nor_an_article() -> None:
    assert cleaned_value('the "platform team".', grammar("en")) == "platform team"


OWN = {
    "en": ["My sister lives in Berlin.", "My wife works at Acme.", "My laptop runs on Linux."],
    "fr": ["Ma sœur habite à Berlin.", "Ma femme travaille chez Acme.", "Mon portable tourne sur Linux."],
    "it": ["Mia sorella vive a Berlino.", "Mia moglie lavora da Acme.", "Il mio portatile gira su Linux."],
    "de": ["Meine Schwester wohnt in Berlin.", "Meine Frau arbeitet bei Acme.", "Mein Laptop läuft auf Linux."],
    "es": ["Mi hermana vive en Berlín.", "Mi mujer trabaja en Acme.", "Mi portátil usa Linux."],
}


POSSESSIVES = {
    "en": "{me}'s {noun}",
    "fr": "{noun} de {me}",
    "it": "{noun} di {me}",
    "de": "{me}s {noun}",
    "es": "{noun} de {me}",
}


@pytest.mark.parametrize(("language", "text"), [(each, text) for each, texts in OWN.items() for text in texts])
def test_what_has_no_name_belongs_to_whoever_speaks(language: str, text: str) -> None:
    said = {speaker: read(text, language=language, speaker=speaker) for speaker in ("alice", "bob", None)}
    subjects = {speaker: [each.subject for each in found] for speaker, found in said.items()}
    (noun,) = {each.removeprefix("user's ") for each in subjects[None]}
    named = {name: [POSSESSIVES[language].format(me=name, noun=noun)] for name in ("alice", "bob")}
    assert subjects == {**named, None: [f"{SPEAKER}'s {noun}"]}
    assert all(SPEAKER not in name for each in said[None] for name in each.entities)


def test_what_is_ours_or_has_a_name_goes_by_that() -> None:
    assert triples("Our API runs on Linux. My project uses Kafka.") == [
        ("API", "runs_on", "Linux"),
        (PROJECT, "uses", "Kafka"),
    ]
    assert ("Anna", "lives_in", "Rome") in triples("My sister Anna lives in Rome")
    assert (f"{SPEAKER}'s sister", "works_at", "Fiat") in triples("My sister lives in Rome. She works at Fiat.")


@pytest.mark.parametrize(
    ("language", "text", "used"),
    [
        ("en", "We use Python 3.11 for the API.", [("API", "Python 3.11")]),
        ("en", "We use Python 3.12 for the workers.", [("workers", "Python 3.12")]),
        ("en", "We use Python 3.11 for the API and 3.12 for the workers.",
         [("API", "Python 3.11"), ("workers", "Python 3.12")]),
        ("en", "We use Python 3.11 and Node 18 for the API", [("API", "Python 3.11"), ("API", "Node 18")]),
        ("en", "We're on Node 18 in production and Node 20 in CI",
         [(PROJECT, "Node 18 in production"), (PROJECT, "Node 20 in CI")]),
        ("en", "I use Python 3.11 for the API", [(SPEAKER, "Python 3.11 for API")]),
        ("en", "We use Python 3.11 for now", [(PROJECT, "Python 3.11")]),
        ("en", "We use Redis and Node 18 in production", [(PROJECT, "Redis"), (PROJECT, "Node 18 in production")]),
        ("en", "We use Python 3.11 for the API and the team loves it", [("API", "Python 3.11")]),
        ("en", "We use pnpm for the dependencies", [(PROJECT, "pnpm")]),
        ("fr", "On utilise Python 3.11 pour l'API.", [("API", "Python 3.11")]),
        ("fr", "Nous utilisons Node 20 dans la CI", [(PROJECT, "Node 20 dans CI")]),
        ("it", "Usiamo Python 3.11 per l'API.", [("API", "Python 3.11")]),
        ("it", "Usiamo Node 18 in produzione", [(PROJECT, "Node 18 in produzione")]),
        ("de", "Wir verwenden Python 3.11 für die API.", [("API", "Python 3.11")]),
        ("de", "Wir nutzen Node 20 in der CI", [(PROJECT, "Node 20 in CI")]),
        ("es", "Usamos Python 3.11 para la API.", [("API", "Python 3.11")]),
        ("es", "Usamos Node 18 en producción", [(PROJECT, "Node 18 en producción")]),
    ],
)  # fmt: skip
def test_a_version_keeps_what_it_is_there_for(language: str, text: str, used: list[tuple[str, str]]) -> None:
    assert triples(text, language=language) == [(subject, "uses", value) for subject, value in used]


LONG_AGO = {
    "en": [
        ("I lived in Bonn for 3 years", "Bonn", None, None), ("I used to live in Bonn", "Bonn", None, None),
        ("From 2019 to 2021 I lived in Rome", "Rome", 2019, 2022), ("I worked at Acme until 2020", "Acme", None, 2021),
        ("Between 2019 and 2021 I worked at Acme", "Acme", 2019, 2022), ("I lived in Rome in 2019", "Rome", 2019, 2020),
    ],
    "fr": [
        ("J'ai habité à Bonn pendant 3 ans", "Bonn", None, None), ("Avant j'habitais à Bonn", "Bonn", None, None),
        ("De 2019 à 2021 j'ai vécu à Rome", "Rome", 2019, 2022),
        ("J'ai travaillé chez Acme jusqu'en 2020", "Acme", None, 2021),
    ],
    "it": [
        ("Ho vissuto a Bonn per 3 anni", "Bonn", None, None), ("Una volta vivevo a Bonn", "Bonn", None, None),
        ("Dal 2019 al 2021 ho vissuto a Roma", "Roma", 2019, 2022),
        ("Ho lavorato da Acme fino al 2020", "Acme", None, 2021),
    ],
    "de": [
        ("Ich habe 3 Jahre in Bonn gewohnt", "Bonn", None, None), ("Früher wohnte ich in Bonn", "Bonn", None, None),
        ("Von 2019 bis 2021 habe ich in Rom gewohnt", "Rom", 2019, 2022),
        ("Ich habe bis 2020 bei Acme gearbeitet", "Acme", None, 2021),
    ],
    "es": [
        ("Viví en Bonn durante 3 años", "Bonn", None, None), ("Antes vivía en Bonn", "Bonn", None, None),
        ("De 2019 a 2021 viví en Roma", "Roma", 2019, 2022), ("Trabajé en Acme hasta 2020", "Acme", None, 2021),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "text", "value", "since", "until"),
    [(language, *case) for language, cases in LONG_AGO.items() for case in cases],
)
def test_what_was_so_is_so_no_longer(
    language: str, text: str, value: str, since: int | None, until: int | None
) -> None:
    (found,) = read(text, language=language)
    years = [None if each is None else each.year for each in (found.valid_from, found.valid_until)]
    assert (found.value, found.ended, years) == (value, True, [since, until])


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "I've lived in Bonn for 3 years"), ("en", "I have worked at Acme for 3 years"),
        ("fr", "J'habite à Bonn depuis 3 ans"), ("it", "Vivo a Bonn da 3 anni"),
        ("de", "Ich wohne seit 3 Jahren in Bonn"), ("es", "Vivo en Bonn desde hace 3 años"),
    ],
)  # fmt: skip
def test_what_has_lasted_until_now_holds(language: str, text: str) -> None:
    (found,) = read(text, language=language)
    assert not found.ended
    assert found.valid_from == datetime(2023, 1, 1, tzinfo=UTC)
    assert found.valid_until is None


@pytest.mark.parametrize("text", ["I have lived in Rome", "I worked at Acme since May"])
def test_what_may_be_past_or_present_says_nothing(text: str) -> None:
    assert read(text) == ()


@pytest.mark.parametrize(
    ("language", "text", "year"),
    [
        ("en", "From September 1 the API listens on port 9090", 2026),
        ("en", "Starting September 1 the API listens on port 9090", 2026),
        ("en", "Since September 1 the API listens on port 9090", 2025),
        ("en", "We moved to Postgres 16 from September 1", 2025),
        ("fr", "À partir du 1er septembre l'API écoute sur le port 9090", 2026),
        ("fr", "Depuis le 1er septembre l'API écoute sur le port 9090", 2025),
        ("it", "A partire dal 1 settembre l'API ascolta sulla porta 9090", 2026),
        ("it", "Dal 1 settembre l'API ascolta sulla porta 9090", 2025),
        ("de", "Die API lauscht ab dem 1. September auf Port 9090", 2026),
        ("de", "Die API lauscht seit dem 1. September auf Port 9090", 2025),
        ("es", "A partir del 1 de septiembre la API escucha en el puerto 9090", 2026),
        ("es", "Desde el 1 de septiembre la API escucha en el puerto 9090", 2025),
    ],
)
def test_from_a_day_means_the_next_and_since_the_last(language: str, text: str, year: int) -> None:
    (found,) = read(text, language=language)
    assert found.valid_from == datetime(year, 9, 1, tzinfo=UTC)


def test_a_range_to_come_begins_before_it_ends() -> None:
    (found,) = read("From September 10 to September 20 I work at Acme")
    assert found.valid_from == datetime(2026, 9, 10, tzinfo=UTC)
    assert found.valid_until == datetime(2026, 9, 21, tzinfo=UTC)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Service A", "the service"), ("Plan A", "plan"), ("!!!", "???"), ("the", "a"), ("Vitamin D", "Vitamin")],
)
def test_other_names_stay_apart(one: str, other: str) -> None:
    assert same_name(one) != same_name(other)


@pytest.mark.parametrize(("one", "other"), [("the API team", "API-Team"), ("our the API", "api"), ("L'API", "api")])
def test_one_name_is_the_same_however_it_is_written(one: str, other: str) -> None:
    assert same_name(one) == same_name(other)


@given(st.text(max_size=400), st.text(max_size=300), st.text(max_size=300))
def test_any_subject_gives_a_key_of_its_own_for_each_attribute(subject: str, one: str, other: str) -> None:
    keys = [fact_key(subject, attribute) for attribute in (one, other)]
    KnowledgeFilter(fact_keys=tuple(keys))
    assert all(len(key.encode()) <= KEY_BYTES for key in keys)
    assert (keys[0] == keys[1]) == (one == other)


def test_a_long_subject_keeps_its_attribute() -> None:
    subject = "中" * 250
    assert fact_key(subject, "works_at") != fact_key(subject, "lives_in")
    assert fact_key(subject, "works_at") != fact_key(f"{subject}文", "works_at")
    assert fact_key("Anna", "works_at") == "anna|works_at"
