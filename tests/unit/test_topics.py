"""Whether a message begins another subject."""

import pytest

from tests.growth import growth
from treering.conversation.topics import MessageSubject, Topic, subject_of

LETTERS = "aeiouprstv"
PARSER = [
    "The tokenizer in src/parser/lexer.py drops the trailing newline of heredoc strings, please look at read_heredoc.",
    "I see that read_heredoc in lexer.py strips the trailing newline before the tokenizer returns the heredoc string.",
    "Could the tokenizer keep the newline of the heredoc string and let the parser strip it, as lexer.py does?",
    "Yes: read_heredoc keeps the trailing newline now, and the parser in src/parser strips it from heredoc strings.",
    "Does the tokenizer in lexer.py still drop a newline when read_heredoc meets an empty heredoc string?",
    "An empty heredoc string gives one newline token; lexer.py and the parser agree, and read_heredoc has a test. "
    "The rules of the grammar that meet one: "
    + ", ".join(f"{first}{last}rule" for first in "bdfgklmn" for last in LETTERS),
]
OTHER = (
    "Our invoices show the wrong currency for customers in Norway since the billing service moved: compare the price "
    "table, the exchange rate job and the customer's country before the monthly statement goes out on Friday. "
    "Finance reported eleven complaints, mostly about krone amounts printed as euro."
)


def _parser_topic() -> Topic:
    topic = Topic()
    for place, text in enumerate(PARSER):
        topic = topic.followed_by(subject_of(text), by_user=place % 2 == 0)
    return topic


def test_another_subject_is_seen() -> None:
    assert _parser_topic().shifts(subject_of(OTHER))


def test_more_of_the_same_is_no_shift() -> None:
    more = subject_of(f"When {PARSER[5]} Does the colour of a line change then, and who would notice it?")
    assert len(more.terms) > 20
    assert not _parser_topic().shifts(more)


@pytest.mark.parametrize("text", ["yes", "try again", "fix it", "", "👍", "weiter", "and the Norwegian invoices?"])
def test_a_short_follow_up_never_shifts(text: str) -> None:
    assert not _parser_topic().shifts(subject_of(text))


@pytest.mark.parametrize("reply", ["Ok, ", "No: ", "Hmm. ", "Das: ", "Oui, ", "Vale, "])
def test_a_reply_never_shifts(reply: str) -> None:
    assert not _parser_topic().shifts(subject_of(reply + OTHER))


def test_nothing_shifts_before_there_is_a_subject() -> None:
    assert not Topic().shifts(subject_of(OTHER))
    assert not Topic().followed_by(subject_of(PARSER[0]), by_user=True).shifts(subject_of(OTHER))


def test_where_users_seldom_repeat_words_nothing_shifts() -> None:
    topic = Topic()
    for start in range(20):
        topic = topic.followed_by(MessageSubject(frozenset(range(start * 20, start * 20 + 20))), by_user=True)
    assert not topic.shifts(subject_of(OTHER))


def test_a_new_topic_forgets_the_old_words() -> None:
    turned = _parser_topic().turned_to(subject_of(OTHER))
    assert turned.likeness(subject_of(OTHER)) == pytest.approx(1.0)
    assert turned.likeness(subject_of(PARSER[0])) < 0.2


def test_old_words_fade() -> None:
    subject = subject_of(PARSER[0])
    topic = Topic().followed_by(subject, by_user=True)
    fresh = topic.likeness(subject)
    for number in range(30):
        topic = topic.followed_by(MessageSubject(frozenset({number})), by_user=False)
    assert topic.likeness(subject) < fresh / 4


def test_names_and_paths_count_and_numbers_do_not() -> None:
    assert subject_of("src/parser/lexer.py").terms & subject_of("look at lexer.py").terms
    assert subject_of("12345 67890").terms <= subject_of("12345 67890 lexer").terms
    assert not subject_of("is 12345").terms


def test_what_a_program_put_in_is_not_the_subject() -> None:
    inserted = "<system-reminder>Norwegian invoices</system-reminder>"
    assert subject_of(f"{inserted} {PARSER[0]}") == subject_of(PARSER[0])


def test_a_topic_is_a_value() -> None:
    topic = _parser_topic()
    before = dict(topic.terms)
    topic.followed_by(subject_of(OTHER), by_user=True)
    assert dict(topic.terms) == before


def test_a_topic_stays_bounded_and_finite() -> None:
    topic = Topic()
    for start in range(2_000):
        topic = topic.followed_by(MessageSubject(frozenset(range(start * 7, start * 7 + 50))), by_user=True)
    assert len(topic.terms) <= 1_400
    assert topic.unit < 1e10
    assert topic.likeness(MessageSubject(frozenset(range(1_999 * 7, 1_999 * 7 + 50)))) == pytest.approx(1.0)


def test_a_long_text_costs_no_more_than_its_beginning() -> None:
    assert subject_of(OTHER * 5_000).terms
    assert growth(subject_of, OTHER * 1_250, OTHER * 5_000, enough=2) < 2
