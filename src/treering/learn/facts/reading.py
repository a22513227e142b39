"""Reads what a turn says to be so."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain, product

from treering.core.language.stems import known, language_of, stop_words
from treering.core.statements import ATTRIBUTES, PROJECT, SPEAKER, Statement, same_name
from treering.core.values import LABEL_BYTES
from treering.learn.facts.asides import asides
from treering.learn.facts.asking import stated
from treering.learn.facts.carrying import Before, opening_subject, with_names
from treering.learn.facts.clauses import Clause, Part, SentenceWords, words_in
from treering.learn.facts.grammar import LANGUAGES, Grammar, Opening, grammar
from treering.learn.facts.letters import lowered
from treering.learn.facts.matching import PEOPLE, Fact, Matcher, Reading
from treering.learn.facts.sentences import Sentence, denies, sentences
from treering.learn.facts.subjects import Kind, Talk
from treering.learn.facts.times import When
from treering.learn.facts.values import SENTENCES, is_proper
from treering.learn.facts.wording import worded

# What comes after is pasted.
LONGEST = 20_000
CONFIDENCE = {"user": 0.7, "assistant": 0.5}
TYPES = {
    "prefers": "preference",
    "likes": "preference",
    "dislikes": "preference",
    "rule": "preference",
    "decided": "decision",
}
# What an assistant says of itself and of its plans is not about the project.
_ASSISTANT_SAYS = frozenset(
    {
        "uses",
        "version",
        "written_in",
        "runs_on",
        "deployed_to",
        "located_at",
        "port",
        "owned_by",
        "depends_on",
        "deadline",
        "scheduled",
        "named",
        "default",
        "status",
        "has",
    }
)
_NAME_WORDS = 2
_DOUBT_WORDS = 4
_POLITE_WORDS = 3
# Of these, one more may follow without its verb: "I'm Ada, an engineer".
_LISTED = frozenset({"name", "uses", "speaks", "depends_on", "written_in"})
_PROPER = re.compile(r"[A-ZÀ-ÖØ-Þ][\w.+#-]*(?:\s+[A-ZÀ-ÖØ-Þ\d][\w.+#-]*){0,3}")
_STORABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\u2028\u2029]")


def read_statements(
    text: str, *, at: datetime, speaker: str | None = None, role: str = "user", language: str | None = None
) -> tuple[Statement, ...]:
    """What `text`, said `at` that moment, states as a fact, in the order it was said.

    Questions, requests, suppositions, code and other people's words state nothing. Where whoever speaks is not named,
    they are `SPEAKER`. Times are read in the zone of `at`. A tool or the system states nothing, an assistant only what
    it found in the project. Reads English, French, Italian, German and Spanish; without `language`, it is guessed.
    """
    if role not in CONFIDENCE:
        return ()
    text = _STORABLE.sub(" ", text[:LONGEST])
    local = at if at.tzinfo else at.replace(tzinfo=UTC)
    said = list(sentences(text))
    for code in _languages(said, language):
        turn = _Turn(grammar(code), local, speaker, role, text)
        if found := turn.statements(said):
            return found
    return ()


def _languages(said: list[Sentence], language: str | None) -> tuple[str, ...]:
    """The one it is in; where that can't be told, those that fit its words best."""
    text = " ".join(each.text for each in said)
    code = known(language) if language else language_of(text)
    if not code:
        words = set(words_in(lowered(text)))
        fitting = {each: len(words & stop_words(each)) for each in LANGUAGES}
        return tuple(each for each in LANGUAGES if fitting[each] == max(fitting.values()))
    return (code,) if code in LANGUAGES else ()


