"""Draws the sentences of `sentences.jsonl`, unlabelled: `python -m bench.observer_cues.draw`."""

import gzip
import json
import random
import re
from collections.abc import Iterator
from typing import Any

from bench.data import DATA

SEED = 21
AROUND = 200
MIN_WORDS, MAX_CHARS = 2, 400
# Generous on purpose: what a cue could look like, whatever the rules will be. `^` is the beginning of the sentence.
KEYWORDS = {
    ("assistant_text", "correction, narrow"): (
        r"^(?:wait|actually|hmm+|oops|ah|oh|sorry|correction)|i was|i(?:'d| had)? (?:forgot|missed|misread|"
        r"overlooked)|i should have|i made|"
        r"i (?:initially|mistakenly|incorrectly|previously|thought|assumed)|my (?:earlier|previous|mistake|bad|"
        r"error|fix|change|test|own)|"
        r"apologi\w+|you're (?:absolutely )?right|reconsider\w*|misunderst\w+|overcomplicat\w+|turns out|"
        r"that's not right|not quite right"
    ),
    ("assistant_text", "approach, narrow"): (
        r"(?:different|another|alternative|better|simpler|cleaner|new) (?:approach|way|strategy|solution|method|"
        r"route)|revert\w*|undo|"
        r"(?:won't|doesn't|didn't|not|isn't|wasn't) (?:going to )?work\w*|give up|abandon\w*|start over|scrap|"
        r"rethink|roll(?:ing)? back|"
        r"try (?:a|an|another|something|to use|using|with)|let me (?:simplify|try|use)|i'll (?:try|use|switch)|"
        r"switch(?:ing)? to"
    ),
    ("assistant_text", "environment, narrow"): (
        r"unavailable|not available|isn't available|not installed|isn't installed|can't (?:run|access|use|test|"
        r"push|connect|install|execute|open|"
        r"reach|see|find)|cannot (?:run|access|use|test|push|connect|install|execute|open|reach|see|find)|unable|"
        r"denied|offline|sandbox\w*|"
        r"don't have|do not have|no access|network|credential\w*|not found|permissions?|not authenticated|tty|"
        r"not set up|not configured"
    ),
    ("user_text", "correction, narrow"): (
        r"^(?:no|nope|wait|hmm+|erm|actually|stop|why|not|that's|this is|i mean|but|still|sorry)|wrong|incorrect|"
        r"not (?:true|correct|right|what|quite|expected|fully)|i meant|i mean|i said|revert|undo|you (?:forgot|"
        r"missed|removed|changed|did|should)|"
        r"instead|rather|shouldn't|don't think|not sure"
    ),
    ("user_text", "rule, narrow"): (
        r"always|never|from now on|make sure|ensure|don't|dont|do not|must|prefer\w*|in general|whenever|"
        r"every ?time|each time|"
        r"before (?:you )?commit\w*|convention\w*|remember|we use|only|please (?:use|keep|avoid)|avoid|rule\w*|"
        r"first write|tests first"
    ),
    ("assistant_text", "wide"): (
        r"wait|actually|wrong\w*|incorrect\w*|mistak\w*|instead|approach\w*|alternativ\w*|available|installed|"
        r"cannot|can't|access|missing|try"
    ),
    (
        "user_text",
        "wide",
    ): r"not?|wrong|actually|should|need to|have to|has to|keep|please|use|each|every|again|isn't|didn't",
}
QUOTAS = {
    **dict.fromkeys(list(KEYWORDS)[:5], 40),
    ("assistant_text", "wide"): 30,
    ("user_text", "wide"): 20,
    ("assistant_text", "random"): 25,
    ("user_text", "random"): 25,
}
# Strata of which every other sentence was drawn, too, because cues are rare.
WHOLE = tuple(KEYWORDS)[0:2] + tuple(KEYWORDS)[3:4]
# Messages that the agent's program wrote in the name of the user.
PROGRAM = (
    "This session is being continued",
    "Base directory",
    "Caveat",
    "[Image",
    "[Request",
    "<",
    "Operation stopped",
)
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?:](?=\s|\Z)|(?=\n|\Z))")


def drawn() -> list[dict[str, Any]]:
    """The 300 sentences, then the others of the strata in `WHOLE`; each belongs to the first stratum that draws it."""
    chance = random.Random(SEED)
    found = list(_sentences())
    first: list[dict[str, Any]] = []
    more: list[dict[str, Any]] = []
    seen: set[str] = set()
    for stratum, quota in QUOTAS.items():
        kind, group = stratum
        word = re.compile(rf"(?<!\w)(?:{KEYWORDS.get(stratum, '')})(?!\w)", re.IGNORECASE)
        fitting = [
            each for each in found if each["kind"] == kind and (group == "random" or word.search(each["sentence"]))
        ]
        chance.shuffle(fitting)
        fresh = {each["sentence"].lower(): each | {"stratum": group} for each in fitting}
        rows = [each for text, each in fresh.items() if text not in seen]
        seen |= {each["sentence"].lower() for each in rows[:quota]}
        first += [each | {"part": "first"} for each in rows[:quota]]
        more += [each | {"part": "more"} for each in rows[quota:] if stratum in WHOLE]
    rest = {each["sentence"].lower(): each for each in more}
    return first + [each for text, each in rest.items() if text not in seen]


def _sentences() -> Iterator[dict[str, Any]]:
    with gzip.open(DATA / "agent_sessions/events.jsonl.gz", "rt", encoding="utf-8") as file:
        for event in map(json.loads, file):
            if event["kind"] not in ("user_text", "assistant_text") or event["text"].lstrip().startswith(PROGRAM):
                continue
            text = _FENCED.sub("\n", event["text"])
            for match in _SENTENCE.finditer(text):
                sentence = match[0].strip()
                if len(sentence.split()) >= MIN_WORDS and len(sentence) <= MAX_CHARS:
                    yield {
                        "session": event["session"],
                        "seq": event["seq"],
                        "kind": event["kind"],
                        "sentence": sentence,
                        "before": text[max(0, match.start() - AROUND) : match.start()],
                        "after": text[match.end() : match.end() + AROUND],
                    }


if __name__ == "__main__":
    for each in drawn():
        print(json.dumps(each, ensure_ascii=False))
