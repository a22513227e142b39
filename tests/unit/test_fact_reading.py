"""What the rules learn from a user's words, and what they leave to the turns."""

import pytest

from treering.core.statements import ATTRIBUTES
from treering.knowledge.facts import read_statements
from treering.knowledge.facts.wordings import LANGUAGES, language


def texts(said: str, speaker: str | None = None, previous: str = "") -> list[str]:
    return [each.text for each in read_statements(said, speaker=speaker, previous=previous)]


@pytest.mark.parametrize(
    ("said", "learned"),
    [
        ("Remember that the staging database is read-only.", "The staging database is read-only"),
        ("note: the release branch is frozen", "The release branch is frozen"),
        ("Can you always answer in German?", "Always answer in German"),
        ("ok, from now on use tabs because the linter wants them", "Use tabs because the linter wants them"),
        ("Never push to main, please.", "Never push to main"),
        ("and don't create indexes by hand again, that's for migrations", "Don't create indexes by hand again"),
        ("When you commit, always use the imperative.", "When you commit, always use the imperative"),
        ("Use British spelling from now on.", "Use British spelling from now on"),
        ("Bitte antworte immer auf Deutsch.", "Antworte immer auf Deutsch"),
        ("Ab jetzt nur noch Tabs verwenden!", "Nur noch Tabs verwenden"),
        ("Merk dir, dass der Server montags neu startet.", 'User: "Merk dir, dass der Server montags neu startet"'),
        ("N'utilise jamais d'emojis dans les commits.", "N'utilise jamais d'emojis dans les commits"),
        ("À partir de maintenant, réponds en français.", "Réponds en français"),
        ("From now on, we use pnpm.", "We use pnpm"),
        ("From now on every commit needs a test", "Every commit needs a test"),
        ("Ab sofort schreibst du Commits auf Englisch.", "Schreibst du Commits auf Englisch"),
        ("Usa sempre pnpm.", "Usa sempre pnpm"),
        ("D'ora in poi rispondi in italiano.", "Rispondi in italiano"),
        ("Nunca subas directamente a main.", "Nunca subas directamente a main"),
        ("No vuelvas a usar emojis en los commits.", "No vuelvas a usar emojis en los commits"),
    ],
)
def test_commands_to_remember_are_kept_in_their_own_words(said: str, learned: str) -> None:
    assert [text[: len(learned)] for text in texts(said)] == [learned]


@pytest.mark.parametrize(
    ("said", "attribute", "value"),
    [
        ("My name is Ana Lopez.", "name", "Ana Lopez"),
        ("I work at Siemens as an engineer.", "works_at", "Siemens"),
        ("I'm a nurse at the Charité.", "role", "nurse"),
        ("My birthday is on 3 May.", "born_on", "3 May"),
        ("My sister Anna lives in Rome.", "relative", "Anna"),
        ("My wife, Ana, is a nurse.", "relative", "Ana"),
        ("Meine Frau Ana arbeitet in Bonn.", "relative", "Ana"),
        ("We have two dogs, Biscuit and Major.", "pet", "Biscuit"),
        ("I'm vegan.", "diet", "vegan"),
        ("I'm allergic to peanuts.", "allergic_to", "peanuts"),
        ("I speak German and French.", "speaks", "German and French"),
        ("My time zone is Europe/Berlin.", "timezone", "Europe/Berlin"),
        ("My email is ana@example.com", "email", "ana@example.com"),
        ("We use Redis for caching.", "uses", "Redis for caching"),
        ("We decided to drop Python 3.9.", "decided", "drop Python 3.9"),
        ("The API listens on port 8080.", "port", "8080"),
        ("We're on Node 20, so use fetch.", "version", "20"),
        ("The deadline for the beta is March 3.", "deadline", "March 3"),
        ("Tom owns the billing service.", "owned_by", "Tom"),
        ("Ich wohne in Bonn.", "lives_in", "Bonn"),
        ("Wir nutzen Redis für das Caching.", "uses", "Redis für das Caching"),
        ("Die API läuft auf Port 8080.", "port", "8080"),
        ("Meine Tochter heißt Lena.", "relative", "Lena"),
        ("J'habite à Lyon depuis mars.", "lives_in", "Lyon"),
        ("Je suis végétarienne.", "diet", "végétarienne"),
        ("On utilise Redis pour le cache.", "uses", "Redis pour le cache"),
        ("Mi chiamo Giulia.", "name", "Giulia"),
        ("Vivo a Torino da un anno.", "lives_in", "Torino"),
        ("Usiamo Redis per la cache.", "uses", "Redis per la cache"),
        ("Me llamo Lucía.", "name", "Lucía"),
        ("Soy alérgica a los cacahuetes.", "allergic_to", "cacahuetes"),
        ("El proyecto usa Django 5.", "version", "5"),
    ],
)
def test_the_closed_list_is_read(said: str, attribute: str, value: str) -> None:
    (found,) = read_statements(said)
    assert (found.attribute, found.value) == (attribute, value)


