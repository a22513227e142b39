"""What a turn states, its questions too: before they ask, and what answers a short one."""

from collections.abc import Iterable, Iterator

from treering.learn.facts.grammar import Grammar
from treering.learn.facts.letters import lowered
from treering.learn.facts.sentences import Sentence

# A topic that is asked for and then told: "Retry count? Three." A single word may ask for anything: "Ready?"
_TOPIC_WORDS = range(2, 5)
_TOLD_WORDS = 8


def stated(said: Iterable[Sentence], rules: Grammar) -> Iterator[str]:
    """The sentences that state something, each without the question at its end."""
    topic = ""
    for each in said:
        behind = _behind_request(each.text, rules)
        if behind is not None:
            yield behind
            topic = ""
            continue
        if not each.asks:
            yield f"{topic}: {each.text}" if topic and len(each.text.split()) <= _TOLD_WORDS else each.text
            topic = ""
            continue
        topic = _topic(each.text, rules)
        if before := _before_question(each.text, rules):
            yield before


def _behind_request(text: str, rules: Grammar) -> str | None:
    """What is told behind a request: "can you fix the proxy, the API is on 8123"; None where nothing is asked for."""
    low = lowered(text)
    if "requests" not in rules.words or not rules.expression("requests", r"\W*{}(?![\w-])").match(low):
        return None
    found = rules.expression("asked_for", r"(?:[,;:]|\s[-–—]+)\s+(?!{}(?![\w-]))").search(low)
    return text[found.end() :] if found else ""


def _before_question(text: str, rules: Grammar) -> str:
    """What is said before a question begins: "we're on Node 22, can you check that?"."""
    if "asking" not in rules.words:
        return ""
    found = rules.expression("asking", r"(?:[,;:.]|\s[-–—]+)\s+{}(?![\w-])").search(lowered(text))
    return text[: found.start()] if found else ""


def _topic(text: str, rules: Grammar) -> str:
    """A question that is nothing but a noun."""
    topic = text.rstrip(" ?!¿").lstrip("¿ ")
    words = lowered(topic).split()
    if len(words) not in _TOPIC_WORDS or "," in topic or "asking" not in rules.words:
        return ""
    if rules.expression("mine", r"{}\s").match(lowered(topic)):
        return ""
    return "" if rules.expression("asking", r"{}(?![\w-])").match(lowered(topic)) else topic
