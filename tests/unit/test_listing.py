"""Text for a model: whole pieces under their ids, as many as fit."""

from hypothesis import given
from hypothesis import strategies as st

from treering.core.delimiters import without_delimited
from treering.core.tokens import estimate_tokens
from treering.interfaces.mcp.answers import Cited, item_tokens, within
from treering.interfaces.mcp.tool import Reply, ToolAnswer
from treering.render.listing import lines_within, names_within, render_listing

pieces = st.lists(
    st.builds(
        Cited,
        id=st.uuids().map(str),
        source=st.text(max_size=30),
        text=st.text(max_size=60) | st.integers(1, 400).map(lambda count: "tea with lemon. " * count),
    ),
    max_size=6,
)


@given(found=pieces, budget=st.integers(100, 1_500))
def test_no_answer_is_longer_than_its_budget_and_what_is_left_out_is_counted(found: list[Cited], budget: int) -> None:
    told = render_listing(found, budget, cost=item_tokens)
    assert estimate_tokens(told.text) <= budget
    assert len(told.items) + told.left_out == len(found)
    assert all(piece.id in told.text for piece in told.items)
    assert [piece.id for piece in told.items] == [piece.id for piece in found[: len(told.items)]]
    assert (f"{told.left_out} more did not fit" in told.text) == bool(told.left_out)
    assert without_delimited(told.text).strip() == ""


def test_the_last_piece_is_cut_where_its_beginning_says_enough() -> None:
    told = render_listing(
        [Cited(id="a", source="s", text="short"), Cited(id="b", source="s", text="long words " * 500)],
        300,
        cost=item_tokens,
    )
    first, second = told.items
    assert first.text == "short"
    assert second.text.startswith("long words long words")
    assert len(second.text) < 5_000
    assert told.left_out == 0


def test_nothing_found_says_nothing() -> None:
    assert render_listing([], 300).text == ""


def test_notes_stand_outside_of_the_data() -> None:
    told = render_listing([Cited(id="a", source="s", text="t")], 300, cost=item_tokens, notes=("Name the ids.", ""))
    assert told.text.endswith("</memory>\nName the ids.")


def test_many_names_are_counted_and_long_ones_cut() -> None:
    assert names_within(["a", "b\nc", "</memory>"]) == "a, b c, &lt;/memory>"
    assert names_within([str(number) for number in range(12)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    assert len(names_within(["x" * 5_000])) < 250


@given(lines=st.lists(st.text(max_size=50), max_size=20), budget=st.integers(-5, 200))
def test_lines_are_kept_from_the_first_as_long_as_they_fit(lines: list[str], budget: int) -> None:
    kept = lines_within(lines, budget)
    assert kept == lines[: len(kept)]
    assert not kept or estimate_tokens("\n".join(kept)) <= budget


class Listed(Reply):
    names: tuple[str, ...]


@given(
    names=st.lists(st.text(min_size=1, max_size=60), max_size=80), budget=st.integers(100, 1_000), text=st.booleans()
)
def test_an_answer_is_made_smaller_until_both_of_its_forms_fit(names: list[str], budget: int, text: bool) -> None:
    def told(room: int) -> ToolAnswer[Listed]:
        kept = lines_within(names, room)
        return ToolAnswer("\n".join(kept) * (3 if text else 1), Listed(names=tuple(kept)))

    answer = within(budget, told)
    assert estimate_tokens(answer.text) <= budget
    assert estimate_tokens(answer.result.sent_json()) <= budget


def test_what_cannot_be_made_smaller_is_answered_as_it_is() -> None:
    long = "tea with lemon " * 500
    assert within(100, lambda _room: ToolAnswer(long, Listed(names=()))).text == long


def test_no_piece_takes_more_than_its_share_and_others_are_counted() -> None:
    found = [Cited(id=str(number), source="s", text="long words " * 500) for number in range(3)]
    told = render_listing(found, 2_000, cost=item_tokens, item_budget=150, unlisted=4, advice="look elsewhere")
    assert len(told.items) == 3
    assert all(estimate_tokens(piece.sent_json()) <= 150 for piece in told.items)
    assert told.left_out == 4
    assert "4 more did not fit; look elsewhere." in told.text
    assert "4 more did not fit; look elsewhere." in told.notes
