"""Truncation of messages that are too large for the window."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from treering.conversation.window_context import SentMessage
from treering.core.errors import ContextTooLarge
from treering.core.messages import Message, Part, ResultPart, Role, TextPart

_HEAD_SHARE = 0.7
"""Share of the head in a cut text; the rest is its tail. The head identifies the text better."""
_MAX_ROUNDS = 12
_MIN_TOKENS = 40
"""Messages are not cut below this size."""

CountMessage = Callable[[Message], int]


def cut_to_fit(
    shown: Sequence[SentMessage], count: CountMessage, room: int, *, protected: frozenset[str]
) -> tuple[list[SentMessage], tuple[str, ...]]:
    """Cut the longest texts until all fit in `room`. Returns the messages and the ids of those cut.

    System prompts and `protected` messages are not cut. Raises `ContextTooLarge` if that is not enough.
    """
    messages = list(shown)
    sizes = [count(each.message) for each in messages]
    cuttable = [
        place
        for place, each in enumerate(messages)
        if each.name and each.message.role is not Role.SYSTEM and each.name not in protected
    ]
    level, cut = max((sizes[place] for place in cuttable), default=0), dict[int, str]()
    for _ in range(_MAX_ROUNDS):
        if sum(sizes) <= room:
            break
        level = max(_MIN_TOKENS, _level(sizes, cuttable, room, level))
        for place in cuttable:
            whole = shown[place]
            if sizes[place] > level:
                messages[place] = replace(whole, message=shortened(whole.message, level / count(whole.message)))
                sizes[place] = count(messages[place].message)
                cut[place] = whole.name
        level = int(level * 0.9)
    if sum(sizes) > room:
        raise too_large(sum(sizes), room)
    return messages, tuple(dict.fromkeys(cut.values()))


def too_large(tokens: int, room: int, largest: SentMessage | None = None) -> ContextTooLarge:
    """The error for messages that cannot be removed or cut to fit."""
    named, advice = "", "unpin or shorten messages, lower keep_recent, raise max_tokens, or use oversize='truncate'"
    if room <= 0:
        advice = "send fewer tools, or raise max_tokens"
    elif largest is not None and largest.name:
        named = f"; the largest is {largest.message.role.value} message {largest.name!r}"
        if largest.message.role is Role.SYSTEM:
            advice = "shorten the system prompt, or use a model with a larger window"
    sizes = f"messages that cannot be removed take {tokens:,} tokens, but only {max(0, room):,} are available"
    return ContextTooLarge(f"{sizes}{named}; {advice}. All messages are stored.")


def _level(sizes: Sequence[int], cuttable: Sequence[int], room: int, level: int) -> int:
    """The size to which the largest messages have to shrink so that all fit."""
    excess, high = sum(sizes) - room, sorted((sizes[place] for place in cuttable), reverse=True)
    for number in range(1, len(high) + 1):
        smaller = high[number] if number < len(high) else 0
        lowered = (sum(high[:number]) - excess) // number
        if lowered >= smaller:
            return min(level, lowered)
    return min(level, _MIN_TOKENS)


def shortened(message: Message, share: float) -> Message:
    """The message with each of its texts cut to about this share."""
    return message.replace(parts=tuple(_cut(part, share) for part in message.parts))


def _cut(part: Part, share: float) -> Part:
    if isinstance(part, TextPart) and part.text:
        return part.replace(text=cut_text(part.text, share))
    if isinstance(part, ResultPart):
        return part.replace(parts=tuple(_cut(each, share) for each in part.parts))
    return part


def cut_text(text: str, share: float) -> str:
    """Head and tail of a text, with the number of characters cut between them."""
    keep = max(0, int(len(text) * share) - 40)
    if keep >= len(text):
        return text
    head = int(keep * _HEAD_SHARE)
    tail = keep - head
    return f"{text[:head]}\n… [{len(text) - keep:,} characters cut] …\n{text[len(text) - tail :] if tail else ''}"
