"""Words of prompts: the text that counts, and its words in a form that can be stored."""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Sequence

from treering.core.past_sessions import SessionWords

MAX_CHARACTERS = 8_000  # of a prompt; pasted logs and plans name their subject at the beginning
MAX_SCANNED = 40_000  # characters of a prompt that are read at all
_MAX_PROMPTS = 50  # that are searched for the first one with text
_HEAD_SHARE = 0.75  # of a longer prompt; the remainder comes from its end, where the request may follow a pasted text

# Text that the agent's program adds to a prompt and that says nothing about the task.
_ADDED = re.compile(
    r"<(system-reminder|local-command-stdout|local-command-stderr|local-command-caveat|bash-stdout|bash-stderr|"
    r"environment_context|user_instructions)>.*?(?:</\1>|\Z)",
    re.DOTALL,
)
_TAG = re.compile(r"</?[a-z][a-z_-]{2,30}(?:\s[^<>]{0,200})?>")
_CAVEAT = re.compile(r"\ACaveat: The messages below[^\n]*")


def prompt_text(prompt: str) -> str:
    """The prompt without text that the agent's program added, shortened to `MAX_CHARACTERS`."""
    text = _TAG.sub(" ", _CAVEAT.sub(" ", _ADDED.sub(" ", prompt[:MAX_SCANNED])))
    return _shortened(text.strip())


def session_words(prompts: Sequence[str]) -> SessionWords:
    """Words of the first prompt with text, for storage beside the session; never raises.

    They are compared with the first prompt of another session. Later prompts follow up on an answer, and made the
    comparison worse (docs/decisions/0030).
    """
    # Imported here: the store imports this module, and few of its users need the words of a language.
    from treering.core.language.terms import analyse

    text = next((text for prompt in prompts[:_MAX_PROMPTS] if (text := prompt_text(prompt))), "")
    found = analyse(text.encode("utf-8", "replace").decode("utf-8"))
    codes = array("I", found.codes)
    if sys.byteorder == "big":
        codes.byteswap()
    return SessionWords(codes.tobytes(), found.counts, found.length)


def _shortened(text: str) -> str:
    if len(text) <= MAX_CHARACTERS:
        return text
    head = int(MAX_CHARACTERS * _HEAD_SHARE)
    return f"{text[:head]}\n{text[head - MAX_CHARACTERS :]}"
