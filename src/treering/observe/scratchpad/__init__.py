"""Notes of running sessions in bounded memory: intake of events, checkpoint, and merge of parallel agents."""

from treering.observe.scratchpad.activity import Activity
from treering.observe.scratchpad.alerts import Alert
from treering.observe.scratchpad.merge import QUORUM_SIMILARITY, merged
from treering.observe.scratchpad.scratchpad import Scratchpad
from treering.observe.scratchpad.signal_names import Signal

__all__ = ["QUORUM_SIMILARITY", "Activity", "Alert", "Scratchpad", "Signal", "merged"]
