"""Weights of the signals: a logistic model, fitted on sessions of thirteen repositories.

`docs/decisions/0030-prefetch.md` has the figures.
"""

from collections.abc import Mapping
from types import MappingProxyType

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "recent": 0.8,  # edits of the last sessions, halved with every session
        "lately": 0.4,  # the same, halved every four sessions
        "usual": 0.3,  # logarithm of the number of sessions that edited it
        "read": 0.9,  # read and not edited by the last sessions
        "similar": 1.5,  # edited by sessions with similar prompts
        "similar_read": 0.7,  # read by them
        "name": 1.2,  # words of the prompt in its name
        "path": 3.3,  # named in the prompt, with a folder
        "base": 1.0,  # named in the prompt, without a folder
        "identifier": 1.2,  # its name without the ending is an identifier in the prompt
        "pair": 0.4,  # test or tested file of a likely file
        "folder": 0.4,  # in a folder that the last sessions edited
        "together": 2.5,  # edited in the same sessions as a file at hand; chosen among five values
        # Not fitted: the development sessions have no code graph, commits or records.
        "co_change": 1.0,  # changed in the same commits as a file at hand or named
        "code": 0.5,  # uses, or is used by, a file at hand or named
        "records": 0.7,  # knowledge or an episode that matches the prompt names it
    }
)

SHARE_SLOPE, SHARE_OFFSET = 0.9, -3.85
"""Logistic calibration of the sum of weighted signals to the chance that a session touches the file."""
