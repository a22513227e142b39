"""What the user has just corrected, for the direct look-up of the hook process.

The engine compares statements (`knowledge/conflicts.py`); importing that takes longer than the whole look-up. Here, a
record is doubted that shares a subject with a sentence which corrects something: more than the engine doubts, because
silence costs less than repeating what the user has just rejected.
"""

import os

import treering

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_CHARACTERS = 8_000  # of a prompt
_MAX_SENTENCES = 200
_LONG, _SHORT, _STEM = 4, 2, 5
"""Letters of a word that is a subject on its own, of one that needs another beside it, and those that are compared."""
_WITHOUT_SUBJECT = frozenset(
    (
        *(
            "the",
            "and",
            "for",
            "are",
            "was",
            "but",
            "you",
            "all",
            "any",
            "can",
            "has",
            "had",
            "its",
            "our",
            "out",
            "see",
        ),
        *("of", "in", "is", "it", "to", "on", "at", "by", "as", "an", "or", "if", "be", "do", "we", "us", "so", "my"),
        *(
            "der",
            "die",
            "das",
            "und",
            "ist",
            "es",
            "le",
            "la",
            "les",
            "un",
            "une",
            "et",
            "el",
            "los",
            "que",
            "il",
            "di",
            "de",
        ),
    )
)
_ENDINGS, _AFTER_ENDING = frozenset(".!?;。！？"), frozenset(("", " ", "\n", "\r", "\t"))


def corrections(prompts: "Iterable[str]") -> "list[frozenset[str]]":
    """The words of each sentence that negates or replaces something."""
    sentences = (each for prompt in prompts for each in _sentences(prompt[:_MAX_CHARACTERS]))
    marks = frozenset[str]()
    found: list[frozenset[str]] = []
    for sentence in sentences:
        marks = marks or _marks()
        words = _words(sentence)
        if not marks.isdisjoint(words):
            found.append(_subjects(word for word in words if word not in marks))
    return found[-_MAX_SENTENCES:]


def may_contradict(corrected: "list[frozenset[str]]", text: str) -> bool:
    """Whether a corrected sentence shares a long word, or two short ones, with the text."""
    if not corrected:
        return False
    own = _subjects(_words(text))
    return any(_is_subject(sentence & own) for sentence in corrected)


def _is_subject(shared: frozenset[str]) -> bool:
    return len(shared) > 1 or any(len(word) >= _LONG for word in shared)


def _sentences(text: str) -> list[str]:
    # A point inside a word, as in `prices.py`, does not end a sentence.
    return "".join(
        "\n" if each in _ENDINGS and text[place + 1 : place + 2] in _AFTER_ENDING else each
        for place, each in enumerate(text)
    ).split("\n")


def _words(sentence: str) -> list[str]:
    spaced = (each.strip("`'\"()[]{}<>,;:!?.").replace("’", "'") for each in sentence.lower().split())
    return [each for each in spaced if each]


def _subjects(words: "Iterable[str]") -> frozenset[str]:
    return frozenset(word[:_STEM] for word in words if len(word) >= _SHORT and word not in _WITHOUT_SUBJECT)


def _marks() -> frozenset[str]:
    """Words of change and negation, from the list that the library uses."""
    folder = os.path.dirname(os.path.abspath(treering.__file__))
    with open(os.path.join(folder, "core", "language", "change_words.txt"), encoding="utf-8") as file:
        lines = [line.split() for line in file]
    return frozenset(word for kind, *words in lines if kind in ("change", "negation") for word in words)
