"""Names of the signals."""

from enum import StrEnum


class Signal(StrEnum):
    """What the observer recognises in a session."""

    FILE_ACCESS = "file_access"
    CO_ACCESS = "co_access"
    ERROR_RETRY = "error_retry"
    BACKTRACK = "backtrack"
    READ_ABANDON = "read_abandon"
    REPEATED_GREP = "repeated_grep"
    TOOL_SEQUENCE = "tool_sequence"
    TIME_ANOMALY = "time_anomaly"
    SELF_CORRECTION = "self_correction"
    EXTERNAL_REFERENCE = "external_reference"
    GLOB_IGNORE = "glob_ignore"
    IMPORT_CHASE = "import_chase"
    TEST_ORDER = "test_order"
    CONFIG_TOUCH = "config_touch"
    STEP_OVERRUN = "step_overrun"
    PARALLEL_CONFLICT = "parallel_conflict"
    CONTEXT_TOKEN_SPIKE = "context_token_spike"
