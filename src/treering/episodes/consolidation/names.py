"""How consolidated episodes are known, and what keeps two from being made of the same members."""

CONSOLIDATED = "consolidated-"
"""How the id of an episode begins that stands for others."""
CLAIM = "consolidation of episodes"
"""One at a time in a project merges or takes apart: others would find their members taken."""
