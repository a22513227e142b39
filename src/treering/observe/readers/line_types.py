"""Types of lines that are known to carry no event; any other type is reported as unknown."""

# Titles, settings, costs, and what a model wrote about the session.
CLAUDE_CODE = frozenset(
    (
        "agent-color",
        "agent-name",
        "agent-setting",
        "ai-title",
        "atis-latch",
        "attribution-snapshot",
        "content-replacement",
        "cost-state",
        "custom-title",
        "file-history-delta",
        "file-history-snapshot",
        "fork-context-ref",
        "last-prompt",
        "last-task",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "saved_hook_context",
        "speculation-accept",
        "started",
        "summary",
        "system",
        "tag",
        "task-summary",
        "tools-used",
        "worktree-state",
    )
)

# Settings of a turn, copies of the history, messages between agents without text.
CODEX = frozenset(
    (
        "compacted",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
        "security_risk_score",
        "session_meta",
        "turn_context",
        "world_state",
    )
)

# Items whose content is encrypted or an image.
CODEX_ITEMS = frozenset(
    (
        "additional_tools",
        "compaction",
        "compaction_summary",
        "context_compaction",
        "ghost_snapshot",
        "image_generation_call",
        "other",
    )
)

# Messages of the event stream that repeat items of the conversation, or only drive the display.
CODEX_STREAM = frozenset(
    (
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "agent_reasoning_section_break",
        "background_event",
        "context_compacted",
        "entered_review_mode",
        "error",
        "exited_review_mode",
        "image_generation_end",
        "item_completed",
        "plan_update",
        "stream_error",
        "sub_agent_activity",
        "collab_agent_spawn_end",
        "collab_agent_interaction_end",
        "collab_waiting_end",
        "collab_close_end",
        "task_complete",
        "task_started",
        "thread_goal_updated",
        "thread_name_updated",
        "thread_rolled_back",
        "thread_settings_applied",
        "turn_aborted",
        "turn_complete",
        "turn_diff",
        "turn_started",
        "user_message",
        "view_image_tool_call",
        "warning",
        "web_search_end",
    )
)
