"""Token overhead by provider: published values where available, else conservative ones."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from treering.core.errors import InvalidInput
from treering.render.token_counts.images import ImageRule, Patches, Tiles


@dataclass(frozen=True)
class ToolRule:
    """Token overhead of tool definitions. With `as_json`, definitions are counted as JSON text."""

    as_json: bool = True
    once: int = 0
    each: int = 0
    properties: int = 0
    property: int = 0
    choices: int = 0
    choice: int = 0


@dataclass(frozen=True)
class CountingRules:
    """Counting rules of one provider. A request takes the sum of priming, messages and tools."""

    name: str
    message: int
    """Includes the role."""
    speaker: int
    call: int
    result: int
    priming: int
    tools: ToolRule
    images: ImageRule


# OpenAI's cookbook, "How to count tokens with tiktoken": for gpt-4o and later, and for gpt-4 and gpt-3.5.
_FUNCTIONS = ToolRule(as_json=False, once=12, each=7, properties=3, property=3, choices=-3, choice=3)
_OLD_FUNCTIONS = replace(_FUNCTIONS, each=10)

# Three tokens and the role. The overhead of calls is not published; a call is counted as two messages.
_OPENAI = CountingRules(
    "openai", message=4, speaker=1, call=6, result=3, priming=3, tools=_FUNCTIONS, images=Tiles(base=85, tile=170)
)

# Anthropic: 346 tokens of system prompt as soon as there are tools; a message of one word counts 8 to 12 tokens.
_ANTHROPIC = CountingRules(
    "anthropic",
    message=5,
    speaker=1,
    call=30,
    result=20,
    priming=7,
    tools=ToolRule(once=346, each=12),
    images=Patches(side=28, limit=1_600, edge=1_568, area=750),
)

_OTHER = CountingRules(
    "other",
    message=6,
    speaker=2,
    call=12,
    result=8,
    priming=8,
    tools=ToolRule(once=120, each=12),
    images=Patches(side=16, limit=16_384),
)

_TABLE: tuple[CountingRules, ...] = (
    _OPENAI,
    replace(_OPENAI, name="openai-old", tools=_OLD_FUNCTIONS),
    replace(_OPENAI, name="openai-4o-mini", images=Tiles(base=2_833, tile=5_667)),
    replace(_OPENAI, name="openai-o", images=Tiles(base=75, tile=150)),
    replace(_OPENAI, name="openai-5", images=Tiles(base=70, tile=140)),
    replace(_OPENAI, name="openai-mini", images=Patches(side=32, limit=1_536, factor=1.62)),
    replace(_OPENAI, name="openai-nano", images=Patches(side=32, limit=1_536, factor=2.46)),
    replace(_OPENAI, name="openai-o4-mini", images=Patches(side=32, limit=1_536, factor=1.72)),
    replace(_OPENAI, name="openai-5.4", images=Patches(side=32, limit=10_000, factor=1.2)),
    _ANTHROPIC,
    # Its tokenizer counts about a third more, also in the tool prompt, and images have a higher resolution.
    replace(
        _ANTHROPIC,
        name="anthropic-4.7",
        message=6,
        call=40,
        result=27,
        tools=ToolRule(once=468, each=16),
        images=Patches(side=28, limit=4_784, edge=2_576, area=750),
    ),
    # Gemini 3 takes 1,120 tokens per image; earlier versions 258 per tile of 768 pixels.
    replace(_OTHER, name="gemini", images=Patches(side=48, limit=16_384, min_tokens=1_120)),
    _OTHER,
)
RULES: Mapping[str, CountingRules] = {rules.name: rules for rules in _TABLE}


def rules_of(name: str) -> CountingRules:
    """The rules with this name. Raises `InvalidInput`."""
    if name not in RULES:
        raise InvalidInput(f"unknown counting rules {name!r}; use one of {', '.join(RULES)}")
    return RULES[name]