class _Turn:
    """One turn of a conversation, read from its first sentence to its last."""

    def __init__(self, rules: Grammar, at: datetime, speaker: str | None, role: str, text: str) -> None:
        self._rules = rules
        self._at = at
        self._speaker = speaker
        self._role = role
        capitals = text != text.lower()
        self._talk = Talk(speaker or SPEAKER, known=speaker is not None, capitals=capitals)
        self._matcher = Matcher(rules, self._talk, at, capitals, orderly=text.lstrip()[:1].isupper())

    def statements(self, said: list[Sentence]) -> tuple[Statement, ...]:
        """What the sentences state; nothing at all where one of them says that it was a joke."""
        read = [
            SentenceWords(with_names(each, self._rules), self._rules, self._at) for each in stated(said, self._rules)
        ]
        if any(map(self._is_in_jest, read)):
            return ()
        found: list[Statement] = []
        for words in read:
            for fact in self._facts(words):
                if not any(_is_same(each, fact) for each in found):
                    found.append(self._statement(fact, words.said))
        return tuple(found)

    def _is_in_jest(self, words: SentenceWords) -> bool:
        if not self._rules.may_hold("jest", words.words):
            return False
        return self._rules.expression("jest", r"(?<!\w){}(?!\w)").search(words.low) is not None

    def _facts(self, words: SentenceWords) -> Iterator[Fact]:
        if not any(map(self._rules.by_word.__contains__, words.words)):
            return
        if self._rules.expression("unreal", r"\W*{}(?!\w)").match(words.low):
            return
        words.read_times()
        for reading in chain(self._readings(words), asides(words.said, self._rules, self._matcher)):
            self._note(reading)
            for fact in reading.facts:
                if self._may_say(fact):
                    yield from (Fact(self._talk.myself, attribute, name) for attribute, name in fact.subject.also)
                    yield fact
        yield from self._kin_named(words)

    def _kin_named(self, words: SentenceWords) -> Iterator[Fact]:
        """Whom the speaker calls their own, wherever in the sentence: "a present for my niece Lola".

        Of whom there is one only, such an aside says too little to take the place of what is known.
        """
        if self._role == "assistant" or not self._rules.may_hold("mine", words.words) or denies(words.low):
            return
        for found in self._rules.expression("mine", r"(?<![\w-]){}\s").finditer(words.low):
            subject = self._talk.kin(words.said[found.start() :], self._rules)
            for attribute, name in subject.also if subject else ():
                if not ATTRIBUTES[attribute].exclusive:
                    yield Fact(self._talk.myself, attribute, name)

    def _may_say(self, fact: Fact) -> bool:
        if self._role != "assistant":
            return True
        return fact.attribute in _ASSISTANT_SAYS and fact.subject.kind in (Kind.THING, Kind.NAME)

    def _readings(self, words: SentenceWords) -> Iterator[Reading]:
        """Each clause that says something. One that does not by itself goes on with the one before it."""
        held: Part | None = None
        reading: Reading | None = None
        doubted = False
        before = Before()
        for part in words.parts():
            self._note(reading)
            clause, opening = words.clause(part), part.opening
            if reading is not None and self._is_polite(clause):
                continue
            doubted = doubted and not opening.hard
            resumes = held is not None and reading is None and not opening.hard and self._resumes(clause)
            alone = None if doubted or resumes else self._alone(clause, opening, before)
            before = self._carried(clause, alone, before, opening)
            if alone is not None or held is None or opening.hard:
                if reading is not None:
                    yield reading
                held, reading = part, alone or self._kin(clause, opening)
                # "According to Paul, …" doubts what follows.
                doubted = reading is None and self._matcher.doubts(clause)
                continue
            whole = part._replace(start=held.start, opening=held.opening)
            joined = words.clause(whole)
            together = self._matcher.read(joined) or self._unlabelled(joined)
            if together is None and resumes and not doubted:
                together = self._alone(clause, opening, before)
            if reading and together and not _goes_on(reading, together, opening):
                together = None
            if together is None and reading is not None:
                after = self._left_out(clause, reading) if opening.lists else None
                if after := after or self._kin(clause, opening):
                    yield reading
                    held, reading = part, after
                    continue
                # "…, I think" doubts what was before; a longer clause doubts itself.
                if not self._matcher.doubts(clause) or len(clause.low.split()) > _DOUBT_WORDS:
                    continue
            held, reading = whole, together or self._kin(clause, opening)
        if reading is not None:
            yield reading

    def _is_polite(self, clause: Clause) -> bool:
        """Whether it adds nothing to what was said: "…, please"."""
        short = len(clause.low.split()) <= _POLITE_WORDS and not clause.times and not clause.often
        return short and (not clause.low or self._rules.is_one("polite", clause.low))

    def _resumes(self, clause: Clause) -> bool:
        """Whether it speaks of the topic that was named before it: "the docs, that's Ada"."""
        return self._rules.expression("resuming", r"{}(?!\w)").match(clause.low) is not None

    def _stands_alone(self, clause: Clause) -> bool:
        """Whether its first word looks like a verb but is none: "pets, like a cat"."""
        return self._rules.expression("not_shared", r"{}(?!\w)").match(clause.low) is not None

    def _note(self, reading: Reading | None) -> None:
        for fact in reading.facts if reading else ():
            self._talk.noted(fact.subject)
            if fact.attribute in PEOPLE:
                self._talk.person = fact.value

    def _alone(self, clause: Clause, opening: Opening, before: Before) -> Reading | None:
        """What `clause` says by itself, with the subject of what was `before` it where it may leave that out."""
        if opening.relative:
            return self._behind(clause, before.antecedent(self._talk, self._rules))
        if opening.dependent:
            return None
        if found := self._matcher.read(clause) or self._unlabelled(clause):
            return found
        # A verb, which is all that may follow a subject, has no capital.
        if not opening.shares or not clause.said[:1].islower() or self._stands_alone(clause):
            return None
        return next(filter(None, (self._behind(clause, subject) for subject in before.subjects)), None)

    def _unlabelled(self, clause: Clause) -> Reading | None:
        """What stands behind a label that says nothing itself: "one thing: …"."""
        _, label, said = clause.said.partition(": ")
        return self._matcher.read(Clause(said, lowered(said), clause.times, clause.often)) if label else None

    def _carried(self, clause: Clause, reading: Reading | None, before: Before, opening: Opening) -> Before:
        """`clause` with the subjects that the next one may leave out."""
        if opening.relative:
            named = before.antecedent(self._talk, self._rules)
            return Before(clause.said, (named,) if named else ())
        plain = opening_subject(clause.said, self._rules)
        if plain and reading is None:
            self._talk.spoken_of(plain, self._rules)
        mine = reading is not None and reading.facts[0].subject.kind is Kind.ME
        speaker = self._rules.words.get("pronouns", "").partition("|")[0] if mine else ""
        subjects = tuple(dict.fromkeys(filter(None, (reading.subject if reading else "", plain, speaker))))
        return Before(clause.said, subjects or before.subjects)

    def _behind(self, clause: Clause, words: str) -> Reading | None:
        return self._matcher.read(clause.behind(words)) if words and clause.low else None

    def _left_out(self, clause: Clause, before: Reading) -> Reading | None:
        """What `clause` says with the verb of the reading before it: "the docs are in a/, the images in b/"."""
        if before.pattern is None or not clause.low:
            return None
        if before.lead and (found := self._matcher.read(clause.behind(before.lead), before.pattern)):
            return found
        words, verb = clause.said.split(), before.between.split()
        for place, length in product(range(1, min(len(words), 5)), range(1, min(len(verb), 3) + 1)):
            said = " ".join([*words[:place], *verb[:length], *words[place:]])
            whole = Clause(said, lowered(said), clause.times, clause.often)
            if found := self._matcher.read(whole, before.pattern):
                return found
        # "I'm Ada, an engineer at Acme".
        begin = words if before.pattern.attribute == "name" else words[:_NAME_WORDS]
        listed = before.pattern.attribute in _LISTED and (len(words) <= _NAME_WORDS or is_proper(" ".join(begin)))
        begins = lowered(words[0]).partition("'")[0] not in self._rules.listed["no_subject"]
        return self._behind(clause, before.verb) if listed and begins else None

    def _kin(self, clause: Clause, opening: Opening) -> Reading | None:
        """Naming somebody as one's own says so much already."""
        if opening.dependent:
            return None
        subject = self._talk.kin(clause.said, self._rules)
        if subject is None or not subject.also or self._matcher.doubts(clause):
            return None
        facts = tuple(Fact(self._talk.myself, attribute, name) for attribute, name in subject.also)
        return Reading(facts, subject.name)

    def _statement(self, fact: Fact, quote: str) -> Statement:
        since, until = _validity(fact)
        subject, value = fact.subject.name, fact.value
        return Statement(
            subject=subject,
            attribute=fact.attribute,
            value=value,
            text=worded(
                self._rules,
                subject,
                fact.attribute,
                value,
                over=fact.over,
                ended=fact.ended,
                since=since.day if since and not since.vague else None,
                until=until.day if until else None,
            ),
            type=fact.type or TYPES.get(fact.attribute, "fact"),
            over=fact.over,
            ended=fact.ended,
            valid_from=since.since if since and (fact.past or not fact.ended) else None,
            valid_until=_end(fact, since, until),
            speaker=_label(self._speaker),
            quote=quote,
            language=self._rules.language,
            confidence=CONFIDENCE[self._role],
            entities=_entities(fact),
        )