@pytest.mark.parametrize(
    ("said", "speaker", "text"),
    [
        ("I live in Bonn.", "Ana", "Ana lives in Bonn"),
        ("I live in Bonn.", None, "The user lives in Bonn"),
        ("My name is Ana.", None, "The user's name is Ana"),
        ("I live in Bonn with my wife.", "Ana", 'Ana: "I live in Bonn with my wife"'),
        ("I live in Bonn.", "user-42", 'user-42: "I live in Bonn"'),
        ("I speak a little Spanish.", "Ana", "Ana speaks a little Spanish"),
        ("I have two sisters.", "Ana", "Ana has two sisters"),
        ("I moved from Rome to Bonn last May for work.", "Ana", "Ana moved from Rome to Bonn last May for work"),
        ("We use Redis for caching because it is fast.", None, "We use Redis for caching because it is fast"),
        ("We use Redis for caching.", "Ana", 'Ana: "We use Redis for caching"'),
        ("Sono celiaca.", None, 'User: "Sono celiaca"'),
        ("Ich wohne in Bonn mit meiner Frau.", "Ana", 'Ana: "Ich wohne in Bonn mit meiner Frau"'),
        ("My son is allergic to nuts.", "Ana", 'Ana: "My son is allergic to nuts"'),
    ],
)
def test_the_text_is_the_speakers_own_clause(said: str, speaker: str | None, text: str) -> None:
    assert texts(said, speaker) == [text]


@pytest.mark.parametrize(
    ("said", "subject", "over", "changes", "ended"),
    [
        ("I moved to Lisbon.", "user", (), True, False),
        ("I no longer work at Acme.", "user", (), False, True),
        ("We switched from npm to pnpm.", "project", ("npm",), True, False),
        ("Valkey replaced Redis.", "project", ("Redis",), True, False),
        ("My sister's birthday is 4 June.", "user: sister", (), False, False),
        ("My son Leo is allergic to nuts.", "Leo", (), False, False),
        ("Wir haben Redis durch Valkey ersetzt.", "project", ("Redis",), True, False),
        ("Ya no trabajo en Acme.", "user", (), False, True),
    ],
)
def test_subject_and_change_are_told(
    said: str, subject: str, over: tuple[str, ...], changes: bool, ended: bool
) -> None:
    (found,) = read_statements(said)
    assert (found.subject, found.over, found.changes, found.ended) == (subject, over, changes, ended)


def test_a_version_is_one_of_the_tool_that_is_named() -> None:
    (found,) = read_statements("We downgraded from Postgres 17 to 16.")
    assert (found.subject, found.value) == ("Postgres", "16")


def test_the_day_of_a_change_stays_in_its_text() -> None:
    (found,) = read_statements("As of today I work for Nokia.")
    assert (found.text, found.changes) == ('User: "As of today I work for Nokia"', True)


def test_a_common_noun_names_nothing_that_another_value_could_close() -> None:
    (server,) = read_statements("The server runs on port 8080.")
    (api,) = read_statements("The billing API runs on port 8080.")
    assert (server.exclusive, api.exclusive) == (False, True)


