"""Draw the sentences of `sentences.jsonl`, unlabelled, from the recorded sessions: `python -m bench.observer_cues.draw`."""

import gzip
import json
import random
import re
from collections.abc import Iterator
from typing import Any

from bench.data import DATA

SEED = 21
AROUND = 400
MIN_WORDS, MAX_CHARS = 2, 400
# Generous on purpose: what a cue could look like, whatever the rules will be.
KEYWORDS = {
    ("assistant_text", "correction"): (
        r"wait|actually|oops|hmm+|mistake\w*|mistaken\w*|wrong\w*|incorrect\w*|misread\w*|misunderst\w+|reconsider\w*|"
        r"correction|i (?:was|forgot|missed|thought|assumed|should have|overlooked)|my (?:earlier|previous|bad|error|fix|change)|"
        r"apolog\w+|sorry|turns out|overcomplicat\w+"
    ),
    ("assistant_text", "approach"): (
        r"instead|approach\w*|revert\w*|alternative\w*|different(?:ly)? way|another way|won't work|(?:doesn't|didn't|not) work\w*|give up|"
        r"abandon\w*|simpler|undo|roll(?:ing)? back|start over|scrap|rethink|try"
    ),
    ("assistant_text", "environment"): (
        r"unavailable|available|installed|cannot|can't|unable|access|permission\w*|denied|network|offline|sandbox\w*|"
        r"credential\w*|not found|missing|docker|authenticat\w+|tty|interactive\w*"
    ),
    ("user_text", "correction"): (
        r"no|nope|not|wrong|instead|actually|don't|dont|didn't|meant|mean|shouldn't|should|why did|revert|undo|wait|stop|incorrect|"
        r"isn't|rather|but|still|hmm+|again"
    ),
    ("user_text", "rule"): (
        r"always|never|must|make sure|ensure|don't|dont|do not|only|every|each|from now on|prefer\w*|avoid|use|we use|please|"
        r"need to|has to|have to|remember|convention\w*|rule\w*|keep|before you|in general|should"
    ),
}
QUOTAS = {
    ("assistant_text", "correction"): 52,
    ("assistant_text", "approach"): 52,
    ("assistant_text", "environment"): 46,
    ("assistant_text", "random"): 25,
    ("user_text", "correction"): 55,
    ("user_text", "rule"): 45,
    ("user_text", "random"): 25,
}
# Messages that the agent's program wrote in the name of the user.
PROGRAM = ("This session is being continued", "Base directory", "Caveat", "[Image", "[Request", "<", "Operation stopped")
_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_SENTENCE = re.compile(r"[^\n]+?(?:[.!?:](?=\s|\Z)|(?=\n|\Z))")


def drawn() -> list[dict[str, Any]]:
    """The sentences by stratum; a sentence belongs to the first stratum that draws it."""
    chance = random.Random(SEED)
    found = list(_sentences())
    chosen: list[dict[str, Any]] = []
    seen: set[str] = set()
    for stratum, quota in QUOTAS.items():
        kind, group = stratum
        word = re.compile(rf"(?<!\w)(?:{KEYWORDS.get(stratum, r'')})(?!\w)", re.IGNORECASE)
        fitting = [each for each in found if each["kind"] == kind and (group == "random" or word.search(each["sentence"]))]
        chance.shuffle(fitting)
        fresh = [each for each in fitting if not (each["sentence"].lower() in seen)]
        taken: list[dict[str, Any]] = []
        for each in fresh:
            if len(taken) < quota and each["sentence"].lower() not in seen:
                seen.add(each["sentence"].lower())
                taken.append(each | {"stratum": group, "of": len(fitting)})
        chosen += taken
    return chosen


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