def _goes_on(before: Reading, after: Reading, opening: Opening) -> bool:
    """Whether two clauses together say what the first of them says, or more of it."""
    if opening.lists:
        return _lists_more(before, after)
    return not opening.dependent or before.facts[0].attribute == after.facts[0].attribute


def _lists_more(before: Reading, after: Reading) -> bool:
    """Whether what stands behind an "and" goes on with the value, and is no clause that can't be read."""
    first, now = before.facts[0], after.facts[0]
    if now.attribute in PEOPLE and is_proper(now.value) and not is_proper(first.value):
        # "A daughter, Vera".
        return True
    if now.attribute in SENTENCES or now.attribute != first.attribute:
        return True
    return len(after.facts) > len(before.facts) or len(now.over) > len(first.over)


def _is_same(said: Statement, fact: Fact) -> bool:
    return (
        said.attribute == fact.attribute
        and same_name(said.subject) == same_name(fact.subject.name)
        and same_name(said.value) == same_name(fact.value)
    )


def _validity(fact: Fact) -> tuple[When | None, When | None]:
    """From when and until when it holds, as far as it was said."""
    ends = [each for each in fact.times if each.bound in ("until", "before")]
    starts = [each for each in fact.times if each.bound not in ("until", "before")]
    since, until = next(iter(starts), None), next(iter(ends), None)
    # "In 2019 I lived in Rome" tells both.
    return since, since if fact.past and until is None and since and not since.vague else until


def _end(fact: Fact, since: When | None, until: When | None) -> datetime | None:
    if fact.ended and not fact.past:
        return since.since if since else None
    return until.until if until else None


def _label(speaker: str | None) -> str | None:
    return speaker if speaker and speaker.isprintable() and len(speaker.encode()) <= LABEL_BYTES else None


def _entities(fact: Fact) -> tuple[str, ...]:
    """The names in subject and values, as far as capitals show them."""
    name = fact.subject.name
    named = [] if name in (SPEAKER, PROJECT) or name.startswith(f"{SPEAKER}'s ") else [name]
    for value in (fact.value, *fact.over):
        named += _PROPER.findall(value)
    return tuple(dict.fromkeys(name for name in named if _label(name)))
