"""What only greets is told from what says something."""

import pytest

from treering.core.language.greetings import is_greeting


@pytest.mark.parametrize(
    "text",
    ["hi", "Hi!", "Hello there", "hey 👋", "Good morning, everyone!", "thanks", "Thank you so much!", "bonjour à tous",
     "Guten Morgen!", "Vielen Dank", "¡Hola!", "buenos días", "ciao", "ok thanks", "Bom dia",
     "Hello! How can I help you today?", "Hi, how are you?", "Salut, ça va ?", "hey, how's it going?", "what's up?",
     "Hola, ¿qué tal?", "¿Cómo estás?", "Wie geht's?", "Hallo, wie geht es dir?", "Ciao, come stai?", "Buon pomeriggio",
     "Grüß Gott!", "de nada", "you're welcome", "mille grazie", "你好", "こんにちは", "Nice to meet you",
     "Bonjour, comment puis-je vous aider ?", "Hallo! Wie kann ich dir helfen?", "Ciao! Come posso aiutarti?"],
)  # fmt: skip
def test_a_greeting(text: str) -> None:
    assert is_greeting(text)


@pytest.mark.parametrize(
    "text",
    ["hi, the build is red", "Hello World is printed twice", "the day", "thanks to Redis it is fast", "",
     "Morning deploys only", "all good on staging", "Danke is the name of the server", "👍",
     "how are you deployed?", "come va il deploy?", "bitte neu starten", "wie geht der Build?", "what's up with Redis",
     "no problem with the cache"],
)  # fmt: skip
def test_no_greeting(text: str) -> None:
    assert not is_greeting(text)


@pytest.mark.parametrize("text", ["Hi Ana", "Hey Ana!", "Thanks, Ben", "Hallo Frau Meyer", "hi"])
def test_a_greeting_of_a_person(text: str) -> None:
    assert is_greeting(text, named=True)


@pytest.mark.parametrize("text", ["See Makefile", "Hi Ana, the build is red", "thanks to Redis", "Good Friday", "Ana"])
def test_no_greeting_of_a_person(text: str) -> None:
    assert not is_greeting(text, named=True)
