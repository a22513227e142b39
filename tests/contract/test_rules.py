"""Preferences, requirements and pinned records are part of every context, within their share of the budget."""

from datetime import timedelta

import pytest

from tests.conftest import OpenMemory
from tests.samples import NOW
from tests.served import agent_of
from treering.core.queries import KnowledgeFilter
from treering.core.settings import ContextSettings, Settings
from treering.memory import Memory

TASK = "Why does the invoice export fail?"


def shown(memory: Memory, **options: object) -> list[str]:
    return [item.text for item in memory.context.build(TASK, **options).items]  # type: ignore[arg-type]


def test_rules_are_in_a_context_that_shares_no_word_with_them(memory: Memory) -> None:
    memory.remember("Answer in English", type="preference")
    memory.remember("Every endpoint is authenticated", type="requirement")
    memory.remember("The invoice export fails on empty carts", type="gotcha")
    packed = memory.context.build(TASK)
    rules, found = packed.text.split("## General")
    assert "## Rules" in rules
    assert "Answer in English" in rules
    assert "Every endpoint is authenticated" in rules
    assert "empty carts" in found
    assert shown(memory, rules=False) == ["The invoice export fails on empty carts"]


def test_a_rule_that_was_found_is_shown_once(memory: Memory) -> None:
    memory.remember("Log each invoice export that fails", type="preference")
    assert shown(memory) == ["Log each invoice export that fails"]


def test_stated_pinned_and_confirmed_rules_come_first(open_memory: OpenMemory) -> None:
    moments = (NOW + timedelta(days=day) for day in range(1_000))
    memory = open_memory(clock=lambda: next(moments), background=False)
    memory.remember("inferred", type="preference", source="observer_inferred")
    memory.confirm(memory.remember("confirmed", type="preference", source="observer_inferred").id)
    memory.remember("older", type="preference")
    memory.remember("newer", type="preference")
    memory.pin(memory.remember("pinned", type="gotcha").id)
    assert shown(memory) == ["pinned", "confirmed", "newer", "older", "inferred"]


def test_doubtful_and_superseded_rules_are_never_shown(memory: Memory) -> None:
    memory.remember("from outside", type="preference", tainted=True)
    memory.flag(memory.remember("doubted", type="preference").id)
    memory.forget(memory.remember("forgotten", type="preference").id)
    memory.correct(memory.remember("Answer in French", type="preference").id, text="Answer in Dutch")
    memory.remember("expired", type="preference", valid_until=NOW - timedelta(days=5_000))
    assert shown(memory) == ["Answer in Dutch"]


def test_rules_apply_to_the_files_and_phases_that_they_name(memory: Memory) -> None:
    memory.remember("Tabs here", type="preference", files=["src/shop/"])
    memory.remember("Tests first", type="preference", tags=["phase:coding"])
    assert shown(memory) == []
    assert shown(memory, files=["docs/a.md"]) == []
    assert shown(memory, files=["src/shop/cart.py"]) == ["Tabs here"]
    assert shown(memory, phase="implement") == ["Tests first"]
    assert shown(memory, phase="reflect") == []


def test_a_context_of_chosen_records_or_of_the_past_has_no_rules(memory: Memory) -> None:
    memory.remember("Answer in English", type="preference", session="now")
    assert shown(memory, knowledge=KnowledgeFilter(types=("gotcha",))) == []
    assert shown(memory, knowledge=None) == []
    assert shown(memory, precise=True) == []
    assert shown(memory, as_of=NOW) == []
    assert shown(memory, session="now") == []
    assert shown(memory, turns=None) == ["Answer in English"]


@pytest.mark.parametrize("budget", [0, 60, 200, 400, 2_000])
def test_rules_keep_to_their_share_and_what_did_not_fit_is_named(open_memory: OpenMemory, budget: int) -> None:
    memory = open_memory(settings=Settings(context=ContextSettings(rules_share=0.3)))
    ids = {memory.remember(f"Rule {n}: " + f"word{n} " * 20, type="preference").id for n in range(12)}
    memory.remember("The invoice export fails on empty carts", type="gotcha", id="found")
    for number in range(20):
        memory.remember(f"The invoice export {number} fails: " + f"case{number} " * 60, type="gotcha")
    packed = memory.context.build(TASK, budget=budget)
    assert packed.tokens <= budget
    rules = {item.id: item for item in packed.items if item.id in ids}
    assert sum(item.tokens for item in rules.values()) <= 0.3 * budget
    assert {id for id, why in packed.left_out if why == "rules share"} == ids - rules.keys()
    if budget >= 200:
        assert "found" in [item.id for item in packed.items]


@pytest.mark.parametrize("budget", [400, 1_000])
def test_rules_get_the_room_that_the_results_leave_over(memory: Memory, budget: int) -> None:
    for rule in ("Never use emojis", "Answer in English", "Write the tests first", "Keep functions short"):
        memory.remember(rule, type="preference")
    assert len(shown(memory, budget=budget)) == 4


def test_an_agent_that_begins_is_told_the_rules_and_how_many_are_left_out(memory: Memory) -> None:
    memory.remember("Every endpoint is authenticated", type="requirement")
    assert [each.content for each in memory.context.briefing().rules] == ["Every endpoint is authenticated"]
    for number in range(12):
        memory.remember(f"Rule with number word{number}", type="preference")
    assert (len(memory.context.briefing().rules), memory.context.briefing().rules_left_out) == (10, 3)
    with agent_of(memory) as agent:
        assert agent.call("get_session_context")["left_out"] >= 3