@pytest.mark.parametrize(
    ("said", "previous", "text"),
    [
        (
            "No, it's 5433, not 5432.",
            "Done. The database listens on port 5432.",
            'It\'s 5433, not 5432 (instead of: "The database listens on port 5432")',
        ),
        (
            "No, es el 5433, no el 5432.",
            "La base de datos escucha en el puerto 5432.",
            'Es el 5433, no el 5432 (instead of: "La base de datos escucha en el puerto 5432")',
        ),
        ("No, I live in Bonn, not Cologne.", "You live in Cologne.", "The user lives in Bonn"),
    ],
)
def test_a_correction_is_kept_with_what_it_corrects(said: str, previous: str, text: str) -> None:
    assert texts(said, previous=previous) == [text]


def test_a_correction_of_nothing_that_was_said_is_none() -> None:
    assert texts("No, it's 5433, not 5432.", previous="Which port?") == []
    assert texts("No, it's 5433, not 5432.") == []


@pytest.mark.parametrize(
    "said",
    [
        # One-off and idiom.
        *("Never mind.", "It always happens to me.", "I always forget my keys.", "Remember when we went to Rome?"),
        *("Don't do that again.", "Note the irony.", "never again!", "Always a pleasure.", "Remember me?"),
        *("From now on I'm going to the gym.", "Never say never.", "Always the same story.", "Remember the Alamo"),
        # Conditional, plan, question, doubt.
        *("If we used Redis for caching, it would be faster.", "Should we use Redis for caching?"),
        *("I might move to Rome.", "I want to live in Rome.", "I'm moving to Rome next year, maybe."),
        *("I think we use Redis for caching.", "We use Redis for caching, I think.", "Do I live in Bonn?"),
        *("I will use pytest for the tests.", "We could switch from npm to pnpm.", "Suppose my name is Ana."),
        # Other people's words.
        *(
            'He said "I live in Bonn and I like it there".',
            "Tom says we use Redis for caching.",
            "Anna: I live in Bonn",
        ),
        *("He told me he lives in Bonn.", "According to Tom the API listens on port 8080.", "> I live in Bonn."),
        # Jest.
        *("My name is mud.", "I'm allergic to mornings.", "let's never do karaoke again haha", "I live in fear."),
        *("I live in Paris lol", "Sure, my name is Napoleon, yeah right."),
        # Pasted.
        *(
            "# We use Redis for caching",
            "- We use Redis for caching",
            "```\nport = 8080\nWe use Redis for caching.\n```",
        ),
        *("README:\nWe use Redis for caching.", "| We use Redis for caching |", "2026-01-01 12:00 I live in Bonn."),
        *("Translate this: I live in Bonn.", "INFO We use Redis for caching."),
        # Words that look the part.
        *(
            "My mouse Logitech is broken.",
            "Dad had his knee replaced.",
            "Tom replaced Anna as our coach.",
            "We use to go there.",
            "We use paper plates.",
        ),
        *("I left my keys at Tom's.", "The port of Hamburg is large.", "The ship is on port 3.", "I speak the truth."),
        *("I'm Italian.", "File is at src/a.py", "Deadline: none", "I live in the city.", "I work at night."),
        # Text that the user asks for or quotes.
        *("Write a story that begins: My name is Zorg. I live in Mordor.", "Act as Sam: be brief. I'm a plumber."),
        *("Write a poem. I live in Narnia. My name is Aslan.", "The user story: As a customer, I live in Spain."),
        *("The sample dialogue: Hello, my name is Peter. I am a teacher.", "Here is the test case. I live in Bonn."),
        *("Schreib eine Geschichte. Ich wohne in Bonn.", "Écris un poème. J'habite à Lyon."),
        *("Scrivi una storia. Vivo a Torino.", "Escribe un cuento. Vivo en Madrid.", "Spiel einen Arzt. Ich bin Arzt."),
        *('"Never use eval" is what the linter says.', "Here is the test case. The API listens on port 1234."),
        *("Tell her: I moved, my number is 020 7946 0911.", "Let's play: you are the judge. My name is Victor."),
        *(
            "note: this is the sign at the pool.\nNote: no running.",
            "Always take the left lane, said the guide, and so on.",
        ),
        *(
            "Recuerda que eres polvo, dijo el cura, y se fue.",
            "Mein Name ist Hase, ich weiß von nichts. Woher kommt das?",
        ),
        # Said at home.
        *(
            "We decided on the blue sofa.",
            "Wir haben uns für die Donau-Route entschieden.",
            "On utilise Netflix pour le bébé.",
        ),
        *("Tom is responsible for the drinks.", "Der Kuchen muss bis Samstag fertig sein.", "Kantine hat Spargel."),
        # Of some days, of others, of later.
        *("I'm vegan on Mondays.", "I don't eat meat on Fridays.", "I no longer work at Bosch from the first of June."),
        *("Vite replaced Webpack in most of the tutorials.", "Let's assume the gateway runs on port 4433."),
        # Places, names and relatives that are none.
        *("I moved to Monday.", "I moved to Marketing.", "We moved to Plan B.", "Ich bin nach Hause gezogen."),
        *("I live in VS Code.", "I live in Rome in the game.", "I work for Bosch in my dreams."),
        *("I'm Home.", "I'm In Love.", "I'm Tired.", "Je suis Fatigué.", "Sono Stanco.", "Soy Feliz."),
        *("My wife Amazon account is locked.", "My son Minecraft server is down.", "My wife Monday is off."),
        *("My dog Food is expired.", "Mein Sohn Lego Haus ist fertig.", "Mon fils Minecraft compte est bloqué."),
        # Talk that is no rule and no decision.
        *("From now on the kids walk to school.", "From now on we're friends.", "Ab jetzt sind wir Freunde."),
        *("Don't let the dog out again, I told my son.", "Always check your sources, kids."),
        *(
            "Don't ever leave me again.",
            "D'ora in poi i bambini vanno a scuola a piedi.",
            "Désormais nous sommes amis.",
        ),
        *("We decided to break up.", "Wir haben beschlossen, uns zu trennen.", "On a décidé de se séparer."),
        *("Hemos decidido separarnos.", "Abbiamo deciso di separarci.", "Note: see attached."),
        *("Anna owns up to her mistakes.", "Nobody owns the billing module.", "Maria owns two cats."),
        *("We use Redis for caching, right?", "Wir nutzen Redis für das Caching, oder?", "On utilise Redis, non ?"),
        # The same in other languages.
        *("Wenn wir Redis für das Caching nutzen, geht es schneller.", "Ich glaube, wir nutzen Redis für das Caching."),
        *("Ich vergesse immer meine Schlüssel.", "Nie im Leben!", "Weißt du noch, wie wir in Rom waren?"),
        *("Si on utilise Redis pour le cache, c'est mieux.", "J'oublie toujours mes clés.", "Jamais de la vie !"),
        *("Se usiamo Redis per la cache, va meglio.", "Dimentico sempre le chiavi.", "Non sono vegano."),
        *("Si usamos Redis para la caché, va mejor.", "Siempre olvido las llaves.", "No soy alérgica a los lunes."),
    ],
)
def test_what_is_not_stated_outright_is_left_to_the_turns(said: str) -> None:
    assert texts(said) == []


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Vivo en Lugo, ¿hay tren los domingos?", 'Ana: "Vivo en Lugo"'),
        ("Ich wohne in Gera, lohnt sich da eine Wärmepumpe?", 'Ana: "Ich wohne in Gera"'),
        ("El servicio de pagos escucha en el puerto 4545.", "El servicio de pagos escucha en el puerto 4545"),
    ],
)
def test_what_is_said_before_a_question_and_with_an_article_is_read(said: str, text: str) -> None:
    assert texts(said, speaker="Ana") == [text]


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_only_users_state_facts(role: str) -> None:
    assert read_statements("From now on, always use pnpm. We use Redis for caching.", role=role) == ()


def test_in_long_turns_only_commands_count() -> None:
    pasted = "It was a dark and stormy night in the valley. " * 40
    assert texts(f"{pasted}I live in Bonn. Note: the bridge is closed.") == []
    assert texts(f"{pasted}From now on, answer in German.") == ["Answer in German"]


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_language_has_the_whole_closed_list(code: str) -> None:
    rules, english = language(code), language("en")
    stated = {wording.attribute for wording in rules.wordings}
    assert stated == {wording.attribute for wording in english.wordings}
    assert stated <= ATTRIBUTES.keys()
    assert rules.words.keys() >= english.words.keys()
    assert rules.instructions.keys() == english.instructions.keys()


def test_every_word_list_is_used() -> None:
    for code in LANGUAGES:
        for name in language(code).words:
            language(code).holds(name, "word")
