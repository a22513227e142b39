"""Histories of conversations, ordinary and odd, and what must hold of any request that is built from one."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise, takewhile
from random import Random

from hypothesis import strategies as st

from tests.provider_rules import check
from treering.conversation.window_context import ConversationContext
from treering.core.messages import CallPart, Message, MessageFormat, Part, ResultPart, Role, TextPart
from treering.render.token_counts import Meter, rules_of

_MARKER = re.compile(r"… \[([\d,]+) messages? removed\] …")

MARKER_SHARE = 0.05
_WORDS = {
    "English": "the parser reads src/shop/cart.py then calls total_of and writes the invoice to disk",
    "German": "der Bestand liegt in lager.py und wird jede Nacht von pruefe_bestand neu gezählt",
    "French": "le panier est vide quand la requête échoue dans commande.py avant la fin",
    "Chinese": "解析器 读取 配置 文件 然后 调用 函数 写入 结果",
    "Arabic": "يقرأ المحلل الملف ثم يستدعي الدالة ويكتب النتيجة",
    "emoji": "🚀 ship_it 🎉 then 🤖 checks build.yml",
}
_TURNS = (
    "Never deploy on Fridays, always ask me first.",
    "No, that is wrong: I meant the other file.",
    "Now let's work on the invoices instead.",
    "As I said earlier, keep the old name.",
    "Great, that works. The task is complete.",
)
_SMALL_TALK = (("Thanks!", "You're welcome!"), ("ok", "👍"), ("Hello", "Hi!"))
_FAILURES = ("Traceback (most recent call last):\n  ValueError: bad row", "error: permission denied")


class Quarter:
    """Four characters are a token: as good as any other for what is tested, and fast."""

    name = "quarter"
    exact = True

    def count(self, text: str) -> int:
        return len(text) // 4 + 1


QUARTER = Meter(Quarter(), rules_of("other"))


@dataclass
class Speaker:
    """Says exchanges of every kind, the same ones for the same plan."""

    prefix: str = "m"
    said: list[Message] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)
    _calls: int = 0

    def say(self, role: Role, text: str = "", *parts: CallPart | ResultPart) -> None:
        words = (TextPart.make(text=text),) if text or not parts else ()
        self.said.append(Message.make(id=f"{self.prefix}{len(self.said)}", role=role, parts=(*words, *parts)))

    def call(self, id: str | None = None) -> CallPart:
        self._calls += 1
        return CallPart.make(id=id or f"{self.prefix}c{self._calls}", name="read", arguments={"path": "shop/cart.py"})

    def system(self, dice: Random) -> None:
        self.say(Role.SYSTEM, f"You look after a shop. {_words(dice, 20)}")

    def exchange(self, dice: Random) -> None:
        self.say(Role.USER, _words(dice))
        self.say(Role.ASSISTANT, _words(dice))

    def long_answer(self, dice: Random) -> None:
        self.say(Role.USER, _words(dice, 8))
        for _ in range(dice.randint(2, 3)):
            self.say(Role.ASSISTANT, _words(dice))

    def told(self, dice: Random) -> None:
        self.say(Role.USER, f"{dice.choice(_TURNS)} {_words(dice, 6)}")
        self.say(Role.ASSISTANT, _words(dice, 10))

    def small_talk(self, dice: Random) -> None:
        asked, answered = dice.choice(_SMALL_TALK)
        self.say(Role.USER, asked)
        self.say(Role.ASSISTANT, answered)

    def question(self, dice: Random) -> None:
        self.say(Role.USER, _words(dice))

    def empty(self, dice: Random) -> None:
        self.say(Role.USER, "")
        self.say(Role.ASSISTANT, "")

    def huge(self, dice: Random) -> None:
        self.say(Role.USER, _words(dice, dice.randint(300, 900)))
        self.say(Role.ASSISTANT, _words(dice, 5))

    def tool(self, dice: Random) -> None:
        call = self.call()
        self.say(Role.USER, _words(dice, 10))
        self.say(Role.ASSISTANT, "", call)
        self.say(Role.TOOL, "", result_of(call.id, _words(dice, 60)))
        self.say(Role.ASSISTANT, _words(dice, 10))

    def error(self, dice: Random) -> None:
        call = self.call()
        self.say(Role.ASSISTANT, "I try it.", call)
        self.say(Role.TOOL, "", result_of(call.id, dice.choice(_FAILURES), is_error=True))

    def parallel(self, dice: Random) -> None:
        """Calls in one message; results in one, or one by one in any order."""
        calls = [self.call() for _ in range(dice.randint(2, 4))]
        self.say(Role.ASSISTANT, "All at once.", *calls)
        self._answer(dice, calls)

    def same_call_id_again(self, dice: Random) -> None:
        call = self.call(f"{self.prefix}again")
        self.say(Role.ASSISTANT, "", call)
        self.say(Role.TOOL, "", result_of(call.id, _words(dice, 10)))

    def interrupted(self, dice: Random) -> None:
        call = self.call()
        self.say(Role.ASSISTANT, "", call)
        self.say(Role.USER, _words(dice, 10))
        self.say(Role.TOOL, "", result_of(call.id, _words(dice, 10)))

    def calls_apart(self, dice: Random) -> None:
        """Calls in messages of their own, all made before the first is answered."""
        calls = [self.call() for _ in range(dice.randint(2, 3))]
        for call in calls:
            self.say(Role.ASSISTANT, "", call)
        self._answer(dice, calls)

    def same_call_twice(self, dice: Random) -> None:
        call = self.call()
        self.say(Role.ASSISTANT, "", call)
        self.say(Role.ASSISTANT, "once more", call)
        self.say(Role.TOOL, "", result_of(call.id, _words(dice, 10)))

    def unanswered(self, dice: Random) -> None:
        call = self.call()
        self.say(Role.ASSISTANT, "", call)

    def put_off(self, dice: Random) -> None:
        call = self.call()
        self.say(Role.ASSISTANT, _words(dice, 10), call)
        self._open.append(call.id)

    def late(self, dice: Random) -> None:
        """The result of calls that were put off, much later."""
        if self._open:
            self.say(Role.TOOL, "", *(result_of(id, _words(dice, 10)) for id in self._open))
            self._open.clear()

    def orphan(self, dice: Random) -> None:
        self.say(Role.TOOL, "", result_of(f"{self.prefix}nobody{len(self.said)}", _words(dice, 10)))

    def answered_twice(self, dice: Random) -> None:
        call = self.call()
        self.say(Role.ASSISTANT, "", call)
        for _ in range(2):
            self.say(Role.TOOL, "", result_of(call.id, _words(dice, 10)))

    def half_known(self, dice: Random) -> None:
        """One message answers a call that was made and one that never was."""
        call = self.call()
        self.say(Role.ASSISTANT, "", call)
        self.say(Role.TOOL, "", result_of(call.id, "yes"), result_of(f"{self.prefix}none{len(self.said)}", "no"))

    def _answer(self, dice: Random, calls: Sequence[CallPart]) -> None:
        results = [result_of(call.id, _words(dice, 20)) for call in calls]
        dice.shuffle(results)
        if dice.random() < 0.5:
            self.say(Role.TOOL, "", *results)
        else:
            for result in results:
                self.say(Role.TOOL, "", result)


Exchange = Callable[[Speaker, Random], None]
ORDINARY: tuple[Exchange, ...] = (
    Speaker.exchange,
    Speaker.exchange,
    Speaker.long_answer,
    Speaker.told,
    Speaker.small_talk,
    Speaker.question,
    Speaker.tool,
    Speaker.error,
    Speaker.parallel,
    Speaker.huge,
    Speaker.system,
)
"""What providers take as it is."""
ODD: tuple[Exchange, ...] = (
    Speaker.empty,
    Speaker.same_call_id_again,
    Speaker.interrupted,
    Speaker.calls_apart,
    Speaker.same_call_twice,
    Speaker.unanswered,
    Speaker.put_off,
    Speaker.late,
    Speaker.orphan,
    Speaker.answered_twice,
    Speaker.half_known,
)


def history_of(plan: Iterable[tuple[Exchange, int]], prefix: str = "m") -> list[Message]:
    """The messages of a plan: exchanges, each with the seed of what is said in it."""
    speaker = Speaker(prefix)
    for exchange, seed in plan:
        exchange(speaker, Random(seed))
    return speaker.said


def histories(
    exchanges: Sequence[Exchange] = ORDINARY + ODD, most: int = 25, prefix: str = "m"
) -> st.SearchStrategy[list[Message]]:
    """Short histories, which shrink exchange by exchange."""
    plan = st.tuples(st.sampled_from(exchanges), st.integers(0, 999))
    return st.lists(plan, max_size=most).map(lambda chosen: history_of(chosen, prefix))


def long_history(seed: int, messages: int, exchanges: Sequence[Exchange] = ORDINARY + ODD) -> list[Message]:
    """A system prompt and exactly so many messages in all."""
    dice, speaker = Random(seed), Speaker()
    speaker.system(dice)
    while len(speaker.said) < messages:
        exchange = dice.choice(exchanges)
        if exchange is not Speaker.system and (exchange is not Speaker.huge or dice.random() < 0.1):
            exchange(speaker, dice)
    return speaker.said[:messages]


def assert_sound(
    context: ConversationContext,
    said: Sequence[Message],
    meter: Meter,
    *,
    keep_recent: int,
    pinned: Collection[str] = (),
) -> None:
    """What holds of every request, whatever was said; `said` is all of it, with ids and in order."""
    assert context.tokens <= context.max_tokens <= context.limit
    counted = meter.priming + sum(meter.message(message) for message in context.messages)
    assert counted <= context.tokens, "takes more than it says"
    assert not unmatched(context.messages), "a call or a result stands alone"
    _assert_kept(context, said, keep_recent, pinned)
    _assert_in_order(context, said)
    _assert_markers_tell_the_truth(context, said, meter)


def accepted_by_every_provider(context: ConversationContext) -> None:
    for format in (MessageFormat.CHAT, MessageFormat.RESPONSES, MessageFormat.ANTHROPIC):
        check(context.to(format), format)


def taken(context: ConversationContext) -> int:
    """What a request takes, counted anew."""
    return QUARTER.priming + sum(map(QUARTER.message, context.messages))


def unmatched(messages: Iterable[Message]) -> set[str]:
    """Ids of calls that no result follows, and of results that no open call comes before."""
    waiting, alone = list[str](), set[str]()
    for message in messages:
        for result in message.results:
            if result.call_id in waiting:
                waiting.remove(result.call_id)
            else:
                alone.add(result.call_id)
        waiting += [call.id for call in message.calls]
    return alone | set(waiting)


def shown_ids(context: ConversationContext) -> list[str]:
    return [message.id for message in context.messages if message.id is not None]


def marker_counts(context: ConversationContext) -> list[int]:
    """What the markers in the request say, read from their words."""
    texts = (message.text for message in context.messages if message.id is None)
    return [int(found[1].replace(",", "")) for text in texts if (found := _MARKER.match(text))]


def _assert_kept(
    context: ConversationContext, said: Sequence[Message], keep_recent: int, pinned: Collection[str]
) -> None:
    present = defaultdict[str | None, list[Part]](list)
    for message in context.messages:
        present[message.id] += message.parts
    recent = said[-keep_recent:] if keep_recent else []
    for message in _prompts(said):
        assert present[message.id] == list(message.parts)
    for message in (*recent, *(each for each in said if each.id in pinned)):
        assert message.id in present or message.id in context.left_out, f"{message.id} has to stay"
    for message in said:
        unchanged = message.id not in context.truncated and message.id not in context.left_out
        assert message.id not in present or not unchanged or _alike(present[message.id], message.parts)


def _prompts(said: Sequence[Message]) -> list[Message]:
    """What the system said before anybody spoke, and what it said last."""
    leading = list(takewhile(lambda message: message.role is Role.SYSTEM, said))
    return [*leading, *[message for message in said if message.role is Role.SYSTEM][-1:]]


def _alike(sent: Sequence[Part], said: Sequence[Part]) -> bool:
    """One message that answers several others is sent in several; its parts are the same."""
    return len(sent) == len(said) and all(part in said for part in sent)


def _assert_in_order(context: ConversationContext, said: Sequence[Message]) -> None:
    """As it was said, but that a result stands behind its call."""
    places = {message.id: place for place, message in enumerate(said)}
    order = [places[message.id] for message in context.messages if message.id and not message.results]
    assert order == sorted(set(order))


def _assert_markers_tell_the_truth(context: ConversationContext, said: Sequence[Message], meter: Meter) -> None:
    gone = list(_gone_runs(said, set(shown_ids(context)), context.left_out))
    counts = marker_counts(context)
    assert sum(counts) == sum(gone)
    assert [marker.messages for marker in context.markers] == counts
    marked = [message.id is None and bool(_MARKER.match(message.text)) for message in context.messages]
    assert not any(one and other for one, other in pairwise(marked)), "markers side by side"
    if all(marker.places == 1 for marker in context.markers) and len(counts) == len(gone):
        assert counts == gone
    bare = sum(meter.message(replace(marker, summary="").message) for marker in context.markers)
    assert len(counts) <= 1 or bare <= MARKER_SHARE * context.max_tokens


def assert_rounds_are_whole(context: ConversationContext, said: Sequence[Message], stays: Collection[str]) -> None:
    """Question, calls, results and answer are sent together or not at all, unless one of them `stays`."""
    shown, starts = set(shown_ids(context)), [at for at, each in enumerate(said) if each.role is Role.USER]
    for first, end in pairwise([*starts, len(said)]):
        ids = {str(each.id) for each in said[first:end] if each.role is not Role.SYSTEM}
        assert ids & set(stays) or ids <= shown or not ids & shown, f"{ids & shown} without {ids - shown}"


def _gone_runs(said: Sequence[Message], shown: Collection[str | None], left_out: Collection[str]) -> Iterator[int]:
    """How many messages left in a row, between those that are sent."""
    told = (message.id in shown for message in said if message.id in shown or message.id not in left_out)
    return (len(list(run)) for sent, run in groupby(told) if not sent)


def result_of(call_id: str, text: str, *, is_error: bool = False) -> ResultPart:
    return ResultPart.make(call_id=call_id, parts=(TextPart.make(text=text),), is_error=is_error)


def _words(dice: Random, most: int = 40) -> str:
    words = dice.choice(tuple(_WORDS.values())).split()
    return " ".join(dice.choice(words) for _ in range(dice.randint(1, most)))
