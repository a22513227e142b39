"""What holds for any two statements: only those about the same thing can exclude each other."""

import random
import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import OpenMemory
from tests.required_texts import endings_without, first_letters
from tests.samples import NOW, turn
from treering.core.language.folding import lower
from treering.core.payloads import Stated
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge
from treering.core.statements import ATTRIBUTES, Statement, fact_key, same_name
from treering.knowledge.facts import read_statements
from treering.knowledge.facts.similarity import FactRelation, relation_to
from treering.knowledge.facts.storage import FactStorage, TurnStatement
from treering.knowledge.facts.wordings import LANGUAGES, language
from treering.memory import Memory

SUBJECTS = ("user", "project", "Anna", "billing service", "API", "staging database")
VALUES = ("Lyon", "Paris", "Postgres 16", "Postgres 17", "Postgres", "8080", "never squash", "always squash", "tea")

# What expressions stumble over: paths, versions, signs.
PIECES = (
    *("a/b-c/d.md", "x-y-z", "/usr/lib/", "1.2.3.4", "v1.2-rc.1", "http://a.b/c?d=e", "`x_y`", "2026-05-08"),
    *("(", ")", "…", "--", "A", "aaaa", "Anna", "I", "my"),
)

statements = st.builds(
    lambda subject, attribute, value, over, ended: Statement(
        subject=subject,
        attribute=attribute,
        value=value,
        text=f"{subject} {attribute} {value}",
        over=tuple(each for each in over if each != value),
        ended=ended,
    ),
    st.sampled_from(SUBJECTS),
    st.sampled_from(sorted(ATTRIBUTES)),
    st.sampled_from(VALUES),
    st.lists(st.sampled_from(VALUES), max_size=2, unique=True),
    st.booleans(),
)


def recorded(said: Statement) -> Knowledge:
    moments = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), NOW)
    stated = {"subject": said.subject, "attribute": said.attribute, "value": said.value, "negated": said.ended}
    return Knowledge.make(id="k", type="fact", content=said.text, payload=stated, **moments)


def stands(new: Statement, known: Statement) -> FactRelation:
    return relation_to(new, recorded(known))


@given(statements, statements)
def test_only_the_same_subject_and_attribute_exclude_each_other(new: Statement, known: Statement) -> None:
    if stands(new, known) is not FactRelation.EXCLUDES:
        return
    assert same_name(new.subject) == same_name(known.subject)
    assert known.attribute == new.attribute


@given(statements)
def test_a_statement_says_the_same_as_itself(said: Statement) -> None:
    assert stands(said, said) is FactRelation.SAME


@given(statements, statements)
def test_values_of_what_can_have_many_exclude_each_other_only_where_one_says_so(
    new: Statement, known: Statement
) -> None:
    known = known.replace(subject=new.subject, attribute=new.attribute)
    plain = new.replace(over=(), attribute="likes"), known.replace(over=(), attribute="likes", ended=new.ended)
    if same_name(new.value) != same_name(known.value) and not new.ended:
        assert stands(*plain) is not FactRelation.EXCLUDES


@given(st.lists(statements.map(lambda said: said.replace(over=(), ended=False)), min_size=1, max_size=8))
def test_the_order_of_learning_does_not_change_what_stands(open_memory: OpenMemory, said: list[Statement]) -> None:
    """Each was said at its own time; delivered late or early, the same values stand in the end."""
    heard = [
        TurnStatement(each, turn(f"t{place}", text=each.text, at=NOW + timedelta(days=place)))
        for place, each in enumerate(said)
    ]
    exclusive = [each for each in heard if each.statement.exclusive]
    forth, back = (_standing(open_memory, project, order) for project, order in _orders(exclusive))
    assert forth == back


def _orders(heard: list[TurnStatement]) -> tuple[tuple[str, list[TurnStatement]], tuple[str, list[TurnStatement]]]:
    return ("forth", heard), ("back", heard[::-1])


def _standing(open_memory: OpenMemory, project: str, heard: list[TurnStatement]) -> set[tuple[str, str]]:
    memory = open_memory(project=f"{project}-{datetime.now(UTC).timestamp()}")
    for each in heard:
        _keep(memory, each)
    with memory.store.reading(memory.scope, NOW) as tx:
        found = [fact.payload for fact in tx.knowledge.stream(KnowledgeFilter(deprecated=False))]
    return {
        (fact_key(each.subject or "", each.attribute or ""), each.value or "")
        for each in found
        if isinstance(each, Stated)
    }


def _keep(memory: Memory, heard: TurnStatement) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        FactStorage(tx, memory._parts.new_id).store([heard])


@pytest.mark.timeout(60)
@pytest.mark.parametrize("code", LANGUAGES)
def test_piles_of_the_words_that_wordings_look_for_are_read(code: str) -> None:
    """An expression that tries every way to part them would not come back."""
    words = sorted({word for listed in language(code).words.values() for word in re.findall(r"\w+", listed)})
    pick = random.Random(code)
    for _ in range(300):
        few = [pick.choice(PIECES) for _ in range(pick.randint(1, 3))] + pick.sample(words, pick.randint(1, 4))
        pile = pick.choice((" ", " ", "-", "/", ", ")).join(pick.choices(few, k=120))
        assert len(read_statements(pile[:490], language=code)) < 60


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_match_of_an_expression_contains_its_literals(code: str) -> None:
    rules = language(code)
    expressions = [each.expression for each in rules.wordings]
    expressions += [each for listed in rules.instructions.values() for each in listed]
    guarded = [each for each in expressions if each.literals]
    assert len(guarded) > len(expressions) / 2
    for each in guarded:
        assert all(lower(text) == text for text in each.literals)
        assert not [text for text in each.literals if endings_without((text,), each.pattern.pattern)], each.written
        assert first_letters(each.pattern.pattern, len(each.beginning)) == each.beginning
