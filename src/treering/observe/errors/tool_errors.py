"""Results of an agent's own tools: what is not a failure, and what is one of little value."""

import re

# Beginnings of results of calls that were not made: refused, interrupted, or against the tool's protocol.
_NOT_MADE = re.compile(
    r"the user doesn't want to|\[?request interrupted|interrupted by user|user (?:rejected|declined|denied"
    r"|cancelled|aborted)"
    r"|(?:tool|command|execution|operation|call)\b.{0,40}\b(?:rejected|cancelled|canceled|aborted"
    r"|declined) by (?:the )?user"
    r"|permission to use .{0,200}(?:denied|has been)|claude requested permissions|this command requires approval"
    r"|this .{0,60}requires approval|(?:<tool_use_error>)?file has not been read yet"
    r"|file has (?:been )?(?:unexpectedly )?modified since"
    r"|(?:<tool_use_error>)?file has been modified|(?:<tool_use_error>)?no such tool|(?:<tool_use_error>)?cancelled: "
    r"|(?:<tool_use_error>)?sibling tool call|(?:<tool_use_error>)?inputvalidationerror"
    r"|file content .{0,40}exceeds maximum"
    r"|.{0,40}exceeds maximum allowed|rejected by user approval|exec(?:ution)? approval|operation cancelled"
    r"|\[tool (?:use|call) was"
    r"|tool use was rejected|plan rejected|user chose to|error: the user|you must (?:first )?(?:read|use)"
    r"|this tool call was"
)
_BEGIN = 400
_TAGS = re.compile(r"</?(?:tool_use_error|error|untrusted_context|system-reminder|stdout|stderr|output)>")
_REMINDER = re.compile(r"<system-reminder>[^<]{0,8000}</system-reminder>")


def was_not_made(text: str) -> bool:
    """Does the result say that the call was refused, interrupted or not accepted by the tool's protocol?"""
    return _NOT_MADE.match(text[:_BEGIN].lstrip().lower()) is not None


def without_tags(text: str) -> str:
    """The text without the tags in which agents wrap results."""
    return _TAGS.sub("", _REMINDER.sub("", text)) if "<" in text else text


def tool_message(text: str) -> str:
    """The first line of a tool's error message."""
    line = next((line.strip() for line in text.split("\n") if line.strip()), "")
    return line[7:].strip() if line.lower().startswith("error: ") else line
